//! The throw-away world the console is practised and tested on: cluster, payment service, provider, incidents.
//!
//! Owns everything a demo or a test needs beside the console itself, and takes it all away again.
//! Must not know the console: no screen, no action, no configuration of it. It never reads
//! `UNSTUCK_DATABASE_URL`; DELETE text may exist only in this room.

mod clock;
pub mod cluster;
pub mod sql;
