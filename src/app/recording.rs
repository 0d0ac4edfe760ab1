//! A recording: what a console saw and which keys were pressed, one JSON object a line.
//!
//! Owns the format: the header, the events, and [`event_of`], the one place that decides what of a message is
//! kept. What people type into fields is not, and their reasons and notes are not, wherever they come back from:
//! letters become `x`, the confirm phrase is kept only as "the next letter was right", a command's arguments are
//! left out. Must not know files, clocks or screens.
//!
//! A replay gives the events to the same `update` with the recorded time, so it shows what was shown.

use serde::{Deserialize, Serialize};

use super::dialog::Dialog;
use super::drill::Practice;
use super::effect::Run;
use super::key::{Chord, Key};
use super::model::{Acting, Model, SecondSeat, Setup};
use super::msg::{GuardMsg, Msg, Polled, TicketMsg};
use crate::domain::alarm::Normals;
use crate::domain::environment::Environment;
use crate::domain::guard::Context;
use crate::domain::ids::{Operator, ProviderName, RecordId};
use crate::domain::policy::{Policy, ProviderTerms};
use crate::domain::port::{Candidate, Dossier, StoreError};
use crate::domain::snapshot::{ServerFacts, Snapshot};
use crate::domain::time::{Instant, Now, Seconds};
use crate::ui::Look;

mod case;
mod patch;
mod pen;
mod reading;
mod typed;
mod words;

pub use pen::Pen;
pub use reading::{Head, Reading, Stub, head, moment, stub};
pub use typed::WRONG;

/// What the first line calls itself.
pub const FORMAT: &str = "unstuck recording";
/// The version of the format. Grows when an older `unstuck` could not show it truthfully.
pub const VERSION: u32 = 1;
/// The longest line that carries a picture, in bytes: beyond it nothing is written, and nothing is read.
pub const LONGEST_PICTURE: usize = 8 * 1024 * 1024;
/// The longest of any other line, in bytes.
pub const LONGEST_LINE: usize = 512 * 1024;

/// The first line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`] of the console that wrote it.
    pub version: u32,
    /// The version of that `unstuck`.
    pub tool: String,
    /// When the recording began, by the clock of that machine. Every line counts milliseconds from here.
    pub started_at: Instant,
    /// Where it was.
    pub environment: Environment,
    /// Who was at the console.
    pub operator: Operator,
    /// Whether changes could be planned.
    pub acting: Acting,
    /// Whether there was a second seat; its command is not kept.
    #[serde(default)]
    pub second: SecondSeat,
    /// What there was to practise, and the drill that ran.
    #[serde(default)]
    pub practice: Practice,
    /// How often it polled.
    pub poll_every: Seconds,
    /// What was normal there.
    pub normals: Normals,
    /// The numbers plans were made by.
    pub policy: Policy,
    /// What each provider promised.
    pub terms: Vec<(ProviderName, ProviderTerms)>,
}

impl Header {
    /// The header of a recording that begins now.
    pub fn of(setup: &Setup, started_at: Instant) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            started_at,
            environment: setup.context.environment.clone(),
            operator: setup.context.operator.clone(),
            acting: setup.acting,
            second: match setup.second {
                SecondSeat::Free(_) => SecondSeat::Free("(not in a recording)".to_owned()),
                SecondSeat::None => SecondSeat::None,
                SecondSeat::Here => SecondSeat::Here,
            },
            practice: Practice { program: String::new(), ..setup.practice.clone() },
            poll_every: setup.poll_every,
            normals: setup.normals.clone(),
            policy: setup.context.policy.clone(),
            terms: setup.context.terms.iter().map(|(name, terms)| (name.clone(), *terms)).collect(),
        }
    }

    /// What the recorded console was started with, in the viewer's look.
    pub fn setup(&self, look: Look) -> Setup {
        Setup {
            context: Context {
                environment: self.environment.clone(),
                operator: self.operator.clone(),
                role: String::new(),
                policy: self.policy.clone(),
                terms: self.terms.iter().cloned().collect(),
            },
            acting: self.acting,
            look,
            poll_every: self.poll_every,
            normals: self.normals.clone(),
            second: self.second.clone(),
            practice: self.practice.clone(),
        }
    }
}

/// What happened, without what must not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A key; in a field, a stand-in for the letter.
    Key(Chord),
    /// The next letter of the confirm phrase, whatever it was.
    PhraseLetter,
    /// A text was pasted; a stand-in of the same length.
    Paste(String),
    /// A typed command opened this record.
    Opened(RecordId),
    /// The window got focus.
    Focus,
    /// Stopped and continued.
    Resumed,
    /// The window had this many columns and rows.
    Resized(u16, u16),
    /// A step of the guard came on screen.
    Drawn,
    /// Time passed while a plan was open.
    Wake,
    /// The console connected.
    Connected(Box<ServerFacts>),
    /// A poll came back.
    Polled {
        /// Which poll.
        generation: u64,
        /// After a failure: when the next try was due.
        next_try: Option<Instant>,
        /// What it brought.
        result: Result<Box<Snapshot>, StoreError>,
    },
    /// A record was read whole.
    Dossier(RecordId, Result<Option<Box<Dossier>>, StoreError>),
    /// What was found; the text that was looked for is a stand-in.
    Found(String, Result<Vec<Candidate>, StoreError>),
    /// An answer for the ticket screen.
    Ticket(TicketMsg),
    /// An answer to the guard: a record re-read, an outcome.
    Guard(Run, GuardMsg),
    /// The shell said something.
    Said(String),
    /// The process was asked to end.
    Terminate,
    /// Something was too large to be kept: what, and how many bytes.
    Left(String, usize),
    /// The console was left, and nothing is missing.
    End,
}

/// Whether a confirm flow is open, for one record or for several.
fn in_a_flow(model: &Model) -> bool {
    matches!(model.dialog, Some(Dialog::Guard(_) | Dialog::Bulk(_)))
}

/// What is kept of a message, given the model it is about to change. `None`: nothing depends on it.
///
/// The one place that decides: a new kind of message does not compile until it is decided here.
pub fn event_of(model: &Model, msg: &Msg, now: Now) -> Option<Event> {
    match msg {
        Msg::Key(chord) => Some(typed::key(model, *chord, now)),
        Msg::Paste(text) => Some(typed::paste(model, text)),
        Msg::Focus => Some(Event::Focus),
        Msg::Resumed => Some(Event::Resumed),
        Msg::Resized(columns, rows) => Some(Event::Resized(*columns, *rows)),
        // Only a step of the guard remembers when it was seen, and only a plan grows old.
        Msg::Drawn => in_a_flow(model).then_some(Event::Drawn),
        Msg::Wake => in_a_flow(model).then_some(Event::Wake),
        Msg::Connected(facts) => Some(Event::Connected(facts.clone())),
        Msg::Polled(Polled { generation, result, next_try }) => {
            let mut result = result.clone();
            if let Ok(snapshot) = &mut result {
                words::of_snapshot(snapshot);
            }
            Some(Event::Polled { generation: *generation, next_try: *next_try, result })
        }
        Msg::Dossier(id, read) => {
            let mut read = read.clone();
            if let Ok(Some(dossier)) = &mut read {
                words::of_dossier(dossier);
            }
            Some(Event::Dossier(id.clone(), read))
        }
        Msg::Found(text, found) => Some(Event::Found(typed::stand_in(text), found.clone())),
        Msg::Guard(run, heard) => {
            let mut heard = heard.clone();
            words::of_heard(&mut heard);
            Some(Event::Guard(*run, heard))
        }
        Msg::Ticket(heard) => {
            let mut heard = heard.clone();
            case::of_heard(&mut heard);
            Some(Event::Ticket(heard))
        }
        Msg::Said(text) => Some(Event::Said(words::of_said(text, model))),
        Msg::Terminate => Some(Event::Terminate),
    }
}

impl Event {
    /// The message it was, for the model of a replay; `None` when the replay itself has to do it.
    pub fn into_msg(self, model: &Model) -> Option<Msg> {
        Some(match self {
            Self::Key(chord) => Msg::Key(chord),
            Self::PhraseLetter => Msg::Key(typed::phrase_letter(model).map_or(Chord::char(typed::WRONG), Chord::char)),
            Self::Paste(text) => Msg::Paste(text),
            // The command line closes; the player then goes there.
            Self::Opened(_) => Msg::Key(Chord::plain(Key::Esc)),
            Self::Focus => Msg::Focus,
            Self::Resumed => Msg::Resumed,
            Self::Resized(columns, rows) => Msg::Resized(columns, rows),
            Self::Drawn => Msg::Drawn,
            Self::Wake => Msg::Wake,
            Self::Connected(facts) => Msg::Connected(facts),
            Self::Polled { generation, next_try, result } => Msg::Polled(Polled { generation, result, next_try }),
            Self::Dossier(id, read) => Msg::Dossier(id, read),
            Self::Found(text, found) => Msg::Found(text, found),
            Self::Guard(run, heard) => Msg::Guard(run, heard),
            Self::Ticket(heard) => Msg::Ticket(heard),
            Self::Said(text) => Msg::Said(text),
            Self::Left(what, bytes) => Msg::Said(format!("Not in the recording: {what} of {bytes} bytes.")),
            Self::Terminate | Self::End => return None,
        })
    }

    /// Whether it says how the world was, whoever looks: what a viewer who walks about needs, too.
    pub fn is_seen_by_all(&self) -> bool {
        match self {
            Self::Connected(_) | Self::Polled { .. } | Self::Dossier(..) => true,
            Self::Key(_)
            | Self::PhraseLetter
            | Self::Paste(_)
            | Self::Opened(_)
            | Self::Focus
            | Self::Resumed
            | Self::Resized(..)
            | Self::Drawn
            | Self::Wake
            | Self::Found(..)
            | Self::Guard(..)
            | Self::Ticket(_)
            | Self::Said(_)
            | Self::Terminate
            | Self::Left(..)
            | Self::End => false,
        }
    }
}
