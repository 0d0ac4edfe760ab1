//! Invariants: queries whose result must be empty, and what is known about them.

use serde::{Deserialize, Serialize};

use super::ids::{Key, OrderId, PaymentId, Scope};
use super::money::{Money, Totals};
use super::time::{Instant, Seconds};

/// As many rows of one rule are read and kept; its query's own limit. There may be more.
pub const MOST_BREACHES: usize = 200;

/// How bad a breach is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Soon; you have time.
    Caution,
    /// Act now.
    Critical,
}

/// What a rule's file says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// `I1`, as in the domain's list.
    pub id: String,
    /// The rule in words.
    pub sentence: String,
    /// How bad a breach is.
    pub severity: Severity,
    /// How often its window is read.
    pub cadence: Seconds,
    /// What to do about a breach.
    pub next: String,
    /// The file it comes from.
    pub file: String,
}

/// One thing that should not be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Breach {
    /// The record's scope.
    pub scope: Option<Scope>,
    /// The record's key.
    pub key: Option<Key>,
    /// The order.
    pub order: Option<OrderId>,
    /// The payment.
    pub payment: Option<PaymentId>,
    /// Any other id.
    pub reference: Option<String>,
    /// How much it is about.
    pub money: Option<Money>,
    /// Since when.
    pub at: Option<Instant>,
    /// In words.
    pub detail: String,
}

/// What is known about a rule: it holds, it is violated, or it is not known. The three are never mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum RuleState {
    /// Checked and true.
    Holds {
        /// When the window was read last.
        checked_at: Instant,
        /// When everything was audited last; `None` when no full audit has finished.
        audited_at: Option<Instant>,
    },
    /// These rows break it.
    Violated {
        /// When it was read.
        checked_at: Instant,
        /// The rows, at most as many as the query's limit.
        breaches: Vec<Breach>,
        /// Since when it is known to be violated.
        since: Instant,
    },
    /// It could not be checked: that is not the same as true.
    NotKnown {
        /// Why.
        why: String,
    },
}

/// A rule with its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleReport {
    /// What must be true.
    pub rule: Rule,
    /// Whether it is.
    pub state: RuleState,
}

impl RuleReport {
    /// The rows that break it.
    pub fn breaches(&self) -> &[Breach] {
        match &self.state {
            RuleState::Violated { breaches, .. } => breaches,
            RuleState::Holds { .. } | RuleState::NotKnown { .. } => &[],
        }
    }

    /// How many rows break it, as far as they were read: `3`, `200+`.
    pub fn count(&self) -> String {
        match self.breaches().len() {
            MOST_BREACHES.. => format!("{MOST_BREACHES}+"),
            fewer => fewer.to_string(),
        }
    }

    /// The money its breaches are about, by currency; of those that were read.
    pub fn money(&self) -> Totals {
        self.breaches().iter().filter_map(|breach| breach.money.clone()).collect()
    }
}
