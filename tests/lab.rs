//! The throw-away world: the correct service answers as the domain says, flawed ones do not, and stories repeat.

mod answers;
mod contract;
mod drill;
mod flaws;
mod port;
mod provider;
mod recovery;
mod shop;
mod verify;
mod worlds;
