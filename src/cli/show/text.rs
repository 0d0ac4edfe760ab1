//! A record in words, as a person reads it in a terminal or pastes it into a ticket.

use crate::cli::out::Out;
use crate::domain::action;
use crate::domain::evidence::{Absence, Evidence, LookupOutcome, Observed};
use crate::domain::money::Money;
use crate::domain::port::Dossier;
use crate::domain::record::Lease;
use crate::domain::recovery::{Decision, Step};
use crate::domain::time::{self, Instant};

/// What stands where nothing is known.
const NOTHING: &str = "-";

/// Prints everything, the next step last: that is what stays on the screen.
pub fn print(dossier: &Dossier, decision: &Decision, out: &mut Out<'_>) {
    let detail = &dossier.detail;
    let record = &detail.record;
    let now = dossier.at;
    out.line(&format!("{}  as of {}", record.id, stamp(now)));
    let mut field = |name: &str, value: String| out.line(&format!("  {name:<13}{value}"));
    let status = format!(
        "{}, recovery point {}, attempt {}",
        record.status,
        or_nothing(record.recovery_point.as_ref()),
        record.attempt.map_or_else(|| NOTHING.to_owned(), |attempt| attempt.0.to_string()),
    );
    field("record", status);
    field("lease", lease(&record.lease, now));
    field("order", or_nothing(record.order.as_ref()));
    let payment = format!(
        "{} {} {}",
        or_nothing(record.payment.as_ref()),
        or_nothing(record.payment_status.as_ref()),
        record.money.as_ref().map_or_else(|| "amount not known".to_owned(), Money::to_string),
    );
    field("payment", payment);
    let provider = format!(
        "{}, ref {}, key {}",
        or_nothing(record.provider.as_ref()),
        or_nothing(record.provider_ref.as_ref()),
        or_nothing(detail.provider_key.as_ref()),
    );
    field("provider", provider);
    field("first use", at(record.first_key_use, now));
    field("last attempt", at(detail.last_attempt_at, now));
    field("created", at(Some(record.created_at), now));
    field("changed", at(Some(record.changed_at), now));
    field("answer", detail.response_code.map_or_else(|| "none stored".to_owned(), |code| code.to_string()));
    if let Some(owner) = &record.owner {
        field("handed over", format!("to {owner}"));
    }
    for sibling in &detail.siblings {
        let said = format!(
            "{} {} {} under {}/{}, ref {}",
            sibling.payment,
            sibling.status,
            sibling.money.as_ref().map_or_else(|| NOTHING.to_owned(), Money::to_string),
            sibling.scope,
            sibling.key,
            or_nothing(sibling.provider_ref.as_ref()),
        );
        field("same order", said);
    }
    if let Some(other) = &detail.ref_owner {
        field("same charge", format!("its ref also stands on payment {other}"));
    }
    evidence(&dossier.evidence, now, out);
    timeline(dossier, out);
    out.line(&format!("Next step: {}", step(&decision.step)));
}

fn or_nothing<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), T::to_string)
}

fn stamp(at: Instant) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}

fn at(instant: Option<Instant>, now: Instant) -> String {
    instant.map_or_else(
        || NOTHING.to_owned(),
        |instant| format!("{} ({} ago)", stamp(instant), time::words(time::age(instant, now))),
    )
}

fn lease(lease: &Lease, now: Instant) -> String {
    let holder = or_nothing(lease.holder.as_ref());
    match lease.until {
        None => NOTHING.to_owned(),
        Some(until) if lease.is_live(now) => {
            format!("LIVE until {} by {holder}", time::clock(until))
        }
        Some(until) => format!("over since {} (was {holder})", time::clock(until)),
    }
}

fn evidence(all: &[Evidence], now: Instant, out: &mut Out<'_>) {
    if all.is_empty() {
        out.line("Evidence: none. No look-up is stored.");
        return;
    }
    out.line("Evidence, newest first");
    for one in all {
        out.line(&format!(
            "  {}  {} ago  {}  {}",
            time::clock(one.started_at),
            time::words(time::age(one.started_at, now)),
            one.provider,
            one.outcome.word(),
        ));
        match &one.outcome {
            LookupOutcome::Found { observed } => {
                for charge in observed {
                    out.line(&format!("      {}", hit(charge)));
                }
            }
            LookupOutcome::NotFound { absence, why } => {
                let worth = match absence {
                    Absence::Consistent => "consistent",
                    Absence::MayHaveMissed => "not proof",
                };
                out.line(&format!("      {worth}: {why}"));
            }
            LookupOutcome::Unreachable { why, .. } => out.line(&format!("      {why}")),
        }
    }
}

fn hit(charge: &Observed) -> String {
    format!(
        "{} {} ({}) {}, key {}, our reference {}",
        charge.provider_ref,
        charge.class,
        charge.raw,
        charge.money(),
        or_nothing(charge.provider_key.as_ref()),
        or_nothing(charge.reference.as_ref()),
    )
}

fn timeline(dossier: &Dossier, out: &mut Out<'_>) {
    match (dossier.timeline.value(), dossier.timeline.why_not()) {
        (Some(entries), _) => {
            out.line("Timeline");
            for entry in entries {
                let money = entry.money.as_ref().map(Money::to_string);
                let more = [entry.detail.clone(), money, entry.reference.clone()].into_iter().flatten();
                let more = more.collect::<Vec<_>>().join(" · ");
                out.line(&format!("  {}  {:<10} {:<34} {more}", stamp(entry.at), entry.lane, entry.what));
            }
        }
        (None, why) => {
            let why = why.unwrap_or("no answer");
            out.line(&format!("Timeline: NOT KNOWN ({why})"));
        }
    }
}

/// The next step as a sentence.
pub fn step(step: &Step) -> String {
    let title = action::resume_title(step);
    match step {
        Step::Refuse(refusal) => format!("{title}. {} {}", refusal.why, refusal.way_out),
        Step::NothingToDo => format!("{title}."),
        Step::LookUpFirst { why } => format!("{title}. {why}"),
        Step::Wait { why, look_again } => {
            format!("{title}. {why} Look again at {}.", time::clock(*look_again))
        }
        Step::Adopt { charge } => {
            format!("{title}: {} {}.", charge.provider_ref, charge.money())
        }
        Step::FinishAsFailed { charge, reason } => {
            format!("{title}: the provider says {reason} ({}).", charge.provider_ref)
        }
        Step::FinishAsReversed { charge } => {
            format!("{title}: {} was given back.", charge.provider_ref)
        }
        Step::HandBack => {
            format!("{title}: it may charge, with the same provider key. Needs approval.")
        }
        Step::FinishAsNotCharged => {
            format!("{title}: the provider was never charged. Needs approval.")
        }
    }
}
