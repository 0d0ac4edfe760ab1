//! The account this process runs as: the name of last resort for the person at the console.

use nix::unistd::{Uid, User};

/// The account's name, when the system knows it.
pub fn name() -> Option<String> {
    User::from_uid(Uid::current()).ok().flatten().map(|user| user.name).filter(|name| !name.trim().is_empty())
}
