//! The console as one value: what is known, what is on screen, what is being typed.
//!
//! Owns the state and the questions screens ask of it. Must not do anything: `update` changes it,
//! `view` draws it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dialog::Dialog;
use super::dialog::guard::Guard;
use super::drill::{Drill, Practice};
use super::effect::Run;
use super::field::Field;
use super::hand_backs::HandBacks;
use super::input::InputGuards;
use super::keymap::Scope;
use super::marks::Marks;
use super::notice::Notice;
use super::picture::{Freshness, Picture};
use super::replay::Playback;
use super::screen::{ScreenId, Screens};
use crate::domain::action::Request;
use crate::domain::alarm::Normals;
use crate::domain::evidence::Evidence;
use crate::domain::guard::Context;
use crate::domain::ids::{ApprovalId, RecordId};
use crate::domain::log::Outcome;
use crate::domain::port::Dossier;
use crate::domain::record::Record;
use crate::domain::recovery::{self, Step};
use crate::domain::snapshot::{ServerFacts, Signal};
use crate::domain::time::{Instant, Now, Seconds};
use crate::domain::trend::History;
use crate::ui::Look;

/// Whether the console was started to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acting {
    /// With `--act`.
    On,
    /// Look-ups only.
    Off,
}

/// Whether a second person can sit down beside this console: only a demo, where somebody practises alone, has a seat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecondSeat {
    /// There is none: the second person has a console of their own.
    #[default]
    None,
    /// This command, in another terminal, opens it.
    Free(String),
    /// This is it.
    Here,
}

/// What the console is started with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Who, where, under which policy. The role is filled in on connecting.
    pub context: Context,
    /// Whether changes may be planned.
    pub acting: Acting,
    /// Theme and characters.
    pub look: Look,
    /// How often the poller polls.
    pub poll_every: Seconds,
    /// What is normal, from `[normal]`.
    pub normals: Normals,
    /// Where a second person can sit down.
    pub second: SecondSeat,
    /// What there is to practise, and the drill this console was started for.
    pub practice: Practice,
}

/// What is on screen under any dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A screen.
    Screen(ScreenId),
    /// One record, opened from a screen.
    Record(RecordId, ScreenId),
    /// The answer to a customer's question about a record, opened from a screen.
    Ticket(RecordId, ScreenId),
}

/// How times are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// As ages.
    Ages,
    /// As UTC.
    Utc,
}

/// What a line of text is being typed for.
#[derive(Debug, Clone)]
pub enum Typing {
    /// The rows of a screen; what the filter was before.
    Filter { screen: ScreenId, before: String },
    /// A command.
    Command,
    /// What a customer gave, to be found.
    Find,
}

/// A line being typed.
#[derive(Debug, Clone)]
pub struct LineInput {
    /// For what.
    pub typing: Typing,
    /// The text.
    pub field: Field,
}

/// Whether the console is about to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// No.
    No,
    /// Ctrl-c was pressed once at the top level.
    AskedOnce(Now),
    /// As soon as the running action has an outcome.
    WhenSettled,
    /// Yes.
    Now,
}

/// Whether the no-delete card was read in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardSeen {
    /// Not yet.
    Never,
    /// Yes; the last press showed one line.
    Once,
    /// The one line is on screen: the next press shows the card.
    LineShown,
}

/// The whole console.
#[derive(Debug)]
pub struct Model {
    /// What it was started with.
    pub setup: Setup,
    /// What was learned on connecting.
    pub facts: Option<ServerFacts>,
    /// The snapshot and its age.
    pub picture: Picture,
    /// Samples of the signals since the start.
    pub histories: BTreeMap<Signal, History>,
    /// Where it is.
    pub place: Place,
    /// Where it was and could go forward to.
    pub past: Past,
    /// State of the screens.
    pub screens: Screens,
    /// What lies over the screen.
    pub dialog: Option<Dialog>,
    /// A line being typed.
    pub line: Option<LineInput>,
    /// What just happened.
    pub notice: Option<Notice>,
    /// Records marked for an action on several.
    pub marks: Marks,
    /// The input guards.
    pub input: InputGuards,
    /// How times are shown.
    pub zone: Zone,
    /// Records read whole, the newest reading of each.
    pub dossiers: BTreeMap<RecordId, Dossier>,
    /// What was handed back to the service's recoverer, and what became of it.
    pub hand_backs: HandBacks,
    /// Look-ups that are not stored: kept for this session.
    pub session_evidence: BTreeMap<RecordId, Vec<Evidence>>,
    /// The no-delete card.
    pub card: CardSeen,
    /// Delete habits seen in this session.
    pub delete_presses: u32,
    /// Whether it is leaving.
    pub leave: Leave,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The last run of the guard.
    pub last_run: Run,
    /// The ticket of the last action: filled in for the next.
    pub last_ticket: String,
    /// The request for approval that is being read, while a look-up for it lies over it.
    pub reading: Option<(RecordId, ApprovalId)>,
    /// What to print once the terminal is restored.
    pub last_outcome: Option<(RecordId, Request, Outcome)>,
    /// That this is a recording and not the world, and how it is played.
    pub replay: Option<Playback>,
    /// The drill that runs.
    pub drill: Option<Drill>,
}

/// Places before and after this one.
#[derive(Debug, Default)]
pub struct Past {
    /// Where it was, last at the end.
    pub back: Vec<Place>,
    /// Where `]` goes, next at the end.
    pub forward: Vec<Place>,
}

impl Model {
    /// A console that knows nothing yet.
    pub fn new(setup: Setup) -> Self {
        let drill = setup.practice.lesson.clone().map(Drill::new);
        Self {
            setup,
            facts: None,
            picture: Picture::default(),
            histories: BTreeMap::new(),
            place: Place::Screen(ScreenId::Overview),
            past: Past::default(),
            screens: Screens::default(),
            dialog: None,
            line: None,
            notice: None,
            marks: Marks::default(),
            input: InputGuards::default(),
            zone: Zone::Ages,
            dossiers: BTreeMap::new(),
            hand_backs: HandBacks::default(),
            session_evidence: BTreeMap::new(),
            card: CardSeen::Never,
            delete_presses: 0,
            leave: Leave::No,
            size: (80, 24),
            last_run: Run::default(),
            last_ticket: String::new(),
            reading: None,
            last_outcome: None,
            replay: None,
            drill,
        }
    }

    /// How far the numbers can be trusted to be now.
    pub fn freshness(&self, now: Now) -> Freshness {
        self.picture.freshness(self.setup.poll_every, now)
    }

    /// The moment ages are counted to, by the database's clock: now, or, when the picture is old, the
    /// moment it was taken. An old picture does not go on ageing by itself: it is "as of".
    pub fn db_now(&self, now: Now) -> Instant {
        match self.picture.snapshot() {
            Some(snapshot) if self.freshness(now).is_old() => snapshot.db_now,
            Some(_) | None => self.picture.db_now(now),
        }
    }

    /// The guard, if it is open.
    pub fn guard(&self) -> Option<&Guard> {
        match &self.dialog {
            Some(Dialog::Guard(guard)) => Some(guard),
            Some(Dialog::Menu(_) | Dialog::Bulk(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
        }
    }

    /// The screen that is shown, or that the shown record was opened from.
    pub fn screen(&self) -> ScreenId {
        match &self.place {
            Place::Screen(id) | Place::Record(_, id) | Place::Ticket(_, id) => *id,
        }
    }

    /// The record a key acts on: the one that is open, or under the cursor.
    pub fn target(&self) -> Option<RecordId> {
        match &self.place {
            Place::Record(id, _) => Some(id.clone()),
            Place::Ticket(id, _) => Some(self.screens.ticket.target().unwrap_or(id).clone()),
            Place::Screen(id) => self.screens.target(*id, self),
        }
    }

    /// A record by id, from the newest reading there is.
    pub fn record(&self, id: &RecordId) -> Option<&Record> {
        let read = self.dossiers.get(id).map(|d| &d.detail.record);
        match (self.picture.record(id), read) {
            (Some(polled), Some(read)) if read.changed_at > polled.changed_at => Some(read),
            (Some(polled), _) => Some(polled),
            (None, read) => read,
        }
    }

    /// What may be done next with a record, when it was read whole.
    pub fn step(&self, id: &RecordId, now: Now) -> Option<Step> {
        let dossier = self.dossiers.get(id)?;
        let context = &self.setup.context;
        let terms = context.terms_of(&dossier.detail.record);
        let at = self.db_now(now).max(dossier.at);
        let decision =
            recovery::next_step(&dossier.detail, &dossier.evidence, &context.holder(), &context.policy, &terms, at);
        Some(decision.step)
    }

    /// Why a request cannot be started at all, with a way out. What depends on the record is
    /// the guard's to say.
    pub fn why_not(&self, request: Request, now: Now) -> Option<String> {
        if let Some(why) = self.replay.as_ref().and_then(Playback::why_no_action) {
            return Some(why);
        }
        if let Some(why) = self.picture.why_no_action(self.setup.poll_every, now) {
            return Some(why);
        }
        if request == Request::LookUp {
            return None;
        }
        if self.setup.acting == Acting::Off {
            return Some("This console was started to read. Start with --act to plan it.".into());
        }
        match &self.facts {
            None => Some("What this database allows is not known yet. Wait for the connection.".into()),
            Some(facts) => facts.read_only.clone(),
        }
    }

    /// Key scopes in force, innermost first.
    pub fn scopes(&self, now: Now) -> Vec<Scope> {
        if self.line.is_some() {
            return vec![Scope::Line];
        }
        if let Some(dialog) = &self.dialog {
            return vec![dialog.scope()];
        }
        let mut scopes = Vec::new();
        if self.replay.as_ref().is_some_and(Playback::is_viewers) {
            scopes.push(Scope::Replay);
        }
        if matches!(self.freshness(now), Freshness::Lost(_)) {
            scopes.push(Scope::Lost);
        }
        if self.drill.is_some() {
            scopes.push(Scope::Drill);
        }
        scopes.push(match self.place {
            Place::Screen(ScreenId::Ticket) => Scope::Find,
            Place::Screen(_) => Scope::List,
            Place::Record(..) => Scope::Record,
            Place::Ticket(..) => Scope::Ticket,
        });
        scopes.push(Scope::Global);
        scopes
    }

    /// When the picture changes by itself: the next whole second (ages and clock), a notice's end, or the turn of
    /// the next of several records.
    pub fn next_wake(&self, now: Now) -> Instant {
        let whole = now.0.timestamp().saturating_add(1);
        let second = chrono::DateTime::from_timestamp(whole, 0).unwrap_or(now.0);
        let turn = match &self.dialog {
            Some(Dialog::Bulk(bulk)) => bulk.turn(),
            Some(Dialog::Menu(_) | Dialog::Guard(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
        };
        let notice = self.notice.as_ref().map(Notice::until);
        [turn, notice].into_iter().flatten().filter(|at| *at > now.0).fold(second, Instant::min)
    }
}
