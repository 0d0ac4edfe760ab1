//! 1 Overview: how bad, getting worse, since when, what next.
//!
//! ```text
//! !! CRITICAL  12 payments with an UNKNOWN charge outcome. Money may have moved.
//!    At risk EUR 1,934.20 · RISING +5/10m · since 13:41Z (22m)
//!    Do next: 3 then Enter on the oldest, then a l
//!    SIGNAL            NOW  NORMAL  LAST 60 MIN   TREND          SINCE
//! ```

use ratatui::layout::Rect;

use super::{Screen, ScreenId, Screens, not_known, sentence};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::list::{ListState, Reading};
use crate::app::model::{Model, Zone};
use crate::app::screen::page_rows;
use crate::domain::alarm::{self, Assessment, Level};
use crate::domain::rates::Minute;
use crate::domain::snapshot::{Signal, Snapshot};
use crate::domain::time::{Instant, Now, Seconds, age, since, words};
use crate::domain::trend::Trend;
use crate::ui::layout::{Room, columns, top};
use crate::ui::widgets::panel::panel;
use crate::ui::widgets::spark::bars;
use crate::ui::widgets::table::{self, Column, Table};
use crate::ui::{Canvas, Line, Role, Span};

mod panels;

/// This screen.
pub const SCREEN: Screen = Screen {
    id: ScreenId::Overview,
    digit: '1',
    titles: ["Overview", "Overview"],
    word: "overview",
    questions: &["get_pulse", "get_rates", "get_providers", "get_recoverer", "get_changes"],
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
    Row::Signal(Signal::Xmin),
];

/// The cursor.
#[derive(Debug, Default)]
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
        RowCommand::Back | RowCommand::Sort | RowCommand::Reverse | RowCommand::Next | RowCommand::Previous | RowCommand::Raw => None,
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
    let old = model.freshness(now).is_old();
    let at = model.db_now(now);
    let assessment = alarm::assess(snapshot, &model.setup.normals);
    let mut lines = Vec::new();
    lines.extend(worst(&assessment, model, at, old));
    lines
}

fn worst(assessment: &Assessment, model: &Model, at: Instant, old: bool) -> Vec<Line> {
    let Some(first) = assessment.alarms.first() else {
        return vec![
            Line::of(Role::Good, "ok OK").then("  Nothing stuck, nothing unknown; every invariant that was checked holds."),
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
    let facts = if old {
        alarm::facts_line(first, &std::collections::BTreeMap::new(), at)
    } else {
        alarm::facts_line(first, &model.histories, at)
    };
    if !facts.is_empty() {
        lines.push(Line::plain(format!("   {facts}")));
    }
    lines.push(Line::plain(format!("   Do next: {}", first.next)));
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

/// The columns; an old number is not called NOW.
const fn table_columns(now: &'static str) -> [Column; 6] {
    [
    Column::words("SIGNAL", 23, 0),
    Column::numbers(now, 7, 1),
    Column::numbers("NORMAL", 6, 3),
    Column::words("LAST 60 MIN", 12, 4),
    Column::words("TREND", 13, 1),
    Column::words("SINCE", 6, 2).up_to(16),
    ]
}

const COLUMNS: [Column; 6] = table_columns("NOW");
const OLD_COLUMNS: [Column; 6] = table_columns("AS OF");

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
            let inside = panel(canvas, table_area, "SIGNALS  now against normal, last 60 min");
            signals(model, snapshot, canvas, inside, room, now);
            panels::below_signals(model, snapshot, canvas, below, now);
            panels::beside_signals(model, snapshot, canvas, right, now);
        }
        Room::One | Room::Card => {
            let height = u16::try_from(model.screens.overview.list.order().len()).unwrap_or(0).saturating_add(1);
            let (table_area, below) = top(rest, height);
            signals(model, snapshot, canvas, table_area, room, now);
            panels::under(model, snapshot, canvas, below, now);
        }
    }
}

fn signals(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let state = &model.screens.overview.list;
    let columns = if model.freshness(now).is_old() { &OLD_COLUMNS } else { &COLUMNS };
    let what = Table { columns, rows: state.order().len(), selected: state.position() };
    let row = |index: usize| state.order().get(index).map(|row| cells(model, snapshot, *row, canvas_glyphs(model), now)).unwrap_or_default();
    if room == Room::Card && area.width < 60 {
        table::cards(canvas, area, what, row);
    } else {
        table::draw(canvas, area, what, row);
    }
}

fn canvas_glyphs(model: &Model) -> &'static crate::ui::Glyphs {
    model.setup.look.glyphs
}

fn cells(model: &Model, snapshot: &Snapshot, row: Row, glyphs: &crate::ui::Glyphs, now: Now) -> Vec<Span> {
    let span = |role: Role, text: String| Span { role, text };
    let at = model.db_now(now);
    let old = model.freshness(now).is_old();
    let unknown = |name: &str| {
        vec![
            span(Role::Unknown, " ?".into()), span(Role::Normal, name.into()), span(Role::Unknown, "?".into()),
            span(Role::Normal, "-".into()), span(Role::Normal, String::new()), span(Role::Unknown, "NOT KNOWN".into()),
            span(Role::Normal, "-".into()),
        ]
    };
    let build = |level: Level, name: &str, value: String, normal: String, series: Series, trend: String, when: Option<Instant>| {
        let role = match level {
            Level::Ok => Role::Normal,
            Level::Caution | Level::NotKnown | Level::Critical => level_role(level),
        };
        let sign = if level == Level::Ok { "  " } else { level.sign() };
        let when = when.map_or_else(|| "-".into(), |when| match model.zone {
            Zone::Ages => since(when, at),
            Zone::Utc => crate::domain::time::clock(when),
        });
        let trend = if old { "not known now".into() } else { trend };
        vec![
            span(role, sign.into()), span(role, name.into()), span(role, value), span(Role::Dim, normal),
            span(role, bars(&series.values, 12, series.full, glyphs)), span(role, trend), span(Role::Normal, when),
        ]
    };
    match row {
        Row::Signal(signal) => {
            let Some(pulse) = snapshot.pulse_of(signal) else { return unknown(signal.title()) };
            let level = alarm::level_of(pulse, &model.setup.normals);
            let normal = model.setup.normals.get(signal.word()).map_or_else(|| "-".into(), ToString::to_string);
            let history = model.histories.get(&signal);
            let series = Series { values: history.map(|h| h.series(12, at)).unwrap_or_default(), full: 4 };
            let trend = history.map_or(Trend::TooEarly, |h| h.trend(at)).to_string();
            let when = if pulse.count == 0 { None } else { pulse.oldest };
            let value = match (signal, pulse.oldest) {
                (Signal::Xmin, Some(start)) => words(age(start, at)),
                (Signal::Xmin | Signal::Unknown | Signal::Stuck | Signal::Pending | Signal::Outbox | Signal::Webhooks | Signal::HandedOver, _) => {
                    pulse.count.to_string()
                }
            };
            build(level, signal.title(), value, normal, series, if signal == Signal::Xmin { "-".into() } else { trend }, when)
        }
        Row::Rules => rules(snapshot, build, unknown),
        Row::Conflict => rate(model, snapshot, "409 key in use", |m| m.conflict, at, build, unknown),
        Row::Mismatch => rate(model, snapshot, "422 other content", |m| m.mismatch, at, build, unknown),
        Row::Unavailable => rate(model, snapshot, "503 outcome unknown", |m| m.unavailable, at, build, unknown),
        Row::Answers => {
            let Some(rates) = snapshot.rates.value() else { return unknown("Answers /min") };
            let series = rates.series(60, at, |m| m.requests);
            let value = last_full(&series).map_or_else(|| "?".into(), |n| n.to_string());
            build(Level::Ok, "Answers /min", value, normal_of(model, "answers"), Series { values: slots(&series), full: 1 }, rate_trend(&series), None)
        }
    }
}

/// Values for a row of bars, and from which value on a bar is full.
#[derive(Debug, Default)]
struct Series {
    values: Vec<Option<u64>>,
    full: u64,
}

fn normal_of(model: &Model, word: &str) -> String {
    model.setup.normals.get(word).map_or_else(|| "-".into(), ToString::to_string)
}

fn rules(
    snapshot: &Snapshot,
    build: impl Fn(Level, &str, String, String, Series, String, Option<Instant>) -> Vec<Span>,
    unknown: impl Fn(&str) -> Vec<Span>,
) -> Vec<Span> {
    use crate::domain::rule::{RuleState, Severity};
    let name = "Invariants violated";
    let mut violated = 0_u64;
    let mut unjudged = 0_u64;
    let mut level = Level::Ok;
    let mut first = None;
    for report in &snapshot.rules {
        match &report.state {
            RuleState::Holds { .. } => {}
            RuleState::NotKnown { .. } => unjudged += 1,
            RuleState::Violated { since, .. } => {
                violated += 1;
                first = Some(first.map_or(*since, |f: Instant| f.min(*since)));
                level = level.max(match report.rule.severity {
                    Severity::Caution => Level::Caution,
                    Severity::Critical => Level::Critical,
                });
            }
        }
    }
    if violated == 0 && (unjudged > 0 || snapshot.rules.is_empty()) {
        return unknown(name);
    }
    let more = if unjudged > 0 { format!("{unjudged} NOT KNOWN") } else { "-".into() };
    build(level, name, violated.to_string(), "0".into(), Series::default(), more, first)
}

fn rate(
    model: &Model,
    snapshot: &Snapshot,
    name: &str,
    pick: impl Fn(Minute) -> u64 + Copy,
    at: Instant,
    build: impl Fn(Level, &str, String, String, Series, String, Option<Instant>) -> Vec<Span>,
    unknown: impl Fn(&str) -> Vec<Span>,
) -> Vec<Span> {
    let Some(rates) = snapshot.rates.value() else { return unknown(name) };
    let sum = rates.over(Seconds(300), at);
    let Some(share) = sum.share(pick(sum)) else {
        return build(Level::Ok, name, "none".into(), "-".into(), Series::default(), "-".into(), None);
    };
    let word = name.split(' ').next().unwrap_or(name);
    let normal = model.setup.normals.get(word).copied();
    let level = match normal {
        Some(normal) if share > normal => Level::Caution,
        Some(_) | None => Level::Ok,
    };
    let normal = normal.map_or_else(|| "-".into(), |n| format!("<{}", percent(n)));
    let series = rates.series(60, at, pick);
    // A bar is full at two percent of the busiest five minutes at least.
    let busiest = slots(&rates.series(60, at, |m| m.requests)).into_iter().flatten().max().unwrap_or(0);
    let bars = Series { values: slots(&series), full: busiest / 50 };
    build(level, name, percent(share), normal, bars, rate_trend(&series), None)
}

/// Tenths of a percent: `4.8%`.
fn percent(tenths: u64) -> String {
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Sixty minutes in twelve slots; a slot nobody read is not zero.
fn slots(series: &[Option<u64>]) -> Vec<Option<u64>> {
    series
        .chunks(5)
        .map(|five| five.iter().flatten().copied().reduce(u64::saturating_add))
        .collect()
}

fn last_full(series: &[Option<u64>]) -> Option<u64> {
    series.iter().rev().nth(1).copied().flatten()
}

/// The last five full minutes against the five before.
fn rate_trend(series: &[Option<u64>]) -> String {
    let five = |skip: usize| {
        let values: Option<Vec<u64>> = series.iter().rev().skip(skip).take(5).copied().collect();
        values.filter(|v| v.len() == 5).map(|v| v.iter().sum::<u64>())
    };
    let (Some(now), Some(before)) = (five(1), five(6)) else { return "too early".into() };
    let noise = before / 4 + 3;
    if now > before + noise {
        format!("RISING +{}/5m", now - before)
    } else if before > now + noise {
        format!("FALLING -{}/5m", before - now)
    } else {
        "STEADY".into()
    }
}
