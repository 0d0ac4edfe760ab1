//! The one place of this room where the time of day is read: evidence says when its look-up began.

use crate::domain::time::Instant;

/// The console's own clock.
#[expect(
    clippy::disallowed_methods,
    reason = "evidence carries the start of its look-up; this is the room's only clock"
)]
pub fn now() -> Instant {
    chrono::Utc::now()
}
