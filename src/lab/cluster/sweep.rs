//! What an earlier process left behind: directories with our marker whose owner's lock is free.
//!
//! The supervisor normally has done this already; the sweep is for the day it was killed too.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::workdir::{self, PREFIX};

/// Sweeps every place a directory of ours may be in. Best effort: what cannot be removed is left.
pub(super) fn sweep() {
    for root in workdir::roots() {
        let entries = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let named_so = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
            if named_so && workdir::is_ours(&entry.path()) {
                sweep_one(&entry.path());
            }
        }
    }
}

fn sweep_one(directory: &Path) {
    let Ok(owner) = File::open(directory.join("owner")) else {
        return;
    };
    // The lock is held until the directory is gone: two sweepers do not meet.
    if owner.try_lock().is_ok() {
        stop_server(directory);
        workdir::remove(directory);
    }
}

/// Stops the server a pid file speaks of, if that process really runs on this directory.
fn stop_server(directory: &Path) {
    let Some(pid) = server_pid(directory) else {
        return;
    };
    for paused in std::fs::read_to_string(directory.join("paused")).unwrap_or_default().lines() {
        if let Ok(number) = paused.parse() {
            kill(Pid::from_raw(number), Signal::SIGCONT).ok();
        }
    }
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        if kill(pid, signal).is_err() {
            return;
        }
        for _ in 0..100 {
            if !runs_on(pid, directory) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The first line of `postmaster.pid`, checked against what that process was started with.
fn server_pid(directory: &Path) -> Option<Pid> {
    let text = std::fs::read_to_string(directory.join("data/postmaster.pid")).ok()?;
    let pid = Pid::from_raw(text.lines().next()?.trim().parse().ok()?);
    runs_on(pid, directory).then_some(pid)
}

fn runs_on(pid: Pid, directory: &Path) -> bool {
    let data = directory.join("data").display().to_string();
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).or_else(|_| {
        std::process::Command::new("ps")
            .args(["-o", "args=", "-p", &pid.to_string()])
            .output()
            .map(|output| output.stdout)
    });
    arguments.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&data))
}
