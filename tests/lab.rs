//! The throw-away world: the correct service answers as the domain says, and stories repeat.

mod answers;
mod checkouts;
mod events;
mod keeping;
mod provider;
mod settlement;
mod town;
mod webhooks;
mod worlds;
