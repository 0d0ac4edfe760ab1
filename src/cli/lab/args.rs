//! What can be typed after `unstuck lab`. Parsing only.

use clap::{Args, Subcommand};

/// `unstuck lab`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct LabArgs {
    /// What to do in the lab.
    #[command(subcommand)]
    pub what: LabCommand,
}

/// What can be done in the lab.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum LabCommand {
    /// Measure a naive and a correct payment service side by side (exit 0 as expected, 1 not, 3 could not tell)
    Verify(VerifyArgs),
}

/// `unstuck lab verify`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct VerifyArgs {
    /// The same as one JSON object
    #[arg(long)]
    pub json: bool,
}
