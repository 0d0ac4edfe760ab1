//! 7 Ticket: was this customer charged twice, and what may I say? One box to find it, one page with the answer.
//!
//! ```text
//!  ANSWER  Charged ONCE. The other line is a hold that was never captured.
//!  SURE?   HIGH: our books and the provider agree on every charge.
//!  NEXT    Tell the customer: y copies the text below.
//! ```

use super::{Screen, ScreenId, Screens, reconciliation};
use crate::app::effect::{Effect, Question, TicketWish};
use crate::app::field::Field;
use crate::app::keymap::TicketCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{LineInput, Model, Place, Typing};
use crate::app::msg::TicketMsg;
use crate::app::notice::Notice;
use crate::domain::case::Case;
use crate::domain::clue::Trail;
use crate::domain::ids::{RecordId, Target};
use crate::domain::lanes::Lanes;
use crate::domain::port::{Candidate, StoreError};
use crate::domain::reply::Language;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Instant, Now, age};
use crate::domain::triage::{Triage, judge};
use crate::ui::Role;

mod answer;
mod charges;
mod files;
mod find;
mod others;
mod words;

pub use answer::{on_answer, view_answer};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Ticket,
    digit: '7',
    titles: ["Ticket triage", "Ticket"],
    word: "ticket",
    questions: &["get_find", "get_find_paid", "get_case"],
    count: |_| (String::new(), Role::Normal),
    sync: |_: &mut Screens, _: &Snapshot, _: Reading| {},
    on: find::on,
    view: find::view,
};
/// Longest text the find box takes: a customer's message, not a book.
const LONGEST: usize = 1_000;
/// An answer is read again when its reading is older than this, in seconds.
const REREAD_AFTER: u64 = 15;
/// The most records of one case that are looked up in one go.
const MOST_RECORDS: usize = 25;

/// How far the find box got.
#[derive(Debug, Clone, Default)]
pub enum Finding {
    /// Nothing was asked yet.
    #[default]
    Nothing,
    /// Asked; no answer yet.
    Asked,
    /// The text as a whole is no id: its words are looked for, one by one.
    WordByWord,
    /// These may be meant.
    Found(Vec<Candidate>),
    /// It could not be looked for, and why.
    Failed(String),
}

/// A case with its answer.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The record it was asked about.
    pub id: RecordId,
    /// What the database knows about its order.
    read: Case,
    /// The same with the look-ups of this session.
    pub case: Case,
    /// The answer.
    pub triage: Triage,
    /// The timeline.
    pub lanes: Lanes,
    /// When it was read, by the database's clock.
    pub read_at: Instant,
}

/// State of the find box and of the answer.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What was asked, as it was typed.
    pub asked: String,
    /// The number of the last question.
    pub question: Question,
    /// How far it got.
    pub finding: Finding,
    /// Words of the question that were not looked for yet: one of them may be an id.
    clues: Trail,
    /// What its other words found so far.
    gathered: Vec<Candidate>,
    /// The records that were found.
    pub list: ListState<RecordId>,
    /// The case on view.
    pub answered: Option<Box<Answered>>,
    /// Why the case of a record could not be read, the last time.
    pub trouble: Option<(RecordId, String)>,
    /// The language of the text for the customer.
    pub language: Language,
    /// First line of the answer that is shown.
    pub from: usize,
    /// Others to whom the same happened, when they are on view.
    pub others: Option<others::Others>,
}

impl State {
    /// The record of the row under the cursor, while others are on view.
    pub fn target(&self) -> Option<&RecordId> {
        self.others.as_ref()?.list.cursor()?.0.as_ref()
    }

    /// The answer for a record, when it is the one on view.
    fn answer_of(&self, id: &RecordId) -> Option<&Answered> {
        self.answered.as_deref().filter(|answered| answered.id == *id)
    }
}

/// The record the answer on view is about.
fn on_view(model: &Model) -> Option<&RecordId> {
    match &model.place {
        Place::Ticket(id, _) => Some(id),
        Place::Screen(_) | Place::Record(..) => None,
    }
}

/// Goes to the find box and opens it.
pub fn open_box(model: &mut Model, now: Now) -> Vec<Effect> {
    let effects = model.go(Place::Screen(ScreenId::Ticket), now);
    model.line = Some(LineInput { typing: Typing::Find, field: Field::new(LONGEST) });
    effects
}

/// Text pasted on the screen goes into the box: it is what a customer gave, and nothing is sent by it.
pub fn pasted(model: &mut Model, text: &str, now: Now) -> Vec<Effect> {
    let effects = open_box(model, now);
    if let Some(line) = &mut model.line {
        line.field.paste(text);
    }
    effects
}

/// Enter in the box.
pub fn ask(model: &mut Model, text: &str, now: Now) -> Vec<Effect> {
    let (text, at) = (text.trim(), model.db_now(now));
    if text.is_empty() {
        return vec![];
    }
    let state = &mut model.screens.ticket;
    text.clone_into(&mut state.asked);
    state.question = Question(state.question.0.saturating_add(1));
    state.finding = Finding::Asked;
    state.list = ListState::default();
    state.clues = Trail::of(text, at);
    state.gathered.clear();
    let first = state.clues.next(0);
    first.map(|clue| Effect::Ticket(TicketWish::Find(state.question, clue))).into_iter().collect()
}

/// Arriving at an answer: it is read, unless it is on view already.
pub fn arrive(model: &mut Model, id: RecordId) -> Vec<Effect> {
    let state = &mut model.screens.ticket;
    state.from = 0;
    state.others = None;
    if state.answer_of(&id).is_none() {
        state.answered = None;
        state.trouble = None;
    }
    vec![Effect::Ticket(TicketWish::Case(id.clone())), Effect::Open(id)]
}

/// After an action came to its end: what the case says may have changed.
pub fn after_action(model: &mut Model) -> Vec<Effect> {
    rejudge(model);
    // A new answer is read from its first line.
    model.screens.ticket.from = 0;
    again(model)
}

/// Reads the answer on view once more.
pub fn again(model: &Model) -> Vec<Effect> {
    on_view(model).map(|id| Effect::Ticket(TicketWish::Case(id.clone()))).into_iter().collect()
}

/// After a poll: an answer is kept as new as the lists, at a slower pace.
pub fn polled(model: &Model, now: Now) -> Vec<Effect> {
    let old = model.screens.ticket.answered.as_ref();
    match old.filter(|answered| age(answered.read_at, model.db_now(now)).0 > REREAD_AFTER) {
        Some(_) => again(model),
        None => vec![],
    }
}

/// Takes an answer.
pub fn heard(model: &mut Model, heard: TicketMsg, now: Now) -> Vec<Effect> {
    match heard {
        TicketMsg::Found(question, found) if question == model.screens.ticket.question => found_some(model, found, now),
        TicketMsg::Found(..) => vec![],
        TicketMsg::Case(id, read) => {
            if on_view(model) == Some(&id) {
                case(model, id, read, now)
            } else {
                vec![]
            }
        }
        TicketMsg::Others(cause, since, found) => {
            if let Some(others) = model.screens.ticket.others.as_mut() {
                others.take(cause, since, found);
            }
            vec![]
        }
    }
}

fn found_some(model: &mut Model, found: Result<Vec<Candidate>, StoreError>, now: Now) -> Vec<Effect> {
    let candidates = match found {
        Ok(candidates) => candidates,
        Err(why) => {
            model.screens.ticket.finding = Finding::Failed(why.to_string());
            return vec![];
        }
    };
    let state = &mut model.screens.ticket;
    state.gathered.extend(candidates);
    if let Some(next) = state.clues.next(state.gathered.len()) {
        state.finding = Finding::WordByWord;
        return vec![Effect::Ticket(TicketWish::Find(state.question, next))];
    }
    let candidates = std::mem::take(&mut state.gathered);
    let mut ids: Vec<RecordId> = Vec::new();
    for candidate in &candidates {
        if !ids.contains(&candidate.id) {
            ids.push(candidate.id.clone());
        }
    }
    let state = &mut model.screens.ticket;
    state.list = ListState::default();
    state.list.sync(ids, Reading::No);
    let direct = find::direct(&candidates).cloned();
    state.finding = Finding::Found(candidates);
    // A plan, or somebody who types or went on, is not taken to another page.
    let waits = model.place == Place::Screen(ScreenId::Ticket) && model.dialog.is_none() && model.line.is_none();
    match direct.filter(|_| waits) {
        Some(id) => model.go(Place::Ticket(id, ScreenId::Ticket), now),
        None => vec![],
    }
}

fn case(model: &mut Model, id: RecordId, read: Result<Option<Box<Case>>, StoreError>, now: Now) -> Vec<Effect> {
    let read = match read {
        Ok(Some(case)) => *case,
        Ok(None) => {
            model.screens.ticket.trouble = Some((id, "nothing is known about it any more".to_owned()));
            return vec![];
        }
        Err(why) => {
            model.screens.ticket.trouble = Some((id, why.to_string()));
            return vec![];
        }
    };
    let read_at = read.now.unwrap_or_else(|| model.db_now(now));
    let (case, triage, lanes) = judged(model, &id, &read);
    let others = case.keys().into_iter().filter(|other| *other != id && !model.dossiers.contains_key(other));
    // Read whole, so that all of them can be looked up in one go.
    let effects = others.take(MOST_RECORDS).map(Effect::Open).collect();
    model.screens.ticket.trouble = None;
    model.screens.ticket.answered = Some(Box::new(Answered { id, read, case, triage, lanes, read_at }));
    effects
}

/// Judges the case on view once more, with the look-ups of this session.
fn rejudge(model: &mut Model) {
    let Some(answered) = model.screens.ticket.answered.clone() else { return };
    let (case, triage, lanes) = judged(model, &answered.id, &answered.read);
    model.screens.ticket.answered = Some(Box::new(Answered { case, triage, lanes, ..*answered }));
}

fn judged(model: &Model, id: &RecordId, read: &Case) -> (Case, Triage, Lanes) {
    let mut case = read.clone();
    if model.screen() == ScreenId::Ticket && !model.screens.ticket.asked.is_empty() {
        case.asked = Some(model.screens.ticket.asked.clone());
    }
    let mut ids = case.keys();
    ids.insert(id.clone());
    for id in &ids {
        for evidence in model.session_evidence.get(id).into_iter().flatten() {
            case.heard(id, evidence);
        }
    }
    let triage = judge(&case);
    let lanes = Lanes::of(&case);
    (case, triage, lanes)
}

/// The records of the case on view, at the versions that were read, when there are several to be looked up.
pub fn several(model: &Model) -> Option<Vec<Target>> {
    let state = &model.screens.ticket;
    let answered = state.answer_of(on_view(model)?).filter(|_| state.others.is_none())?;
    let targets: Vec<Target> = answered
        .case
        .keys()
        .iter()
        .filter_map(|id| model.dossiers.get(id))
        .map(|dossier| dossier.detail.record.target())
        .take(MOST_RECORDS)
        .collect();
    (targets.len() > 1).then_some(targets)
}

/// A key about a customer's question.
pub fn turn(model: &mut Model, asked: TicketCommand, now: Now) -> Vec<Effect> {
    match asked {
        TicketCommand::Verdict => {
            let Some(id) = model.target() else {
                model.say("There is no record under the cursor. 7 finds one by what the customer gave.", now);
                return vec![];
            };
            let from = model.screen();
            model.go(Place::Ticket(id, from), now)
        }
        TicketCommand::Facts => with_answer(model, now, |model, answered| {
            vec![Effect::Copy(match &model.screens.ticket.others {
                Some(others) => others.text(),
                None => files::facts(&answered, now),
            })]
        }),
        TicketCommand::Language => {
            let state = &mut model.screens.ticket;
            state.language = match state.language {
                Language::English => Language::Vietnamese,
                Language::Vietnamese => Language::English,
            };
            vec![]
        }
        TicketCommand::Others => with_answer(model, now, |model, answered| others::open(model, &answered, now)),
        TicketCommand::Export if matches!(model.place, Place::Screen(_)) => exported_list(model, now),
        TicketCommand::Export => with_answer(model, now, |model, answered| {
            vec![Effect::Export(match &model.screens.ticket.others {
                Some(others) => vec![others.file(now)],
                None => files::of(&answered, model.screens.ticket.language, now),
            })]
        }),
    }
}

/// The list on view as a file, where it is one that is taken to somebody.
fn exported_list(model: &mut Model, now: Now) -> Vec<Effect> {
    if model.place != Place::Screen(ScreenId::Reconciliation) {
        model.say("This list is not exported: 6 writes its breaks to a file, an answer of 7 its evidence.", now);
        return vec![];
    }
    let Some(file) = reconciliation::exported(model, now) else {
        model.say("There is no open break to be exported.", now);
        return vec![];
    };
    vec![Effect::Export(vec![file])]
}

fn with_answer(model: &mut Model, now: Now, does: impl FnOnce(&mut Model, Answered) -> Vec<Effect>) -> Vec<Effect> {
    let answered = on_view(model).and_then(|id| model.screens.ticket.answer_of(id)).cloned();
    if let Some(answered) = answered {
        return does(model, answered);
    }
    model.notice = Some(Notice::caution("There is no answer yet.", now));
    vec![]
}

/// What `y` copies here: the text for the customer; of others, the list.
pub fn copied(model: &Model) -> Option<String> {
    let state = &model.screens.ticket;
    let answered = state.answer_of(on_view(model)?)?;
    Some(match &state.others {
        Some(others) => others.text(),
        None => words::to_customer(answered, state.language),
    })
}
