//! What can be typed after `unstuck audit`. Parsing only.

use chrono::DateTime;
use clap::{Args, Subcommand, ValueEnum};

use crate::domain::chain::{Head, NoHead};
use crate::domain::ids::LogId;
use crate::domain::time::{Instant, Seconds};
use crate::provider::declared;

/// `unstuck audit`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AuditArgs {
    /// What to do with the log.
    #[command(subcommand)]
    pub what: AuditCommand,
}

/// What can be done with the log. Only reading back writes, and only the outcome of what has none.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum AuditCommand {
    /// Walk the hash chain and name the first broken row (exit 0 intact, 1 broken, 3 could not tell)
    Verify(VerifyArgs),
    /// Print the log for a report or an archive; the chain is checked on the way
    Export(ExportArgs),
    /// Ask what came of intents that have no outcome, and close those that did not arrive (exit 0 all closed, 3 could not tell)
    ReadBack(ReadBackArgs),
}

/// `unstuck audit read-back`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ReadBackArgs {
    /// Only these intents (au_17), however young; without any: all that are older than a minute
    #[arg(value_name = "INTENT", value_parser = intent)]
    pub intents: Vec<LogId>,
}

/// `unstuck audit verify`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct VerifyArgs {
    /// A head noted earlier: finds rows that were cut off the end since
    #[arg(long, value_name = "HASH", value_parser = head)]
    pub head: Option<Head>,
}

/// `unstuck audit export`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ExportArgs {
    /// One JSON object per row, or a table of what was done
    #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
    pub format: Format,
    /// Only what was written since then: 2026-07-01T12:00:00Z, or a length of time such as 2h
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<Since>,
    /// Only rows of this incident or ticket
    #[arg(long, value_name = "TICKET")]
    pub ticket: Option<String>,
    /// Only rows about this scope
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
    /// Only rows about this key of the scope
    #[arg(long, value_name = "KEY", requires = "scope")]
    pub key: Option<String>,
}

/// How an export is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object per line: a header, every row with every field, and an end
    Ndjson,
    /// A table for an incident report, one line for each thing that was done
    Markdown,
}

/// From when on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// From this instant.
    At(Instant),
    /// From this much before the database's now.
    Back(Seconds),
}

impl Since {
    /// The instant it means when the database's clock says `now`.
    pub fn from(self, now: Instant) -> Instant {
        match self {
            Self::At(at) => at,
            Self::Back(length) => length.before(now),
        }
    }
}

fn intent(text: &str) -> Result<LogId, String> {
    let number = text.strip_prefix("au_").unwrap_or(text);
    number.parse().map(LogId).map_err(|_| "not the number of a row of the log, such as au_17".to_owned())
}

fn head(text: &str) -> Result<Head, NoHead> {
    Head::parse(text)
}

fn since(text: &str) -> Result<Since, String> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(Since::At(at.to_utc()));
    }
    declared::length(text)
        .map(Since::Back)
        .map_err(|_| "neither a time such as 2026-07-01T12:00:00Z nor a length of time such as 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_an_instant_or_a_length() {
        let noon = DateTime::parse_from_rfc3339("2026-07-01T12:00:00Z").unwrap().to_utc();
        assert_eq!(since("2026-07-01T14:00:00+02:00"), Ok(Since::At(noon)));
        assert_eq!(since("2h").map(|since| since.from(noon).to_rfc3339()), Ok("2026-07-01T10:00:00+00:00".to_owned()));
        for wrong in ["", "yesterday", "2026-07-01", "-2h", "2"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_intent_is_named_as_it_is_shown() {
        assert_eq!((intent("au_17"), intent("17")), (Ok(LogId(17)), Ok(LogId(17))));
        assert!(intent("ap_17").is_err() && intent("").is_err());
    }
}
