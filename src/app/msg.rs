//! What can happen to the model.

use serde::{Deserialize, Serialize};

use super::effect::{Question, Run};
use super::key::Chord;
use crate::domain::case::Case;
use crate::domain::evidence::Evidence;
use crate::domain::ids::RecordId;
use crate::domain::log::{LogEntry, Outcome};
use crate::domain::port::{Candidate, Dossier, Other, StoreError};
use crate::domain::snapshot::{ServerFacts, Snapshot};
use crate::domain::time::Instant;
use crate::domain::triage::Cause;

/// An event.
#[derive(Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Chord),
    /// Text was pasted in one piece.
    Paste(String),
    /// The window got focus.
    Focus,
    /// The process was stopped (ctrl-z) and continued.
    Resumed,
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// The frame for the model as it is was written to the terminal.
    Drawn,
    /// Time passed; see `Model::next_wake`.
    Wake,
    /// The console connected and knows where it is.
    Connected(Box<ServerFacts>),
    /// A poll came back. An older generation than the last one taken is ignored.
    Polled(Polled),
    /// A record was read whole; `None` when there is none.
    Dossier(RecordId, Result<Option<Box<Dossier>>, StoreError>),
    /// What was found for an id.
    Found(String, Result<Vec<Candidate>, StoreError>),
    /// Something about a run of the guard.
    Guard(Run, GuardMsg),
    /// An answer for the ticket screen.
    Ticket(TicketMsg),
    /// The shell has something to say: a copy done, a task that died.
    Said(String),
    /// The process was asked to end (SIGTERM, SIGHUP).
    Terminate,
}

/// The result of one poll.
#[derive(Debug, Clone)]
pub struct Polled {
    /// Which poll: grows by one per poll.
    pub generation: u64,
    /// What it brought.
    pub result: Result<Box<Snapshot>, StoreError>,
    /// After a failure: when the next try is due.
    pub next_try: Option<Instant>,
}

/// An answer to the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardMsg {
    /// The record, re-read to draw up a plan.
    Prepared(Result<Option<Box<Dossier>>, StoreError>),
    /// The record, re-read right before arming.
    Checked(Result<Option<Box<Dossier>>, StoreError>),
    /// What came of an action or a consent.
    Acted(Box<Acted>),
    /// What came of an intent whose outcome was not known.
    ReadBack(Result<Option<Box<LogEntry>>, StoreError>),
}

/// An answer for the ticket screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketMsg {
    /// Whose records the text of a question may be about.
    Found(Question, Result<Vec<Candidate>, StoreError>),
    /// What is known about the order of a record; `None` when there is nothing.
    Case(RecordId, Result<Option<Box<Case>>, StoreError>),
    /// Others to whom the same happened, since a time.
    Others(Cause, Instant, Result<Vec<Other>, StoreError>),
}

/// What came of an action, and the record read back after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    /// What the database said.
    pub outcome: Outcome,
    /// What the provider said, after a look-up. Kept for the session when it has no id.
    pub evidence: Option<Evidence>,
    /// The record, read back.
    pub after: Result<Option<Dossier>, StoreError>,
}
