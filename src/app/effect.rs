//! What the model asks the world to do. Data only: "what would this key do" is an equality test.
//!
//! Exactly two effects can change anything. [`Effect::Act`] carries an [`Armed`] and [`Effect::Consent`] a
//! [`Consent`], which only the domain's own checks can make. Everything else reads, copies or leaves.

use serde::{Deserialize, Serialize};

use crate::domain::approval::Consent;
use crate::domain::clue::Clue;
use crate::domain::guard::Armed;
use crate::domain::ids::{LogId, RecordId};
use crate::domain::port::RefusedEvent;
use crate::domain::time::Instant;
use crate::domain::triage::Cause;

/// One run of the guard. An answer that carries an older one is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Run(pub u64);

/// One question of the find box. An answer that carries an older one is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Question(pub u64);

/// What the ticket screen wants to read; answered by `Msg::Ticket`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketWish {
    /// Whose records a text may be about.
    Find(Question, Clue),
    /// Everything that is known about the order of a record.
    Case(RecordId),
    /// Others to whom the same happened, since a time.
    Others(Cause, Instant),
}

/// A file to be written beside the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Its name, without a folder; another file of that name is never touched.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

/// A wish.
#[derive(Debug)]
pub enum Effect {
    /// Leave the loop.
    Quit,
    /// Draw everything anew.
    Redraw,
    /// Poll now; when the database is lost, try it now.
    PollNow,
    /// Read a record whole; answered by `Msg::Dossier`.
    Open(RecordId),
    /// Find records by any id; answered by `Msg::Found`.
    Find(String),
    /// Re-read a record to draw up a plan; answered by `GuardMsg::Prepared`.
    Prepare(Run, RecordId),
    /// Re-read a record right before arming; answered by `GuardMsg::Checked`.
    Check(Run, RecordId),
    /// Do it (a look-up asks the provider; anything else goes to the database) and read the record
    /// back; answered by `GuardMsg::Acted`.
    Act(Run, Box<Armed>),
    /// Ask a second person, answer as one, or take back what waits, and read the record back; answered by
    /// `GuardMsg::Acted`, without evidence.
    Consent(Run, Box<Consent>),
    /// Ask what came of an intent; answered by `GuardMsg::ReadBack`.
    ReadBack(Run, LogId),
    /// Put a text on the clipboard; answered by `Msg::Said`.
    Copy(String),
    /// Read something for the ticket screen; answered by `Msg::Ticket`.
    Ticket(TicketWish),
    /// Write new files into the current folder, readable by their owner alone; answered by `Msg::Said`.
    Export(Vec<ExportFile>),
    /// Write down that something was refused here.
    Refused(RefusedEvent),
}

impl Effect {
    /// Whether it can change anything outside the console, the log of refusals aside.
    pub fn changes_something(&self) -> bool {
        match self {
            Self::Act(..) | Self::Consent(..) => true,
            Self::Quit
            | Self::Redraw
            | Self::PollNow
            | Self::Open(_)
            | Self::Find(_)
            | Self::Prepare(..)
            | Self::Check(..)
            | Self::ReadBack(..)
            | Self::Copy(_)
            | Self::Ticket(_)
            | Self::Export(_)
            | Self::Refused(_) => false,
        }
    }
}
