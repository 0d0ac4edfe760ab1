//! What stands above the breaks: which reports, how much matched, breaks by kind and by age.

use ratatui::layout::Rect;

use super::State;
use super::weigh::{AGES, OLD, by_age, in_question, matched, since_of};
use super::words::{meaning, sign_of};
use crate::app::model::Model;
use crate::app::screen::records::Order;
use crate::app::screen::rows::{self, span};
use crate::domain::money::Totals;
use crate::domain::recon::{Break, BreakKind, Reconciliation, Report};
use crate::domain::time::{Instant, Now, age, since, words};
use crate::ui::glyphs::Charset;
use crate::ui::wide::{Keep, cut};
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
pub fn lines(model: &Model, all: &Reconciliation, state: &State, charset: Charset, now: Now) -> Vec<Line> {
    let at = model.db_now(now);
    let mut lines = vec![reports_line(all, charset, at), breaks_line(all, at)];
    lines.extend(all.reports.first().map(|newest| Line::of(Role::Dim, format!(" {}", totals_words(newest)))));
    if !all.breaks.is_empty() {
        lines.push(order_line(model, all, state));
    }
    lines.extend(rows::arrived(&state.list, "new: press R to take them in."));
    lines
}

/// Columns a file's name may take in the sentence.
const NAME_WIDTH: usize = 34;

fn reports_line(all: &Reconciliation, charset: Charset, at: Instant) -> Line {
    let Some(newest) = all.reports.first() else { return Line::empty() };
    let name = cut(&newest.name, NAME_WIDTH, Keep::End, charset);
    let loaded = words(age(newest.loaded_at, at));
    let more = match all.reports.len() {
        0 | 1 => ".".to_owned(),
        several => format!("; and {} more.", several.saturating_sub(1)),
    };
    Line::plain(format!(" {}: {name}, {} lines, loaded {loaded} ago{more}", newest.provider, newest.lines))
}

/// Lines, and how many of them match, over every report.
fn sums(all: &Reconciliation) -> (u64, u64) {
    let sum = |of: fn(&Report) -> u64| all.reports.iter().map(of).fold(0_u64, u64::saturating_add);
    (sum(|r| r.lines), sum(|r| r.matched))
}

fn breaks_line(all: &Reconciliation, at: Instant) -> Line {
    let (lines, fit) = sums(all);
    let share = match matched(fit, lines) {
        Some(share) => format!("Matched {share}"),
        None if lines == 0 => "No lines to match.".to_owned(),
        None => format!("Matched NOT KNOWN: {fit} of {lines} lines cannot be"),
    };
    let Some(oldest) = all.breaks.iter().map(since_of).min() else {
        return if fit == lines {
            Line::of(Role::Good, "ok No breaks.").then(format!("  {share}"))
        } else {
            Line::of(Role::Unknown, " ? No break is open").then(format!(", and yet not every line matched. {share}"))
        };
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

/// What stands in the place of an empty list. Good only when every line matched.
pub fn nothing_open(all: &Reconciliation) -> Line {
    let (lines, fit) = sums(all);
    if fit == lines {
        Line::plain("ok Every line of the reports was compared, and matches.")
    } else {
        Line::of(Role::Unknown, " ? ").then("The lines that did not match are settled since, or not listed here.")
    }
}

/// The totals of a report, currency by currency, and what the report itself says of them.
pub fn totals_words(report: &Report) -> String {
    let or_none = |totals: &Totals| if totals.is_empty() { "none".to_owned() } else { totals.to_string() };
    let stated = match &report.stated {
        None => "not stated by the provider".to_owned(),
        Some(stated) if *stated == report.theirs => "as it states itself".to_owned(),
        Some(stated) => format!("but it states {}", or_none(stated)),
    };
    format!("Theirs {} · ours {} · {stated}", or_none(&report.theirs), or_none(&report.ours))
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
