//! What several integration tests share.

pub mod cluster;
pub mod console;
pub mod demo;
pub mod desk;
pub mod face;
pub mod handing;
pub mod keys;
pub mod launch;
pub mod orders;
pub mod people;
pub mod picture;
pub mod proof;
pub mod pty;
pub mod recorded;
pub mod scenario;
pub mod scene;
pub mod seat;
pub mod second;
pub mod settled;
pub mod store;
pub mod tape;
pub mod view;
pub mod wire;

use std::time::{Duration, Instant};

/// How long a test waits for something that has to happen. Generous on purpose: the machines that
/// run this are slow and shared, and no test asserts that anything was quick.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The one clock of the tests, for waiting only.
#[expect(clippy::disallowed_methods, reason = "waiting for a real process needs a real clock")]
pub fn now() -> Instant {
    Instant::now()
}
