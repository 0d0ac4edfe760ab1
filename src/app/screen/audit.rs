//! 8 Audit: which plans wait for a second person, and who did, tried or was refused what. The log is append-only.
//!
//! ```text
//!    STATE    WHAT   RECORD            AMOUNT      ASKED BY  UNTIL
//!  ! waiting  adopt  shop-eu/…7Q4K-91  EUR 128.40  kim       14:33:27Z
//!    ID     TIME       WHO    WHAT    TARGET            RESULT
//!    au_17  14:03:41Z  dana   adopt   shop-eu/…7Q4K-91  done
//! ```

use ratatui::layout::Rect;

use super::{Screen, ScreenId, Screens, not_known, page_rows, rows, sentence};
use crate::app::dialog::guard;
use crate::app::effect::Effect;
use crate::app::hand_backs::handed;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place};
use crate::domain::approval::waiting;
use crate::domain::ids::{ApprovalId, LogId, RecordId};
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, age, words};
use crate::ui::layout::{Room, bottom, top};
use crate::ui::widgets::panel::wrapped;
use crate::ui::widgets::table::Form;
use crate::ui::{Canvas, Line, Role};

mod asked;
mod entries;

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Audit,
    digit: '8',
    titles: ["Audit", "Audit"],
    word: "audit",
    questions: &["get_approvals", "get_requests", "get_log", "get_handed_over"],
    count,
    sync,
    on,
    view,
};

/// One line of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// A request for approval.
    Asked(ApprovalId),
    /// A row of the log.
    Logged(LogId),
}

/// Requests, entries and the cursor.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Requests first, then entries.
    pub list: ListState<Row>,
}

impl State {
    /// The record of the line under the cursor.
    pub fn target(&self, model: &Model) -> Option<RecordId> {
        match *self.list.cursor()? {
            Row::Asked(number) => Some(asked::request(model, number)?.id.clone()),
            Row::Logged(id) => entries::entry(model, id)?.target.clone(),
        }
    }
}

/// How many plans wait for a second person.
fn count(model: &Model) -> (String, Role) {
    let waits = model.picture.snapshot().and_then(waiting).map_or(0, |waiting| waiting.len());
    if waits == 0 { (String::new(), Role::Normal) } else { (waits.to_string(), Role::Caution) }
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, reading: Reading) {
    let requests = asked::order(snapshot).into_iter().map(Row::Asked);
    let log = snapshot.log.value().into_iter().flatten().map(|entry| Row::Logged(entry.id));
    screens.audit.list.sync(requests.chain(log).collect(), reading);
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.audit.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => Some(match (model.screens.audit.list.cursor(), model.screens.audit.target(model)) {
            (Some(Row::Asked(number)), Some(id)) => {
                let number = *number;
                guard::read_request(model, id, number)
            }
            (Some(Row::Logged(_)), Some(id)) => model.go(Place::Record(id, ScreenId::Audit), now),
            (Some(Row::Asked(_) | Row::Logged(_)) | None, _) => {
                model.say("This entry is about no single record.", now);
                vec![]
            }
        }),
        RowCommand::Back
        | RowCommand::Sort
        | RowCommand::Reverse
        | RowCommand::Next
        | RowCommand::Previous
        | RowCommand::Raw
        | RowCommand::Mark
        | RowCommand::Unmark
        | RowCommand::Only => None,
    }
}

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let Some(snapshot) = model.picture.snapshot() else {
        canvas.line(area, &not_known("the log", "no picture of the database yet"));
        return;
    };
    let state = &model.screens.audit.list;
    let mut lines = vec![
        Line::plain(" Audit: append-only, newest first. Times are the database's clock."),
        handed_over(model, snapshot, now),
    ];
    lines.extend(handed::list_lines(model, now));
    if let Some(why) = snapshot.approvals.why_not() {
        lines.push(not_known("what waits for a second person", why));
    }
    lines.extend(rows::arrived(state, "new lines: press R to take them in."));
    let rest = sentence(canvas, area, &lines);
    let form = if room == Room::Card && area.width < 76 { Form::Cards } else { Form::Rows };
    let requests: Vec<Row> = state.order().iter().copied().filter(|row| matches!(row, Row::Asked(_))).collect();
    let log: Vec<Row> = state.order().iter().copied().filter(|row| matches!(row, Row::Logged(_))).collect();
    let (body, detail) = bottom(rest, if rest.height > 10 { 6 } else { 0 });
    let (first, second) = top(body, room_for(requests.len(), body.height, form));
    let at = state.position();
    let request = |row: &Row| match row {
        Row::Asked(number) => asked::request(model, *number).map(|one| asked::cells(model, one, now)),
        Row::Logged(_) => None,
    };
    if !requests.is_empty() {
        let inside = top(first, first.height.saturating_sub(1)).0;
        rows::draw(canvas, inside, asked::COLUMNS, (&requests, at.filter(|at| *at < requests.len())), form, request);
    }
    if snapshot.log.value().is_none() {
        rows::instead(canvas, second, "the log", snapshot.log.why_not());
    } else if log.is_empty() {
        canvas.line(second, &Line::plain("   Nothing has been done or refused here yet."));
    } else {
        let entry = |row: &Row| match row {
            Row::Logged(id) => entries::entry(model, *id).map(entries::cells),
            Row::Asked(_) => None,
        };
        let selected = at.and_then(|at| at.checked_sub(requests.len()));
        rows::draw(canvas, second, entries::COLUMNS, (&log, selected), form, entry);
    }
    let said = match state.cursor() {
        Some(Row::Asked(number)) => asked::request(model, *number).map(asked::detail_lines),
        Some(Row::Logged(id)) => entries::entry(model, *id).map(entries::detail_lines),
        None => None,
    };
    if let Some(said) = said {
        let mut lines = vec![Line::empty()];
        lines.extend(wrapped(&said, usize::from(detail.width), canvas));
        canvas.lines(detail, &lines);
    }
}

/// Rows for the requests, their head and a gap: all that wait as a rule, never more than half.
fn room_for(requests: usize, height: u16, form: Form) -> u16 {
    if requests == 0 {
        return 0;
    }
    let rows = u16::try_from(requests).unwrap_or(u16::MAX);
    let wanted = match form {
        Form::Rows => rows.saturating_add(2),
        Form::Cards => rows.saturating_mul(2).saturating_add(1),
    };
    wanted.min((height / 2).max(4))
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
