//! The impure edge of the console: terminal, input, signals, the loop, polling and acting.
//!
//! Nothing here decides anything about payments: events become `Msg`, `Effect`s become tasks whose
//! answers are `Msg` again. The loop itself never waits for a database or a provider.

pub mod account;
pub mod act;
pub mod clock;
pub mod export;
#[cfg(debug_assertions)]
mod fault;
pub mod input;
pub mod open;
pub mod poll;
pub mod record;
pub mod replay;
pub mod run;
pub mod signals;
pub mod terminal;
