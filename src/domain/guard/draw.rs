//! Drawing up a plan: from a request and a re-read record to a change with its words.

use super::super::action::{Change, KeyTerms, Proof, Request};
use super::super::approval::approval_needed;
use super::super::evidence::{Absence, Evidence, LookupOutcome};
use super::super::ids::{Attempt, EvidenceId, Holder};
use super::super::payment::PaymentStatus;
use super::super::port::Dossier;
use super::super::promise::Promise;
use super::super::record::RecordStatus;
use super::super::recovery::{self, Decision, Step};
use super::super::time::{self, Now};
use super::{Context, Phrase, Plan, Refused, Wording, hash_of};

/// What the recovery table says about a record, for the person at the console.
pub fn step_of(dossier: &Dossier, context: &Context) -> Decision {
    step_for(dossier, context, &context.holder())
}

fn step_for(dossier: &Dossier, context: &Context, holder: &Holder) -> Decision {
    let terms = context.terms_of(&dossier.detail.record);
    recovery::next_step(&dossier.detail, &dossier.evidence, holder, &context.policy, &terms, dossier.at)
}

/// What a resume would come to on this person's own look-up, seen as `holder`; with that look-up.
pub(in crate::domain) fn change_for(
    dossier: &Dossier,
    context: &Context,
    holder: &Holder,
) -> Result<(Change, EvidenceId), Refused> {
    let (change, _) = resume(dossier, context, holder)?;
    let evidence = newest(dossier).and_then(|evidence| evidence.id);
    let evidence = evidence.ok_or_else(|| Refused::new("Your look-up is not stored.", "Look up again (a l)."))?;
    Ok((change, evidence))
}

/// Draws up a plan for a request, or says why there is none.
pub fn draw(request: Request, dossier: &Dossier, context: &Context, now: Now) -> Result<Plan, Refused> {
    let (change, promises) = match request {
        Request::LookUp => look_up(dossier)?,
        Request::Resume => resume(dossier, context, &context.holder())?,
        Request::Hold => hold(dossier, context)?,
        Request::Release => release(dossier)?,
        Request::Withdraw => withdraw(dossier)?,
        Request::Note => (Change::Note, vec![written("note", &Change::Note, dossier)]),
        Request::HandOver => (Change::HandOver, vec![written("new owner and the note", &Change::HandOver, dossier)]),
    };
    let record = dossier.detail.record.clone();
    let latest = newest(dossier);
    // The first seven are checked by the database against the order; the change's own parts stand last. What the
    // look-up said counts, not which row says so: looked up again with the same answer, it is the same plan.
    let mut hashed = vec![
        record.id.scope.to_string(),
        record.id.key.to_string(),
        record.version.to_string(),
        record.attempt.map_or_else(|| "?".to_owned(), |attempt| attempt.0.to_string()),
        change.word().to_owned(),
        context.environment.name.clone(),
        context.operator.to_string(),
        context.role.clone(),
        env!("CARGO_PKG_VERSION").to_owned(),
        latest.map_or_else(|| "no look-up".to_owned(), said),
    ];
    hashed.extend(change.parts());
    let hash = hash_of(&hashed.iter().map(String::as_str).collect::<Vec<&str>>());
    let need = approval_needed(&change, record.money.as_ref(), &context.environment, &context.policy);
    let phrase = Phrase::of(&context.environment, &record, &hash);
    let wording = wording(&change, dossier);
    Ok(Plan {
        request,
        change,
        attempt: record.attempt,
        record,
        promises,
        wording,
        hash,
        hashed,
        need,
        made_at: now.0,
        expires_at: context.policy.plan_life.after(now.0),
        phrase,
    })
}

fn written(what: &str, change: &Change, dossier: &Dossier) -> Promise {
    Promise::Written { what: what.to_owned(), action: change.word().to_owned(), after: dossier.at }
}

type Drawn = Result<(Change, Vec<Promise>), Refused>;

/// The newest evidence: by the start of the look-up, then by its row.
fn newest(dossier: &Dossier) -> Option<&Evidence> {
    dossier.evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id))
}

/// What a look-up said, without what may differ between two that say the same.
fn said(evidence: &Evidence) -> String {
    match &evidence.outcome {
        LookupOutcome::Found { observed } => {
            let mut charges: Vec<String> = observed
                .iter()
                .map(|hit| {
                    let sum = |minor: Option<i64>| minor.map_or_else(|| "?".to_owned(), |minor| minor.to_string());
                    let (captured, refunded) = (sum(hit.money.captured), sum(hit.money.refunded));
                    let (name, class) = (&hit.provider_ref, hit.class.word());
                    format!("{name} {class} {} {captured} {refunded} {}", hit.money.amount, hit.money.currency)
                })
                .collect();
            charges.sort();
            format!("found: {}", charges.join("; "))
        }
        LookupOutcome::NotFound { absence: Absence::Consistent, .. } => "not found, consistently".to_owned(),
        LookupOutcome::NotFound { absence: Absence::MayHaveMissed, .. } => "not found, perhaps missed".to_owned(),
        LookupOutcome::Unreachable { .. } => "no answer".to_owned(),
    }
}

fn look_up(dossier: &Dossier) -> Drawn {
    let Some(provider) = &dossier.detail.record.provider else {
        return Err(Refused::new("Which provider was asked is not known.", "Hand it over (a h)."));
    };
    let promises = vec![
        Promise::AskProvider { provider: provider.to_string() },
        Promise::EvidenceKept { newest: dossier.evidence.iter().filter_map(|evidence| evidence.id).max() },
    ];
    Ok((Change::LookUp, promises))
}

/// A recoverer may take an open hand back up at any moment: whoever else goes on first takes it back.
fn not_handed_back(dossier: &Dossier) -> Result<(), Refused> {
    let Some(resume) = dossier.handed_back().filter(|resume| resume.state.is_untaken()) else {
        return Ok(());
    };
    Err(Refused::new(
        format!("Handed back at {} ({}): the recoverer may be charging.", time::clock(resume.at), resume.number),
        format!("Wait for it until {}, or withdraw it first (a w).", time::clock(resume.not_after)),
    ))
}

fn resume(dossier: &Dossier, context: &Context, holder: &Holder) -> Drawn {
    not_handed_back(dossier)?;
    let record = &dossier.detail.record;
    let from = record.attempt.unwrap_or(Attempt(0));
    let stored = || {
        let latest = newest(dossier);
        if let Some(theirs) = latest.filter(|evidence| evidence.operator != context.operator) {
            return Err(Refused::new(
                format!("The latest look-up is {}'s.", theirs.operator),
                "Look the payment up yourself (a l): you act on what you saw.",
            ));
        }
        latest.and_then(|evidence| Some((evidence.id?, evidence.started_at))).ok_or_else(|| {
            Refused::new("The look-up it rests on is not stored.", "Start with --act and look up again (a l).")
        })
    };
    let money = || {
        record.money.clone().ok_or_else(|| Refused::new("The payment's amount is not known.", "Hand it over (a h)."))
    };
    let payment = || {
        record.payment.clone().ok_or_else(|| Refused::new("The record's payment is not known.", "Hand it over (a h)."))
    };
    match step_for(dossier, context, holder).step {
        Step::Adopt { charge } => {
            let (evidence, asked_at) = stored()?;
            let money = charge.money();
            let said = format!("look-up at {} found {} {money} as", time::clock(asked_at), charge.class.word());
            let promises = vec![
                Promise::LeaseTaken { from },
                Promise::NoCharge { provider_ref: charge.provider_ref.clone(), said },
                Promise::PaymentEnds { status: PaymentStatus::Succeeded, provider_ref: charge.provider_ref.clone() },
                Promise::RecordDone { code: 201 },
            ];
            Ok((Change::Adopt { evidence, payment: payment()?, provider_ref: charge.provider_ref, money }, promises))
        }
        Step::FinishAsFailed { charge, reason } => {
            let (evidence, asked_at) = stored()?;
            let said = format!("look-up at {} found a final no ({}) as", time::clock(asked_at), charge.raw);
            let promises = vec![
                Promise::LeaseTaken { from },
                Promise::NoCharge { provider_ref: charge.provider_ref.clone(), said },
                Promise::PaymentEnds { status: PaymentStatus::Failed, provider_ref: charge.provider_ref.clone() },
                Promise::RecordDone { code: 402 },
            ];
            Ok((Change::Fail { evidence, payment: payment()?, provider_ref: charge.provider_ref, reason }, promises))
        }
        Step::HandBack => {
            if let Some(resume) = dossier.handed_back() {
                let worker = resume.worker.as_deref().unwrap_or("a recoverer");
                let (state, end) = (resume.state.word(), time::clock(resume.not_after));
                return Err(Refused::new(
                    format!(
                        "{} is {state} by {worker}, who has not said how it ended and may have charged.",
                        resume.number
                    ),
                    format!("Look again (a l). It can be handed back again after {end}."),
                ));
            }
            if record.lease.is_live(dossier.at) {
                return Err(Refused::new(
                    "You hold this record, so the recoverer could not take it.",
                    "Release it (a u), look up again, then go on.",
                ));
            }
            stored()?;
            let promises =
                vec![Promise::HandedBack { newest: dossier.resumes.iter().map(|resume| resume.number).max() }];
            let (proof, terms) = (proof(dossier, context)?, key_terms(dossier, context)?);
            Ok((Change::HandBack { proof, payment: payment()?, money: money()?, terms }, promises))
        }
        Step::FinishAsReversed { charge } => {
            let (evidence, asked_at) = stored()?;
            let said = format!("look-up at {} found all the money given back,", time::clock(asked_at));
            let provider_ref = charge.provider_ref;
            let promises = vec![
                Promise::LeaseTaken { from },
                Promise::NoCharge { provider_ref: provider_ref.clone(), said },
                Promise::PaymentEnds { status: PaymentStatus::Failed, provider_ref: provider_ref.clone() },
                Promise::RecordDone { code: 402 },
            ];
            Ok((Change::Reverse { evidence, payment: payment()?, provider_ref, money: money()? }, promises))
        }
        Step::FinishAsNotCharged => {
            stored()?;
            let promises =
                vec![Promise::LeaseTaken { from }, Promise::EndsUncharged, Promise::RecordDone { code: 402 }];
            let (proof, terms) = (proof(dossier, context)?, key_terms(dossier, context)?);
            Ok((Change::NotCharged { proof, payment: payment()?, money: money()?, terms }, promises))
        }
        Step::LookUpFirst { why } => Err(Refused::new(why, "Do l first.")),
        Step::Wait { why, look_again } => {
            Err(Refused::new(why, format!("Look again (a l) after {}.", time::clock(look_again))))
        }
        Step::NothingToDo => {
            Err(Refused::new("The record is done: its answer is stored and replayed.", "There is nothing to do."))
        }
        Step::Refuse(refusal) => Err(Refused::new(refusal.why, refusal.way_out)),
    }
}

/// The two stored look-ups that prove absence.
fn proof(dossier: &Dossier, context: &Context) -> Result<Proof, Refused> {
    let terms = context.terms_of(&dossier.detail.record);
    recovery::proof_of_absence(&dossier.detail, &dossier.evidence, &context.policy, &terms, dossier.at)
        .and_then(|(first, latest)| Some(Proof { first: first.id?, latest: latest.id? }))
        .ok_or_else(|| {
            Refused::new("The look-ups it rests on are not both stored.", "Start with --act and look up again (a l).")
        })
}

/// What the database function is told about the key.
fn key_terms(dossier: &Dossier, context: &Context) -> Result<KeyTerms, Refused> {
    let terms = context.terms_of(&dossier.detail.record);
    let retention = terms
        .key_retention
        .ok_or_else(|| Refused::new("How long the provider remembers the key is not known.", "Hand it over (a h)."))?;
    let settle = time::Seconds(terms.settle.0.saturating_add(context.policy.skew.0));
    Ok(KeyTerms { retention, margin: context.policy.key_margin, settle })
}

fn hold(dossier: &Dossier, context: &Context) -> Drawn {
    not_handed_back(dossier)?;
    let record = &dossier.detail.record;
    let me = context.holder();
    if record.status != RecordStatus::Processing {
        return Err(Refused::new(
            format!("The record is {}: there is nothing to hold.", record.status),
            "Close this menu.",
        ));
    }
    if record.lease.is_live(dossier.at) && record.lease.holder.as_ref() != Some(&me) {
        let until = record.lease.until.map_or_else(|| "later".to_owned(), time::clock);
        return Err(Refused::new(format!("The lease is held until {until}."), format!("Wait until {until}.")));
    }
    let length = context.policy.hold_max;
    outlives_the_key(dossier, context, length)?;
    let promises = vec![
        Promise::LeaseTaken { from: record.attempt.unwrap_or(Attempt(0)) },
        Promise::HeldBy { holder: me, length },
    ];
    Ok((Change::Hold { length }, promises))
}

/// A hold must not carry a record over the end of its provider key: whoever charges after it would charge anew.
/// Once the key is over there is nothing left to lose.
fn outlives_the_key(dossier: &Dossier, context: &Context, length: time::Seconds) -> Result<(), Refused> {
    let record = &dossier.detail.record;
    let (Some(retention), Some(first_use)) = (context.terms_of(record).key_retention, record.first_key_use) else {
        return Ok(());
    };
    let end = retention.after(first_use);
    let edge = context.policy.key_margin.before(end);
    if dossier.at >= end || length.after(dossier.at) <= edge {
        return Ok(());
    }
    Err(Refused::new(
        format!(
            "The provider may forget the key at {}; a hold must end before {}.",
            time::clock(end),
            time::clock(edge)
        ),
        "Resume it now (a r), or hand it over (a h).",
    ))
}

fn release(dossier: &Dossier) -> Drawn {
    let lease = &dossier.detail.record.lease;
    let held = lease.is_live(dossier.at) && lease.holder.as_ref().is_some_and(super::super::ids::Holder::is_person);
    if !held {
        return Err(Refused::new("No person holds this record.", "There is nothing to release."));
    }
    Ok((Change::Release, vec![Promise::LeaseFree]))
}

fn withdraw(dossier: &Dossier) -> Drawn {
    let Some(resume) = dossier.handed_back() else {
        return Err(Refused::new("It is not handed back, or that has ended.", "There is nothing to withdraw."));
    };
    if !resume.state.is_untaken() {
        let worker = resume.worker.as_deref().unwrap_or("a recoverer");
        return Err(Refused::new(
            format!("{worker} took {} at {} and may be charging.", resume.number, time::clock(resume.state_at)),
            "It cannot be withdrawn any more. Wait for what it says.",
        ));
    }
    Ok((Change::Withdraw { resume: resume.number }, vec![Promise::Withdrawn { resume: resume.number }]))
}

fn wording(change: &Change, dossier: &Dossier) -> Wording {
    let record = &dossier.detail.record;
    let mut relies_on = vec![format!("record at version {}", record.version.short())];
    if let Some(evidence) = newest(dossier) {
        let name = evidence.id.map_or_else(|| "a look-up that is not stored".to_owned(), |id| id.to_string());
        let age = time::words(time::age(evidence.started_at, dossier.at));
        relies_on.push(format!("{name} ({}, {age} old)", evidence.outcome.word()));
    }
    let [will_not, cannot_undo, if_it_fails] = said_of(change).map(ToOwned::to_owned);
    Wording { relies_on, will_not, cannot_undo, if_it_fails }
}

/// What will not happen, what cannot be undone, and what is true when a step fails.
pub(in crate::domain) fn said_of(change: &Change) -> [&'static str; 3] {
    match change {
        Change::LookUp => [
            "no charge, no refund, no change of record or payment",
            "nothing to undo",
            "nothing is concluded; look again",
        ],
        Change::Adopt { .. } | Change::Fail { .. } | Change::Reverse { .. } | Change::NotCharged { .. } => [
            "no charge, no refund, no record removed, no amount changed",
            "the final state: a wrong result is corrected by a refund or a new entry, never by erasing",
            "nothing is written: one transaction, all or none; safe to plan again",
        ],
        Change::HandBack { .. } => [
            "no new key, no refund, no record removed; the console itself charges nothing",
            "a charge the recoverer makes is only given back by a refund",
            "the record stays as it is",
        ],
        Change::Withdraw { .. } => [
            "no charge, no refund, no change of record or payment",
            "handing it back again needs a new plan and a second person",
            "the hand back stays as it is; read its state again",
        ],
        Change::Hold { .. } | Change::Release => [
            "no charge, no change of the payment, no record removed",
            "nothing: a hold ends by itself and can be released",
            "the lease stays as it is",
        ],
        Change::Note | Change::HandOver => [
            "nothing is sent to the provider; record and payment stay as they are",
            "the text stays in the log for ever",
            "nothing is written",
        ],
    }
}
