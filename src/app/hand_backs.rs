//! Hand backs as the console follows them: the newest reading of each, and the ones somebody here waits for.
//!
//! Readings come from polls and from records read whole, in any order. The later one counts, and what was said to
//! have ended stays ended. A reading that failed, or in which one is missing, ends nothing: then it is not known.

use std::collections::BTreeMap;

use super::dialog::guard;
use super::effect::Effect;
use super::model::Model;
use super::notice::Notice;
use crate::domain::answer::Answer;
use crate::domain::approval::{ResumeRequest, ResumeState};
use crate::domain::ids::{Operator, RecordId, ResumeId};
use crate::domain::port::Dossier;
use crate::domain::time::{Instant, Now, Seconds, age, clock};

pub mod handed;

/// Hand backs that are kept; the oldest go.
const KEPT: usize = 200;
/// A reading this old is "last seen", not now: the list is read every few seconds, or with every third poll at the latest.
const OLD: Seconds = Seconds(20);

/// One hand back and how it was seen last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// As it was read.
    pub request: ResumeRequest,
    /// When, by the database's clock.
    pub read_at: Instant,
    /// Whether a later list did not have it.
    pub listed: Listed,
    waited_for: WaitedFor,
}

/// Whether the database still lists a hand back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// It does, or has not been asked since.
    Yes,
    /// It did not when it was asked at this time.
    NotAt(Instant),
}

/// Whether somebody at this console is told what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitedFor {
    Nobody,
    Somebody,
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum News {
    /// It stands somewhere new.
    State(ResumeId),
    /// The list does not have it any more.
    Missing(ResumeId),
}

/// Every hand back that was seen.
#[derive(Debug, Default)]
pub struct HandBacks {
    seen: BTreeMap<ResumeId, Seen>,
    /// What was handed back from here and not seen yet, with the newest there was before.
    expected: BTreeMap<RecordId, Option<ResumeId>>,
    news: Vec<News>,
    /// Why the list cannot be read, since it could not.
    trouble: Option<String>,
}

impl HandBacks {
    /// A hand back was made from here; what becomes of it is told, however late it is first seen.
    pub fn expect(&mut self, id: RecordId, newest_before: Option<ResumeId>) {
        self.expected.insert(id, newest_before);
    }

    /// Takes the list of a poll in.
    pub fn listed(&mut self, list: &Answer<Vec<ResumeRequest>>, me: &Operator) {
        let (value, at) = match list {
            Answer::Known { value, at } => (value, *at),
            Answer::NotKnown { why } => {
                self.trouble = Some(why.clone());
                return;
            }
        };
        self.trouble = None;
        for request in value {
            self.take(request, at, me);
        }
        self.miss(at, |seen| !value.iter().any(|request| request.number == seen.number));
        while self.seen.len() > KEPT {
            self.seen.pop_first();
        }
    }

    /// Takes the hand backs of a record that was read whole in.
    pub fn read_whole(&mut self, dossier: &Dossier, me: &Operator) {
        for request in &dossier.resumes {
            self.take(request, dossier.at, me);
        }
        let id = &dossier.detail.record.id;
        let gone = |seen: &ResumeRequest| seen.id == *id && !dossier.resumes.iter().any(|r| r.number == seen.number);
        self.miss(dossier.at, gone);
    }

    fn take(&mut self, request: &ResumeRequest, at: Instant, me: &Operator) {
        let number = request.number;
        if let Some(kept) = self.seen.get_mut(&number) {
            let reopens = kept.request.state.is_said() && !request.state.is_said();
            if at < kept.read_at || reopens {
                return;
            }
            if kept.request.state != request.state && kept.waited_for == WaitedFor::Somebody {
                self.news.push(News::State(number));
            }
            kept.request.clone_from(request);
            (kept.read_at, kept.listed) = (at, Listed::Yes);
            return;
        }
        let expected = self.expected.get(&request.id).is_some_and(|before| Some(number) > *before);
        let waited_for = if expected || (request.operator == *me && request.state.is_open()) {
            WaitedFor::Somebody
        } else {
            WaitedFor::Nobody
        };
        if expected {
            self.expected.remove(&request.id);
            if !request.state.is_open() {
                self.news.push(News::State(number));
            }
        }
        self.seen.insert(number, Seen { request: request.clone(), read_at: at, listed: Listed::Yes, waited_for });
    }

    /// Marks what a reading at `at` should have had. What was said to have ended needs no list any more.
    fn miss(&mut self, at: Instant, gone: impl Fn(&ResumeRequest) -> bool) {
        for seen in self.seen.values_mut() {
            if seen.request.state.is_said() || at <= seen.read_at || !gone(&seen.request) {
                continue;
            }
            if seen.listed == Listed::Yes && seen.waited_for == WaitedFor::Somebody {
                self.news.push(News::Missing(seen.request.number));
            }
            seen.listed = Listed::NotAt(at);
        }
    }

    /// The newest hand back of a record.
    pub fn of(&self, id: &RecordId) -> Option<&Seen> {
        self.seen.values().rev().find(|seen| seen.request.id == *id)
    }

    /// Every hand back, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = &Seen> {
        self.seen.values().rev()
    }
}

impl Model {
    /// Why what was read about a hand back may not be so now; `None`: it is.
    pub fn hand_back_doubt(&self, seen: &Seen, now: Now) -> Option<String> {
        if seen.request.state.is_said() {
            return None;
        }
        if let Listed::NotAt(at) = seen.listed {
            return Some(format!("the database does not list it any more ({})", clock(at)));
        }
        if self.freshness(now).is_old() {
            return Some("the picture is old".to_owned());
        }
        let old = OLD.max(Seconds(self.setup.poll_every.0.saturating_mul(3)));
        if age(seen.read_at, self.db_now(now)) <= old {
            return None;
        }
        Some(self.hand_backs.trouble.clone().unwrap_or_else(|| "it was not read again since".to_owned()))
    }
}

/// After a poll: what became of the hand backs that somebody here waits for.
pub fn polled(model: &mut Model, now: Now) -> Vec<Effect> {
    if let Some(seen) = model.picture.shown() {
        let list = seen.snapshot.resumes.clone();
        model.hand_backs.listed(&list, &model.setup.context.operator);
    }
    tell(model, now)
}

/// Says what is new, and reads the records again whose hand back ended.
pub fn tell(model: &mut Model, now: Now) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut said: Vec<Notice> = Vec::new();
    for news in std::mem::take(&mut model.hand_backs.news) {
        let (News::State(number) | News::Missing(number)) = news;
        let Some(seen) = model.hand_backs.seen.get(&number) else { continue };
        // Who has the page open reads it there.
        let on_page = guard::followed(model) == Some(&seen.request.id);
        said.extend(words_of(&news, &seen.request, &model.setup.context.operator, now).filter(|_| !on_page));
        let read_since = model.dossiers.get(&seen.request.id).is_some_and(|d| d.at >= seen.request.state_at);
        if !seen.request.state.is_open() && !read_since {
            effects.push(Effect::Open(seen.request.id.clone()));
        }
    }
    let more = said.len().saturating_sub(1);
    // The first that needs somebody is the one to say.
    let worst = said.iter().position(|notice| notice.role != crate::ui::Role::Info).unwrap_or(0);
    if let Some(mut notice) = said.into_iter().nth(worst) {
        if more > 0 {
            notice.text = format!("{} And {more} more: 8 lists them.", notice.text);
        }
        model.notice = Some(notice);
    }
    effects
}

/// The sentence about one, if it is worth one.
fn words_of(news: &News, request: &ResumeRequest, me: &Operator, now: Now) -> Option<Notice> {
    let (number, id) = (request.number, &request.id);
    let worker = request.worker.as_deref().unwrap_or("a recoverer");
    if let News::Missing(_) = news {
        let text =
            format!("{number} of {id} is not listed any more: what became of it is NOT KNOWN. Look it up (a l).");
        return Some(Notice::caution(text, now));
    }
    let detail = request.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    match request.state {
        ResumeState::Waiting | ResumeState::Taken => None,
        ResumeState::Unanswered => Some(Notice::caution(
            format!("Nobody answers {number} of {id}: no recoverer took it. Open the record."),
            now,
        )),
        ResumeState::Finished => {
            Some(Notice::info(format!("{number} of {id} is FINISHED, says {worker}{detail}."), now))
        }
        ResumeState::Refused => {
            Some(Notice::caution(format!("{number} of {id} was REFUSED by {worker}{detail}. Open the record."), now))
        }
        ResumeState::Withdrawn if request.worker.as_deref() == Some(&format!("operator:{me}")) => None,
        ResumeState::Withdrawn => {
            Some(Notice::info(format!("{number} of {id} was withdrawn by {worker}{detail}."), now))
        }
        ResumeState::Expired => {
            let end = if request.worker.is_some() { "how it ended is NOT KNOWN" } else { "nobody took it up in time" };
            Some(Notice::caution(format!("{number} of {id} is over: {end}. Look it up (a l)."), now))
        }
    }
}
