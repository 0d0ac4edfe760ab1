//! The throw-away world: the correct service answers as the domain says, and stories repeat.

mod answers;
mod checkouts;
mod events;
mod flavours;
mod keeping;
mod provider;
mod settlement;
mod sweepers;
mod town;
mod webhooks;
mod worlds;
