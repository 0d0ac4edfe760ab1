//! What a record means for the customer and what may be done next, in sentences.

use crate::app::hand_backs::handed;
use crate::app::model::Model;
use crate::app::screen::records::{key_left, sign_of};
use crate::domain::approval::{ApprovalState, ResumeState, newest_of};
use crate::domain::evidence::{Class, LookupOutcome, Match, Observed};
use crate::domain::ids::RecordId;
use crate::domain::payment::PaymentStatus;
use crate::domain::record::{Record, RecordStatus, RecoveryPoint};
use crate::domain::recovery::Step;
use crate::domain::rule::Breach;
use crate::domain::time::{Now, age, clock, words};
use crate::ui::wide::{Keep, cut};
use crate::ui::{Line, Role};

const REPLAYED: &str = "The stored answer is replayed to retries.";
const NOT_BY_HAND: &str = "Do not charge again by hand.";

/// The state in one sentence, and what follows from it.
pub fn sentence_of(model: &Model, record: &Record, now: Now) -> (String, Vec<String>) {
    // A name that fills the page would hide what to do next; the facts show it whole.
    let named = |name: String| cut(&name, 40, Keep::Start, model.setup.look.charset());
    let provider = record.provider.as_ref().map_or_else(|| "a provider".to_owned(), |p| named(p.to_string()));
    let money = record.money.as_ref().map_or_else(|| "an amount that is not known".to_owned(), ToString::to_string);
    let at = model.db_now(now);
    let here = word_of(record);
    if record.status == RecordStatus::Done {
        let (said, more) = match (doubt(model, record), model.step(&record.id, now)) {
            (_, Some(Step::Refuse(_))) => (REPLAYED.to_owned(), NOT_BY_HAND),
            (Some(Doubt { said, more }), _) => (said, more),
            (None, _) => (REPLAYED.to_owned(), "There is nothing to do here."),
        };
        return (format!("DONE. Payment {here}, {money}. {said}"), vec![more.into()]);
    }
    if record.lease.is_live(at) && record.lease.holder.as_ref() == Some(&model.setup.context.holder()) {
        let until = record.lease.until.map_or_else(|| "an unknown time".to_owned(), clock);
        return (
            format!("You hold this record until {until}: sweepers and retries keep off."),
            vec![format!("{NOT_BY_HAND} A hold ends by itself; a u releases it.")],
        );
    }
    if record.lease.is_live(at) {
        let holder = record.lease.holder.as_ref().map_or_else(|| "Another worker".to_owned(), ToString::to_string);
        let until = record.lease.until.map_or_else(|| "an unknown time".to_owned(), clock);
        return (format!("{holder} holds the lease until {until} and may be working on it."), vec![NOT_BY_HAND.into()]);
    }
    let hits = found(model, &record.id);
    let moved: Vec<&Observed> = hits.iter().filter(|hit| hit.class.moved_money()).copied().collect();
    match (moved.as_slice(), hits.as_slice()) {
        ([one], _) | ([], [one, ..]) if settles(model, one, &record.id) => match one.class {
            Class::Succeeded => {
                return (
                    format!(
                        "{here} here, CAPTURED at {provider}. {money} was taken once; our books do not show it yet."
                    ),
                    vec![format!(
                        "{NOT_BY_HAND} Do not refund before the record is finished: the refund would have nothing to point to."
                    )],
                );
            }
            Class::Failed => {
                return (
                    format!("{here} here, DECLINED at {provider}. {money} was not taken."),
                    vec!["Resume finishes the record as failed; the client gets the final no.".into()],
                );
            }
            Class::Authorised | Class::Pending | Class::Open | Class::Reversed | Class::Unrecognised => {}
        },
        ([one], _) => {
            return (
                format!(
                    "{here} here, over {money}. {provider} has {} {} over {}: that settles nothing.",
                    one.provider_ref,
                    one.class.word(),
                    one.money()
                ),
                vec![format!("It does not fit this payment as it stands. {NOT_BY_HAND}")],
            );
        }
        ([], _) => {}
        (several, _) => {
            return (
                format!("{here} here, over {money}. {provider} has {} charges that moved money.", several.len()),
                vec![format!("The customer may have been charged more than once. {NOT_BY_HAND}")],
            );
        }
    }
    match (&record.recovery_point, &record.payment_status) {
        (Some(RecoveryPoint::Charged), _) => (
            format!("{provider} has a charge of {money}; its ref is stored, our own books are not finished."),
            vec![format!("No new charge is needed. {NOT_BY_HAND}")],
        ),
        (Some(RecoveryPoint::Created), status) if *status != Some(PaymentStatus::Unknown) => (
            format!("Stopped before {provider} was known to be asked for {money}."),
            vec![format!(
                "It may have been asked all the same: the last thing a worker does before dying is not always stored. {NOT_BY_HAND}"
            )],
        ),
        (
            Some(
                RecoveryPoint::Created
                | RecoveryPoint::ProviderCalled
                | RecoveryPoint::Done
                | RecoveryPoint::Unrecognised(_),
            )
            | None,
            _,
        ) => (
            format!("We asked {provider} to charge {money}. We have no final answer."),
            vec![format!("The customer may or may not have been charged. {NOT_BY_HAND}")],
        ),
    }
}

/// Why a done record is not simply done, and what to do about it.
struct Doubt<'m> {
    said: String,
    more: &'m str,
}

/// A payment of its key without an end, or a broken rule that names it.
fn doubt<'m>(model: &'m Model, record: &Record) -> Option<Doubt<'m>> {
    let open = |status: &PaymentStatus| {
        matches!(status, PaymentStatus::Created | PaymentStatus::Pending | PaymentStatus::Unknown)
    };
    if record.payment_status.as_ref().is_some_and(open) {
        return Some(Doubt {
            said: "That payment has no end in our books.".to_owned(),
            more: "Its charge may stand: look it up (a l); v judges the customer's case.",
        });
    }
    let named = |breach: &&Breach| {
        breach.scope.as_ref() == Some(&record.id.scope) && breach.key.as_ref() == Some(&record.id.key)
    };
    let rules = &model.picture.snapshot()?.rules;
    let broken = rules.iter().find(|report| report.breaches().iter().any(|breach| named(&breach)))?;
    Some(Doubt { said: format!("It breaks {} (see 5).", broken.rule.id), more: &broken.rule.next })
}

/// The payment's state as a word.
fn word_of(record: &Record) -> String {
    record.payment_status.as_ref().map_or_else(|| "NOT KNOWN".to_owned(), ToString::to_string)
}

/// The charges the newest look-up found.
fn found<'m>(model: &'m Model, id: &RecordId) -> Vec<&'m Observed> {
    let evidence = model.dossiers.get(id).map(|dossier| dossier.evidence.as_slice()).unwrap_or_default();
    match evidence.iter().max_by_key(|e| (e.started_at, e.id)).map(|latest| &latest.outcome) {
        Some(LookupOutcome::Found { observed }) => observed.iter().collect(),
        Some(LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. }) | None => Vec::new(),
    }
}

/// Whether a charge is this payment's own and whole, so that its end is the payment's end. Another record's, another
/// amount, one given back or of the other mode must not be said to be it.
fn settles(model: &Model, charge: &Observed, id: &RecordId) -> bool {
    let Some(detail) = model.dossiers.get(id).map(|dossier| &dossier.detail) else { return false };
    let own = charge.matches(detail) == Match::Decides;
    let mode = model.setup.context.policy.mode;
    let whole = detail.record.money.as_ref() == Some(&charge.money())
        && charge.money.captured.is_none_or(|captured| captured == charge.money.amount)
        && charge.money.refunded.unwrap_or(0) == 0;
    own && (mode.is_none() || mode == charge.mode) && (whole || charge.class == Class::Failed)
}

/// The head of a record: sign, word, sentence, consequence, identity.
pub fn head(model: &Model, record: &Record, now: Now) -> Vec<Line> {
    let (sentence, more) = sentence_of(model, record, now);
    let (sign, role) = match (&record.status, doubt(model, record)) {
        (RecordStatus::Done, None) => ("ok", Role::Good),
        (RecordStatus::Done, Some(_)) => (" !", Role::Caution),
        (RecordStatus::Processing | RecordStatus::Unrecognised(_), _) => sign_of(record),
    };
    let word = if record.status == RecordStatus::Done { "DONE".to_owned() } else { word_of(record) };
    // Some sentences begin with the word itself.
    let rest = sentence.strip_prefix(&word).map_or_else(|| format!("  {sentence}"), ToOwned::to_owned);
    let mut lines = vec![Line::of(role, format!("{sign} {word}")).then(rest)];
    lines.extend(more.into_iter().map(|text| Line::plain(format!("   {text}"))));
    if let Some(owner) = &record.owner {
        lines.push(Line::of(Role::Info, format!(" i Handed over to {owner}.")));
    }
    lines
}

/// What there is to do while a recoverer may be at work.
fn while_handed_back(model: &Model, id: &RecordId, now: Now) -> Option<&'static str> {
    let seen = model.hand_backs.of(id)?;
    let leased = model.record(id).is_some_and(|record| record.lease.is_live(model.db_now(now)));
    match seen.request.state {
        ResumeState::Waiting => Some("wait for the recoverer, or withdraw it (a w)."),
        ResumeState::Unanswered => Some("make that call; then wait, withdraw it (a w), or hand over (a h)."),
        ResumeState::Taken if leased => Some("wait for the recoverer."),
        // Its lease is over and it has not said how it ended: what the provider says counts.
        ResumeState::Taken
        | ResumeState::Finished
        | ResumeState::Refused
        | ResumeState::Withdrawn
        | ResumeState::Expired => None,
    }
}

/// What may be done next, and why not more.
pub fn next_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let Some(step) = model.step(id, now) else {
        let next = Line::of(Role::Heading, "   NEXT  ");
        return vec![match super::trouble_of(model, id) {
            Some(_) => next.and(Role::Unknown, "NOT KNOWN: the record was not read whole."),
            None => next.and(Role::Dim, "reading the record whole…"),
        }];
    };
    let lead = |text: String| Line::of(Role::Heading, "   NEXT  ").then(text);
    let mut lines = match while_handed_back(model, id, now) {
        Some(line) => vec![lead(line.to_owned())],
        None if step == Step::NothingToDo && model.record(id).is_some_and(|record| doubt(model, record).is_some()) => {
            vec![lead("nothing to resume. a l asks the provider; v judges the customer's case.".to_owned())]
        }
        None => step_lines(step, lead),
    };
    lines.extend(second_line(model, id, now));
    lines
}

/// One's own request for approval of this record, while something may still come of it.
fn second_line(model: &Model, id: &RecordId, now: Now) -> Option<Line> {
    let request = newest_of(model.dossiers.get(id)?, &model.setup.context)?;
    let at = model.db_now(now);
    let open = match request.state {
        ApprovalState::Waiting => at <= request.expires_at,
        ApprovalState::Approved => request.act_until.is_some_and(|until| at <= until),
        ApprovalState::Refused => true,
        ApprovalState::Withdrawn | ApprovalState::Expired | ApprovalState::Lapsed | ApprovalState::Used => false,
    };
    open.then(|| {
        let said = format!("{}: {}. {}", request.number, request.became(), request.way_on());
        Line::of(Role::Info, " i       ").then(said)
    })
}

fn step_lines(step: Step, lead: impl Fn(String) -> Line) -> Vec<Line> {
    match step {
        Step::LookUpFirst { why } => vec![lead("look up first (a l): asks the provider, charges nothing. ".to_owned() + &why)],
        Step::Wait { why, look_again } => vec![
            lead(format!("wait, and look again after {} (a l).", clock(look_again))),
            Line::plain(format!("         {why}")),
        ],
        Step::Adopt { charge } => vec![lead(format!(
            "resume (a r): finish as SUCCEEDED with {}. No new charge.", charge.provider_ref
        ))],
        Step::FinishAsFailed { charge, reason } => vec![lead(format!(
            "resume (a r): finish as FAILED; {} says {reason}.", charge.provider_ref
        ))],
        Step::FinishAsReversed { charge } => vec![lead(format!(
            "{} was given back: resume (a r) asks a second person, then finishes as reversed.", charge.provider_ref
        ))],
        Step::FinishAsNotCharged => vec![lead(
            "nothing was charged: resume (a r) asks a second person, then finishes as not charged.".into(),
        )],
        Step::HandBack => vec![lead(
            "hand back to the service's recoverer, which may charge with the same key: resume (a r) asks a second person.".into(),
        )],
        Step::NothingToDo => vec![lead("nothing to do.".into())],
        Step::Refuse(refusal) => vec![
            lead(format!("not possible here: {}", refusal.why)),
            Line::plain(format!("         {}", refusal.way_out)),
        ],
    }
}

/// A record in a narrow column beside a list.
pub fn preview_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let Some(record) = model.record(id) else {
        return vec![Line::of(Role::Unknown, " ? NOT KNOWN").then("  not in the last picture")];
    };
    let at = model.db_now(now);
    let mut lines = vec![Line::of(Role::Heading, id.to_string())];
    lines.extend(head(model, record, now));
    lines.extend(handed::state_lines(model, id, now));
    lines.push(Line::empty());
    let mut fact = |name: &str, value: String| {
        lines.push(Line::of(Role::Dim, format!("{name:<10} ")).then(value));
    };
    let or = |text: Option<String>| text.unwrap_or_else(|| "not known".into());
    fact("order", or(record.order.as_ref().map(ToString::to_string)));
    fact("payment", or(record.payment.as_ref().map(ToString::to_string)));
    fact("amount", or(record.money.as_ref().map(ToString::to_string)));
    fact("provider", or(record.provider.as_ref().map(ToString::to_string)));
    fact("ref", record.provider_ref.as_ref().map_or_else(|| "none stored".into(), ToString::to_string));
    fact("stuck at", or(record.recovery_point.as_ref().map(ToString::to_string)));
    fact("attempt", or(record.attempt.map(|a| a.0.to_string())));
    fact("lease", lease(record, at));
    fact("key left", key_left(model, record, now));
    fact("version", record.version.short());
    lines.push(Line::empty());
    if model.dossiers.contains_key(id) {
        lines.extend(next_lines(model, id, now));
    } else {
        lines.push(Line::of(Role::Dim, "Enter reads it whole: timeline, evidence, next step."));
    }
    lines
}

/// A lease in words.
pub fn lease(record: &Record, at: crate::domain::time::Instant) -> String {
    let holder = record.lease.holder.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
    match record.lease.until {
        None => format!("{holder}, end not known"),
        Some(until) if until > at => format!("{holder}, until {}", clock(until)),
        Some(until) => format!("{holder}, over for {}", words(age(until, at))),
    }
}
