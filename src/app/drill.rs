//! A drill: an incident played with a coach line, a clock and a debrief.
//!
//! Owns what the person did and when, and what they have not done yet. It follows the same `update` as everything
//! else and never changes what a key does: a console with a drill and one without act alike. Must not know the lab;
//! what there is to learn comes as data ([`Lesson`]).

use std::collections::BTreeSet;

use super::dialog::Dialog;
use super::effect::Run;
use super::keymap::Scope;
use super::model::Model;
use super::screen::ScreenId;
use crate::domain::action::Request;
use crate::domain::guard::Refused;
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::record::Record;
use crate::domain::time::{Instant, Now, Seconds, age};

mod coach;
pub mod debrief;
mod follow;
pub mod learn;
mod lesson;
mod stage;

pub use coach::line;
pub use follow::{Before, follow, open_debrief};
pub use lesson::{Caught, Job, Lesson, Offer, Practice};
pub use stage::Stage;

/// Deeds that are kept; whoever does more has stopped practising.
const DEEDS: usize = 500;
/// How long the coach speaks of what was just done.
const SPEAKS_OF_IT: Seconds = Seconds(10);
/// After this long without anything to see, the coach says that there may be nothing.
const MAY_BE_NOTHING: Seconds = Seconds(90);
/// After this long without a step forward the coach says more, and then all.
const SAYS_MORE: Seconds = Seconds(25);
const SAYS_ALL: Seconds = Seconds(60);

/// When things happened first, by the console's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// The first picture came.
    pub began: Option<Instant>,
    /// The incident could be seen on the console: the clock runs from here.
    pub visible: Option<Instant>,
    /// The screen that shows it was on view.
    pub seen: Option<Instant>,
    /// A record was opened.
    pub opened: Option<Instant>,
    /// A look-up was sent.
    pub look_up: Option<Instant>,
    /// A resume was sent.
    pub resume: Option<Instant>,
    /// Nothing was left that has to be done.
    pub done: Option<Instant>,
}

/// Something the person did, or tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// When.
    pub at: Instant,
    /// What.
    pub what: What,
}

/// What was done or tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A delete habit: a key, or a command.
    Delete,
    /// Something was sent; what came of it, once that is known.
    Sent {
        /// Answers carry it.
        run: Run,
        /// The action's word in the log.
        action: &'static str,
        /// On which record.
        id: RecordId,
        /// What came of it.
        outcome: Option<Outcome>,
    },
    /// The console refused before anything was sent.
    Refused {
        /// What was asked for.
        request: Request,
        /// On which record; none for several.
        id: Option<RecordId>,
        /// Why, and the way out.
        why: Refused,
    },
}

/// How plainly the coach speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plainness {
    /// A question.
    Nudge,
    /// Where to look.
    Hint,
    /// The keys.
    Keys,
}

/// A drill that runs.
#[derive(Debug, Clone)]
pub struct Drill {
    /// What there is to learn.
    pub lesson: Lesson,
    /// When things happened first.
    pub times: Times,
    /// What was done and tried, in order.
    pub deeds: Vec<Deed>,
    /// What the coach speaks about, and since when.
    stage: (Stage, Instant),
    /// How plainly it was asked to.
    asked: Plainness,
    /// What the coach says a word about.
    last: Option<Word>,
    /// Every record that was stuck while the drill ran.
    met: BTreeSet<RecordId>,
    /// Whether the debrief has come by itself.
    page: Page,
}

/// A deed the coach speaks about for a moment.
#[derive(Debug, Clone, Copy)]
struct Word {
    deed: usize,
    since: Instant,
    /// The dialog it was done in.
    on: Option<Scope>,
}

/// Whether the debrief has come by itself: it does so once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// Not yet.
    ToCome,
    /// Yes, or it was opened by hand.
    Shown,
}

impl Drill {
    /// A drill that nobody has seen anything of.
    pub fn new(lesson: Lesson) -> Self {
        Self {
            lesson,
            times: Times::default(),
            deeds: Vec::new(),
            stage: (Stage::Watch, Instant::MIN_UTC),
            asked: Plainness::Nudge,
            last: None,
            met: BTreeSet::new(),
            page: Page::ToCome,
        }
    }

    /// What the coach speaks about.
    pub fn stage(&self) -> Stage {
        self.stage.0
    }

    /// The time since the incident could be seen; it stands still when nothing is left to do.
    pub fn clock(&self, now: Now) -> Option<Seconds> {
        Some(age(self.times.visible?, self.times.done.unwrap_or(now.0)))
    }

    /// How plainly the coach speaks now: more so, the longer nothing moves, and when it is asked to.
    pub fn plainness(&self, now: Now) -> Plainness {
        let waited = match self.stage {
            // Nothing can be missed while there is nothing to see.
            (Stage::Watch, _) => Plainness::Nudge,
            (_, since) if age(since, now.0) >= SAYS_ALL => Plainness::Keys,
            (_, since) if age(since, now.0) >= SAYS_MORE => Plainness::Hint,
            (_, _) => Plainness::Nudge,
        };
        waited.max(self.asked)
    }

    /// The person wants it said more plainly, once more or twice.
    pub fn speak_plainly(&mut self, now: Now) {
        self.asked = match self.plainness(now) {
            Plainness::Nudge => Plainness::Hint,
            Plainness::Hint | Plainness::Keys => Plainness::Keys,
        };
        // A word about the last deed would hide what was asked for.
        self.last = None;
    }

    /// How often a delete habit was met.
    pub fn deletes(&self) -> usize {
        self.deeds.iter().filter(|deed| deed.what == What::Delete).count()
    }

    /// Whether a look-up of a record came back.
    pub fn looked_up(&self, id: &RecordId) -> Lookup {
        let came_back = self.deeds.iter().any(|deed| match &deed.what {
            What::Sent { action: "lookup", id: of, outcome: Some(Outcome::Done { .. }), .. } => of == id,
            What::Sent { .. } | What::Delete | What::Refused { .. } => false,
        });
        if came_back { Lookup::Answered } else { Lookup::Missing }
    }

    /// Whether a record was stuck while the drill ran.
    pub fn met(&self, id: &RecordId) -> bool {
        self.met.contains(id)
    }

    /// The records that are stuck in the picture on screen, oldest first. `None`: not known.
    pub fn left(model: &Model) -> Option<Vec<&Record>> {
        let stuck = model.picture.snapshot()?.stuck.value()?;
        let mut left: Vec<&Record> = stuck.iter().collect();
        left.sort_by_key(|record| record.created_at);
        Some(left)
    }

    fn note(&mut self, what: What, now: Now) {
        if self.deeds.len() < DEEDS {
            self.last = Some(Word { deed: self.deeds.len(), since: now.0, on: None });
            self.deeds.push(Deed { at: now.0, what });
        }
    }

    /// What was just done, while the coach still speaks of it.
    fn just_done(&self, model: &Model, now: Now) -> Option<&Deed> {
        let Word { deed, since, on } = self.last?;
        let here = model.dialog.as_ref().map(Dialog::scope);
        // A page that was opened since is about something else.
        let same = here.is_none() || here == on;
        self.deeds.get(deed).filter(|_| same && age(since, now.0) < SPEAKS_OF_IT)
    }
}

/// Whether the provider was asked about a record in this drill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// It answered.
    Answered,
    /// It was not asked, or the answer is not there.
    Missing,
}

/// Whether a screen shows the incident. Records to be finished stand on both lists.
fn shows(lesson: &Lesson, on_view: ScreenId) -> bool {
    let list = |screen| matches!(screen, ScreenId::Stuck | ScreenId::Unknown);
    lesson.shown_on == on_view || (lesson.job == Job::Finish && list(lesson.shown_on) && list(on_view))
}
