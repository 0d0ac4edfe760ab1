//! PostgreSQL behind the query contract: profiles, the SQL gate, rows, polls, guarded functions.

pub mod contract;
pub mod gate;
pub mod library;
pub mod profile;

mod error;
mod rows;
