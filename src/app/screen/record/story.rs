//! The timeline in lanes, and what the provider says.

use crate::app::model::{Model, Zone};
use crate::app::screen::not_known;
use crate::domain::evidence::{Evidence, LookupOutcome, Match};
use crate::domain::ids::RecordId;
use crate::domain::record::{Record, RecoveryPoint};
use crate::domain::time::{Instant, Now, age, clock, words};
use crate::ui::text::safe_value;
use crate::ui::wide::{Align, Keep, fit};
use crate::ui::{Line, Role};

/// What happened, oldest first, then what was not reached.
pub fn timeline_lines(model: &Model, id: &RecordId) -> Vec<Line> {
    let Some(dossier) = model.dossiers.get(id) else {
        return vec![match super::trouble_of(model, id) {
            Some(why) => not_known("the timeline", why),
            None => Line::of(Role::Dim, "   reading…"),
        }];
    };
    let Some(entries) = dossier.timeline.value() else {
        return vec![not_known("the timeline", dossier.timeline.why_not().unwrap_or_default())];
    };
    let charset = model.setup.look.charset();
    let (happened, failed, not_reached) = model.setup.look.glyphs.steps;
    let start = entries.first().map(|e| e.at);
    let mut lines: Vec<Line> = entries
        .iter()
        .map(|entry| {
            let bad = ["timeout", "time-out", "failed", "error", "refused", "crash"]
                .iter()
                .any(|word| entry.what.to_lowercase().contains(word));
            let (mark, role) = if bad { (failed, Role::Caution) } else { (happened, Role::Normal) };
            let when = stamp(model, entry.at, start);
            let lane = fit(&entry.lane, 10, Align::Left, Keep::Start, charset);
            let mut line =
                Line::of(role, format!(" {mark} ")).and(Role::Dim, when).and(Role::Heading, format!(" {lane} "));
            line.push(role, safe_value(&entry.what).into_owned());
            if let Some(money) = &entry.money {
                line.push(Role::Normal, format!("  {}", safe_value(&money.to_string())));
            }
            if let Some(detail) = &entry.detail {
                line.push(Role::Normal, format!("  {}", safe_value(detail)));
            }
            // What the page is about anyway is not said again on every line.
            if let Some(reference) = entry.reference.as_ref().filter(|r| !is_about(&dossier.detail.record, r)) {
                line.push(Role::Dim, format!("  {}", safe_value(reference)));
            }
            line
        })
        .collect();
    for step in missing(dossier.detail.record.recovery_point.as_ref()) {
        let text = format!(" {not_reached} {:<20} {:<10} {step}: not reached", "--:--:--", "?");
        lines.push(Line::of(Role::Dim, text));
    }
    lines
}

fn missing(point: Option<&RecoveryPoint>) -> &'static [&'static str] {
    match point {
        Some(RecoveryPoint::Created) => &["provider_called", "charged", "done"],
        Some(RecoveryPoint::ProviderCalled) => &["charged", "done"],
        Some(RecoveryPoint::Charged) => &["done"],
        Some(RecoveryPoint::Done | RecoveryPoint::Unrecognised(_)) | None => &[],
    }
}

/// Whether an id is the record's own key, payment or order.
fn is_about(record: &Record, id: &str) -> bool {
    id == record.id.key.as_str()
        || record.payment.as_ref().is_some_and(|p| p.as_str() == id)
        || record.order.as_ref().is_some_and(|o| o.as_str() == id)
}

fn stamp(model: &Model, at: Instant, start: Option<Instant>) -> String {
    let after = start.map_or_else(String::new, |start| {
        let tenths = at.signed_duration_since(start).num_milliseconds() / 100;
        // The first minute decides who was first: tenths count there.
        if (0..600).contains(&tenths) {
            format!("+{}.{}s", tenths / 10, tenths % 10)
        } else {
            format!("+{}", words(age(start, at)))
        }
    });
    match model.zone {
        Zone::Ages => format!("{:<12}{:>8}", at.format("%H:%M:%S%.3f"), after),
        Zone::Utc => format!("{:<20}", at.format("%m-%dT%H:%M:%S%.3f")),
    }
}

/// Which look-ups to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookUps {
    /// The newest: it stands before the timeline.
    Newest,
    /// All others.
    Earlier,
    /// All.
    All,
}

/// Look-ups, newest first, with what it may be used for.
pub fn provider_lines(model: &Model, id: &RecordId, which: LookUps, now: Now) -> Vec<Line> {
    let Some(dossier) = model.dossiers.get(id) else { return Vec::new() };
    let at = model.db_now(now);
    let mut all: Vec<&Evidence> = dossier.evidence.iter().collect();
    all.sort_by_key(|e| std::cmp::Reverse((e.started_at, e.id)));
    if all.is_empty() && which == LookUps::Earlier {
        return vec![];
    }
    if all.is_empty() {
        return vec![
            Line::of(Role::Heading, " THE PROVIDER").and(Role::Dim, "  has not been asked by us: no look-up yet."),
        ];
    }
    let (heading, shown) = match which {
        LookUps::Newest => (" WHAT THE PROVIDER SAYS", all.get(..1)),
        LookUps::Earlier => (" EARLIER LOOK-UPS", all.get(1..)),
        LookUps::All => (" WHAT THE PROVIDER SAYS", all.get(..)),
    };
    let shown = shown.unwrap_or_default();
    if shown.is_empty() {
        return vec![];
    }
    let mut lines = vec![Line::of(Role::Heading, heading)];
    for evidence in shown {
        let name = evidence.id.map_or_else(|| "not stored".to_owned(), |id| id.to_string());
        lines.push(
            Line::plain(format!("   {} ", clock(evidence.started_at)))
                .and(role_of(evidence), evidence.outcome.word())
                .and(
                    Role::Dim,
                    format!(
                        "  {} asked by {}, {name}, {} old",
                        evidence.provider,
                        evidence.operator,
                        words(age(evidence.started_at, at))
                    ),
                ),
        );
        match &evidence.outcome {
            LookupOutcome::Found { observed } => {
                for hit in observed {
                    let matched = match hit.matches(&dossier.detail) {
                        Match::Decides => "ours: carries our key, payment or ref",
                        Match::OrderOnly => "same order only: decides nothing",
                        Match::Foreign => "not ours",
                    };
                    let back = hit.money.refunded.filter(|m| *m != 0).map_or("not refunded", |_| "REFUNDED");
                    let text = format!(
                        "     {}  {} ({})  {}  {back}  {matched}",
                        hit.provider_ref,
                        hit.class,
                        hit.raw,
                        hit.money()
                    );
                    lines.push(Line::plain(safe_value(&text).into_owned()));
                }
            }
            LookupOutcome::NotFound { why, .. } => {
                lines.push(Line::plain(format!("     {}. Not found is not proof by itself.", safe_value(why))));
            }
            LookupOutcome::Unreachable { why, .. } => {
                lines.push(Line::plain(format!("     {}. Nothing is concluded.", safe_value(why))));
            }
        }
    }
    lines
}

fn role_of(evidence: &Evidence) -> Role {
    match &evidence.outcome {
        LookupOutcome::Found { .. } => Role::Info,
        LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. } => Role::Unknown,
    }
}
