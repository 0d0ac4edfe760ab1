//! Drawing up a plan: from a request and a re-read record to a change with its words.

use super::super::action::{Change, Request};
use super::super::evidence::Evidence;
use super::super::ids::Attempt;
use super::super::payment::PaymentStatus;
use super::super::port::Dossier;
use super::super::promise::Promise;
use super::super::record::RecordStatus;
use super::super::recovery::{self, Decision, Step};
use super::super::time::{self, Now};
use super::{Context, Phrase, Plan, Refused, Wording, hash_of};

const APPROVAL: &str =
    "Hand it over (a h): this ending needs approval by a second person, which this version cannot check.";

/// What the recovery table says about a record, for the person at the console.
pub fn step_of(dossier: &Dossier, context: &Context) -> Decision {
    let terms = context.terms_of(&dossier.detail.record);
    recovery::next_step(&dossier.detail, &dossier.evidence, &context.holder(), &context.policy, &terms, dossier.at)
}

/// Draws up a plan for a request, or says why there is none.
pub fn draw(request: Request, dossier: &Dossier, context: &Context, now: Now) -> Result<Plan, Refused> {
    let (change, promises) = match request {
        Request::LookUp => look_up(dossier)?,
        Request::Resume => resume(dossier, context)?,
        Request::Hold => hold(dossier, context)?,
        Request::Release => release(dossier)?,
        Request::Note => (Change::Note, vec![written("note", &Change::Note, dossier)]),
        Request::HandOver => (Change::HandOver, vec![written("new owner and the note", &Change::HandOver, dossier)]),
    };
    let record = dossier.detail.record.clone();
    let latest = newest(dossier);
    let hash = hash_of(&[
        &record.id.to_string(),
        record.version.as_str(),
        &format!("{:?}", record.attempt),
        change.word(),
        &format!("{change:?}"),
        &format!("{:?}", latest.map(|evidence| (evidence.id, evidence.started_at))),
        &context.environment.name,
        context.operator.as_str(),
        &context.role,
        env!("CARGO_PKG_VERSION"),
    ]);
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

fn resume(dossier: &Dossier, context: &Context) -> Drawn {
    let record = &dossier.detail.record;
    let from = record.attempt.unwrap_or(Attempt(0));
    let stored = || {
        newest(dossier).and_then(|evidence| Some((evidence.id?, evidence.started_at))).ok_or_else(|| {
            Refused::new("The look-up it rests on is not stored.", "Start with --act and look up again (a l).")
        })
    };
    let payment = || {
        record.payment.clone().ok_or_else(|| Refused::new("The record's payment is not known.", "Hand it over (a h)."))
    };
    match step_of(dossier, context).step {
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
        Step::HandBack => Ok((Change::HandBack, vec![Promise::HandedBack])),
        Step::FinishAsReversed { charge } => Err(Refused::new(
            format!("{} was reversed; the payment would be finished as reversed.", charge.provider_ref),
            APPROVAL,
        )),
        Step::FinishAsNotCharged => {
            Err(Refused::new("Nothing was charged; the payment would be finished as not charged.", APPROVAL))
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

fn hold(dossier: &Dossier, context: &Context) -> Drawn {
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
    let promises = vec![
        Promise::LeaseTaken { from: record.attempt.unwrap_or(Attempt(0)) },
        Promise::HeldBy { holder: me, length },
    ];
    Ok((Change::Hold { length }, promises))
}

fn release(dossier: &Dossier) -> Drawn {
    let lease = &dossier.detail.record.lease;
    let held = lease.is_live(dossier.at) && lease.holder.as_ref().is_some_and(super::super::ids::Holder::is_person);
    if !held {
        return Err(Refused::new("No person holds this record.", "There is nothing to release."));
    }
    Ok((Change::Release, vec![Promise::LeaseFree]))
}

fn wording(change: &Change, dossier: &Dossier) -> Wording {
    let record = &dossier.detail.record;
    let mut relies_on = vec![format!("record at version {}", record.version.short())];
    if let Some(evidence) = newest(dossier) {
        let name = evidence.id.map_or_else(|| "a look-up that is not stored".to_owned(), |id| id.to_string());
        let age = time::words(time::age(evidence.started_at, dossier.at));
        relies_on.push(format!("{name} ({}, {age} old)", evidence.outcome.word()));
    }
    let (will_not, cannot_undo, if_it_fails) = match change {
        Change::LookUp => (
            "no charge, no refund, no change of record or payment",
            "nothing to undo",
            "nothing is concluded; look again",
        ),
        Change::Adopt { .. } | Change::Fail { .. } => (
            "no charge, no refund, no record removed, no amount changed",
            "the final state: a wrong result is corrected by a refund or a new entry, never by erasing",
            "nothing is written: one transaction, all or none; safe to plan again",
        ),
        Change::HandBack => (
            "no new key, no refund, no record removed; the console itself charges nothing",
            "a charge the recoverer makes is only given back by a refund",
            "the record stays as it is",
        ),
        Change::Hold { .. } | Change::Release => (
            "no charge, no change of the payment, no record removed",
            "nothing: a hold ends by itself and can be released",
            "the lease stays as it is",
        ),
        Change::Note | Change::HandOver => (
            "nothing is sent to the provider; record and payment stay as they are",
            "the text stays in the log for ever",
            "nothing is written",
        ),
    };
    Wording {
        relies_on,
        will_not: will_not.to_owned(),
        cannot_undo: cannot_undo.to_owned(),
        if_it_fails: if_it_fails.to_owned(),
    }
}
