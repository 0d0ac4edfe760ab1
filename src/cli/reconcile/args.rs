//! What can be typed after `unstuck reconcile`. Parsing only.

use std::path::PathBuf;

use clap::Args;

/// `unstuck reconcile`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    after_help = "Exit codes: 0 every line agrees with our books, 1 breaks, or a report that was refused, 3 could not tell."
)]
pub struct ReconcileArgs {
    /// Whose form the reports have: stripe, adyen, paypal or generic
    #[arg(long, value_name = "FORM")]
    pub provider: String,
    /// The provider's name in our books [default: the form's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The reports, as the provider wrote them (CSV)
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// One JSON object per report
    #[arg(long)]
    pub json: bool,
}
