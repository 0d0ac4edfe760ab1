//! The throw-away world: the correct service answers as the domain says, and stories repeat.

mod answers;
mod contract;
mod port;
mod provider;
mod recovery;
mod worlds;
