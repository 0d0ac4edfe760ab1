//! An action on several marked records: menu, plan, (reason), phrase, the run one by one, the result.
//!
//! Owns the steps and what is shown of each record. What may be on the list, and which record may be armed
//! when, is the domain's (`domain::guard::BulkArmed`): this file drives a sequence of guarded runs with the
//! same effects a single one has, each under a number of its own, so that no answer is taken for another's.

use super::guard::{Finished, REASON_LIMIT};
use super::{Dialog, Settles};
use crate::app::effect::Run;
use crate::app::field::Field;
use crate::app::input::OnScreen;
use crate::app::keymap::Scope;
use crate::app::model::Model;
use crate::domain::guard::{BulkArmed, BulkPlan, BulkRequest, Marked, Progress, Refused, Words};
use crate::domain::ids::{RecordId, Target};
use crate::domain::log::Outcome;
use crate::domain::money::Money;
use crate::domain::time::Instant;

mod heard;
mod menu;
mod run;
mod steps;
mod view;

pub use heard::{expire, heard, watch};
pub use menu::{look_up, open};
pub use run::{end, tick};
pub use steps::on;
pub use view::view;

/// Longest phrase that can be typed.
const PHRASE_LIMIT: usize = 200;
/// Longest ticket.
const TICKET_LIMIT: usize = 40;

/// One run of the flow over the marked records.
#[derive(Debug)]
pub struct Bulk {
    /// What is done to each.
    pub request: BulkRequest,
    /// Which step.
    pub phase: Phase,
    /// The number of the reading or the action that is on its way; answers to others are ignored.
    pub run: Run,
    /// The list, from being drawn up until it is started.
    pub plan: Option<BulkPlan>,
    /// The list, started.
    pub armed: Option<BulkArmed>,
    /// Every record of the list and what came of it.
    pub entries: Vec<Entry>,
    /// What had been marked and was not on the list.
    pub left_out: Vec<(RecordId, Refused)>,
    /// The words being written.
    pub form: Form,
    /// When the step came on screen.
    pub on_screen: OnScreen,
    /// First line shown.
    pub from: usize,
}

/// A step.
#[derive(Debug)]
pub enum Phase {
    /// What can be done with the marked records.
    Menu,
    /// The marked records are read one after another, to draw up the plan.
    Preparing(Reading),
    /// The plan is on screen.
    Plan,
    /// Reason and ticket.
    Reason,
    /// The phrase.
    Phrase,
    /// One by one.
    Running(Doing, Wish),
    /// What came of it, and why it ended.
    Result(Progress),
    /// Nothing was sent, and why.
    Refused(Refused),
}

/// The marked records being read.
#[derive(Debug)]
pub struct Reading {
    /// Those still to be read, next first.
    pub waiting: Vec<Target>,
    /// Those that were.
    pub read: Vec<Marked>,
}

/// What the run does at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It waits for the next one's turn, not before this moment.
    Pausing(Instant),
    /// The next record is being read again, right before it is armed.
    Checking,
    /// Sent; no answer yet. When it was sent.
    Acting(Instant),
}

/// What the person wants of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// That it goes on.
    GoOn,
    /// That it stops after the one that is on its way.
    Stop,
    /// To leave although one is on its way.
    Leave,
}

/// One record of the list.
#[derive(Debug)]
pub struct Entry {
    /// Which.
    pub id: RecordId,
    /// Its amount.
    pub money: Option<Money>,
    /// What is asked, in a few words.
    pub asked: String,
    /// What came of it.
    pub state: EntryState,
}

/// What came of one record.
#[derive(Debug)]
pub enum EntryState {
    /// Not started.
    NotStarted,
    /// Sent; no answer yet.
    Sent,
    /// Answered, and read back.
    Ended(Box<Finished>),
    /// Not sent: the check right before refused.
    NotSent(Refused),
}

/// A field of the reason step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// What the person saw.
    Reason,
    /// The incident or ticket.
    Ticket,
}

/// Words being written.
#[derive(Debug)]
pub struct Form {
    /// What the person saw.
    pub reason: Field,
    /// The incident or ticket.
    pub ticket: Field,
    /// The phrase.
    pub phrase: Field,
    /// The field with the cursor.
    pub focus: Writing,
    /// Why the words were not accepted, the last time.
    pub trouble: Option<Refused>,
}

impl Bulk {
    fn new(request: BulkRequest, ticket: &str) -> Self {
        Self {
            request,
            phase: Phase::Menu,
            run: Run::default(),
            plan: None,
            armed: None,
            entries: Vec::new(),
            left_out: Vec::new(),
            form: Form {
                reason: Field::new(REASON_LIMIT),
                ticket: Field::with(TICKET_LIMIT, ticket),
                phrase: Field::new(PHRASE_LIMIT),
                focus: Writing::Reason,
                trouble: None,
            },
            on_screen: OnScreen::not_yet(),
            from: 0,
        }
    }

    /// Which keys the step takes.
    pub fn scope(&self) -> Scope {
        match &self.phase {
            Phase::Menu => Scope::Marked,
            Phase::Preparing(_) => Scope::Waiting,
            Phase::Plan => Scope::Plan,
            Phase::Reason => Scope::Reason,
            Phase::Phrase => Scope::Phrase,
            Phase::Running(_, Wish::Leave) => Scope::Leaving,
            Phase::Running(_, Wish::GoOn | Wish::Stop) => Scope::Running,
            Phase::Result(_) | Phase::Refused(_) => Scope::Result,
        }
    }

    /// The console was asked to end: no further record is started.
    pub fn settle(&mut self) -> Settles {
        match self.phase {
            Phase::Running(doing @ Doing::Acting(_), _) => {
                self.phase = Phase::Running(doing, Wish::Stop);
                Settles::Later
            }
            Phase::Running(Doing::Pausing(_) | Doing::Checking, _)
            | Phase::Menu
            | Phase::Preparing(_)
            | Phase::Plan
            | Phase::Reason
            | Phase::Phrase
            | Phase::Result(_)
            | Phase::Refused(_) => Settles::Now,
        }
    }

    /// When the next record's turn comes, while a run pauses.
    pub fn turn(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running(Doing::Pausing(until), _) => Some(until),
            Phase::Running(Doing::Checking | Doing::Acting(_), _)
            | Phase::Menu
            | Phase::Preparing(_)
            | Phase::Plan
            | Phase::Reason
            | Phase::Phrase
            | Phase::Result(_)
            | Phase::Refused(_) => None,
        }
    }

    /// Whether a change to money is being planned or made right now.
    pub fn writes(&self) -> bool {
        match &self.phase {
            Phase::Menu | Phase::Preparing(_) | Phase::Result(_) | Phase::Refused(_) => false,
            Phase::Plan | Phase::Reason | Phase::Phrase => {
                self.request == BulkRequest::Adopt && self.plan.as_ref().is_some_and(|plan| !plan.plans().is_empty())
            }
            Phase::Running(..) => self.request == BulkRequest::Adopt,
        }
    }

    /// The field that takes typing in this step.
    pub fn field(&mut self) -> Option<&mut Field> {
        match (&self.phase, self.form.focus) {
            (Phase::Reason, Writing::Ticket) => Some(&mut self.form.ticket),
            (Phase::Reason, Writing::Reason) => Some(&mut self.form.reason),
            (Phase::Phrase, _) => Some(&mut self.form.phrase),
            (
                Phase::Menu
                | Phase::Preparing(_)
                | Phase::Plan
                | Phase::Running(..)
                | Phase::Result(_)
                | Phase::Refused(_),
                _,
            ) => None,
        }
    }

    /// The words as they stand. A look-up has neither reason nor ticket.
    pub fn words(&self) -> Words {
        let of = |field: &Field| match self.request {
            BulkRequest::LookUp => String::new(),
            BulkRequest::Adopt => field.text().to_owned(),
        };
        Words {
            reason: of(&self.form.reason),
            ticket: of(&self.form.ticket),
            phrase: self.form.phrase.text().to_owned(),
            ..Words::default()
        }
    }

    /// Goes to a step; a key that was meant for the step before does not answer it.
    fn go(&mut self, phase: Phase) {
        self.phase = phase;
        self.on_screen = OnScreen::not_yet();
        self.from = 0;
    }

    fn refuse(&mut self, refused: Refused) {
        self.plan = None;
        self.go(Phase::Refused(refused));
    }

    /// What is shown of the record whose outcome is not known, if there is one: the run stopped there.
    fn unknown(&mut self) -> Option<&mut Finished> {
        self.entries.iter_mut().find_map(|entry| match &mut entry.state {
            EntryState::Ended(finished) if matches!(finished.outcome, Outcome::Unknown { .. }) => Some(&mut **finished),
            EntryState::Ended(_) | EntryState::NotStarted | EntryState::Sent | EntryState::NotSent(_) => None,
        })
    }

    /// The entry of a record.
    fn entry(&mut self, id: &RecordId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == *id)
    }
}

/// The flow, if it is open.
pub fn bulk_of(model: &mut Model) -> Option<&mut Bulk> {
    match &mut model.dialog {
        Some(Dialog::Bulk(bulk)) => Some(bulk),
        Some(Dialog::Menu(_) | Dialog::Guard(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
    }
}

/// The next number for a reading or an action.
fn next_run(model: &mut Model) -> Run {
    model.last_run = Run(model.last_run.0.saturating_add(1));
    model.last_run
}
