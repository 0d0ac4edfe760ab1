//! The second seat: a file by which another console on this machine finds a world and sits down as its second person.
//!
//! It holds a password, so nobody but its owner may read it. It stands in the server's own directory and goes with
//! it, however the world ends; on a server that somebody else looks after, in a directory of its own.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::lab::LabError;
use crate::lab::provider::Keys;

/// The file's name.
const FILE: &str = "second-seat.json";

/// An open second seat. Dropping it takes the file away.
#[derive(Debug)]
pub struct SecondSeat {
    file: PathBuf,
    _own: Option<TempDir>,
}

/// What somebody needs to sit down.
#[derive(Debug)]
pub struct Seat {
    /// The address of the database, with the second person's login.
    pub database: SecretString,
    /// The provider's base URL.
    pub provider: String,
    /// Whether that provider reads keys: both consoles judge by the same promise.
    pub keys: Keys,
    /// Who has the first seat: the second person is somebody else.
    pub first: String,
}

/// Why nobody can sit down there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSeat {
    /// There is no file.
    #[error("there is no demo in {0}: it ends when its first console is left. Start one with: unstuck demo")]
    Gone(String),
    /// Others may read or write the file, or it is not ours.
    #[error("{0} is not yours alone: what it says is not trusted. Start a demo of your own with: unstuck demo")]
    NotYours(String),
    /// It is not a seat, or one of another version.
    #[error("{0} was not written by this version of unstuck: start both seats with the same binary")]
    NotThisVersion(String),
}

/// The file as it is written. The policy is not in it: both seats are the same version, which carries it.
#[derive(Serialize, Deserialize)]
struct Written {
    unstuck: String,
    database: String,
    provider: String,
    keys: Keys,
    first: String,
}

impl SecondSeat {
    pub(super) fn open(server: Option<&Path>, seat: &Seat) -> Result<Self, LabError> {
        let own = match server {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("unstuck-seat-").tempdir()?),
        };
        let directory = server.or(own.as_ref().map(TempDir::path));
        let file =
            directory.map(|directory| directory.join(FILE)).ok_or_else(|| std::io::Error::other("no directory"))?;
        let written = Written {
            unstuck: env!("CARGO_PKG_VERSION").to_owned(),
            database: seat.database.expose_secret().to_owned(),
            provider: seat.provider.clone(),
            keys: seat.keys,
            first: seat.first.clone(),
        };
        let text = serde_json::to_vec(&written).map_err(std::io::Error::other)?;
        // New, so that it cannot be a file or a link that somebody put there.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?.write_all(&text)?;
        Ok(Self { file, _own: own })
    }

    /// The directory that `unstuck demo --join` is told.
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }
}

impl Drop for SecondSeat {
    fn drop(&mut self) {
        // Gone already when its server was first.
        let _ = fs::remove_file(&self.file);
    }
}

impl Seat {
    /// Finds the seat in a directory.
    ///
    /// # Errors
    /// [`NoSeat`], in words for whoever typed the directory.
    pub fn find(directory: &Path) -> Result<Self, NoSeat> {
        let file = directory.join(FILE);
        let name = || file.display().to_string();
        let Ok(about) = fs::symlink_metadata(&file) else {
            return Err(NoSeat::Gone(directory.display().to_string()));
        };
        if !about.is_file() || about.uid() != nix::unistd::geteuid().as_raw() || about.mode() & 0o077 != 0 {
            return Err(NoSeat::NotYours(name()));
        }
        let text = fs::read_to_string(&file).map_err(|_| NoSeat::Gone(directory.display().to_string()))?;
        let written: Written = serde_json::from_str(&text).map_err(|_| NoSeat::NotThisVersion(name()))?;
        if written.unstuck != env!("CARGO_PKG_VERSION") {
            return Err(NoSeat::NotThisVersion(name()));
        }
        let Written { database, provider, keys, first, .. } = written;
        Ok(Self { database: SecretString::from(database), provider, keys, first })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn seat() -> Seat {
        let database = SecretString::from("postgres://lee:hunter2@127.0.0.1:1/d".to_owned());
        Seat { database, provider: "http://127.0.0.1:2".to_owned(), keys: Keys::Honoured, first: "dana".to_owned() }
    }

    #[test]
    fn a_seat_is_found_by_its_owner_and_gone_with_its_world() {
        let server = tempfile::tempdir().unwrap();
        for place in [Some(server.path()), None] {
            let open = SecondSeat::open(place, &seat()).unwrap();
            let directory = open.directory().to_owned();
            let mode = fs::metadata(directory.join(FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let found = Seat::find(&directory).unwrap();
            assert_eq!(
                (found.first.as_str(), found.database.expose_secret()),
                ("dana", seat().database.expose_secret())
            );
            assert!(!format!("{found:?}{open:?}").contains("hunter2"));
            drop(open);
            assert!(matches!(Seat::find(&directory), Err(NoSeat::Gone(_))));
        }
    }

    #[test]
    fn a_file_that_others_may_touch_or_another_version_wrote_is_not_trusted() {
        let server = tempfile::tempdir().unwrap();
        let open = SecondSeat::open(Some(server.path()), &seat()).unwrap();
        assert!(SecondSeat::open(Some(server.path()), &seat()).is_err(), "never over a file that is there");
        let file = server.path().join(FILE);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Seat::find(server.path()), Err(NoSeat::NotYours(_))));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        for text in ["", "{}", r#"{"unstuck":"0.0.0","database":"x","provider":"x","first":"x"}"#] {
            fs::write(&file, text).unwrap();
            assert!(matches!(Seat::find(server.path()), Err(NoSeat::NotThisVersion(_))), "{text}");
        }
        let real = server.path().join("real");
        fs::rename(&file, &real).unwrap();
        std::os::unix::fs::symlink(&real, &file).unwrap();
        assert!(matches!(Seat::find(server.path()), Err(NoSeat::NotYours(_))), "a link");
        drop(open);
    }
}
