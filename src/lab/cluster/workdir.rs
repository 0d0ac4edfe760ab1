//! The cluster's temporary directory: made, marked as ours, locked while we live, removed.
//!
//! ```text
//! unstuck-lab-a1B2c3/   ours, 0700 (0711 when the server runs under another account)
//!   owner               first line the marker, second our pid; locked (flock) as long as we live
//!   data/ s/            the server's: its cluster and its socket
//!   server.log          what it wrote, statement log included
//!   pg/                 the bundled programs, if those are used
//! ```
//! The lock, not the pid, says whether the owner lives: pids mean nothing across containers that share a disk.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::ClusterError;
use super::account::Account;
use super::supervise::Supervisor;

/// What the names of our directories begin with.
pub(super) const PREFIX: &str = "unstuck-lab-";
/// First line of `owner`: nothing without it is ever swept.
pub(super) const MARKER: &str = "unstuck throw-away cluster";
/// Limit of a socket address on the strictest system, less a little.
const SOCKET_LIMIT: usize = 100;

/// A directory of ours with its watcher. Dropping it removes it and sends the watcher home.
#[derive(Debug)]
pub(super) struct WorkDir {
    path: PathBuf,
    supervisor: Supervisor,
    _alive: File,
}

impl WorkDir {
    pub(super) fn create(account: Account) -> Result<Self, ClusterError> {
        let root = root_for(account);
        let path = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(root)
            .map_err(ClusterError::io("create a temporary directory"))?
            .keep();
        let watched = mark(&path).and_then(|alive| Ok((alive, Supervisor::start(&path)?)));
        let (alive, supervisor) = watched.inspect_err(|_| remove(&path))?;
        let made = Self { path, supervisor, _alive: alive };
        made.furnish(account)?;
        Ok(made)
    }

    /// Leaves everything to the watcher, as our death would, and waits until it is done.
    pub(super) fn abandon(mut self) {
        self.supervisor.abandon();
    }

    fn furnish(&self, account: Account) -> Result<(), ClusterError> {
        fs::set_permissions(&self.path, Permissions::from_mode(account.top_mode()))
            .map_err(ClusterError::io("open the temporary directory to the server's user"))?;
        for directory in [self.data(), self.socket_dir()] {
            DirBuilder::new()
                .mode(0o700)
                .create(&directory)
                .map_err(ClusterError::io("create the cluster's directories"))?;
            account.give(&directory)?;
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(super) fn socket_dir(&self) -> PathBuf {
        self.path.join("s")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("server.log")
    }

    pub(super) fn paused(&self) -> PathBuf {
        self.path.join("paused")
    }
}

impl Drop for WorkDir {
    fn drop(&mut self) {
        remove(&self.path);
        self.supervisor.dismiss();
    }
}

/// Removes a directory tree that a server may still be writing into for a moment.
pub(super) fn remove(path: &Path) {
    for _ in 0..20 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Whether `path` carries our marker and belongs to our user.
pub(super) fn is_ours(path: &Path) -> bool {
    let same_user =
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw());
    same_user && fs::read_to_string(path.join("owner")).is_ok_and(|text| text.lines().next() == Some(MARKER))
}

/// Writes and locks `owner`. Locked before it gets its name, so that a sweeper never sees it unlocked.
fn mark(path: &Path) -> Result<File, ClusterError> {
    let unnamed = path.join("owner.new");
    let mut file = File::create(&unnamed).map_err(ClusterError::io("mark the temporary directory"))?;
    writeln!(file, "{MARKER}\n{}", std::process::id()).map_err(ClusterError::io("mark the temporary directory"))?;
    file.lock().map_err(ClusterError::io("lock the temporary directory"))?;
    fs::rename(&unnamed, path.join("owner")).map_err(ClusterError::io("mark the temporary directory"))?;
    Ok(file)
}

/// The places a cluster directory may be in: the system's temporary directory, and the short one.
pub(super) fn roots() -> Vec<PathBuf> {
    let mut roots = vec![std::env::temp_dir()];
    let short = PathBuf::from("/tmp");
    if !roots.contains(&short) {
        roots.push(short);
    }
    roots
}

fn root_for(account: Account) -> PathBuf {
    let usual = std::env::temp_dir();
    let socket = usual.as_os_str().len() + "/unstuck-lab-a1B2c3/s/.s.PGSQL.65535.lock".len();
    if socket < SOCKET_LIMIT && passable(&usual, account) { usual } else { PathBuf::from("/tmp") }
}

/// Whether the server's account can walk down to `path`.
fn passable(path: &Path, account: Account) -> bool {
    match account {
        Account::Own => true,
        Account::StepDown { .. } => {
            path.ancestors().all(|step| fs::metadata(step).is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0))
        }
    }
}
