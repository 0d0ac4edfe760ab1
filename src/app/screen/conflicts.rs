//! 4 Conflicts: 409 (key in use) and 422 (key reused with other content), by client, route and key.
//!
//! ```text
//!    SCOPE    ROUTE           KEY       409  422  LAST     LIKELY
//!  ! shop-eu  POST /payments  …7Q4K-91   44    0  13:41Z   retries of a stuck record
//! ```

use ratatui::layout::Rect;

use super::rows::{self, span};
use super::{Screen, ScreenId, Screens, not_known, page_rows, sentence};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Place, Zone};
use crate::domain::ids::{Key, RecordId, Scope};
use crate::domain::rule::{Breach, RuleReport};
use crate::domain::snapshot::{Offender, Snapshot};
use crate::domain::time::{Now, Seconds, age, since, words};
use crate::ui::layout::Room;
use crate::ui::widgets::table::Column;
use crate::ui::{Canvas, Line, Role, Span};

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Conflicts,
    digit: '4',
    titles: ["Conflicts 409/422", "409/422"],
    word: "conflicts",
    questions: &["get_offenders", "get_rates"],
    count: |_| (String::new(), Role::Normal),
    sync,
    on,
    view,
};

/// The rule that an honest retry is never refused; its file is in `queries/*/rules`.
const HONEST_RETRY: &str = "I15";

/// What identifies a line.
pub type Id = (Scope, String, Option<Key>);

/// Rows and cursor.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Rows.
    pub list: ListState<Id>,
}

impl State {
    /// The record a line is about, when it names one key.
    pub fn target(&self) -> Option<RecordId> {
        let (scope, _, key) = self.list.cursor()?;
        Some(RecordId { scope: scope.clone(), key: key.clone()? })
    }
}

fn id_of(offender: &Offender) -> Id {
    (offender.scope.clone(), offender.route.clone(), offender.key.clone())
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, reading: Reading) {
    let Some(offenders) = snapshot.offenders.value() else { return };
    let mut sorted: Vec<&Offender> = offenders.iter().collect();
    // A client bug first, then the loudest.
    sorted.sort_by_key(|o| std::cmp::Reverse((o.mismatches > 0, o.conflicts.saturating_add(o.mismatches))));
    screens.conflicts.list.sync(sorted.into_iter().map(id_of).collect(), reading);
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.conflicts.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => Some(if let Some(id) = model.screens.conflicts.target() {
            model.go(Place::Record(id, ScreenId::Conflicts), now)
        } else {
            model.say("This line stands for several keys: there is no single record behind it.", now);
            vec![]
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

const COLUMNS: &[Column] = &[
    Column::ids("SCOPE", 8, 1).up_to(18),
    Column::words("ROUTE", 14, 4).up_to(22),
    Column::ids("KEY", 12, 0).up_to(24),
    Column::numbers("409", 4, 1),
    Column::numbers("422", 4, 1),
    Column::words("LAST", 7, 3),
    Column::words("LIKELY", 32, 2),
];

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let Some(snapshot) = model.picture.snapshot() else {
        canvas.line(area, &not_known("conflicts", "no picture of the database yet"));
        return;
    };
    let at = model.db_now(now);
    let mut lines = vec![match snapshot.rates.value() {
        None => not_known("the rates", snapshot.rates.why_not().unwrap_or_default()),
        Some(rates) => {
            let sum = rates.over(Seconds(300), at);
            let share =
                |part: u64| sum.share(part).map_or_else(|| "none".into(), |s| format!("{}.{}%", s / 10, s % 10));
            Line::plain(format!(
                " Last 5 min: {} answers · 409: {} ({}) · 422: {} ({})",
                sum.requests,
                sum.conflict,
                share(sum.conflict),
                sum.mismatch,
                share(sum.mismatch)
            ))
        }
    }];
    lines.push(match ours(snapshot).count() {
        0 => Line::of(Role::Dim, " 409 = a retry while the key is in use. 422 = a client bug: one key, two contents."),
        _ => Line::of(Role::Caution, " ! OUR bug: the same request was refused as another one (5: I15 is VIOLATED).")
            .then(" 409 = a retry while the key is in use."),
    });
    let state = &model.screens.conflicts.list;
    lines.extend(rows::arrived(state, "new arrived: press R to re-sort."));
    let rest = sentence(canvas, area, &lines);
    let Some(offenders) = snapshot.offenders.value() else {
        rows::instead(canvas, rest, "who causes them", snapshot.offenders.why_not());
        return;
    };
    if state.order().is_empty() {
        canvas.line(rest, &Line::plain("ok Nobody got 409 or 422 in the window."));
        return;
    }
    let offender = |id: &Id| offenders.iter().find(|o| &id_of(o) == id).map(|o| cells(model, o, now));
    rows::draw(canvas, rest, COLUMNS, (state.order(), state.position()), rows::form(room), offender);
}

/// Honest retries that were refused: a 422 of these is no client's bug.
fn ours(snapshot: &Snapshot) -> impl Iterator<Item = &Breach> {
    snapshot.rules.iter().filter(|report| report.rule.id == HONEST_RETRY).flat_map(RuleReport::breaches)
}

fn cells(model: &Model, offender: &Offender, now: Now) -> Vec<Span> {
    let record = offender.key.clone().map(|key| RecordId { scope: offender.scope.clone(), key });
    let stuck = record.as_ref().is_some_and(|id| model.picture.record(id).is_some());
    let ours = model.picture.snapshot().is_some_and(|snapshot| {
        ours(snapshot).any(|breach| {
            let named = breach.scope.as_ref() == Some(&offender.scope);
            named && (offender.key.is_none() || breach.key == offender.key)
        })
    });
    let (sign, role, likely) = match (offender.mismatches, ours, stuck) {
        (1.., true, _) => (" !", Role::Caution, "OUR bug (I15): the same request"),
        (1.., false, _) => (" !", Role::Caution, "client bug: one key, 2 contents"),
        (0, _, true) => (" !", Role::Caution, "retries of a stuck record"),
        (0, _, false) => ("  ", Role::Normal, "normal retries"),
    };
    let last = match model.zone {
        Zone::Ages => words(age(offender.last_at, model.db_now(now))),
        Zone::Utc => since(offender.last_at, model.db_now(now)),
    };
    vec![
        span(role, sign),
        span(Role::Normal, offender.scope.to_string()),
        span(Role::Normal, offender.route.clone()),
        span(Role::Normal, offender.key.as_ref().map_or_else(|| "(several)".to_owned(), ToString::to_string)),
        span(Role::Normal, offender.conflicts.to_string()),
        span(Role::Normal, offender.mismatches.to_string()),
        span(Role::Normal, last),
        span(role, likely),
    ]
}
