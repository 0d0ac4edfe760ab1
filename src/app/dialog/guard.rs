//! The one confirm flow: plan, reason, phrase, checking, result. Every action goes through it, and so does
//! asking a second person and answering as one (`second`); a look-up needs the plan line and Enter.
//!
//! Owns the steps and when a key may answer one. The rules of what may be done are the domain's
//! (`domain::guard`): this file shows a plan, collects words and hands both back to be armed.

use super::Dialog;
use crate::app::effect::{Effect, Run};
use crate::app::field::Field;
use crate::app::input::OnScreen;
use crate::app::keymap::Scope;
use crate::app::model::Model;
use crate::app::notice::Notice;
use crate::domain::action::{Change, Ladder, Request};
use crate::domain::evidence::Evidence;
use crate::domain::guard::{Phrase, Plan, Refused, Words};
use crate::domain::ids::{ApprovalId, RecordId};
use crate::domain::log::{LogEntry, Outcome};
use crate::domain::promise::{Promise, Said};
use crate::domain::time::Now;

mod answer;
mod followed;
mod second;
mod steps;
mod view;

pub use answer::{expire, heard, watch};
pub use followed::{HandedBack, followed};
pub use second::{Answering, Second, Way, read_again, read_request};
pub use steps::on;
pub use view::view;

/// Longest reason.
pub const REASON_LIMIT: usize = 200;
/// Longest phrase that can be typed.
const PHRASE_LIMIT: usize = 160;
/// Longest ticket or owner.
const SHORT_LIMIT: usize = 40;

/// One run of the flow.
#[derive(Debug)]
pub struct Guard {
    /// Answers to other runs are ignored.
    pub run: Run,
    /// What was asked for.
    pub request: Request,
    /// The request for approval that is read here; none: a plan of one's own.
    pub answers: Option<ApprovalId>,
    /// Where the person is heading.
    pub way: Way,
    /// What is known of the second person.
    pub second: Second,
    /// Of which record.
    pub id: RecordId,
    /// Which step.
    pub phase: Phase,
    /// The plan, from being drawn up until it is armed.
    pub plan: Option<Plan>,
    /// What the plan promised, kept for the result.
    pub promises: Vec<Promise>,
    /// The words being written.
    pub form: Form,
    /// When the step came on screen.
    pub on_screen: OnScreen,
    /// Scroll position of plan and result.
    pub from: usize,
}

/// A step.
#[derive(Debug)]
pub enum Phase {
    /// The record is being read to draw up a plan.
    Preparing,
    /// The plan is on screen, or the request that is read.
    Plan,
    /// Reason, ticket, owner.
    Reason,
    /// What exactly goes to a second person.
    Send,
    /// The phrase.
    Phrase,
    /// The record is being read again, right before arming.
    Checking,
    /// Sent; no answer yet.
    Acting,
    /// Sent; no answer yet; the person asked to leave.
    ActingAskedToLeave,
    /// What came of it.
    Result(Box<Finished>),
    /// Nothing was sent, and why.
    Refused(Refused),
}

/// What came of it, with each promise read back.
#[derive(Debug)]
pub struct Finished {
    /// What the database said.
    pub outcome: Outcome,
    /// Each line of the plan and what the re-read record says about it.
    pub read_back: Vec<(String, Said)>,
    /// Why the record could not be read back, when it could not.
    pub trouble: Option<String>,
    /// What the provider said, after a look-up.
    pub evidence: Option<Evidence>,
    /// What was handed back, if anything was: followed on the page until it ended.
    pub handed_back: Option<HandedBack>,
    /// What the log says about an outcome that was not known.
    pub log: Option<Result<LogEntry, String>>,
}

/// A field of the reason step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldName {
    /// To whom it is handed over.
    Owner,
    /// What the person saw.
    Reason,
    /// The incident or ticket.
    Ticket,
    /// The incident for which nobody is waited for.
    Incident,
}

/// Words being written.
#[derive(Debug)]
pub struct Form {
    /// What the person saw.
    pub reason: Field,
    /// The incident or ticket.
    pub ticket: Field,
    /// To whom.
    pub owner: Field,
    /// The incident for which nobody is waited for.
    pub incident: Field,
    /// The phrase.
    pub phrase: Field,
    /// The field with the cursor.
    pub focus: FieldName,
    /// Why the words were not accepted, the last time.
    pub trouble: Option<Refused>,
}

impl Guard {
    fn new(run: Run, request: Request, id: RecordId, ticket: &str) -> Self {
        Self {
            run,
            request,
            answers: None,
            way: Way::Act,
            second: Second::Nobody,
            id,
            phase: Phase::Preparing,
            plan: None,
            promises: Vec::new(),
            form: Form {
                reason: Field::new(REASON_LIMIT),
                ticket: Field::with(SHORT_LIMIT, ticket),
                owner: Field::new(SHORT_LIMIT),
                incident: Field::new(SHORT_LIMIT),
                phrase: Field::new(PHRASE_LIMIT),
                focus: if request == Request::HandOver { FieldName::Owner } else { FieldName::Reason },
                trouble: None,
            },
            on_screen: OnScreen::not_yet(),
            from: 0,
        }
    }

    /// Which keys the step takes.
    pub fn scope(&self) -> Scope {
        match &self.phase {
            Phase::Plan if self.answers.is_some() => Scope::Asked,
            Phase::Plan => Scope::Plan,
            Phase::Send => Scope::Send,
            Phase::Reason => match self.way {
                Way::Refuse | Way::TakeBack => Scope::Answer,
                Way::Act | Way::Ask | Way::BreakGlass | Way::Approve => Scope::Reason,
            },
            Phase::Phrase => Scope::Phrase,
            Phase::Preparing | Phase::Checking | Phase::Acting => Scope::Waiting,
            Phase::ActingAskedToLeave => Scope::Leaving,
            Phase::Result(_) | Phase::Refused(_) => Scope::Result,
        }
    }

    /// Whether something was sent that has no answer yet.
    pub fn is_acting(&self) -> bool {
        matches!(self.phase, Phase::Acting | Phase::ActingAskedToLeave)
    }

    /// The fields of the reason step.
    pub fn fields(&self) -> &'static [FieldName] {
        match self.way {
            Way::BreakGlass => return &[FieldName::Incident, FieldName::Reason, FieldName::Ticket],
            Way::Refuse | Way::TakeBack => return &[FieldName::Reason],
            Way::Act | Way::Ask | Way::Approve => {}
        }
        match (self.request, self.ladder()) {
            (Request::HandOver, _) => &[FieldName::Owner, FieldName::Reason],
            (
                Request::LookUp
                | Request::Resume
                | Request::Hold
                | Request::Release
                | Request::Withdraw
                | Request::Note,
                Ladder::Phrase,
            ) => &[FieldName::Reason, FieldName::Ticket],
            (
                Request::LookUp
                | Request::Resume
                | Request::Hold
                | Request::Release
                | Request::Withdraw
                | Request::Note,
                Ladder::PlanLine | Ladder::Reason,
            ) => &[FieldName::Reason],
        }
    }

    /// How much a person has to do.
    pub fn ladder(&self) -> Ladder {
        self.plan.as_ref().map_or(Ladder::Phrase, |plan| plan.change().ladder())
    }

    /// Whether a change to money is being planned or made right now.
    pub fn writes(&self) -> bool {
        match self.way {
            Way::Act | Way::BreakGlass => {}
            // A question and its answer change nothing about money.
            Way::Ask | Way::Approve | Way::Refuse | Way::TakeBack => return false,
        }
        match &self.phase {
            Phase::Preparing | Phase::Result(_) | Phase::Refused(_) => false,
            // A plan that is only shown, or waits, writes nothing.
            Phase::Plan if self.second.stands_in_the_way() => false,
            Phase::Plan
            | Phase::Send
            | Phase::Reason
            | Phase::Phrase
            | Phase::Checking
            | Phase::Acting
            | Phase::ActingAskedToLeave => self.request != Request::LookUp,
        }
    }

    /// The field that takes typing in this step.
    pub fn field(&mut self) -> Option<&mut Field> {
        match (&self.phase, self.form.focus) {
            (Phase::Reason, FieldName::Reason) => Some(&mut self.form.reason),
            (Phase::Reason, FieldName::Ticket) => Some(&mut self.form.ticket),
            (Phase::Reason, FieldName::Owner) => Some(&mut self.form.owner),
            (Phase::Reason, FieldName::Incident) => Some(&mut self.form.incident),
            (Phase::Phrase, _) => Some(&mut self.form.phrase),
            _ => None,
        }
    }

    /// The words as they stand.
    pub fn words(&self) -> Words {
        Words {
            reason: self.form.reason.text().to_owned(),
            // A field that is not on the form says nothing, whatever the last ticket was.
            ticket: if self.fields().contains(&FieldName::Ticket) {
                self.form.ticket.text().to_owned()
            } else {
                String::new()
            },
            phrase: self.form.phrase.text().to_owned(),
            owner: self.form.owner.text().to_owned(),
            incident: match self.way {
                Way::BreakGlass => self.form.incident.text().to_owned(),
                Way::Act | Way::Ask | Way::Approve | Way::Refuse | Way::TakeBack => String::new(),
            },
        }
    }

    /// What has to be typed in this run.
    pub fn phrase(&self) -> Option<&Phrase> {
        self.plan.as_ref().map(Plan::phrase).or_else(|| self.second.phrase())
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
}

/// Starts the flow for a record: reads it, to draw up a plan. Sends nothing.
pub fn start(model: &mut Model, request: Request, id: RecordId, now: Now) -> Vec<Effect> {
    if let Some(why) = model.why_not(request, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    let guard = Guard::new(next_run(model), request, id, &model.last_ticket);
    open(model, guard)
}

fn next_run(model: &mut Model) -> Run {
    model.last_run = Run(model.last_run.0.saturating_add(1));
    model.last_run
}

fn open(model: &mut Model, guard: Guard) -> Vec<Effect> {
    let reading = Effect::Prepare(guard.run, guard.id.clone());
    model.dialog = Some(Dialog::Guard(Box::new(guard)));
    vec![reading]
}

/// The guard, if it is open.
pub fn guard_of(model: &mut Model) -> Option<&mut Guard> {
    match &mut model.dialog {
        Some(Dialog::Guard(guard)) => Some(guard),
        Some(Dialog::Menu(_) | Dialog::Bulk(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
    }
}

/// Whether a change only appends text.
fn only_appends(change: &Change) -> bool {
    match change {
        Change::Note | Change::HandOver | Change::LookUp => true,
        Change::Adopt { .. }
        | Change::Fail { .. }
        | Change::Reverse { .. }
        | Change::NotCharged { .. }
        | Change::HandBack { .. }
        | Change::Hold { .. }
        | Change::Withdraw { .. }
        | Change::Release => false,
    }
}
