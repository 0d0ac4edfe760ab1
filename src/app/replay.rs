//! Playing a recording: a console as a value, moved by what was recorded instead of by the world.
//!
//! Two models see it. The *operator's* gets every recorded event with its recorded time, so it shows what was
//! shown. The *viewer's* gets what was seen of the database, and the viewer's own keys: whoever presses a key to
//! walk about is there, and `f` is the way back. Neither can do anything: effects of the one are dropped, the other
//! is refused every action, and no wish but [`Wish`] leaves this file. Must not know files, clocks or terminals.

use ratatui::Frame;

use super::effect::{Effect, TicketWish};
use super::key::Chord;
use super::keymap::{self, AppCommand, Command, ReplayCommand, Scope};
use super::model::{Model, Place};
use super::msg::{GuardMsg, Msg, TicketMsg};
use super::recording::{Event, Header, moment};
use super::update::update;
use super::view::view_recorded;
use crate::domain::port::StoreError;
use crate::domain::time::{Instant, Now};
use crate::ui::Look;

mod change;
mod playback;

use change::{Telling, is_change, is_step, pressed};
pub use playback::{Cut, Motion, Playback, Seat};

/// How many times as fast as it was.
const SPEEDS: [u64; 5] = [1, 2, 5, 10, 30];

/// Events taken in one go: a long jump is several pictures, not one long wait.
const BATCH: usize = 500;

/// Where events come from: the lines of a file, in order.
pub trait Source {
    /// The next event with its milliseconds since the start.
    fn next(&mut self) -> Next;
    /// Goes back to the first.
    fn rewind(&mut self);
}

/// What a source has next.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Event(u64, Box<Event>),
    /// Nothing more.
    Over,
    /// Something that cannot be read, in words; nothing after it is.
    Unreadable(String),
}

/// What a player wants of the shell. There is nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Leave.
    Quit,
    /// Draw everything anew.
    Redraw,
    /// Put a text on the clipboard.
    Copy(String),
}

/// A recording that is played.
pub struct Player<S> {
    header: Header,
    look: Look,
    source: S,
    length: u64,
    operator: Model,
    viewer: Model,
    seat: Seat,
    motion: Motion,
    speed: usize,
    clock: u64,
    ahead: Option<(u64, Box<Event>)>,
    pressed: Option<(Instant, String)>,
    cut: Option<Cut>,
    told: Option<Telling>,
}

impl<S: Source> Player<S> {
    /// A recording at its start, playing. `length`: its milliseconds; `cut`: where it breaks off, when it does.
    pub fn new(header: Header, look: Look, source: S, length: u64, cut: Option<Cut>) -> Self {
        let model = || Model::new(header.setup(look.clone()));
        let (operator, viewer) = (model(), model());
        let mut player = Self {
            header,
            look,
            source,
            length,
            operator,
            viewer,
            seat: Seat::Operator,
            motion: Motion::Playing,
            speed: 0,
            clock: 0,
            ahead: None,
            pressed: None,
            cut,
            told: None,
        };
        player.mark();
        player
    }

    /// Draws what is on screen.
    pub fn view(&self, frame: &mut Frame<'_>) {
        let model = match self.seat {
            Seat::Operator => &self.operator,
            Seat::Viewer => &self.viewer,
        };
        view_recorded(model, &self.how(), frame, self.now());
    }

    /// The operator's console as it was at the moment that is shown.
    pub fn operator(&self) -> &Model {
        &self.operator
    }

    /// The viewer's own.
    pub fn viewer(&self) -> &Model {
        &self.viewer
    }

    /// The recorded moment that is shown.
    pub fn now(&self) -> Now {
        Now(moment(self.header.started_at, self.clock))
    }

    /// Whether it moves by itself.
    pub fn motion(&self) -> Motion {
        self.motion
    }

    /// The viewer's window has this many columns and rows.
    pub fn resized(&mut self, columns: u16, rows: u16) {
        self.viewer.size = (columns, rows);
    }

    /// The shell has something to say to the viewer.
    pub fn say(&mut self, text: String) {
        let now = self.now();
        self.viewer.say(text, now);
    }

    /// So many milliseconds passed at the viewer's.
    pub fn advance(&mut self, passed: u64) {
        if self.motion != Motion::Playing {
            return;
        }
        let speed = SPEEDS.get(self.speed).copied().unwrap_or(1);
        let target = self.clock.saturating_add(passed.saturating_mul(speed));
        for _ in 0..BATCH {
            match self.peek() {
                Some(ms) if ms <= target => self.take(),
                Some(_) => {
                    self.clock = target;
                    break;
                }
                None => break,
            }
        }
        self.mark();
    }

    /// The viewer pressed a key.
    pub fn key(&mut self, chord: Chord) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let own_dialog = self.seat == Seat::Viewer && (self.viewer.dialog.is_some() || self.viewer.line.is_some());
        let asked = if own_dialog { None } else { keymap::lookup(&[Scope::Replay], chord) };
        match (asked, self.seat) {
            (Some(Command::Replay(asked)), _) => self.steer(asked),
            (Some(Command::App(AppCommand::Pause)), _) => self.pause(),
            (Some(Command::App(AppCommand::Quit)), Seat::Operator) => wishes.push(Wish::Quit),
            (_, _) => wishes = self.walk(chord),
        }
        self.mark();
        wishes
    }

    /// A key of the viewer's own: from where the operator is, if it is the first one.
    fn walk(&mut self, chord: Chord) -> Vec<Wish> {
        let now = self.now();
        if self.seat == Seat::Operator {
            self.seat = Seat::Viewer;
            self.viewer.dialog = None;
            self.viewer.line = None;
            self.viewer.go(self.operator.place.clone(), now);
            self.viewer.screens = self.operator.screens.clone();
            self.viewer.zone = self.operator.zone;
            self.mark();
        }
        // The guards against bursts protect actions; here is none, and recorded time may stand still.
        self.viewer.input = super::input::InputGuards::default();
        if self.motion != Motion::Playing {
            self.viewer.notice = None;
        }
        let effects = update(&mut self.viewer, Msg::Key(chord), now);
        self.answer(effects, now)
    }

    /// What of the viewer's wishes a recording can fulfil. Nobody is asked, and nothing is sent.
    fn answer(&mut self, effects: Vec<Effect>, now: Now) -> Vec<Wish> {
        let mut wishes = Vec::new();
        let no = |why: &str| StoreError::CannotAnswer { why: why.to_owned() };
        for effect in effects {
            match effect {
                Effect::Quit => wishes.push(Wish::Quit),
                Effect::Redraw => wishes.push(Wish::Redraw),
                Effect::Copy(text) => wishes.push(Wish::Copy(text)),
                Effect::Open(id) if !self.viewer.dossiers.contains_key(&id) => {
                    let why = no("not in the recording: nobody had opened this record by then");
                    update(&mut self.viewer, Msg::Dossier(id, Err(why)), now);
                }
                Effect::Find(text) => {
                    let why = no("a recording cannot be asked; 2 and 3 list what was seen");
                    update(&mut self.viewer, Msg::Found(text, Err(why)), now);
                }
                // A request for approval can be read; every way on from there is off.
                Effect::Prepare(run, id) => {
                    let known = self.viewer.dossiers.get(&id).cloned().map(Box::new);
                    let read =
                        known.map_or_else(|| Err(no("this record is not in the recording")), |known| Ok(Some(known)));
                    update(&mut self.viewer, Msg::Guard(run, GuardMsg::Prepared(read)), now);
                }
                Effect::Ticket(wish) => {
                    let heard = unanswered(wish, no("a recording cannot be asked; f shows what was seen"));
                    update(&mut self.viewer, Msg::Ticket(heard), now);
                }
                Effect::Export(_) => self.viewer.say("Nothing is written from a recording.", now),
                Effect::Open(_)
                | Effect::PollNow
                | Effect::Consent(..)
                | Effect::Check(..)
                | Effect::Act(..)
                | Effect::ReadBack(..)
                | Effect::Refused(_) => {}
            }
        }
        wishes
    }

    fn steer(&mut self, asked: ReplayCommand) {
        match asked {
            ReplayCommand::Step => {
                self.motion = if self.motion == Motion::Ended { Motion::Ended } else { Motion::Paused };
                self.on_to(is_step);
            }
            ReplayCommand::NextChange => self.on_to(is_change),
            ReplayCommand::Faster => self.speed = self.speed.saturating_add(1).min(SPEEDS.len().saturating_sub(1)),
            ReplayCommand::Slower => self.speed = self.speed.saturating_sub(1),
            ReplayCommand::Restart => self.restart(),
            ReplayCommand::Follow => self.seat = Seat::Operator,
        }
    }

    /// Takes events until one counts, or there is none.
    fn on_to(&mut self, counts: impl Fn(&Event, Option<&Telling>, &Model) -> bool) {
        while self.peek().is_some() {
            let found = self.ahead.as_ref().is_some_and(|(_, event)| counts(event, self.told.as_ref(), &self.operator));
            self.take();
            if found {
                return;
            }
        }
    }

    fn pause(&mut self) {
        match self.motion {
            Motion::Playing => self.motion = Motion::Paused,
            Motion::Paused => self.motion = Motion::Playing,
            Motion::Ended => self.restart(),
        }
    }

    fn restart(&mut self) {
        let model = || Model::new(self.header.setup(self.look.clone()));
        let (operator, mut viewer) = (model(), model());
        viewer.size = self.viewer.size;
        (self.operator, self.viewer) = (operator, viewer);
        self.source.rewind();
        (self.seat, self.motion, self.clock) = (Seat::Operator, Motion::Playing, 0);
        (self.ahead, self.pressed, self.told) = (None, None, None);
    }

    /// When the next event was; `None`: there is none, and this is the end.
    fn peek(&mut self) -> Option<u64> {
        if self.ahead.is_none() && self.motion != Motion::Ended {
            match self.source.next() {
                Next::Event(ms, event) => self.ahead = Some((ms, event)),
                Next::Over => self.motion = Motion::Ended,
                Next::Unreadable(why) => {
                    self.motion = Motion::Ended;
                    self.cut = Some(Cut { at: self.now().0, why });
                }
            }
        }
        self.ahead.as_ref().map(|(ms, _)| *ms)
    }

    /// Takes the next event in.
    fn take(&mut self) {
        let Some((ms, event)) = self.ahead.take() else { return };
        // A file may say anything, also that time ran backwards.
        self.clock = self.clock.max(ms);
        let now = self.now();
        if let Some(text) = pressed(&event, &self.operator, now) {
            self.pressed = Some((now.0, text));
        }
        if let Event::Polled { result: Ok(snapshot), .. } = &*event {
            self.told = Some(Telling::of(snapshot));
        }
        if let Event::Polled { result: Err(_), .. } = &*event {
            self.told = None;
        }
        if event.is_seen_by_all()
            && let Some(msg) = (*event).clone().into_msg(&self.viewer)
        {
            let effects = update(&mut self.viewer, msg, now);
            self.answer(effects, now);
        }
        let opened = if let Event::Opened(id) = &*event { Some(id.clone()) } else { None };
        if let Some(msg) = event.into_msg(&self.operator) {
            // What the operator's console asked of the world was answered then: the answers are events.
            drop(update(&mut self.operator, msg, now));
        }
        if let Some(id) = opened {
            let from = self.operator.screen();
            self.operator.go(Place::Record(id, from), now);
        }
    }

    /// How it is played.
    fn how(&self) -> Playback {
        Playback {
            seat: self.seat,
            motion: self.motion,
            speed: SPEEDS.get(self.speed).copied().unwrap_or(1),
            at: self.now().0,
            passed: self.clock,
            length: self.length.max(self.clock),
            pressed: self.pressed.clone(),
            cut: self.cut.clone(),
        }
    }

    /// Tells the viewer's model that it is in a recording: by that its actions are off. The operator's stays what it was.
    fn mark(&mut self) {
        // Whoever walks about in a recording is not drilled.
        self.viewer.drill = None;
        self.viewer.replay = Some(Playback { seat: Seat::Viewer, ..self.how() });
    }
}

/// What a question of the ticket screen comes to where nobody can be asked.
fn unanswered(wish: TicketWish, why: StoreError) -> TicketMsg {
    match wish {
        TicketWish::Find(question, _) => TicketMsg::Found(question, Err(why)),
        TicketWish::Case(id) => TicketMsg::Case(id, Err(why)),
        TicketWish::Others(cause, since) => TicketMsg::Others(cause, since, Err(why)),
    }
}
