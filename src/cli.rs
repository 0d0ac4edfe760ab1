//! The command line: one file per subcommand, and the configuration they share.

pub mod args;
pub mod config;
pub mod out;
