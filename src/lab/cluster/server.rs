//! The server process: asked to stop, killed, frozen. Dropping it stops it.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ClusterError;
use crate::lab::clock;

/// How long an orderly stop may take before it is a kill.
const STOP_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Server {
    process: Mutex<Process>,
    pid_file: PathBuf,
    /// Where the watcher reads which processes to thaw.
    paused_file: PathBuf,
}

#[derive(Debug, Default)]
struct Process {
    child: Option<Child>,
    frozen: Vec<Pid>,
    /// The shared memory of a server that was killed: only a new server or we take it away.
    left_behind: Option<String>,
}

impl Server {
    pub(super) fn new(pid_file: PathBuf, paused_file: PathBuf) -> Self {
        Self { process: Mutex::default(), pid_file, paused_file }
    }

    pub(super) fn is(&self, child: Child) {
        let mut process = self.lock();
        process.child = Some(child);
        process.left_behind = None;
    }

    pub(super) fn is_alive(&self) -> bool {
        self.lock().child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    pub(super) fn kill9(&self) {
        let segment = self.shared_memory();
        let mut process = self.lock();
        if let Some(mut child) = process.child.take() {
            child.kill().ok();
            child.wait().ok();
            process.left_behind = segment;
        }
    }

    pub(super) fn stop(&self) {
        self.thaw();
        let Some(mut child) = self.lock().child.take() else {
            return;
        };
        if let Some(pid) = pid_of(&child) {
            kill(pid, Signal::SIGINT).ok(); // "fast": clients are disconnected
        }
        let deadline = clock::instant() + STOP_LIMIT;
        while clock::instant() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().ok();
        child.wait().ok();
    }

    /// Freezes the server first, so that it starts no new backend, then `backends`.
    pub(super) fn freeze(&self, backends: &[i32]) -> Result<(), ClusterError> {
        let mut process = self.lock();
        let server = process.child.as_ref().and_then(pid_of);
        process.frozen = server.into_iter().chain(backends.iter().copied().map(Pid::from_raw)).collect();
        let list: Vec<String> = process.frozen.iter().map(|pid| format!("{pid}\n")).collect();
        std::fs::write(&self.paused_file, list.concat())
            .map_err(ClusterError::io("note which processes are frozen"))?;
        for pid in &process.frozen {
            kill(*pid, Signal::SIGSTOP).ok();
        }
        Ok(())
    }

    pub(super) fn thaw(&self) {
        let mut process = self.lock();
        if process.frozen.is_empty() {
            return;
        }
        for pid in process.frozen.drain(..) {
            kill(pid, Signal::SIGCONT).ok();
        }
        std::fs::remove_file(&self.paused_file).ok();
    }

    /// Waits for a server that somebody else stops.
    pub(super) fn reap(&self) {
        let child = self.lock().child.take();
        if let Some(mut child) = child {
            child.wait().ok();
        }
    }

    /// Line 7 of the pid file is "key id".
    fn shared_memory(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.pid_file).ok()?;
        text.lines().nth(6)?.split_whitespace().nth(1).map(str::to_owned)
    }

    fn lock(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        if let Some(segment) = self.lock().left_behind.take() {
            Command::new("ipcrm").args(["-m", &segment]).stdout(Stdio::null()).stderr(Stdio::null()).status().ok();
        }
    }
}

fn pid_of(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().map(Pid::from_raw)
}
