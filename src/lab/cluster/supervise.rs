//! The child that cleans up when we are killed: it waits on a pipe from us and acts when it closes.
//!
//! A `kill -9` runs no destructor, but the kernel closes our end of the pipe. The supervisor then
//! stops the server it finds in the directory's own pid file (only if that process was started on this
//! very directory) and removes the directory (only if it carries our marker).

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::ClusterError;
use super::workdir::MARKER;

/// `$1` directory, `$2` marker. Plain POSIX shell; `ps` only where there is no /proc.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT
dir=$1
while read -r word; do [ "$word" = quit ] && exit 0; done
[ -f "$dir/owner" ] || exit 0
read -r first < "$dir/owner"
[ "$first" = "$2" ] || exit 0
mine() {
  if [ -r "/proc/$1/cmdline" ]; then args=$(tr '\0' ' ' < "/proc/$1/cmdline"); else args=$(ps -o args= -p "$1"); fi
  case "$args" in *"$dir/data"*) return 0 ;; *) return 1 ;; esac
}
[ -f "$dir/paused" ] && while read -r pid; do kill -CONT "$pid"; done < "$dir/paused"
if [ -f "$dir/data/postmaster.pid" ]; then
  read -r pid < "$dir/data/postmaster.pid"
  if mine "$pid"; then
    kill -INT "$pid"
    n=0
    while mine "$pid" && [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done
    mine "$pid" && kill -KILL "$pid"
  fi
fi
n=0
while [ -d "$dir" ] && [ $n -lt 20 ]; do rm -rf "$dir"; [ -d "$dir" ] && sleep 0.2; n=$((n + 1)); done
"#;

/// Our end of the pipe. Dropping it without [`Supervisor::dismiss`] is what a killed parent looks like.
#[derive(Debug)]
pub(super) struct Supervisor {
    child: Child,
}

impl Supervisor {
    pub(super) fn start(directory: &Path) -> Result<Self, ClusterError> {
        let child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "unstuck-lab-supervisor"])
            .arg(directory)
            .arg(MARKER)
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(ClusterError::io("start the supervising child"))?;
        Ok(Self { child })
    }

    /// Everything is cleaned: nothing left to watch.
    pub(super) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.child.stdin.take() {
            pipe.write_all(b"quit\n").ok();
        }
        self.child.wait().ok();
    }

    /// Closes the pipe as our death would, and waits for the supervisor to finish its work.
    pub(super) fn abandon(&mut self) {
        self.child.stdin = None;
        self.child.wait().ok();
    }
}
