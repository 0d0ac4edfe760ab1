//! The rows of the Overview's table: a signal, a rate or the invariants, each with its normal.

use ratatui::layout::Rect;

use super::{Row, level_role};
use crate::app::model::{Model, Zone};
use crate::app::screen::reconciliation;
use crate::domain::alarm::{self, Level};
use crate::domain::rates::Minute;
use crate::domain::rule::{RuleState, Severity};
use crate::domain::snapshot::{Signal, Snapshot};
use crate::domain::time::{Instant, Now, Seconds, age, clock, since, words};
use crate::domain::trend::Trend;
use crate::ui::layout::Room;
use crate::ui::widgets::spark::bars;
use crate::ui::widgets::table::{self, Column, Table};
use crate::ui::{Canvas, Glyphs, Role, Span};

/// The columns; an old number is not called NOW.
const fn table_columns(now: &'static str) -> [Column; 6] {
    [
        Column::words("SIGNAL", 23, 0),
        Column::numbers(now, 7, 1),
        Column::numbers("NORMAL", 6, 3),
        Column::words("LAST 60 MIN", 12, 4),
        Column::words("TREND", 13, 1),
        Column::words("SINCE", 6, 2).up_to(17),
    ]
}

const COLUMNS: [Column; 6] = table_columns("NOW");
const OLD_COLUMNS: [Column; 6] = table_columns("AS OF");

/// Draws the table.
pub fn signals(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let state = &model.screens.overview.list;
    let columns = if model.freshness(now).is_old() { &OLD_COLUMNS } else { &COLUMNS };
    let what = Table { columns, rows: state.order().len(), selected: state.position() };
    let row = |index: usize| {
        state.order().get(index).map(|row| cells(model, snapshot, *row, canvas_glyphs(model), now)).unwrap_or_default()
    };
    if room == Room::Card && area.width < 60 {
        table::cards(canvas, area, what, row);
    } else {
        table::draw(canvas, area, what, row);
    }
}

fn canvas_glyphs(model: &Model) -> &'static crate::ui::Glyphs {
    model.setup.look.glyphs
}

fn cells(model: &Model, snapshot: &Snapshot, row: Row, glyphs: &Glyphs, now: Now) -> Vec<Span> {
    let span = |role: Role, text: String| Span { role, text };
    let at = model.db_now(now);
    let old = model.freshness(now).is_old();
    let unknown = |name: &str| {
        vec![
            span(Role::Unknown, " ?".into()),
            span(Role::Normal, name.into()),
            span(Role::Unknown, "?".into()),
            span(Role::Normal, "-".into()),
            span(Role::Normal, String::new()),
            span(Role::Unknown, "NOT KNOWN".into()),
            span(Role::Normal, "-".into()),
        ]
    };
    let build = |level: Level,
                 name: &str,
                 value: String,
                 normal: String,
                 series: Series,
                 trend: String,
                 when: Option<Instant>| {
        let role = match level {
            Level::Ok => Role::Normal,
            Level::Caution | Level::NotKnown | Level::Critical => level_role(level),
        };
        let sign = if level == Level::Ok { "  " } else { level.sign() };
        let when = when.map_or_else(
            || "-".into(),
            |when| match model.zone {
                Zone::Ages => since(when, at),
                Zone::Utc => clock(when),
            },
        );
        let trend = if old { "not known now".into() } else { trend };
        vec![
            span(role, sign.into()),
            span(role, name.into()),
            span(role, value),
            span(Role::Dim, normal),
            span(role, bars(&series.values, 12, series.full, glyphs)),
            span(role, trend),
            span(Role::Normal, when),
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
                (
                    Signal::Xmin
                    | Signal::Unknown
                    | Signal::Stuck
                    | Signal::Pending
                    | Signal::Outbox
                    | Signal::Webhooks
                    | Signal::HandedOver,
                    _,
                ) => pulse.count.to_string(),
            };
            build(
                level,
                signal.title(),
                value,
                normal,
                series,
                if signal == Signal::Xmin { "-".into() } else { trend },
                when,
            )
        }
        Row::Rules => rules(snapshot, build, unknown),
        Row::Breaks => {
            let name = "Recon breaks > 24h";
            let Some((count, oldest)) = reconciliation::old_breaks(snapshot) else { return unknown(name) };
            let level = if count > 0 { Level::Caution } else { Level::Ok };
            build(level, name, count.to_string(), "0".into(), Series::default(), "-".into(), oldest)
        }
        Row::Conflict => rate(model, snapshot, "409 key in use", |m| m.conflict, at, build, unknown),
        Row::Mismatch => rate(model, snapshot, "422 other content", |m| m.mismatch, at, build, unknown),
        Row::Unavailable => rate(model, snapshot, "503 outcome unknown", |m| m.unavailable, at, build, unknown),
        Row::Answers => {
            let Some(rates) = snapshot.rates.value() else { return unknown("Answers /min") };
            let series = rates.series(60, at, |m| m.requests);
            // The last whole minute; one that began before the tail was read is not known.
            let whole = Seconds(120).before(at);
            let known = rates.known_since.is_some_and(|since| since <= whole);
            let value = last_full(&series).filter(|_| known).map_or_else(|| "?".into(), |n| n.to_string());
            build(
                Level::Ok,
                "Answers /min",
                value,
                normal_of(model, "answers"),
                Series { values: slots(&series), full: 1 },
                rate_trend(&series),
                None,
            )
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
    series.chunks(5).map(|five| five.iter().flatten().copied().reduce(u64::saturating_add)).collect()
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
