//! 5 Invariants: is the money correct right now, which rule broke, since when, which rows.
//!
//! ```text
//!    ID   RULE IN WORDS                           STATE      ROWS  CHECKED
//! !! I3   every success has a done record         VIOLATED      2  7s ago
//!  ? I8   settlement equals our books             NOT KNOWN     -  why
//! ```

use ratatui::layout::Rect;

use super::{Screen, ScreenId, Screens, not_known, page_rows, sentence};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading, moved};
use crate::app::model::{Model, Place};
use crate::domain::ids::RecordId;
use crate::domain::rule::{Breach, RuleReport, RuleState, Severity};
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, age, since, words};
use crate::ui::layout::{Room, bottom, top};
use crate::ui::widgets::panel::wrapped;
use crate::ui::widgets::table::{self, Column, Form, Table};
use crate::ui::{Canvas, Line, Role, Span};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Invariants,
    digit: '5',
    titles: ["Invariants", "Invar"],
    word: "invariants",
    questions: &["rules"],
    count,
    sync,
    on,
    view,
};

/// Rules, and the rows of the rule that is open.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Rules by id.
    pub list: ListState<String>,
    /// The row under the cursor inside an open rule.
    pub row: Option<usize>,
}

impl State {
    /// The record of the row under the cursor.
    pub fn target(&self, model: &Model) -> Option<RecordId> {
        let breach = report(model, self)?.breaches().get(self.row?)?;
        record_of(breach)
    }
}

fn record_of(breach: &Breach) -> Option<RecordId> {
    Some(RecordId { scope: breach.scope.clone()?, key: breach.key.clone()? })
}

fn report<'a>(model: &'a Model, state: &State) -> Option<&'a RuleReport> {
    let id = state.list.cursor()?;
    model.picture.snapshot()?.rules.iter().find(|r| &r.rule.id == id)
}

fn rank(report: &RuleReport) -> u8 {
    match (&report.state, report.rule.severity) {
        (RuleState::Violated { .. }, Severity::Critical) => 0,
        (RuleState::Violated { .. }, Severity::Caution) => 1,
        (RuleState::NotKnown { .. }, _) => 2,
        (RuleState::Holds { .. }, _) => 3,
    }
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, reading: Reading) {
    let mut reports: Vec<&RuleReport> = snapshot.rules.iter().collect();
    reports.sort_by_key(|r| rank(r));
    let state = &mut screens.invariants;
    state.list.sync(reports.iter().map(|r| r.rule.id.clone()).collect(), reading);
    let under = state.list.cursor().and_then(|id| reports.iter().find(|r| &r.rule.id == id));
    // "5 then Enter" has to open what broke: the cursor may still be on a rule that has nothing to open.
    if reading == Reading::No
        && state.row.is_none()
        && under.is_some_and(|report| rank(report) > 1)
        && let Some(worst) = reports.first().filter(|report| rank(report) < 2)
    {
        state.list.select(&worst.rule.id);
    }
}

fn count(model: &Model) -> (String, Role) {
    let Some(snapshot) = model.picture.snapshot() else { return ("?".into(), Role::Unknown) };
    let ranks: Vec<u8> = snapshot.rules.iter().map(rank).collect();
    let violated = ranks.iter().filter(|r| **r < 2).count();
    match (violated, ranks.contains(&0), ranks.contains(&2) || ranks.is_empty()) {
        (1.., true, _) => (violated.to_string(), Role::Critical),
        (1.., false, _) => (violated.to_string(), Role::Caution),
        (0, _, true) => ("?".into(), Role::Unknown),
        (0, _, false) => ("0".into(), Role::Normal),
    }
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    let open = model.screens.invariants.row;
    match (command, open) {
        (RowCommand::Move(motion), None) => {
            let page = page_rows(model);
            model.screens.invariants.list.go(motion, page);
            Some(vec![])
        }
        (RowCommand::Move(motion), Some(row)) => {
            let last = report(model, &model.screens.invariants).map_or(0, |r| r.breaches().len().saturating_sub(1));
            model.screens.invariants.row = Some(moved(row, motion, 5, last));
            Some(vec![])
        }
        (RowCommand::Enter, None) => {
            let rows = report(model, &model.screens.invariants).map_or(0, |r| r.breaches().len());
            if rows > 0 {
                model.screens.invariants.row = Some(0);
            } else {
                model.say("No rows break this rule.", now);
            }
            Some(vec![])
        }
        (RowCommand::Enter, Some(_)) => Some(if let Some(id) = model.screens.invariants.target(model) {
            model.go(Place::Record(id, ScreenId::Invariants), now)
        } else {
            model.say("This row names no record (scope and key).", now);
            vec![]
        }),
        (RowCommand::Back, Some(_)) => {
            model.screens.invariants.row = None;
            Some(vec![])
        }
        _ => None,
    }
}

const COLUMNS: &[Column] = &[
    Column::words("ID", 3, 0),
    Column::words("RULE IN WORDS", 41, 1).up_to(80),
    Column::words("STATE", 9, 1),
    Column::numbers("ROWS", 4, 2),
    Column::words("CHECKED", 8, 3),
];

const ROW_COLUMNS: &[Column] = &[
    Column::ids("SCOPE", 9, 2).up_to(16),
    Column::ids("KEY", 10, 0).up_to(24),
    Column::ids("PAYMENT", 9, 4).up_to(20),
    Column::numbers("AMOUNT", 12, 1),
    Column::words("SINCE", 6, 3),
    Column::words("WHAT", 20, 1).up_to(80),
];

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let Some(snapshot) = model.picture.snapshot() else {
        canvas.line(area, &not_known("invariants", "no picture of the database yet"));
        return;
    };
    let state = &model.screens.invariants;
    let rest = sentence(canvas, area, &head(model, snapshot, now));
    let rows_below = report(model, state).map_or(0, |r| r.breaches().len());
    let wanted = if rows_below > 0 { u16::try_from(rows_below).unwrap_or(u16::MAX).saturating_add(4) } else { 5 };
    let most = if room == Room::Card { rest.height / 3 } else { rest.height / 2 };
    let (list, detail) = bottom(rest, wanted.min(most));
    let what = Table { columns: COLUMNS, rows: state.list.order().len(), selected: state.list.position() };
    let row = |index: usize| {
        let id = state.list.order().get(index);
        let report = id.and_then(|id| snapshot.rules.iter().find(|r| &r.rule.id == id));
        report.map(|r| cells(model, r, now)).unwrap_or_default()
    };
    table::marked(canvas, list, what, if area.width < 76 { Form::Cards } else { Form::Rows }, row);
    if let Some(report) = report(model, state) {
        rows(model, report, canvas, detail, now);
    }
}

fn head(model: &Model, snapshot: &Snapshot, now: Now) -> Vec<Line> {
    let all = snapshot.rules.len();
    let mut violated: Vec<&RuleReport> = snapshot.rules.iter().filter(|r| rank(r) < 2).collect();
    // The sentence is about the first row of the table.
    violated.sort_by_key(|r| rank(r));
    let unjudged = snapshot.rules.iter().filter(|r| rank(r) == 2).count();
    let mut lines = Vec::new();
    match violated.first() {
        Some(first) => {
            let critical = violated.iter().any(|r| rank(r) == 0);
            let (sign, role) = if critical { ("!!", Role::Critical) } else { (" !", Role::Caution) };
            lines.push(
                Line::of(role, format!("{sign} {} of {all} invariants VIOLATED", violated.len()))
                    .then(format!(": {}", first.rule.sentence)),
            );
            let when = match &first.state {
                RuleState::Violated { since: when, .. } => format!("since {}", since(*when, model.db_now(now))),
                RuleState::Holds { .. } | RuleState::NotKnown { .. } => String::new(),
            };
            let money = first.money();
            let money = if money.is_empty() { String::new() } else { format!("{money} · ") };
            lines.push(Line::plain(format!("   {money}{when} · Do next: {}", first.rule.next)));
        }
        None if unjudged == 0 && all > 0 && unaudited(snapshot) == 0 => {
            lines.push(Line::of(Role::Good, format!("ok All {all} invariants were checked and hold.")));
        }
        None if unjudged == 0 && all > 0 => lines.push(
            Line::of(Role::Good, format!("ok All {all} invariants hold for recent rows."))
                .then(format!(" {} wait for a full audit (holds*).", unaudited(snapshot))),
        ),
        None if all == unjudged => {
            lines.push(Line::of(Role::Unknown, " ? NOT KNOWN").then("  No invariant could be checked."));
        }
        None => lines.push(
            Line::of(Role::Unknown, " ? NOT KNOWN")
                .then(format!("  None of {} checked invariants is violated.", all - unjudged)),
        ),
    }
    if unjudged > 0 {
        lines.push(
            Line::of(Role::Unknown, format!(" ? {unjudged} NOT KNOWN"))
                .then(": could not be checked. That is not the same as true."),
        );
    }
    lines
}

/// Rules that hold for recent rows only, so far.
fn unaudited(snapshot: &Snapshot) -> usize {
    let recent = |r: &&RuleReport| matches!(r.state, RuleState::Holds { audited_at: None, .. });
    snapshot.rules.iter().filter(recent).count()
}

fn cells(model: &Model, report: &RuleReport, now: Now) -> Vec<Span> {
    let span = |role: Role, text: String| Span { role, text };
    let at = model.db_now(now);
    let ago = |when| format!("{} ago", words(age(when, at)));
    let (sign, role, word, rows, checked) = match &report.state {
        RuleState::Holds { checked_at, audited_at: Some(_) } => {
            ("ok", Role::Good, "holds", "0".into(), ago(*checked_at))
        }
        RuleState::Holds { checked_at, audited_at: None } => ("ok", Role::Good, "holds*", "0".into(), ago(*checked_at)),
        RuleState::Violated { checked_at, .. } => {
            let (sign, role) = match report.rule.severity {
                Severity::Critical => ("!!", Role::Critical),
                Severity::Caution => (" !", Role::Caution),
            };
            (sign, role, "VIOLATED", report.count(), ago(*checked_at))
        }
        RuleState::NotKnown { .. } => (" ?", Role::Unknown, "NOT KNOWN", "-".into(), "-".into()),
    };
    vec![
        span(role, sign.into()),
        span(role, report.rule.id.clone()),
        span(Role::Normal, report.rule.sentence.clone()),
        span(role, word.into()),
        span(role, rows),
        span(Role::Normal, checked),
    ]
}

/// The rows of the rule under the cursor, or why there are none.
fn rows(model: &Model, report: &RuleReport, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let (_, area) = top(area, u16::from(area.height > 6));
    let full = Line::of(Role::Heading, format!(" {}  ", report.rule.id)).then(report.rule.sentence.clone());
    let full = wrapped(&[full], usize::from(area.width), canvas);
    let height = u16::try_from(full.len()).unwrap_or(1);
    let (head, area) = top(area, height);
    canvas.lines(head, &full);
    let at = model.db_now(now);
    match &report.state {
        RuleState::NotKnown { why } => {
            let lines = [
                Line::of(Role::Unknown, " ? NOT KNOWN").then(format!(": {why}")),
                Line::of(Role::Dim, " 'holds' = checked and true. 'NOT KNOWN' = could not be checked; not the same."),
            ];
            let lines = wrapped(&lines, usize::from(area.width), canvas);
            canvas.lines(area, &lines);
        }
        RuleState::Holds { audited_at, .. } => {
            let audited = audited_at.map_or_else(
                || "holds* = recent rows hold; no full audit of all rows has finished.".to_owned(),
                |when| format!("all rows were audited {} ago.", words(age(when, at))),
            );
            canvas.line(area, &Line::of(Role::Dim, format!(" {audited}")));
        }
        RuleState::Violated { breaches, .. } => {
            let what = Table { columns: ROW_COLUMNS, rows: breaches.len(), selected: model.screens.invariants.row };
            let span = |text: Option<String>| Span { role: Role::Normal, text: text.unwrap_or_else(|| "-".into()) };
            let row = |index: usize| {
                breaches
                    .get(index)
                    .map(|b| {
                        vec![
                            span(Some(String::new())),
                            span(b.scope.as_ref().map(ToString::to_string)),
                            span(b.key.as_ref().or(None).map(ToString::to_string).or_else(|| b.reference.clone())),
                            span(b.payment.as_ref().map(ToString::to_string)),
                            span(b.money.as_ref().map(ToString::to_string)),
                            span(b.at.map(|when| since(when, at))),
                            span(Some(b.detail.clone())),
                        ]
                    })
                    .unwrap_or_default()
            };
            table::marked(canvas, area, what, if area.width < 76 { Form::Cards } else { Form::Rows }, row);
        }
    }
}
