//! The throw-away world: the correct service answers as the domain says, flawed ones do not, and stories repeat.

mod answers;
mod flaws;
mod provider;
mod shop;
mod verify;
mod worlds;
