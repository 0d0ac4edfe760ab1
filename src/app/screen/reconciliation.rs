//! 6 Reconciliation: where the provider's reports and our books disagree, how old, who has it.
//!
//! ```text
//!    KIND       COUNT             MONEY  OLDEST  MEANING
//! !! orphan         2        EUR 143.90   9m02s  theirs, not ours: likely stuck
//!    ID     KIND     OURS        THEIRS    DIFFER   AGE    OWNER
//! !! rb_71  orphan      -     EUR 75.00  EUR 75.00  9m02s  -
//! ```
//!
//! A break is a question, not an error. Must never change the books: there is no action here but the menu's, and
//! that only for a break whose record is known.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use super::records::Order;
use super::rows::{self, span};
use super::{Screen, ScreenId, Screens, not_known, page_rows, sentence};
use crate::app::effect::{Effect, ExportFile};
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place, Zone};
use crate::domain::ids::RecordId;
use crate::domain::recon::{Break, BreakKind, Reconciliation, Report};
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Instant, Now, age, since, words};
use crate::ui::layout::{Room, bottom, left, top};
use crate::ui::text::safe_value;
use crate::ui::widgets::panel::{panel, wrapped};
use crate::ui::widgets::table::{Column, Form};
use crate::ui::{Canvas, Line, Role, Span};

mod files;
mod head;
mod weigh;
mod words;

pub use weigh::Sort;

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Reconciliation,
    digit: '6',
    titles: ["Reconciliation", "Recon"],
    word: "reconciliation",
    questions: &["get_reports", "get_breaks"],
    count,
    sync,
    on,
    view,
};

/// Breaks by their numbers, and how they are shown.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Rows and cursor.
    pub list: ListState<i64>,
    /// The one kind that is shown; `None` is every kind.
    pub kind: Option<BreakKind>,
    /// By what rows are sorted.
    pub sort: Sort,
    /// Which way.
    pub order: Order,
}

impl State {
    /// The record of the break under the cursor, when one is known.
    pub fn target(&self, model: &Model) -> Option<RecordId> {
        under_cursor(model, self)?.record.clone()
    }

    fn sync(&mut self, all: &Reconciliation, reading: Reading) {
        // A kind whose last break was settled would hide all the others behind an empty list.
        if !all.breaks.iter().any(|one| Some(one.kind) == self.kind) {
            self.kind = None;
        }
        let mut shown: Vec<&Break> =
            all.breaks.iter().filter(|one| self.kind.is_none_or(|kind| one.kind == kind)).collect();
        shown.sort_by(|a, b| weigh::compare(self.sort, a, b));
        if self.order == Order::Reversed {
            shown.reverse();
        }
        self.list.sync(shown.into_iter().map(|one| one.number).collect(), reading);
    }
}

fn known(model: &Model) -> Option<&Reconciliation> {
    model.picture.snapshot()?.reconciliation.value()
}

fn under_cursor<'a>(model: &'a Model, state: &State) -> Option<&'a Break> {
    let number = state.list.cursor()?;
    known(model)?.breaks.iter().find(|one| one.number == *number)
}

fn report_of<'a>(all: &'a Reconciliation, one: &Break) -> Option<&'a Report> {
    all.reports.iter().find(|report| report.hash == one.report)
}

/// How many breaks are older than a day: what the Overview counts. `None` when that is not known.
pub fn old_breaks(snapshot: &Snapshot) -> Option<(usize, Option<Instant>)> {
    let all = snapshot.reconciliation.value()?;
    let old = all.breaks.iter().map(weigh::since_of).filter(|when| age(*when, snapshot.db_now) > weigh::OLD);
    Some((old.clone().count(), old.min()))
}

/// The break under the cursor, as `y` copies it; `None` on any other screen.
pub fn copied(model: &Model) -> Option<String> {
    if model.place != Place::Screen(ScreenId::Reconciliation) {
        return None;
    }
    let one = under_cursor(model, &model.screens.reconciliation)?;
    let report = known(model).and_then(|all| report_of(all, one));
    Some(safe_value(&words::copied(one, report)).into_owned())
}

/// The breaks that are listed, as a file.
pub fn exported(model: &Model, now: Now) -> Option<ExportFile> {
    let all = known(model).filter(|all| !all.breaks.is_empty())?;
    let by_number: BTreeMap<i64, &Break> = all.breaks.iter().map(|one| (one.number, one)).collect();
    let listed = model.screens.reconciliation.list.order().iter();
    Some(files::breaks(all, listed.filter_map(|number| by_number.get(number).copied()), now))
}

fn count(model: &Model) -> (String, Role) {
    let Some(snapshot) = model.picture.snapshot() else { return ("?".into(), Role::Unknown) };
    match (snapshot.reconciliation.value(), old_breaks(snapshot)) {
        (Some(all), _) if all.reports.is_empty() => (String::new(), Role::Normal),
        (Some(all), Some((1.., _))) => (all.breaks.len().to_string(), Role::Caution),
        (Some(all), Some((0, _)) | None) => (all.breaks.len().to_string(), Role::Normal),
        (None, _) => ("?".into(), Role::Unknown),
    }
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, reading: Reading) {
    let Some(all) = snapshot.reconciliation.value() else { return };
    screens.reconciliation.sync(all, reading);
}

/// Sorts and filters anew from the picture.
fn resync(model: &mut Model) {
    let Some(all) = known(model).cloned() else { return };
    model.screens.reconciliation.sync(&all, Reading::No);
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.reconciliation.list.go(motion, page);
        }
        RowCommand::Enter => {
            if let Some(id) = model.screens.reconciliation.target(model) {
                return Some(model.go(Place::Record(id, ScreenId::Reconciliation), now));
            }
            if model.screens.reconciliation.list.cursor().is_some() {
                model
                    .say("No record of ours is known for this break. y copies it, for whoever asks the provider.", now);
            }
        }
        RowCommand::Sort => {
            model.screens.reconciliation.sort = model.screens.reconciliation.sort.next();
            resync(model);
        }
        RowCommand::Reverse => {
            model.screens.reconciliation.order = match model.screens.reconciliation.order {
                Order::Pressing => Order::Reversed,
                Order::Reversed => Order::Pressing,
            };
            resync(model);
        }
        RowCommand::Only => {
            let shown = model.screens.reconciliation.kind;
            model.screens.reconciliation.kind = known(model).and_then(|all| weigh::next_kind(shown, &all.breaks));
            resync(model);
        }
        RowCommand::Back
        | RowCommand::Next
        | RowCommand::Previous
        | RowCommand::Raw
        | RowCommand::Mark
        | RowCommand::Unmark => return None,
    }
    Some(vec![])
}

const COLUMNS: &[Column] = &[
    Column::words("ID", 6, 0).up_to(10),
    Column::words("KIND", 9, 1),
    Column::numbers("OURS", 12, 1).up_to(22),
    Column::numbers("THEIRS", 12, 1).up_to(22),
    Column::numbers("DIFFER BY", 11, 3).up_to(22),
    Column::words("AGE", 6, 2).up_to(16),
    Column::words("OWNER", 6, 2).up_to(16),
    Column::ids("REF", 12, 4).up_to(28),
];

fn cells(model: &Model, one: &Break, now: Now) -> Vec<Span> {
    let at = model.db_now(now);
    let (sign, role) = words::sign_of(one.kind);
    let when = weigh::since_of(one);
    let when = match model.zone {
        Zone::Ages => words(age(when, at)),
        Zone::Utc => since(when, at),
    };
    let differ = weigh::difference(one).map_or_else(|| "-".to_owned(), |money| money.to_string());
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        span(role, sign),
        span(Role::Normal, format!("rb_{}", one.number)),
        span(role, one.kind.word()),
        span(Role::Normal, words::side(one.ours.as_ref())),
        span(Role::Normal, words::side(one.theirs.as_ref())),
        span(Role::Normal, differ),
        span(Role::Normal, when),
        span(Role::Normal, or_dash(one.owner.as_ref().map(ToString::to_string))),
        span(Role::Normal, or_dash(one.provider_ref.as_ref().map(ToString::to_string))),
    ]
}

/// What this screen is for, on every picture of it.
const QUESTION: &str = " A break is a question, not an error. This screen never changes the books.";

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let Some(snapshot) = model.picture.snapshot() else {
        canvas.line(area, &not_known("reconciliation", "no picture of the database yet"));
        return;
    };
    let Some(all) = snapshot.reconciliation.value() else {
        rows::instead(canvas, area, "where the reports and our books disagree", snapshot.reconciliation.why_not());
        return;
    };
    if all.reports.is_empty() {
        sentence(canvas, area, &head::no_report());
        return;
    }
    let state = &model.screens.reconciliation;
    let rest = sentence(canvas, area, &head::lines(model, all, state, canvas.charset(), now));
    let (rest, dictum) = bottom(rest, u16::from(rest.height > 4));
    canvas.line(dictum, &Line::of(Role::Dim, QUESTION));
    if room.has_preview() {
        let (list, beside) = left(rest, rest.width.saturating_sub(46));
        breaks(model, all, canvas, list, room, now);
        beside_breaks(model, all, canvas, beside, now);
    } else {
        breaks(model, all, canvas, rest, room, now);
    }
}

/// Kinds, ages and the list; in a small window also a line about the break under the cursor.
fn breaks(model: &Model, all: &Reconciliation, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let at = model.db_now(now);
    let state = &model.screens.reconciliation;
    let rest = if area.height >= 13 && area.width >= 60 {
        let (kinds, rest) = top(area, 6);
        head::kinds(canvas, kinds, all, state.kind, at);
        rest
    } else {
        let (line, rest) = top(area, u16::from(area.height > 5));
        canvas.line(line, &head::kinds_line(all));
        rest
    };
    let (ages, rest) = top(rest, u16::from(rest.height > 5));
    canvas.line(ages, &head::ages_line(all, at));
    let (_, rest) = top(rest, u16::from(rest.height > 7));
    let (list, under) = bottom(rest, u16::from(!room.has_preview() && rest.height > 3));
    if all.breaks.is_empty() {
        canvas.line(list, &head::nothing_open(all));
        return;
    }
    let form = if room == Room::Card && area.width < 76 { Form::Cards } else { Form::Rows };
    let row = |number: &i64| all.breaks.iter().find(|one| one.number == *number).map(|one| cells(model, one, now));
    rows::draw(canvas, list, COLUMNS, (state.list.order(), state.list.position()), form, row);
    if let Some(one) = under_cursor(model, state) {
        canvas.line(under, &words::short_line(one));
    }
}

/// Rows the reports get beside the list, when there is a break to show above them.
const REPORTS_HEIGHT: u16 = 9;

/// From 120 columns: the break under the cursor whole, and the reports.
fn beside_breaks(model: &Model, all: &Reconciliation, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let at = model.db_now(now);
    let mut below = area;
    if let Some(one) = under_cursor(model, &model.screens.reconciliation) {
        let lines = words::detail_lines(one, report_of(all, one), at);
        let lines = wrapped(&lines, usize::from(area.width.saturating_sub(4)), canvas);
        let wanted = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
        let most = if area.height > 24 { area.height.saturating_sub(REPORTS_HEIGHT) } else { area.height };
        let (place, rest) = top(area, wanted.min(most));
        let inside = panel(canvas, place, "BREAK");
        canvas.lines(inside, &lines);
        below = rest;
    }
    if below.height > 4 {
        let inside = panel(canvas, below, "REPORTS");
        let lines = wrapped(&head::reports(all, at), usize::from(inside.width), canvas);
        canvas.lines(inside, &lines);
    }
}
