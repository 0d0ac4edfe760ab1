//! What one poll saw: one picture of one moment. It is replaced whole, so one frame never mixes two truths.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::approval::{ApprovalRequest, ResumeRequest};
use super::environment::Environment;
use super::ids::{Key, Operator, ProviderName, RecordId, Scope};
use super::log::LogEntry;
use super::money::Totals;
use super::rates::Rates;
use super::recon::Reconciliation;
use super::record::Record;
use super::rule::RuleReport;
use super::time::Instant;

/// A signal of the first screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Records still `processing` well past their lease.
    Stuck,
    /// Payments whose charge has an unknown outcome.
    Unknown,
    /// Payments pending for long.
    Pending,
    /// Events that should have been published.
    Outbox,
    /// Provider events received and not applied.
    Webhooks,
    /// Records handed over and not taken up.
    HandedOver,
    /// The oldest running transaction: when it is old, polls get slow and this says why.
    Xmin,
}

impl Signal {
    /// Every signal, in the order of the Overview.
    pub const ALL: [Self; 7] =
        [Self::Unknown, Self::Stuck, Self::Pending, Self::Outbox, Self::Webhooks, Self::HandedOver, Self::Xmin];

    /// The word in `get_pulse` and in `[normal]`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Unknown => "unknown",
            Self::Pending => "pending",
            Self::Outbox => "outbox",
            Self::Webhooks => "webhooks",
            Self::HandedOver => "handed_over",
            Self::Xmin => "xmin",
        }
    }

    /// Reads the word of `get_pulse`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|signal| signal.word() == word)
    }

    /// The name on the screen.
    pub fn title(self) -> &'static str {
        match self {
            Self::Stuck => "Stuck records",
            Self::Unknown => "Unknown payments",
            Self::Pending => "Long pending payments",
            Self::Outbox => "Outbox not published",
            Self::Webhooks => "Webhooks not applied",
            Self::HandedOver => "Handed over, unclaimed",
            Self::Xmin => "Oldest open transaction",
        }
    }
}

/// One signal of one poll, over all currencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pulse {
    /// Which.
    pub signal: Signal,
    /// How many.
    pub count: u64,
    /// How much money, by currency; empty when the signal has none.
    pub money: Totals,
    /// Since when the oldest one is so.
    pub oldest: Option<Instant>,
}

/// How one provider does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderHealth {
    /// Which.
    pub provider: ProviderName,
    /// Calls in the window.
    pub calls: u64,
    /// How many timed out.
    pub timeouts: u64,
    /// How many failed otherwise.
    pub errors: u64,
    /// The 95th percentile of the answer time, in milliseconds.
    pub p95_ms: Option<u64>,
    /// Payments of it that are UNKNOWN now.
    pub unknown: u64,
}

/// What the service's own recoverer does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recoverer {
    /// When it ran last.
    pub last_at: Option<Instant>,
    /// What it said.
    pub last_what: Option<String>,
    /// When it runs next.
    pub next_at: Option<Instant>,
}

/// Who causes 409 and 422.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offender {
    /// The client's scope.
    pub scope: Scope,
    /// The route.
    pub route: String,
    /// The key; absent when it stands for several.
    pub key: Option<Key>,
    /// 409 answers.
    pub conflicts: u64,
    /// 422 answers.
    pub mismatches: u64,
    /// The last of them.
    pub last_at: Instant,
}

/// A deploy, a sweeper run, an operator's action around the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatChanged {
    /// When.
    pub at: Instant,
    /// deploy, sweeper, recoverer, config.
    pub kind: String,
    /// What.
    pub what: String,
    /// By whom.
    pub who: Option<String>,
}

/// A record somebody handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedOver {
    /// Which.
    pub id: RecordId,
    /// To whom; absent = to whoever takes it.
    pub owner: Option<Operator>,
    /// By whom.
    pub by: Operator,
    /// When.
    pub at: Instant,
    /// With which words.
    pub note: String,
}

/// What the poll itself cost, shown on the screen: the console cannot be the incident.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Statements run.
    pub queries: u32,
    /// Milliseconds from BEGIN to COMMIT.
    pub millis: u64,
}

/// What one poll saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The database's clock when the transaction began.
    pub db_now: Instant,
    /// The signals.
    pub pulse: Answer<Vec<Pulse>>,
    /// The oldest stuck records.
    pub stuck: Answer<Vec<Record>>,
    /// The oldest unresolved payments.
    pub unknown: Answer<Vec<Record>>,
    /// The last hour of requests.
    pub rates: Answer<Rates>,
    /// How the providers do.
    pub providers: Answer<Vec<ProviderHealth>>,
    /// What the recoverer does.
    pub recoverer: Answer<Recoverer>,
    /// Who causes 409 and 422.
    pub offenders: Answer<Vec<Offender>>,
    /// What changed around the start.
    pub changes: Answer<Vec<WhatChanged>>,
    /// The invariants.
    pub rules: Vec<RuleReport>,
    /// The newest rows of the action log, newest first.
    pub log: Answer<Vec<LogEntry>>,
    /// What was handed over and not taken up.
    pub handed_over: Answer<Vec<HandedOver>>,
    /// Plans that wait, or waited, for a second person, newest first.
    pub approvals: Answer<Vec<ApprovalRequest>>,
    /// What was handed back to the service's recoverer, newest first.
    pub resumes: Answer<Vec<ResumeRequest>>,
    /// Where the settlement reports and our books disagree. A recording from before it was asked has none.
    #[serde(default = "not_asked")]
    pub reconciliation: Answer<Reconciliation>,
    /// What it cost.
    pub cost: Cost,
}

/// What a picture without the question says of it.
fn not_asked() -> Answer<Reconciliation> {
    Answer::not_known("it was not asked about settlement reports")
}

impl Snapshot {
    /// One signal, when the pulse is known and has it.
    pub fn pulse_of(&self, signal: Signal) -> Option<&Pulse> {
        self.pulse.value()?.iter().find(|pulse| pulse.signal == signal)
    }
}

/// What was learned on connecting: shown in the band and by `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// The profile that was recognised.
    pub profile: String,
    /// `PostgreSQL 15.18`.
    pub server: String,
    /// The database's name.
    pub database: String,
    /// The role the console logged in as.
    pub role: String,
    /// The environment as the database knows it; `None` without schema `unstuck`.
    pub environment: Option<Environment>,
    /// Rights the role has beyond SELECT and EXECUTE; empty is good. `NotKnown` when the catalogue did not answer.
    pub excess_rights: Answer<Vec<String>>,
    /// Panels that are off, each with file, column and both types, or with what the profile cannot answer.
    pub off: Vec<PanelOff>,
    /// The SQL behind each question, as it is sent: shown by `s`, so that every number can be followed.
    #[serde(skip)]
    pub sql: BTreeMap<String, String>,
    /// Why nothing can be changed here, when it cannot: no schema `unstuck`, a read-only profile, environments that disagree.
    pub read_only: Option<String>,
}

/// A question that is not asked, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelOff {
    /// The question: `get_stuck`.
    pub question: String,
    /// Why it is off.
    pub why: String,
}
