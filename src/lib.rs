//! `unstuck`: the operator console for payments that got stuck.
//!
//! The rooms, and who may use whom, are drawn in `ARCHITECTURE.md`; `tests/layers.rs` holds
//! the code to it. Start reading in [`domain`]: it knows what is true about money operations
//! and nothing about screens, databases or clocks.

pub mod app;
pub mod cli;
pub mod domain;
pub mod lab;
pub mod provider;
pub mod shell;
pub mod store;
pub mod ui;
