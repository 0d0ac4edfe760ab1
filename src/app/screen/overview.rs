//! 1 Overview: how bad, getting worse, since when, what next.
//!
//! ```text
//! !! CRITICAL  12 payments with an UNKNOWN charge outcome. Money may have moved.
//!    At risk EUR 1,934.20 · RISING +5/10m · since 13:41Z (22m)
//!    Do next: 3 then Enter on the oldest, then a l
//!    SIGNAL            NOW  NORMAL  LAST 60 MIN   TREND          SINCE
//! ```

use ratatui::layout::Rect;

use super::{Screen, ScreenId, Screens, not_known, reconciliation, sentence};
use crate::app::effect::Effect;
use crate::app::hand_backs::handed;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::Model;
use crate::app::picture::Freshness;
use crate::app::screen::page_rows;
use crate::domain::alarm::{self, Assessment, Level};
use crate::domain::approval::waiting_sentence;
use crate::domain::snapshot::{Signal, Snapshot};
use crate::domain::time::{Instant, Now, Seconds, age, words};
use crate::ui::layout::{Room, bottom, columns, top};
use crate::ui::widgets::panel::panel;
use crate::ui::{Canvas, Line, Role};

mod panels;
mod rows;

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Overview,
    digit: '1',
    titles: ["Overview", "Overview"],
    word: "overview",
    questions: &["get_pulse", "get_rates", "get_providers", "get_recoverer", "get_changes", "get_approvals"],
    count: |_| (String::new(), Role::Normal),
    sync,
    on,
    view,
};

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row {
    /// A signal of the pulse.
    Signal(Signal),
    /// Rules that are violated.
    Rules,
    /// Reconciliation breaks older than a day.
    Breaks,
    /// Answers 409.
    Conflict,
    /// Answers 422.
    Mismatch,
    /// Answers 503.
    Unavailable,
    /// All answers.
    Answers,
}

/// An open transaction is worth a row from this age on: it makes polls slow.
const OLD_TRANSACTION: Seconds = Seconds(60);

const ROWS: &[Row] = &[
    Row::Signal(Signal::Unknown),
    Row::Signal(Signal::Stuck),
    Row::Rules,
    Row::Conflict,
    Row::Mismatch,
    Row::Unavailable,
    Row::Answers,
    Row::Signal(Signal::Pending),
    Row::Signal(Signal::Outbox),
    Row::Signal(Signal::Webhooks),
    Row::Signal(Signal::HandedOver),
    Row::Breaks,
    Row::Signal(Signal::Xmin),
];

/// The cursor.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Rows of the table.
    pub list: ListState<Row>,
}

fn sync(screens: &mut Screens, snapshot: &Snapshot, _: Reading) {
    let rows = ROWS.iter().copied().filter(|row| !is_quiet(*row, snapshot)).collect();
    screens.overview.list.sync(rows, Reading::No);
}

/// The side signals share one line while there is nothing to them. What is not known is never quiet.
fn is_quiet(row: Row, snapshot: &Snapshot) -> bool {
    if row == Row::Breaks {
        return reconciliation::old_breaks(snapshot).is_some_and(|(count, _)| count == 0);
    }
    let Row::Signal(signal) = row else { return false };
    let Some(pulse) = snapshot.pulse_of(signal) else { return false };
    match signal {
        Signal::Unknown | Signal::Stuck => false,
        Signal::Pending | Signal::Outbox | Signal::Webhooks | Signal::HandedOver => pulse.count == 0,
        Signal::Xmin => pulse.oldest.is_none_or(|start| age(start, snapshot.db_now) < OLD_TRANSACTION),
    }
}

fn quiet_word(signal: Signal) -> &'static str {
    match signal {
        Signal::Pending => "long pending",
        Signal::Outbox => "outbox",
        Signal::Webhooks => "webhooks",
        Signal::HandedOver => "handed over",
        Signal::Xmin => "transaction",
        Signal::Unknown | Signal::Stuck => signal.title(),
    }
}

/// The quiet signals in one line; nothing when there are none.
fn quiet_line(snapshot: &Snapshot) -> Option<Line> {
    let quiet: Vec<String> = Signal::ALL
        .into_iter()
        .filter(|signal| is_quiet(Row::Signal(*signal), snapshot))
        .filter_map(|signal| {
            let pulse = snapshot.pulse_of(signal)?;
            let value = match pulse.oldest {
                Some(start) if signal == Signal::Xmin => words(age(start, snapshot.db_now)),
                Some(_) | None => pulse.count.to_string(),
            };
            Some(format!("{} {value}", quiet_word(signal)))
        })
        .collect();
    (!quiet.is_empty()).then(|| Line::of(Role::Dim, format!("   Quiet: {}", quiet.join(" · "))))
}

fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.overview.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => {
            let to = match model.screens.overview.list.cursor()? {
                Row::Signal(Signal::Unknown | Signal::Pending) => ScreenId::Unknown,
                Row::Signal(Signal::Stuck) => ScreenId::Stuck,
                Row::Rules => ScreenId::Invariants,
                Row::Breaks => ScreenId::Reconciliation,
                Row::Conflict | Row::Mismatch => ScreenId::Conflicts,
                Row::Signal(Signal::HandedOver) => ScreenId::Audit,
                Row::Signal(Signal::Outbox | Signal::Webhooks | Signal::Xmin) | Row::Unavailable | Row::Answers => {
                    let text = "There is no list behind this number. s shows the SQL it comes from.";
                    model.say(text, now);
                    return Some(vec![]);
                }
            };
            Some(model.go(crate::app::model::Place::Screen(to), now))
        }
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

/// The sentence: the same words here, in `check` and on the clipboard.
pub fn sentence_lines(model: &Model, now: Now) -> Vec<Line> {
    let Some(snapshot) = model.picture.snapshot() else {
        return vec![
            Line::of(Role::Unknown, " ? NOT KNOWN").then("  No picture of the database yet."),
            Line::plain("   Do next: wait for the first answer, or run: unstuck doctor"),
        ];
    };
    let at = model.db_now(now);
    let assessment = alarm::assess(snapshot, &model.setup.normals);
    let instead = match model.freshness(now) {
        Freshness::Lost(_) => Some("check the database first; the console reconnects by itself (r = now)."),
        Freshness::Stale(_) => Some("wait for the next poll; the numbers are old."),
        Freshness::Paused(_) => Some("p for now; this picture is held."),
        Freshness::Waiting | Freshness::Fresh(_) | Freshness::Ageing(_) => None,
    };
    let mut lines = worst(&assessment, model, at, instead);
    if let Some(waits) = waiting_sentence(snapshot, at) {
        lines.push(Line::of(Role::Info, format!(" i {waits}: ")).and(Role::Key, "8"));
    }
    lines
}

/// The sentence of the worst alarm. `instead` replaces its next step when the picture is old.
fn worst(assessment: &Assessment, model: &Model, at: Instant, instead: Option<&str>) -> Vec<Line> {
    let Some(first) = assessment.alarms.first() else {
        return vec![
            Line::of(Role::Good, "ok OK")
                .then("  Nothing stuck, nothing unknown; every invariant that was checked holds."),
            Line::of(Role::Dim, "   Do next: nothing. The console watches."),
        ];
    };
    let role = level_role(assessment.level);
    let mut lines = vec![if first.level == Level::NotKnown {
        // The words of the alarm say NOT KNOWN themselves.
        Line::of(role, format!("{} {}", first.level.sign(), first.what))
    } else {
        Line::of(role, format!("{} {}", first.level.sign(), first.level.word())).then(format!("  {}", first.what))
    }];
    let facts = if instead.is_some() {
        // No trend words about an old picture.
        alarm::facts_line(first, &std::collections::BTreeMap::new(), at)
    } else {
        alarm::facts_line(first, &model.histories, at)
    };
    if !facts.is_empty() {
        lines.push(Line::plain(format!("   {facts}")));
    }
    lines.push(Line::plain(format!("   Do next: {}", instead.unwrap_or(&first.next))));
    match assessment.alarms.get(1..) {
        Some([]) | None => {}
        Some([one]) => lines.push(Line::of(level_role(one.level), format!("{} {}", one.level.sign(), one.what))),
        Some([one, rest @ ..]) => lines.push(
            Line::of(level_role(one.level), format!("{} {}", one.level.sign(), one.what))
                .and(Role::Dim, format!(" And {} more.", rest.len())),
        ),
    }
    lines
}

/// The role of a level.
pub fn level_role(level: Level) -> Role {
    match level {
        Level::Critical => Role::Critical,
        Level::Caution => Role::Caution,
        Level::NotKnown => Role::Unknown,
        Level::Ok => Role::Good,
    }
}

fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let rest = sentence(canvas, area, &sentence_lines(model, now));
    let Some(snapshot) = model.picture.snapshot() else {
        panels::connection(model, canvas, rest, now);
        return;
    };
    match room {
        Room::Two | Room::Preview => {
            let (left, right) = columns(rest, 68);
            let (table_area, below) = top(left, 15);
            let inside = panel(canvas, table_area, "SIGNALS  against normal, last 60 min");
            rows::signals(model, snapshot, canvas, inside, room, now);
            let last: Vec<Line> =
                handed::overview_line(model, snapshot, now).into_iter().chain(quiet_line(snapshot)).collect();
            canvas.lines(bottom(inside, u16::try_from(last.len()).unwrap_or(0)).1, &last);
            panels::below_signals(model, snapshot, canvas, below, now);
            panels::beside_signals(model, snapshot, canvas, right, now);
        }
        Room::One | Room::Card => {
            let height = u16::try_from(model.screens.overview.list.order().len()).unwrap_or(0).saturating_add(1);
            let (table_area, below) = top(rest, height);
            rows::signals(model, snapshot, canvas, table_area, room, now);
            panels::under(model, snapshot, canvas, below, now);
        }
    }
}
