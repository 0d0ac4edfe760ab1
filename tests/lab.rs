//! The throw-away world: the correct service answers as the domain says, and stories repeat.

mod answers;
mod checkouts;
mod contract;
mod events;
mod flavours;
mod keeping;
mod port;
mod provider;
mod recovery;
mod settlement;
mod sweepers;
mod town;
mod webhooks;
mod worlds;
