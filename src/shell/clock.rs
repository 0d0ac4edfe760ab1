//! The console's clock: the one place of this room that reads it.

use crate::domain::time::Now;

/// What time it is, by this machine.
#[expect(clippy::disallowed_methods, reason = "the shell owns the clock and gives the time to everyone else")]
pub fn now() -> Now {
    Now(chrono::Utc::now())
}
