//! Whose name the server runs under: PostgreSQL refuses root.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::{Gid, Uid, User, chown, geteuid};

use super::ClusterError;

/// The account server programs run under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    /// Ours: an ordinary user.
    Own,
    /// We are root: step down to this one.
    StepDown { uid: Uid, gid: Gid },
}

impl Account {
    /// Ours, or `postgres`, else `nobody`, when we are root.
    pub(super) fn choose() -> Result<Self, ClusterError> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .map(|user| Self::StepDown { uid: user.uid, gid: user.gid })
            .ok_or(ClusterError::NobodyToRunAs)
    }

    /// A program under this account: no inherited environment, no input, its own process group so
    /// that Ctrl-C in the terminal reaches only us.
    pub(super) fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).process_group(0);
        match self {
            Self::Own => {}
            Self::StepDown { uid, gid } => {
                command.uid(uid.as_raw()).gid(gid.as_raw());
            }
        }
        command
    }

    /// Gives `path` to this account.
    pub(super) fn give(self, path: &Path) -> Result<(), ClusterError> {
        match self {
            Self::Own => Ok(()),
            Self::StepDown { uid, gid } => chown(path, Some(uid), Some(gid)).map_err(|errno| ClusterError::Io {
                doing: "give a directory to the server's user",
                source: errno.into(),
            }),
        }
    }

    /// Mode of the cluster's top directory: another account must be able to pass through it.
    pub(super) fn top_mode(self) -> u32 {
        match self {
            Self::Own => 0o700,
            Self::StepDown { .. } => 0o711,
        }
    }
}
