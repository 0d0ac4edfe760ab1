//! What the console needs of the world: a store that can be asked and, behind the guard, changed;
//! a provider that can be asked and nothing else.

use std::future::Future;
use std::pin::Pin;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::approval::{ApprovalRequest, Consent, ResumeRequest};
use super::case::Case;
use super::clue::Clue;
use super::evidence::Evidence;
use super::guard::Armed;
use super::ids::{LogId, Operator, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId};
use super::log::{LogEntry, Outcome, TimelineEntry};
use super::money::Money;
use super::record::RecordDetail;
use super::snapshot::Snapshot;
use super::time::Instant;
use super::triage::Cause;

/// A future that can be sent between threads: traits with it can be made into objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why the database could not be asked. Raw database text goes to the log, the screen gets these.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum StoreError {
    /// No connection, or it was lost.
    #[error("the database does not answer: {why}")]
    Unreachable {
        /// What happened, without secrets.
        why: String,
    },
    /// The role may not do it.
    #[error("the role may not read this: {what}")]
    Denied {
        /// The missing right.
        what: String,
    },
    /// A deadline passed: ours, or the server's statement or lock time-out.
    #[error("no answer within the time limit ({what})")]
    TimedOut {
        /// What took too long.
        what: String,
    },
    /// The database's answer is not what the contract says.
    #[error("{file}: column {column} is {found}, the contract says {expected}")]
    Contract {
        /// The query file.
        file: String,
        /// The column.
        column: String,
        /// What the contract says.
        expected: String,
        /// What came.
        found: String,
    },
    /// The profile cannot answer this question.
    #[error("{why}")]
    CannotAnswer {
        /// What the profile says about it.
        why: String,
    },
    /// Anything else, by its SQLSTATE.
    #[error("the database refused: {meaning} (SQLSTATE {sqlstate})")]
    Database {
        /// The code.
        sqlstate: String,
        /// What it means.
        meaning: String,
    },
}

/// One record with its evidence, re-read in one transaction: what plans are made from and checked against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dossier {
    /// The record.
    pub detail: RecordDetail,
    /// Its evidence, newest first.
    pub evidence: Vec<Evidence>,
    /// Everything known about it in time order.
    pub timeline: Answer<Vec<TimelineEntry>>,
    /// Requests for approval of it, newest first.
    pub approvals: Vec<ApprovalRequest>,
    /// What was handed back of it, newest first.
    pub resumes: Vec<ResumeRequest>,
    /// The environment's name as the database knows it; `None` without schema `unstuck`.
    pub environment: Option<String>,
    /// The database's clock at the re-read.
    pub at: Instant,
}

impl Dossier {
    /// The newest hand back of it that something can still come of.
    pub fn handed_back(&self) -> Option<&ResumeRequest> {
        self.resumes.iter().filter(|resume| resume.state.is_open()).max_by_key(|resume| resume.number)
    }
}

/// A candidate for an id a person typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The record.
    pub id: RecordId,
    /// Its order.
    pub order: Option<OrderId>,
    /// Its payment.
    pub payment: Option<PaymentId>,
    /// Which id matched, or that it was the amount.
    pub why: String,
    /// How much it is about.
    pub money: Option<Money>,
    /// When it was paid, or the record made.
    pub at: Option<Instant>,
    /// Whether it is what was named.
    pub matched: Matched,
}

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matched {
    /// By an id that the customer named.
    Id,
    /// By an amount and a day: it may be anybody's, and a person chooses.
    Amount,
}

/// As many others are listed. There may be more.
pub const MOST_OTHERS: usize = 1_000;

/// As many candidates of one clue are listed. There may be more, of other scopes, too.
pub const MOST_CANDIDATES: usize = 50;

/// Something that happened to another customer for the same cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Other {
    /// The record, or the one a payment belongs to. None for a charge that our books know nothing of.
    pub id: Option<RecordId>,
    /// Its order.
    pub order: Option<OrderId>,
    /// The provider's ref of the charge it is about.
    pub provider_ref: Option<ProviderRef>,
    /// When it happened.
    pub at: Instant,
    /// What was taken too much, or may have been.
    pub at_risk: Option<Money>,
    /// What shows it, in a few words.
    pub what: String,
}

/// What one piece of work beside the polls came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// A piece was done; there may be more at once.
    Worked,
    /// Nothing is due: come back in a second.
    Idle,
}

/// The database behind the query contract.
pub trait Store: Send + Sync {
    /// Polls once: one read-only transaction.
    fn poll(&self) -> BoxFuture<'_, Result<Snapshot, StoreError>>;
    /// Does the next piece of work that is due beside the polls, on a connection of its own: the hour of
    /// requests before the start, and full audits of the invariants.
    fn work_beside(&self) -> BoxFuture<'_, Result<Beside, StoreError>>;
    /// Re-reads one record whole. `None`: there is no such record.
    fn dossier<'a>(&'a self, id: &'a RecordId) -> BoxFuture<'a, Result<Option<Dossier>, StoreError>>;
    /// Finds records by any id a person may have, or by an amount and a day.
    fn find<'a>(&'a self, clue: &'a Clue) -> BoxFuture<'a, Result<Vec<Candidate>, StoreError>>;
    /// Everything our own books and the stored evidence know about the order of a record: the case of a support
    /// question. `None`: there is nothing about it.
    fn case<'a>(&'a self, id: &'a RecordId) -> BoxFuture<'a, Result<Option<Box<Case>>, StoreError>>;
    /// Finds others with the same cause since a time, the newest first.
    fn others(&self, cause: Cause, since: Instant) -> BoxFuture<'_, Result<Vec<Other>, StoreError>>;
    /// Carries out an armed change: the intent in its own transaction, then the change with its outcome.
    fn act(&self, armed: Armed) -> BoxFuture<'_, Outcome>;
    /// Asks for approval, answers, or takes back: the intent in its own transaction, then the step with its outcome.
    fn consent(&self, consent: Consent) -> BoxFuture<'_, Outcome>;
    /// Writes the intent of a look-up, before the provider is asked.
    fn begin_lookup<'a>(&'a self, armed: &'a Armed) -> BoxFuture<'a, Result<LogId, StoreError>>;
    /// Keeps what a look-up said, with the outcome of its intent.
    fn keep<'a>(&'a self, armed: Armed, intent: LogId, evidence: &'a Evidence) -> BoxFuture<'a, Outcome>;
    /// What came of an intent whose outcome is Unknown. Closes it as "not done" if it can no longer come to pass.
    fn read_back(&self, intent: LogId) -> BoxFuture<'_, Result<Option<LogEntry>, StoreError>>;
    /// Writes down that something was refused in the console, such as a typed removal command.
    fn refused<'a>(&'a self, what: &'a RefusedEvent) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Something a person tried that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedEvent {
    /// Who tried.
    pub operator: Operator,
    /// Where.
    pub environment: String,
    /// What was typed.
    pub what: String,
    /// On which record.
    pub target: Option<RecordId>,
}

/// What to ask a provider about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The record, for the access log and errors.
    pub id: RecordId,
    /// The charge, when its id is stored.
    pub provider_ref: Option<ProviderRef>,
    /// The key the provider was sent.
    pub provider_key: Option<ProviderKey>,
    /// Our reference.
    pub payment: Option<PaymentId>,
    /// The order.
    pub order: Option<OrderId>,
    /// The amount, for matching.
    pub money: Option<Money>,
    /// Who asks.
    pub operator: Operator,
}

/// A payment provider that can be asked what happened. It has no other verb.
pub trait Provider: Send + Sync {
    /// Its name, as the service writes it.
    fn name(&self) -> &ProviderName;
    /// Asks by ref, then by our key and reference. A failure is an answer too: `Unreachable`.
    fn lookup<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Evidence>;
}
