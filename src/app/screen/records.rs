//! What the Stuck and Unknown lists share: rows, sort orders, filter, preview.
//!
//! A row is a record id; what is drawn is looked up by it, so a row can never show one record and
//! act on another.

use ratatui::layout::Rect;

use super::{ScreenId, not_known, page_rows, record, sentence};
use crate::app::effect::Effect;
use crate::app::hand_backs::handed;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place, Zone};
use crate::domain::action::next_word;
use crate::domain::answer::Answer;
use crate::domain::ids::RecordId;
use crate::domain::payment::PaymentStatus;
use crate::domain::record::Record;
use crate::domain::time::{Now, age, since, until, words};
use crate::ui::layout::{Room, bottom, left, top};
use crate::ui::wide::{Keep, cut};
use crate::ui::widgets::panel::{panel, wrapped};
use crate::ui::widgets::table::{self, Table};
use crate::ui::{Canvas, Line, Role, Span};

mod columns;
mod marking;
mod sorting;

use columns::Next;
pub use marking::{standings, summary};
use sorting::compare;
pub use sorting::{Order, Sort, matches};

/// State of one list.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Rows and cursor.
    pub list: ListState<RecordId>,
    /// Words a row must have.
    pub filter: String,
    /// By what rows are sorted.
    pub sort: Sort,
    /// Which way.
    pub order: Order,
    /// How many records the poll brought.
    pub total: usize,
}

impl State {
    /// Takes the records of a poll in.
    pub fn sync(&mut self, answer: &Answer<Vec<Record>>, reading: Reading) {
        let Some(records) = answer.value() else { return };
        self.total = records.len();
        let mut kept: Vec<&Record> = records.iter().filter(|r| matches(r, &self.filter)).collect();
        kept.sort_by(|a, b| compare(self.sort, a, b));
        if self.order == Order::Reversed {
            kept.reverse();
        }
        self.list.sync(kept.into_iter().map(|r| r.id.clone()).collect(), reading);
    }
}

fn state_of(model: &mut Model, id: ScreenId) -> &mut State {
    match id {
        ScreenId::Unknown => &mut model.screens.unknown,
        ScreenId::Stuck
        | ScreenId::Overview
        | ScreenId::Conflicts
        | ScreenId::Invariants
        | ScreenId::Reconciliation
        | ScreenId::Ticket
        | ScreenId::Audit => &mut model.screens.stuck,
    }
}

/// The records of the picture that one of the lists is made of.
fn answer_of(model: &Model, id: ScreenId) -> Option<&Answer<Vec<Record>>> {
    model.picture.snapshot().map(|s| match id {
        ScreenId::Unknown => &s.unknown,
        ScreenId::Stuck
        | ScreenId::Overview
        | ScreenId::Conflicts
        | ScreenId::Invariants
        | ScreenId::Reconciliation
        | ScreenId::Ticket
        | ScreenId::Audit => &s.stuck,
    })
}

/// Whether a filter would leave any row of a list.
pub fn leaves_any(model: &Model, id: ScreenId, filter: &str) -> bool {
    answer_of(model, id).and_then(Answer::value).is_some_and(|all| all.iter().any(|record| matches(record, filter)))
}

/// Sorts a list anew from the picture.
pub fn resync(model: &mut Model, id: ScreenId) {
    let Some(answer) = answer_of(model, id).cloned() else { return };
    state_of(model, id).sync(&answer, Reading::No);
}

/// The keys of both lists.
pub fn on(model: &mut Model, id: ScreenId, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            state_of(model, id).list.go(motion, page);
        }
        RowCommand::Enter => {
            let Some(record) = state_of(model, id).list.cursor().cloned() else { return Some(vec![]) };
            return Some(model.go(Place::Record(record, id), now));
        }
        RowCommand::Sort => {
            let state = state_of(model, id);
            state.sort = state.sort.next();
            resync(model, id);
        }
        RowCommand::Reverse => {
            let state = state_of(model, id);
            state.order = match state.order {
                Order::Pressing => Order::Reversed,
                Order::Reversed => Order::Pressing,
            };
            resync(model, id);
        }
        RowCommand::Mark => {
            let under = state_of(model, id).list.cursor().cloned();
            marking::toggle(model, under, now);
        }
        RowCommand::Unmark => marking::clear(model, now),
        RowCommand::Back | RowCommand::Next | RowCommand::Previous | RowCommand::Raw | RowCommand::Only => return None,
    }
    Some(vec![])
}

/// Draws a table of records; `selected` is the place of the cursor.
pub fn table_of(
    model: &Model,
    canvas: &mut Canvas<'_>,
    area: Rect,
    ids: &[RecordId],
    selected: Option<usize>,
    now: Now,
) -> usize {
    let handed = ids.iter().any(|id| handed::next_word(model, id, now).is_some());
    let next = if handed { Next::HandedBack } else { Next::Step };
    let columns = columns::of(model.zone, next);
    let what = Table { columns, rows: ids.len(), selected };
    let row = |index: usize| ids.get(index).map(|id| cells(model, id, now)).unwrap_or_default();
    if area.width < 76 { table::cards(canvas, area, what, row) } else { table::draw(canvas, area, what, row) }
}

fn cells(model: &Model, id: &RecordId, now: Now) -> Vec<Span> {
    let span = |role: Role, text: String| Span { role, text };
    let mark = marking::sign(model, id);
    let Some(record) = model.picture.record(id) else {
        return vec![
            span(Role::Unknown, format!(" ?{mark}")),
            span(Role::Normal, id.scope.to_string()),
            span(Role::Normal, id.key.to_string()),
        ];
    };
    let at = model.db_now(now);
    let (sign, role) = sign_of(record);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "?".into());
    let when = match model.zone {
        Zone::Ages => words(age(record.created_at, at)),
        Zone::Utc => since(record.created_at, at),
    };
    vec![
        span(role, format!("{sign}{mark}")),
        span(Role::Normal, id.scope.to_string()),
        span(Role::Normal, id.key.to_string()),
        span(Role::Normal, when),
        span(Role::Normal, or_dash(record.recovery_point.as_ref().map(ToString::to_string))),
        span(Role::Normal, or_dash(record.money.as_ref().map(ToString::to_string))),
        span(Role::Normal, or_dash(record.provider.as_ref().map(ToString::to_string))),
        span(Role::Normal, or_dash(record.attempt.map(|a| a.0.to_string()))),
        span(Role::Normal, key_left(model, record, now)),
        next_of(model, id, record, now),
        span(Role::Normal, record.order.as_ref().map_or_else(|| "-".into(), ToString::to_string)),
        span(Role::Normal, record.owner.as_ref().map_or_else(|| "-".into(), ToString::to_string)),
    ]
}

/// The sign of a record: what may have moved money is critical.
pub fn sign_of(record: &Record) -> (&'static str, Role) {
    use crate::domain::record::RecoveryPoint as P;
    let asked = match &record.recovery_point {
        Some(P::ProviderCalled) => true,
        Some(P::Created | P::Charged | P::Done) => false,
        Some(P::Unrecognised(_)) | None => record.payment_status == Some(PaymentStatus::Unknown),
    };
    if asked || record.payment_status == Some(PaymentStatus::Unknown) {
        ("!!", Role::Critical)
    } else {
        (" !", Role::Caution)
    }
}

/// How long the provider still remembers the key.
pub fn key_left(model: &Model, record: &Record, now: Now) -> String {
    let terms = model.setup.context.terms_of(record);
    match (terms.key_retention, record.first_key_use) {
        (Some(retention), Some(first)) => {
            let end = retention.after(first);
            let at = model.db_now(now);
            if end <= at { "over".into() } else { words(until(end, at)) }
        }
        (None, _) | (_, None) => "?".into(),
    }
}

fn next_of(model: &Model, id: &RecordId, record: &Record, now: Now) -> Span {
    if let Some(handed) = handed::next_word(model, id, now) {
        return handed;
    }
    let word = match model.step(id, now) {
        Some(step) => next_word(&step),
        None if record.lease.is_live(model.db_now(now)) => "wait",
        None => "lookup",
    };
    Span { role: Role::Normal, text: word.into() }
}

/// What one of the lists shows.
pub struct ListOf<'a> {
    /// Rows and cursor.
    pub state: &'a State,
    /// The records of the poll, or why there are none.
    pub answer: &'a Answer<Vec<Record>>,
    /// How many there are in all, when that is known.
    pub all: Option<u64>,
    /// The sentence.
    pub head: Vec<Line>,
}

/// Draws one of the lists with its sentence.
pub fn view(model: &Model, list: ListOf<'_>, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let (state, answer, mut lines) = (list.state, list.answer, list.head);
    let glyphs = model.setup.look.glyphs;
    let arrow = match state.order {
        Order::Pressing => glyphs.order.0,
        Order::Reversed => glyphs.order.1,
    };
    let filter = if state.filter.is_empty() { "none".to_owned() } else { state.filter.clone() };
    let shown = state.list.order().len();
    // The poll brings one page: what lies beyond it is said, not hidden.
    let page = match list.all {
        Some(all) if usize::try_from(all).is_ok_and(|all| all > state.total) => format!(" (oldest of {all})"),
        Some(_) | None => String::new(),
    };
    if answer.value().is_some() {
        lines.push(
            Line::of(Role::Dim, " Filter: ")
                .then(filter)
                .and(Role::Dim, "   Sort: ")
                .then(format!("{} {arrow}", state.sort.word()))
                .and(Role::Dim, format!("   {shown} of {}{page}, rows keep their place", state.total)),
        );
    }
    lines.extend(marking::line(model, state, answer));
    if state.list.arrived() > 0 {
        lines.push(Line::of(Role::Info, format!(" i {} new arrived: press R to re-sort.", state.list.arrived())));
    }
    let rest = sentence(canvas, area, &lines);
    if let Some(why) = answer.why_not() {
        let lines = wrapped(&[not_known("this list", why)], usize::from(area.width), canvas);
        canvas.lines(rest, &lines);
        return;
    }
    if shown == 0 {
        let text =
            if state.total == 0 { "ok No such records." } else { " ! The filter hides every record. / changes it." };
        canvas.line(rest, &Line::plain(text));
        return;
    }
    let (list, preview) = if room.has_preview() {
        let (list, preview) = left(rest, rest.width.saturating_sub(46));
        (list, preview)
    } else {
        (rest, Rect::default())
    };
    let below_height = if room == Room::One && list.height > 12 { 5 } else { 0 };
    let (rows, below) = bottom(list, below_height);
    let hidden = table_of(model, canvas, rows, state.list.order(), state.list.position(), now);
    let Some(id) = state.list.cursor() else { return };
    if room.has_preview() {
        let inside = panel(canvas, preview, "RECORD");
        let lines = wrapped(&record::preview_lines(model, id, now), usize::from(inside.width), canvas);
        canvas.lines(inside, &lines);
    } else {
        under(model, id, hidden, canvas, below, now);
    }
}

/// Columns an identity may take in front of a sentence.
const NAME_WIDTH: usize = 48;

/// 80x24: what the record under the cursor means, and that nothing is deleted here.
fn under(model: &Model, id: &RecordId, hidden: usize, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let (_, area) = top(area, 1);
    let mut lines = Vec::new();
    if let Some(record) = model.record(id) {
        let (sentence, _) = record::sentence_of(model, record, now);
        let name = cut(&id.to_string(), NAME_WIDTH, Keep::End, canvas.charset());
        lines.push(Line::plain(format!(" {name}: ")).then(sentence));
    }
    let mut wrapped = wrapped(&lines, usize::from(area.width), canvas);
    wrapped.truncate(2);
    if hidden > 0 {
        wrapped.push(Line::of(Role::Dim, format!(" {hidden} more below (G = last).")));
    }
    wrapped.push(Line::of(Role::Dim, " Records are never deleted here. Del shows why and what to do instead."));
    canvas.lines(area, &wrapped);
}
