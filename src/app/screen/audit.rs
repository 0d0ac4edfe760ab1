//! 8 Audit: who did, tried or was refused what. Newest first; the log is append-only.
//!
//! ```text
//!    ID     TIME       WHO    WHAT    TARGET            RESULT
//!    au_17  14:03:41Z  dana   adopt   shop-eu/…7Q4K-91  done
//!  ! au_14  14:01:30Z  lee    resume  shop-eu/…B81C-55  refused
//! ```

use ratatui::layout::Rect;

use super::{Screen, ScreenId, Screens, not_known, page_rows, sentence};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place};
use crate::domain::ids::{LogId, RecordId};
use crate::domain::log::LogEntry;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, age, clock, words};
use crate::ui::layout::{Room, bottom};
use crate::ui::widgets::panel::wrapped;
use crate::ui::widgets::table::{self, Column, Form, Table};
use crate::ui::{Canvas, Line, Role, Span};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Audit,
    digit: '8',
    titles: ["Audit", "Audit"],
    word: "audit",
    questions: &["get_log", "get_handed_over"],
    count: |_| (String::new(), Role::Normal),
    sync,
    on,
    view,
};

/// Entries and cursor.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Entries by id.
    pub list: ListState<LogId>,
}

impl State {
    /// The record of the entry under the cursor.
    pub fn target(&self, model: &Model) -> Option<RecordId> {
        entry(model, *self.list.cursor()?)?.target.clone()
    }
}

fn entry(model: &Model, id: LogId) -> Option<&LogEntry> {
    model.picture.snapshot()?.log.value()?.iter().find(|e| e.id == id)
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, reading: Reading) {
    let Some(log) = snapshot.log.value() else { return };
    screens.audit.list.sync(log.iter().map(|e| e.id).collect(), reading);
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.audit.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => Some(if let Some(id) = model.screens.audit.target(model) {
            model.go(Place::Record(id, ScreenId::Audit), now)
        } else {
            model.say("This entry is about no single record.", now);
            vec![]
        }),
        RowCommand::Back
        | RowCommand::Sort
        | RowCommand::Reverse
        | RowCommand::Next
        | RowCommand::Previous
        | RowCommand::Raw => None,
    }
}

const COLUMNS: &[Column] = &[
    Column::words("ID", 7, 3),
    Column::words("TIME", 9, 0),
    Column::words("WHO", 8, 1).up_to(14),
    Column::words("ENTRY", 7, 4),
    Column::words("WHAT", 10, 0).up_to(20),
    Column::ids("TARGET", 16, 1).up_to(40),
    Column::words("RESULT", 9, 0).up_to(14),
    Column::words("TICKET", 9, 5).up_to(12),
];

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let Some(snapshot) = model.picture.snapshot() else {
        canvas.line(area, &not_known("the log", "no picture of the database yet"));
        return;
    };
    let state = &model.screens.audit.list;
    let mut lines = vec![handed_over(model, snapshot, now)];
    if state.arrived() > 0 {
        lines.push(Line::of(Role::Info, format!(" i {} new entries: press R to take them in.", state.arrived())));
    }
    lines.insert(0, Line::plain(" Audit: append-only, newest first. Times are the database's clock."));
    let rest = sentence(canvas, area, &lines);
    if snapshot.log.value().is_none() {
        let why = not_known("the log", snapshot.log.why_not().unwrap_or_default());
        let lines = wrapped(&[why], usize::from(area.width), canvas);
        canvas.lines(rest, &lines);
        return;
    }
    if state.order().is_empty() {
        canvas.line(rest, &Line::plain("   Nothing has been done or refused here yet."));
        return;
    }
    let (list, detail) = bottom(rest, if rest.height > 10 { 6 } else { 0 });
    let what = Table { columns: COLUMNS, rows: state.order().len(), selected: state.position() };
    let row = |index: usize| state.order().get(index).and_then(|id| entry(model, *id)).map(cells).unwrap_or_default();
    let form = if room == Room::Card && area.width < 76 { Form::Cards } else { Form::Rows };
    table::marked(canvas, list, what, form, row);
    if let Some(entry) = state.cursor().and_then(|id| entry(model, *id)) {
        let mut lines = vec![Line::empty()];
        lines.extend(wrapped(&detail_lines(entry), usize::from(detail.width), canvas));
        canvas.lines(detail, &lines);
    }
}

fn handed_over(model: &Model, snapshot: &Snapshot, now: Now) -> Line {
    match snapshot.handed_over.value() {
        None => not_known("what was handed over", snapshot.handed_over.why_not().unwrap_or_default()),
        Some(list) if list.is_empty() => Line::of(Role::Dim, " Nothing is handed over and waiting."),
        Some(list) => {
            let oldest = list.iter().map(|h| h.at).min();
            let oldest =
                oldest.map_or_else(String::new, |at| format!(", oldest {}", words(age(at, model.db_now(now)))));
            let first = list.first().map_or_else(String::new, |h| {
                let owner = h.owner.as_ref().map_or_else(|| "whoever takes it".into(), ToString::to_string);
                format!(" {} from {} to {owner}: {}", h.id, h.by, h.note)
            });
            Line::of(Role::Caution, format!(" ! {} handed over, not taken up{oldest}.", list.len())).then(first)
        }
    }
}

/// Results that deserve a sign.
fn role_of(result: Option<&str>, entry: &str) -> (&'static str, Role) {
    match (result, entry) {
        (Some("refused" | "conflict"), _) => (" !", Role::Caution),
        (Some("unknown" | "not done"), _) | (None, "outcome") => (" ?", Role::Unknown),
        (Some(_) | None, _) => ("  ", Role::Normal),
    }
}

fn cells(entry: &LogEntry) -> Vec<Span> {
    let span = |role: Role, text: String| Span { role, text };
    let (sign, role) = role_of(entry.result.as_deref(), &entry.entry);
    vec![
        span(role, sign.into()),
        span(Role::Normal, entry.id.to_string()),
        span(Role::Normal, clock(entry.at)),
        span(Role::Normal, entry.operator.as_ref().map_or_else(|| entry.session_user.clone(), ToString::to_string)),
        span(Role::Normal, entry.entry.clone()),
        span(Role::Normal, entry.action.clone()),
        span(Role::Normal, entry.target.as_ref().map_or_else(|| "-".into(), ToString::to_string)),
        span(role, entry.result.clone().unwrap_or_else(|| "-".into())),
        span(Role::Normal, entry.ticket.clone().unwrap_or_else(|| "-".into())),
    ]
}

fn detail_lines(entry: &LogEntry) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(reason) = &entry.reason {
        lines.push(Line::of(Role::Dim, format!(" {} reason: ", entry.id)).then(reason.clone()));
    }
    if let Some(detail) = &entry.detail {
        lines.push(Line::of(Role::Dim, " detail: ").then(detail.clone()));
    }
    let plan = entry.plan_hash.as_deref().map_or_else(|| "-".to_owned(), |h| h.chars().take(6).collect());
    let answers = entry.intent.map_or_else(String::new, |i| format!(" · answers {i}"));
    lines.push(Line::of(
        Role::Dim,
        format!(" plan {plan} · environment {} · database user {}{answers}", entry.environment, entry.session_user),
    ));
    lines
}
