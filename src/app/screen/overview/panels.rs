//! What stands around the signals: providers, what changed, the console's own cost, the oldest payments,
//! and, when the database is away, what is known about that.

use ratatui::layout::Rect;

use super::super::records;
use super::not_known;
use crate::app::hand_backs::handed;
use crate::app::model::Model;
use crate::app::picture::Freshness;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, clock, since, until, words};
use crate::ui::layout::top;
use crate::ui::widgets::panel::{panel, wrapped};
use crate::ui::{Canvas, Line, Role};

/// 80x24: what fits below the table, most telling first.
pub fn under(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    if matches!(model.freshness(now), Freshness::Lost(_)) {
        connection(model, canvas, area, now);
        return;
    }
    let mut lines: Vec<Line> = super::quiet_line(snapshot).into_iter().collect();
    lines.extend(handed::overview_line(model, snapshot, now));
    if area.height > 6 {
        lines.push(Line::empty());
    }
    lines.extend(provider_lines(snapshot).into_iter().take(2));
    let changes = change_lines(model, snapshot, now);
    let newest = changes.len().saturating_sub(2);
    lines.extend(changes.into_iter().skip(newest));
    lines.push(recoverer_line(model, snapshot, now));
    lines.push(cost_line(model, snapshot));
    let lines = wrapped(&lines, usize::from(area.width), canvas);
    canvas.lines(area, &lines);
}

/// Wide: below the signals.
pub fn below_signals(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    if matches!(model.freshness(now), Freshness::Lost(_)) {
        let inside = panel(canvas, area, "CONNECTION");
        connection(model, canvas, inside, now);
        return;
    }
    let inside = panel(canvas, area, "OLDEST UNKNOWN");
    match snapshot.unknown.value() {
        Some(found) if found.is_empty() => {
            canvas.line(inside, &Line::of(Role::Dim, "None."));
        }
        Some(found) => {
            let ids: Vec<_> = found.iter().map(|r| r.id.clone()).collect();
            records::table_of(model, canvas, inside, &ids, None, now);
        }
        None => canvas.line(inside, &not_known("unknown payments", snapshot.unknown.why_not().unwrap_or_default())),
    }
}

/// Wide: beside the signals.
pub fn beside_signals(model: &Model, snapshot: &Snapshot, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let (changed, rest) = top(area, 9.min(area.height / 3).max(4));
    let inside = panel(canvas, changed, "WHAT CHANGED");
    let lines = wrapped(&change_lines(model, snapshot, now), usize::from(inside.width), canvas);
    canvas.lines(inside, &lines);
    let (providers, health) = top(rest, rest.height.saturating_sub(8).clamp(4, 10));
    let inside = panel(canvas, providers, "PROVIDERS");
    let mut lines = provider_lines(snapshot);
    lines.push(recoverer_line(model, snapshot, now));
    let lines = wrapped(&lines, usize::from(inside.width), canvas);
    canvas.lines(inside, &lines);
    let inside = panel(canvas, health, "THIS CONSOLE");
    let lines = wrapped(&console_lines(model, snapshot), usize::from(inside.width), canvas);
    canvas.lines(inside, &lines);
}

fn provider_lines(snapshot: &Snapshot) -> Vec<Line> {
    let Some(providers) = snapshot.providers.value() else {
        return vec![not_known("providers", snapshot.providers.why_not().unwrap_or_default())];
    };
    if providers.is_empty() {
        return vec![Line::of(Role::Dim, "   No provider calls in the window.")];
    }
    providers
        .iter()
        .map(|p| {
            let (sign, role) = if p.unknown > 0 { ("!!", Role::Critical) } else { ("  ", Role::Normal) };
            let p95 = p.p95_ms.map_or_else(|| "p95 not known".into(), |ms| format!("p95 {ms} ms"));
            let share = p.timeouts.saturating_mul(1000).checked_div(p.calls);
            let share = share.map_or_else(String::new, |s| format!(" ({}.{}%)", s / 10, s % 10));
            Line::of(role, format!("{sign} {}", p.provider))
                .then(format!("  unknown {} · time-outs {}{share} of {} · {p95}", p.unknown, p.timeouts, p.calls))
        })
        .collect()
}

fn change_lines(model: &Model, snapshot: &Snapshot, now: Now) -> Vec<Line> {
    let at = model.db_now(now);
    match snapshot.changes.value() {
        None => vec![not_known("what changed", snapshot.changes.why_not().unwrap_or_default())],
        Some(changes) if changes.is_empty() => vec![Line::of(Role::Dim, "   Nothing is known to have changed.")],
        Some(changes) => changes
            .iter()
            .map(|change| {
                let who = change.who.as_ref().map_or_else(String::new, |w| format!(" ({w})"));
                Line::of(Role::Dim, format!("   {} ", since(change.at, at)))
                    .then(format!("{} {}{who}", change.kind, change.what))
            })
            .collect(),
    }
}

fn recoverer_line(model: &Model, snapshot: &Snapshot, now: Now) -> Line {
    let at = model.db_now(now);
    match snapshot.recoverer.value() {
        None => not_known("the recoverer", snapshot.recoverer.why_not().unwrap_or_default()),
        Some(recoverer) => {
            let last = recoverer.last_at.map_or_else(
                || "has not been seen".into(),
                |last| format!("last {} {}", since(last, at), recoverer.last_what.as_deref().unwrap_or("")),
            );
            let next = recoverer.next_at.map_or_else(
                || "next run not known".into(),
                |next| if next > at { format!("next in {}", words(until(next, at))) } else { "next run is due".into() },
            );
            Line::of(Role::Dim, "   recoverer ").then(format!("{} · {next}", last.trim_end()))
        }
    }
}

fn cost_line(model: &Model, snapshot: &Snapshot) -> Line {
    let cost = snapshot.cost;
    Line::of(
        Role::Dim,
        format!("   poll {}s · {} queries · {} ms", model.setup.poll_every.0, cost.queries, cost.millis),
    )
}

fn console_lines(model: &Model, snapshot: &Snapshot) -> Vec<Line> {
    let mut lines = vec![cost_line(model, snapshot)];
    if let Some(facts) = &model.facts {
        lines.push(Line::plain(format!("   {} · profile {} · role {}", facts.server, facts.profile, facts.role)));
        lines.push(match facts.excess_rights.value() {
            None => not_known("rights", facts.excess_rights.why_not().unwrap_or_default()),
            Some(excess) if excess.is_empty() => {
                Line::of(Role::Good, "ok role: SELECT and EXECUTE only. No DELETE, no TRUNCATE.")
            }
            Some(excess) => {
                Line::of(Role::Caution, format!(" ! the role may more than it should: {}", excess.join(", ")))
            }
        });
        if let Some(why) = &facts.read_only {
            lines.push(Line::of(Role::Caution, format!(" ! only reading here: {why}")));
        }
        for off in &facts.off {
            lines.push(not_known(&off.question, &off.why));
        }
    }
    lines
}

/// What is known about a database that does not answer.
pub fn connection(model: &Model, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let picture = &model.picture;
    let mut lines = vec![];
    if let Some(last) = picture.errors.back() {
        lines.push(Line::of(Role::Critical, " Why: ").then(last.why.to_string()));
        let next = picture.next_try.map_or_else(
            || "trying now".into(),
            |next| {
                if next > now.0 { format!("next try in {}", words(until(next, now.0))) } else { "trying now".into() }
            },
        );
        lines.push(
            Line::plain(format!(" Reconnect: {} failed in a row, {next} (", picture.failures()))
                .and(Role::Key, "r")
                .then(" = now)."),
        );
        let errors: Vec<String> =
            picture.errors.iter().map(|e| format!("{} {}", clock(e.at.0), short(&e.why))).collect();
        lines.push(Line::of(Role::Dim, format!(" {}", errors.join("  "))));
    }
    lines.push(Line::plain(" Nothing you press now is kept for later. No action is queued."));
    lines.push(Line::plain(" The console stays open and keeps trying. It never exits by itself."));
    let lines = wrapped(&lines, usize::from(area.width), canvas);
    canvas.lines(area, &lines);
}

fn short(error: &crate::domain::port::StoreError) -> &'static str {
    use crate::domain::port::StoreError as E;
    match error {
        E::Unreachable { .. } => "unreachable",
        E::Denied { .. } => "denied",
        E::TimedOut { .. } => "timed out",
        E::Contract { .. } => "contract",
        E::CannotAnswer { .. } => "cannot answer",
        E::Database { .. } => "refused",
    }
}
