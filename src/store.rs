//! PostgreSQL behind the query contract: profiles, the SQL gate, rows, polls, guarded functions.

pub mod gate;
