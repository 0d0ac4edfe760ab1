//! The words of a break: its sign, what its kind means, and what to do about it.

use super::weigh::{difference, since_of};
use crate::domain::recon::{Break, BreakKind, Report};
use crate::domain::time::{Instant, age, clock, since, words};
use crate::ui::{Line, Role};

/// The sign of a kind. Money a customer may have paid for nothing, or paid twice, is critical.
pub fn sign_of(kind: BreakKind) -> (&'static str, Role) {
    match kind {
        BreakKind::Orphan | BreakKind::Duplicate => ("!!", Role::Critical),
        BreakKind::Missing | BreakKind::Amount | BreakKind::Currency => (" !", Role::Caution),
    }
}

/// What a kind means, short enough for a column.
pub fn meaning(kind: BreakKind) -> &'static str {
    match kind {
        BreakKind::Orphan => "theirs, not ours: likely stuck",
        BreakKind::Missing => "ours, not theirs: late or failed",
        BreakKind::Amount => "a fee, or captured in part",
        BreakKind::Currency => "converted, or a wrong account",
        BreakKind::Duplicate => "twice: a double charge?",
    }
}

/// What a break says, and what to do about it.
fn advice(one: &Break) -> (&'static str, &'static str) {
    match (one.kind, one.record.is_some()) {
        (BreakKind::Orphan, true) => (
            "The provider took money that our books do not have.",
            "Enter opens the record; a l looks up what happened. Resume adopts the charge, if it is ours.",
        ),
        (BreakKind::Orphan, false) => (
            "The provider took money, and no record of ours is known for it.",
            "y copies it, e writes all to a file; 7 finds the ref or the order. Then ask who owns the provider account.",
        ),
        (BreakKind::Missing, true) => (
            "Our books have money that the report does not.",
            "The next report may have it. Enter opens the record; a l asks the provider.",
        ),
        (BreakKind::Missing, false) => (
            "Our books have money that the report does not, and no record is known for it.",
            "The next report may have it. y copies it; :find looks for the payment.",
        ),
        (BreakKind::Amount, _) => (
            "Both have this charge, with different amounts.",
            "See whether the difference is a fee, a refund or a capture in part. Hand over (a h) if it is not.",
        ),
        (BreakKind::Currency, _) => (
            "Both have this charge, in different currencies: the amounts cannot be compared.",
            "See whether the provider converts. Hand over (a h) to whoever owns the provider account.",
        ),
        (BreakKind::Duplicate, _) => (
            "The report has this charge more than once.",
            "v judges whether the customer was charged twice; or the line stands there twice. See before anybody refunds.",
        ),
    }
}

/// One side of a break.
pub fn side(money: Option<&crate::domain::money::Money>) -> String {
    money.map_or_else(|| "-".to_owned(), ToString::to_string)
}

/// The facts of a break, one a line: on the screen beside the list.
pub fn detail_lines(one: &Break, report: Option<&Report>, at: Instant) -> Vec<Line> {
    let (sign, role) = sign_of(one.kind);
    let (what, next) = advice(one);
    let fact = |name: &str, value: String| Line::of(Role::Dim, format!(" {name:<9} ")).then(value);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut lines = vec![
        Line::of(role, format!("{sign} {} ", one.kind.word())).then(what),
        Line::empty(),
        fact("ours", side(one.ours.as_ref())),
        fact("theirs", side(one.theirs.as_ref())),
        fact("differ by", difference(one).map_or_else(|| "not one amount".to_owned(), |money| money.to_string())),
        fact("since", format!("{} ({})", since(since_of(one), at), words(age(since_of(one), at)))),
        fact("provider", one.provider.to_string()),
        fact("ref", or_dash(one.provider_ref.as_ref().map(ToString::to_string))),
        fact("order", or_dash(one.order.as_ref().map(ToString::to_string))),
        fact("payment", or_dash(one.payment.as_ref().map(ToString::to_string))),
        fact("record", one.record.as_ref().map_or_else(|| "none that we know".to_owned(), ToString::to_string)),
        fact("owner", or_dash(one.owner.as_ref().map(ToString::to_string))),
    ];
    if let Some(report) = report {
        lines.push(fact("report", place_of(one, report)));
    }
    lines.push(Line::empty());
    lines.push(Line::of(Role::Heading, " NEXT ").then(next));
    lines
}

fn place_of(one: &Break, report: &Report) -> String {
    let line = one.line.map_or_else(String::new, |line| format!(", line {line}"));
    format!("{}{line}", report.name)
}

/// A break in one line: under the list of a small window.
pub fn short_line(one: &Break) -> Line {
    let (sign, role) = sign_of(one.kind);
    let mut line = Line::of(role, format!("{sign} rb_{} ", one.number)).then(meaning(one.kind));
    for (name, value) in named(one) {
        line.push(Role::Dim, format!(" · {name} "));
        line.push(Role::Normal, value);
    }
    line
}

/// What a break is called by, as far as it is known.
fn named(one: &Break) -> Vec<(&'static str, String)> {
    let names = [
        ("order", one.order.as_ref().map(ToString::to_string)),
        ("ref", one.provider_ref.as_ref().map(ToString::to_string)),
        ("payment", one.payment.as_ref().map(ToString::to_string)),
        ("record", one.record.as_ref().map(ToString::to_string)),
    ];
    names.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A break as `y` copies it: one line of facts for whoever asks the provider.
pub fn copied(one: &Break, report: Option<&Report>) -> String {
    let mut parts = vec![
        format!("rb_{} {} at {}", one.number, one.kind.word(), one.provider),
        format!("ours {}", side(one.ours.as_ref())),
        format!("theirs {}", side(one.theirs.as_ref())),
        format!("since {} {}", since_of(one).date_naive(), clock(since_of(one))),
    ];
    parts.extend(named(one).into_iter().map(|(name, value)| format!("{name} {value}")));
    parts.extend(report.map(|report| place_of(one, report)));
    parts.join(" · ")
}
