//! The throw-away world: the correct service answers as the domain says, flawed ones do not, and stories repeat.

mod answers;
mod checkouts;
mod contract;
mod drill;
mod events;
mod flavours;
mod flaws;
mod incidents;
mod keeping;
mod port;
mod provider;
mod recovery;
mod settlement;
mod shop;
mod sweepers;
mod tickets;
mod town;
mod verify;
mod webhooks;
mod worlds;
