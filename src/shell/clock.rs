//! The console's clock: the one place of this room that reads it.

use std::time::Duration;

use crate::domain::time::Now;

/// What time it is, by this machine.
#[expect(clippy::disallowed_methods, reason = "the shell owns the clock and gives the time to everyone else")]
pub fn now() -> Now {
    Now(chrono::Utc::now())
}

/// Lets time pass without a screen, for commands that watch for a while.
pub async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}
