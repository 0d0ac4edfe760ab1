//! What stands above the breaks: which reports, how much matched, breaks by kind and by age.

use ratatui::layout::Rect;

use super::State;
use super::weigh::{AGES, OLD, by_age, in_question, matched, since_of};
use super::words::{meaning, sign_of};
use crate::app::model::Model;
use crate::app::screen::records::Order;
use crate::app::screen::rows::{self, span};
use crate::domain::recon::{Break, BreakKind, Reconciliation, Report};
use crate::domain::time::{Instant, Now, age, since, words};
use crate::ui::widgets::table::{Column, Form};
use crate::ui::{Canvas, Line, Role, Span};

/// What to do while no report is loaded.
pub fn no_report() -> Vec<Line> {
    vec![
        Line::of(Role::Unknown, " ? NOT KNOWN").then("  No settlement report is loaded: nothing was compared."),
        Line::plain("   Do next, in a shell: unstuck reconcile --provider stripe FILE"),
        Line::of(Role::Dim, "   Providers: stripe, adyen, paypal, generic. Loading a report changes no payment."),
    ]
}

/// The sentence of the screen.
pub fn lines(model: &Model, all: &Reconciliation, state: &State, now: Now) -> Vec<Line> {
    let at = model.db_now(now);
    let mut lines = vec![reports_line(all, at), breaks_line(all, at)];
    if let Some(newest) = all.reports.first() {
        let more = if all.reports.len() > 1 { format!(" ({})", newest.name) } else { String::new() };
        lines.push(Line::of(Role::Dim, format!(" Totals{more}: ")).then(totals_words(newest)));
    }
    if !all.breaks.is_empty() {
        lines.push(order_line(model, all, state));
    }
    lines.extend(rows::arrived(&state.list, "new breaks: press R to take them in."));
    lines
}

fn reports_line(all: &Reconciliation, at: Instant) -> Line {
    let Some(newest) = all.reports.first() else { return Line::empty() };
    let loaded = words(age(newest.loaded_at, at));
    let said =
        Line::plain(format!(" {}: {}, {} lines, loaded {loaded} ago", newest.provider, newest.name, newest.lines));
    match all.reports.len() {
        0 | 1 => said.then("."),
        several => {
            let lines: u64 = all.reports.iter().fold(0, |sum, report| sum.saturating_add(report.lines));
            said.then(format!("; {several} reports, {lines} lines in all."))
        }
    }
}

fn breaks_line(all: &Reconciliation, at: Instant) -> Line {
    let sum = |of: fn(&Report) -> u64| all.reports.iter().map(of).fold(0_u64, u64::saturating_add);
    let share = matched(sum(|r| r.matched), sum(|r| r.lines))
        .map_or_else(|| "No lines to match.".to_owned(), |share| format!("Matched {share}"));
    let Some(oldest) = all.breaks.iter().map(since_of).min() else {
        return Line::of(Role::Good, "ok No breaks.").then(format!("  {share}"));
    };
    let old = age(oldest, at) > OLD;
    let (sign, role) = if old { (" !", Role::Caution) } else { ("  ", Role::Normal) };
    let count = all.breaks.len();
    let noun = if count == 1 { "break" } else { "breaks" };
    Line::of(role, format!("{sign} {count} {noun}")).then(format!(
        " · {} · oldest {} · {share}",
        in_question(all.breaks.iter()),
        words(age(oldest, at))
    ))
}

/// The totals of a report, currency by currency, and what the report itself says of them.
pub fn totals_words(report: &Report) -> String {
    let theirs = if report.theirs.is_empty() { "none".to_owned() } else { report.theirs.to_string() };
    let ours = if report.ours.is_empty() { "none".to_owned() } else { report.ours.to_string() };
    let stated = report.stated.as_ref().map_or("not stated by the provider", |_| "as the report itself states them");
    format!("theirs {theirs} · ours {ours} · {stated}")
}

fn order_line(model: &Model, all: &Reconciliation, state: &State) -> Line {
    let glyphs = model.setup.look.glyphs;
    let arrow = match state.order {
        Order::Pressing => glyphs.order.0,
        Order::Reversed => glyphs.order.1,
    };
    let kind = state.kind.map_or("all", BreakKind::word);
    Line::of(Role::Dim, " Kind: ")
        .then(kind)
        .and(Role::Dim, " (f)   Sort: ")
        .then(format!("{} {arrow}", state.sort.word()))
        .and(Role::Dim, format!(" (o)   {} of {}, rows keep their place", state.list.order().len(), all.breaks.len()))
}

const KINDS: &[Column] = &[
    Column::words("KIND", 9, 0),
    Column::numbers("COUNT", 5, 0),
    Column::numbers("MONEY", 16, 1).up_to(44),
    Column::numbers("OLDEST", 6, 3),
    Column::words("MEANING", 32, 2),
];

/// The table of kinds: every kind, so that a zero is seen to be counted.
pub fn kinds(canvas: &mut Canvas<'_>, area: Rect, all: &Reconciliation, shown: Option<BreakKind>, at: Instant) {
    let selected = shown.and_then(|kind| BreakKind::ALL.iter().position(|k| *k == kind));
    rows::draw(canvas, area, KINDS, (&BreakKind::ALL, selected), Form::Rows, |kind| Some(kind_cells(all, *kind, at)));
}

fn of_kind(all: &Reconciliation, kind: BreakKind) -> impl Iterator<Item = &Break> {
    all.breaks.iter().filter(move |one| one.kind == kind)
}

fn kind_cells(all: &Reconciliation, kind: BreakKind, at: Instant) -> Vec<Span> {
    let count = of_kind(all, kind).count();
    let (sign, role) = if count == 0 { ("  ", Role::Normal) } else { sign_of(kind) };
    let oldest = of_kind(all, kind).map(since_of).min().map_or_else(|| "-".to_owned(), |when| words(age(when, at)));
    let money = in_question(of_kind(all, kind));
    vec![
        span(role, sign),
        span(role, kind.word()),
        span(role, count.to_string()),
        span(Role::Normal, if money.is_empty() { "-".to_owned() } else { money.to_string() }),
        span(Role::Normal, oldest),
        span(Role::Dim, meaning(kind)),
    ]
}

/// Breaks by kind in one line, where there is no room for the table.
pub fn kinds_line(all: &Reconciliation) -> Line {
    let counts: Vec<String> =
        BreakKind::ALL.into_iter().map(|kind| format!("{} {}", kind.word(), of_kind(all, kind).count())).collect();
    Line::plain(format!("   {}", counts.join(" · ")))
}

/// Breaks by age in one line.
pub fn ages_line(all: &Reconciliation, at: Instant) -> Line {
    let mut line = Line::of(Role::Heading, "   AGE ");
    for (place, ((from, word), count)) in AGES.iter().zip(by_age(&all.breaks, at)).enumerate() {
        line.push(Role::Dim, if place == 0 { "  " } else { "   " });
        line.push(Role::Dim, format!("{word} "));
        let role = if count > 0 && *from >= OLD { Role::Caution } else { Role::Normal };
        line.push(role, count.to_string());
    }
    line
}

/// Every report, for the wide window.
pub fn reports(all: &Reconciliation, at: Instant) -> Vec<Line> {
    let mut lines = Vec::new();
    for report in &all.reports {
        let share = matched(report.matched, report.lines).unwrap_or_else(|| "no lines".to_owned());
        lines.push(Line::plain(format!(" {}", report.name)));
        lines.push(Line::of(Role::Dim, format!("   {} · {} lines · {share}", report.provider, report.lines)));
        if let (Some(from), Some(to)) = (report.from, report.to) {
            lines.push(Line::of(Role::Dim, format!("   {} to {}", since(from, at), since(to, at))));
        }
        lines.push(Line::of(Role::Dim, format!("   {}", totals_words(report))));
    }
    lines
}
