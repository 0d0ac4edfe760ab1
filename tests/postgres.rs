//! The store against a real PostgreSQL that is locked, cut off, frozen and fought over.

mod acting;
mod approving;
mod forged;
mod polling;
mod search;
