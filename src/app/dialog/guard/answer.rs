//! What the guard hears: the re-read record, the outcome, the read-back; and a poll that shows a newer version.

use super::{Finished, HandedBack, Phase, guard_of, only_appends};
use crate::app::dialog::Dialog;
use crate::app::effect::{Effect, Run};
use crate::app::model::{Leave, Model};
use crate::app::msg::{Acted, GuardMsg};
use crate::app::notice::Notice;
use crate::domain::action::Request;
use crate::domain::guard::{Refused, draw};
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::port::{Dossier, StoreError};
use crate::domain::promise::{Promise, Said};
use crate::domain::time::Now;

type Read = Result<Option<Box<Dossier>>, StoreError>;

/// Takes an answer; one for another run is ignored.
pub fn heard(model: &mut Model, run: Run, msg: GuardMsg, now: Now) -> Vec<Effect> {
    if guard_of(model).is_none_or(|guard| guard.run != run) {
        return match msg {
            // The dialog is gone, the outcome is not: it is said.
            GuardMsg::Acted(acted) => {
                model.say(format!("An action ended: {}.", acted.outcome.word()), now);
                vec![Effect::PollNow]
            }
            GuardMsg::Prepared(_) | GuardMsg::Checked(_) | GuardMsg::ReadBack(_) => vec![],
        };
    }
    match msg {
        GuardMsg::Prepared(read) => prepared(model, read, now),
        GuardMsg::Checked(read) => checked(model, read, now),
        GuardMsg::Acted(acted) => ended(model, *acted),
        GuardMsg::ReadBack(read) => {
            if let Some(Phase::Result(finished)) = guard_of(model).map(|g| &mut g.phase) {
                finished.log = Some(match read {
                    Ok(Some(entry)) => Ok(*entry),
                    Ok(None) => Err("The log has no outcome for it yet. Press r to ask again.".to_owned()),
                    Err(error) => Err(format!("It could not be read back: {error}. Press r to ask again.")),
                });
            }
            vec![]
        }
    }
}

/// The re-read record, or why there is none to go on with.
fn facts(model: &mut Model, read: Read) -> Result<Dossier, Refused> {
    match read {
        Ok(Some(dossier)) => Ok(model.keep(*dossier)),
        Ok(None) => Err(Refused::new(
            "There is no such record any more.",
            "Nothing was sent. Hand it over: somebody removed it, and a retry may charge again.",
        )),
        Err(error) => {
            Err(Refused::new(format!("The record could not be read: {error}."), "Nothing was sent. Try again (n)."))
        }
    }
}

fn prepared(model: &mut Model, read: Read, now: Now) -> Vec<Effect> {
    let waiting = guard_of(model).is_some_and(|g| matches!(g.phase, Phase::Preparing));
    if !waiting {
        return vec![];
    }
    let facts = facts(model, read);
    let context = model.setup.context.clone();
    let Some(guard) = guard_of(model) else { return vec![] };
    match facts.and_then(|dossier| draw(guard.request, &dossier, &context, now)) {
        Ok(plan) => {
            guard.promises = plan.promises().to_vec();
            guard.plan = Some(plan);
            guard.go(Phase::Plan);
        }
        Err(refused) => guard.refuse(refused),
    }
    vec![]
}

fn checked(model: &mut Model, read: Read, now: Now) -> Vec<Effect> {
    let waiting = guard_of(model).is_some_and(|g| matches!(g.phase, Phase::Checking));
    if !waiting {
        return vec![];
    }
    let request = guard_of(model).map(|g| g.request);
    if let Some(why) = request.and_then(|request| model.why_not(request, now)) {
        if let Some(guard) = guard_of(model) {
            guard.refuse(Refused::new(why, "Nothing was sent."));
        }
        return vec![];
    }
    let facts = facts(model, read);
    let context = model.setup.context.clone();
    let Some(guard) = guard_of(model) else { return vec![] };
    let words = guard.words();
    let run = guard.run;
    if guard.request == Request::Withdraw {
        let taken_back = facts.and_then(|dossier| match guard.plan.take() {
            Some(plan) => plan.take_back(&dossier, &words, &context, now),
            None => Err(Refused::new("There is no plan.", "Nothing was sent. Make a new plan (n).")),
        });
        return match taken_back {
            Ok(consent) => {
                guard.go(Phase::Acting);
                vec![Effect::Consent(run, Box::new(consent))]
            }
            Err(refused) => {
                guard.refuse(refused);
                vec![]
            }
        };
    }
    let armed = facts.and_then(|dossier| match guard.plan.take() {
        Some(plan) => plan.arm(&dossier, &words, &context, now),
        None => Err(Refused::new("There is no plan.", "Nothing was sent. Make a new plan (n).")),
    });
    match armed {
        Ok(armed) => {
            guard.go(Phase::Acting);
            if !only_appends(armed.change()) {
                words.ticket.trim().clone_into(&mut model.last_ticket);
            }
            vec![Effect::Act(run, Box::new(armed))]
        }
        Err(refused) => {
            guard.refuse(refused);
            vec![]
        }
    }
}

fn ended(model: &mut Model, acted: Acted) -> Vec<Effect> {
    let Acted { outcome, evidence, after } = acted;
    let Some(guard) = guard_of(model) else { return vec![] };
    if !guard.is_acting() {
        return vec![];
    }
    let (run, request, id) = (guard.run, guard.request, guard.id.clone());
    let promises = std::mem::take(&mut guard.promises);
    let handed_back = promises.iter().find_map(handed_back).filter(|_| matches!(outcome, Outcome::Done { .. }));
    if let Some(made) = handed_back {
        model.hand_backs.expect(id.clone(), made.after);
    }
    if let Some(evidence) = evidence.clone().filter(|e| e.id.is_none()) {
        model.session_evidence.entry(id.clone()).or_default().push(evidence);
    }
    let (after, trouble) = match after {
        Ok(Some(dossier)) => (Some(model.keep(dossier)), None),
        Ok(None) => (None, Some("The record was not found when it was read back.".to_owned())),
        Err(error) => (None, Some(format!("The record could not be read back: {error}."))),
    };
    let read_back = promises
        .iter()
        .map(|promise| {
            let said = after
                .as_ref()
                .map_or_else(|| Said::NotKnown("not read back".to_owned()), |dossier| promise.read_back(dossier));
            (promise.asked(), said)
        })
        .collect();
    let mut effects = vec![Effect::PollNow];
    if let Outcome::Unknown { intent: Some(intent), .. } = &outcome {
        effects.push(Effect::ReadBack(run, *intent));
    }
    model.last_outcome = Some((id, request, outcome.clone()));
    if let Some(guard) = guard_of(model) {
        guard.go(Phase::Result(Box::new(Finished { outcome, read_back, trouble, evidence, handed_back, log: None })));
    }
    if model.leave == Leave::WhenSettled {
        model.leave = Leave::Now;
        effects.push(Effect::Quit);
    }
    effects
}

/// What a promise hands back.
fn handed_back(promise: &Promise) -> Option<HandedBack> {
    match promise {
        Promise::HandedBack { newest } => Some(HandedBack { after: *newest }),
        Promise::AskProvider { .. }
        | Promise::EvidenceKept { .. }
        | Promise::LeaseTaken { .. }
        | Promise::NoCharge { .. }
        | Promise::PaymentEnds { .. }
        | Promise::RecordDone { .. }
        | Promise::HeldBy { .. }
        | Promise::LeaseFree
        | Promise::Written { .. }
        | Promise::EndsUncharged
        | Promise::Withdrawn { .. } => None,
    }
}

/// The record whose hand back the result page follows.
pub fn followed(model: &Model) -> Option<&RecordId> {
    let Some(Dialog::Guard(guard)) = &model.dialog else { return None };
    match &guard.phase {
        Phase::Result(finished) => finished.handed_back.map(|_| &guard.id),
        Phase::Preparing
        | Phase::Plan
        | Phase::Reason
        | Phase::Phrase
        | Phase::Checking
        | Phase::Acting
        | Phase::ActingAskedToLeave
        | Phase::Refused(_) => None,
    }
}

/// A plan that is too old is refused while it is on screen, not only when Enter is pressed.
pub fn expire(model: &mut Model, now: Now) {
    let Some(guard) = guard_of(model) else { return };
    let expired = guard.plan.as_ref().is_some_and(|plan| now.0 > plan.expires_at());
    if expired && matches!(guard.phase, Phase::Plan | Phase::Reason | Phase::Phrase) {
        guard.refuse(Refused::new("The plan is too old.", "Nothing was sent. Make a new plan (n)."));
    }
}

/// After a poll: a plan for a version that is no longer there is refused, and said.
pub fn watch(model: &mut Model, now: Now) {
    let Some(guard) = guard_of(model) else { return };
    if !matches!(guard.phase, Phase::Plan | Phase::Reason | Phase::Phrase) {
        return;
    }
    let Some(planned) = guard.plan.as_ref().map(|p| p.record().target()) else { return };
    let Some(seen) = newer(model, &planned.id) else { return };
    if seen == planned.version {
        return;
    }
    let why = format!("The record changed while you read ({} -> {}).", planned.version.short(), seen.short());
    if let Some(guard) = guard_of(model) {
        guard.refuse(Refused::new(why.clone(), "Nothing was sent. Make a new plan (n)."));
    }
    model.notice = Some(Notice::caution(format!("{why} The plan is refused."), now));
}

fn newer(model: &Model, id: &RecordId) -> Option<crate::domain::ids::Version> {
    model.picture.record(id).map(|record| record.version.clone())
}
