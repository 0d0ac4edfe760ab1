//! The throw-away world the console is practised and tested on: cluster, payment service, provider, incidents.
//!
//! Owns everything a demo or a test needs beside the console itself, and takes it all away again.
//! Must not know the console: no screen, no action, no configuration of it. It never reads
//! `UNSTUCK_DATABASE_URL`; DELETE text may exist only in this room.
//!
//! [`world::World::start`] is the front door; [`cluster`] alone is what most tests need.

pub mod carrier;
mod client;
mod clock;
pub mod cluster;
mod error;
mod http;
pub mod incident;
mod names;
pub mod policy;
pub mod provider;
pub mod service;
mod sign;
pub mod sql;
pub mod system;
mod task;
pub mod traffic;
pub mod verify;
pub mod world;

pub use error::LabError;
