//! The action log as it is read: who did, tried or was refused what.

use serde::{Deserialize, Serialize};

use super::ids::{LogId, Operator, RecordId};
use super::money::Money;
use super::time::Instant;

/// One row of the append-only log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its number in the chain.
    pub id: LogId,
    /// When, by the database's clock.
    pub at: Instant,
    /// `intent`, `outcome` or `event`.
    pub entry: String,
    /// The action's word.
    pub action: String,
    /// The record, when there is one.
    pub target: Option<RecordId>,
    /// Who, as the console named them.
    pub operator: Option<Operator>,
    /// Who, as the database knows them.
    pub session_user: String,
    /// Where.
    pub environment: String,
    /// The plan that was shown.
    pub plan_hash: Option<String>,
    /// What the person saw.
    pub reason: Option<String>,
    /// The incident or ticket.
    pub ticket: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// In words.
    pub detail: Option<String>,
    /// The intent an outcome answers.
    pub intent: Option<LogId>,
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// It was done, in one transaction with its log row.
    Done {
        /// The log row.
        log: Option<LogId>,
        /// What the database function says it did.
        detail: Option<String>,
    },
    /// The database said no, as a value; nothing changed.
    Refused {
        /// A sentence with a way out.
        why: String,
    },
    /// Somebody else was first, or a lock was in the way; nothing changed.
    Conflict {
        /// What was found instead.
        why: String,
    },
    /// The connection was lost after sending: it may or may not have been done. Read back, never repeat blindly.
    Unknown {
        /// What happened.
        why: String,
        /// The intent to read back by.
        intent: Option<LogId>,
    },
}

impl Outcome {
    /// The word on the result page.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done { .. } => "DONE",
            Self::Refused { .. } => "REFUSED",
            Self::Conflict { .. } => "CONFLICT",
            Self::Unknown { .. } => "UNKNOWN",
        }
    }
}

/// One line of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// When.
    pub at: Instant,
    /// Whose lane: client, api, record, provider, webhook, settlement, operator.
    pub lane: String,
    /// What happened.
    pub what: String,
    /// More of it.
    pub detail: Option<String>,
    /// An id that goes with it.
    pub reference: Option<String>,
    /// How much it is about, where it is about money.
    pub money: Option<Money>,
}
