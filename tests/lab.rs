//! The throw-away world: the correct service answers as the domain says, and stories repeat.

mod answers;
mod provider;
mod worlds;
