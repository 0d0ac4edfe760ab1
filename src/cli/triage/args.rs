//! What can be typed after `unstuck triage`. Parsing only.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::domain::reply::Language;
use crate::domain::time::Seconds;
use crate::provider::declared;

/// `unstuck triage`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    after_help = "Exit codes: 0 charged once, not charged, or two purchases; 1 charged twice, on the way to it, paid and \
        not in our books, an answer that reached another tenant, or several candidates; 3 in doubt, low confidence, or it cannot be told."
)]
pub struct TriageArgs {
    /// What the customer gave: an order, payment, key, provider ref or customer, or a sentence with one in it
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    pub what: Option<String>,
    /// Judge an evidence bundle (TOML or JSON; - reads standard input); needs no database
    #[arg(long, value_name = "BUNDLE", conflicts_with_all = ["scope", "lookup", "others"])]
    pub from: Option<PathBuf>,
    /// Only in this namespace of keys: tenant, user or client
    #[arg(long)]
    pub scope: Option<String>,
    /// Ask the provider about each payment first (GET only; nothing is stored)
    #[arg(long)]
    pub lookup: bool,
    /// The form of the answer.
    #[command(flatten)]
    pub form: Form,
    /// Write the evidence to this new file as a bundle (JSON), customers masked
    #[arg(long, value_name = "BUNDLE")]
    pub export: Option<PathBuf>,
    /// List others with the same cause instead of the answer
    #[arg(long)]
    pub others: bool,
    /// How far back others are looked for, as 7d or 24h
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = declared::length)]
    pub since: Seconds,
    /// The language of the text for the customer
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    pub language: LanguageArg,
}

/// In which form the answer is wanted; without one, as text to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[group(multiple = false)]
pub struct Form {
    /// The verdict as one JSON object; what is not known is null
    #[arg(long)]
    pub json: bool,
    /// The whole page as Markdown
    #[arg(long)]
    pub md: bool,
    /// The timeline as a picture (SVG)
    #[arg(long)]
    pub svg: bool,
}

/// A language on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LanguageArg {
    /// English
    En,
    /// Vietnamese
    Vi,
}

impl From<LanguageArg> for Language {
    fn from(language: LanguageArg) -> Self {
        match language {
            LanguageArg::En => Self::English,
            LanguageArg::Vi => Self::Vietnamese,
        }
    }
}
