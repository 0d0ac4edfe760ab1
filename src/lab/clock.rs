//! The lab's only look at the clock. The rest of the room is given times.

use std::time::Instant;

use chrono::{DateTime, Utc};

/// The wall clock, UTC.
#[expect(clippy::disallowed_methods, reason = "the lab plays the outside world, which has a clock")]
pub fn now() -> DateTime<Utc> {
    Utc::now()
}

/// The monotonic clock, for deadlines.
#[expect(clippy::disallowed_methods, reason = "deadlines of programs the lab starts")]
pub fn instant() -> Instant {
    Instant::now()
}
