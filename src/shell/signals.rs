//! Signals that ask the process to end, and stopping it for ctrl-z.

use std::io;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::signal::unix::{SignalKind, signal};

/// The signals after which the terminal must be sane: SIGTERM, SIGHUP (a closed terminal), SIGINT and
/// SIGQUIT sent from outside (from the keyboard they are keys).
pub struct Ending {
    signals: Vec<tokio::signal::unix::Signal>,
}

impl Ending {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()];
        let signals = kinds.into_iter().map(signal).collect::<io::Result<Vec<_>>>()?;
        Ok(Self { signals })
    }

    /// The next of them.
    pub async fn recv(&mut self) {
        let waits = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(waits).await;
    }
}

/// Stops this process as ctrl-z does outside raw mode; returns when it is continued.
pub fn stop_here() {
    // To ourselves, not to the group: a parent that waits for us (a shell) sees us stop either way.
    let _ = kill(Pid::this(), Signal::SIGTSTP);
}
