//! Where the providers' settlement reports and our books disagree.
//!
//! Owns what a report and a break are. Must not know how a report is read, nor how the two sides were compared.
//! A break is a question, not an error: nothing here changes the books.

use serde::{Deserialize, Serialize};

use super::ids::{OrderId, PaymentId, ProviderName, ProviderRef, RecordId};
use super::money::{Money, Totals};
use super::time::Instant;

/// How the two sides disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakKind {
    /// Theirs, not ours.
    Orphan,
    /// Ours, not theirs.
    Missing,
    /// Both have it, with different amounts.
    Amount,
    /// Both have it, in different currencies.
    Currency,
    /// Theirs more than once.
    Duplicate,
}

impl BreakKind {
    /// Every kind, in the order of the screen.
    pub const ALL: [Self; 5] = [Self::Orphan, Self::Duplicate, Self::Missing, Self::Amount, Self::Currency];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Orphan => "orphan",
            Self::Missing => "missing",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Duplicate => "duplicate",
        }
    }
}

/// One disagreement that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Break {
    /// Its number, the same from poll to poll.
    pub number: i64,
    /// How the two sides disagree.
    pub kind: BreakKind,
    /// The provider whose report it is about.
    pub provider: ProviderName,
    /// The provider's id for the charge.
    pub provider_ref: Option<ProviderRef>,
    /// The record, when one of ours belongs to it.
    pub record: Option<RecordId>,
    /// The order, as either side names it.
    pub order: Option<OrderId>,
    /// Our payment.
    pub payment: Option<PaymentId>,
    /// What our books have.
    pub ours: Option<Money>,
    /// What the report has.
    pub theirs: Option<Money>,
    /// When the money moved, as far as that is known.
    pub at: Option<Instant>,
    /// When a report first showed it.
    pub first_seen: Instant,
    /// Who has it.
    pub owner: Option<String>,
    /// The hash of the report.
    pub report: String,
    /// The line of the report, counted from 1; none for what the report does not have.
    pub line: Option<u64>,
}

/// One settlement report that is loaded whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The SHA-256 of the file, in hex: the same file is the same report.
    pub hash: String,
    /// The file's name.
    pub name: String,
    /// Whose report it is.
    pub provider: ProviderName,
    /// Its lines.
    pub lines: u64,
    /// How many of them agree with our books.
    pub matched: u64,
    /// When it was loaded.
    pub loaded_at: Instant,
    /// Its first moment, when it has one.
    pub from: Option<Instant>,
    /// Its last moment, when it has one.
    pub to: Option<Instant>,
    /// What our books have for it, by currency.
    pub ours: Totals,
    /// What its lines add up to, by currency.
    pub theirs: Totals,
    /// What it says itself that its lines add up to; `None` when the provider does not state it.
    pub stated: Option<Totals>,
}

/// Every report that counts, newest first, and every break that is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconciliation {
    /// Reports, newest first.
    pub reports: Vec<Report>,
    /// Open breaks.
    pub breaks: Vec<Break>,
}
