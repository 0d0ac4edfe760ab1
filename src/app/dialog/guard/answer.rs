//! What the guard hears: the re-read record, the outcome, the read-back; and a poll that shows a newer version.

use super::{
    Finished, Guard, HandedBack, Phase, REASON_LIMIT, SHORT_LIMIT, Second, Way, guard_of, only_appends, second,
};
use crate::app::effect::{Effect, Run};
use crate::app::field::Field;
use crate::app::model::{Leave, Model};
use crate::app::msg::{Acted, GuardMsg};
use crate::app::notice::Notice;
use crate::domain::action::Request;
use crate::domain::approval::{Consent, Standing, newest_of};
use crate::domain::guard::{Armed, Context, Refused, Words, draw};
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::port::{Dossier, StoreError};
use crate::domain::promise::Said;
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
    // A page that is read may be read again; a later step may not fall back to it.
    let waiting = guard_of(model).is_some_and(|g| matches!(g.phase, Phase::Preparing | Phase::Plan));
    if !waiting {
        return vec![];
    }
    let facts = facts(model, read);
    let context = model.setup.context.clone();
    let Some(guard) = guard_of(model) else { return vec![] };
    match (facts, guard.answers) {
        (Ok(dossier), Some(number)) => match second::reading(number, &dossier, &context) {
            Ok(answering) => {
                guard.second = Second::Reading(Box::new(answering));
                if !matches!(guard.phase, Phase::Plan) {
                    guard.go(Phase::Plan);
                }
            }
            Err(refused) => guard.refuse(refused),
        },
        (Ok(dossier), None) => planned(guard, &dossier, &context, now),
        (Err(refused), _) => guard.refuse(refused),
    }
    vec![]
}

/// A plan of one's own, and where the second person stands with it.
fn planned(guard: &mut Guard, dossier: &Dossier, context: &Context, now: Now) {
    match draw(guard.request, dossier, context, now) {
        Ok(plan) => {
            guard.promises = plan.promises().to_vec();
            let standing = plan.standing(dossier, context);
            if let Standing::Approved(request) = &standing {
                // The words that were approved; they can still be changed.
                guard.form.reason = Field::with(REASON_LIMIT, &request.reason);
                if let Some(ticket) = &request.ticket {
                    guard.form.ticket = Field::with(SHORT_LIMIT, ticket);
                }
            }
            guard.second = Second::Own(standing);
            guard.plan = Some(plan);
            guard.go(Phase::Plan);
        }
        Err(refused) => {
            if guard.request == Request::Resume
                && let Some(last) = newest_of(dossier, context)
            {
                guard.second = Second::Last(Box::new(last.clone()));
            }
            guard.refuse(refused);
        }
    }
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
    match facts.and_then(|dossier| send(guard, &dossier, &words, &context, now)) {
        Ok(effect) => {
            guard.go(Phase::Acting);
            let remembered = match &effect {
                Sending::Change(armed) => !only_appends(armed.change()),
                Sending::Consent(_) => guard.way == Way::Ask,
            };
            let run = guard.run;
            if remembered {
                words.ticket.trim().clone_into(&mut model.last_ticket);
            }
            vec![match effect {
                Sending::Change(armed) => Effect::Act(run, armed),
                Sending::Consent(consent) => Effect::Consent(run, consent),
            }]
        }
        Err(refused) => {
            guard.refuse(refused);
            vec![]
        }
    }
}

/// What passed every check.
enum Sending {
    Change(Box<Armed>),
    Consent(Box<Consent>),
}

/// The last check: the plan is used up, the answer made, on facts re-read just now.
fn send(guard: &mut Guard, facts: &Dossier, words: &Words, context: &Context, now: Now) -> Result<Sending, Refused> {
    if let Some(number) = guard.answers {
        let (consent, promises) = second::answer(guard.way, number, facts, words, context)?;
        guard.promises = promises;
        return Ok(Sending::Consent(Box::new(consent)));
    }
    let Some(plan) = guard.plan.take() else {
        return Err(Refused::new("There is no plan.", "Nothing was sent. Make a new plan (n)."));
    };
    if guard.way == Way::Ask {
        guard.promises = plan.questions(facts);
        return Ok(Sending::Consent(Box::new(plan.ask(facts, words, context, now)?)));
    }
    if guard.request == Request::Withdraw {
        return Ok(Sending::Consent(Box::new(plan.take_back(facts, words, context, now)?)));
    }
    Ok(Sending::Change(Box::new(plan.arm(facts, words, context, now)?)))
}

fn ended(model: &mut Model, acted: Acted) -> Vec<Effect> {
    let Acted { outcome, evidence, after } = acted;
    let Some(guard) = guard_of(model) else { return vec![] };
    if !guard.is_acting() {
        return vec![];
    }
    let (run, request, id) = (guard.run, guard.request, guard.id.clone());
    let promises = std::mem::take(&mut guard.promises);
    let handed_back = promises.iter().find_map(HandedBack::of).filter(|_| matches!(outcome, Outcome::Done { .. }));
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

/// A plan that is too old is refused while it is on screen, not only when Enter is pressed.
pub fn expire(model: &mut Model, now: Now) {
    // The database's clock goes on while the picture is old.
    let at = model.picture.db_now(now);
    let Some(guard) = guard_of(model) else { return };
    if !matches!(guard.phase, Phase::Plan | Phase::Reason | Phase::Send | Phase::Phrase) {
        return;
    }
    if guard.plan.as_ref().is_some_and(|plan| now.0 > plan.expires_at()) {
        guard.refuse(Refused::new("The plan is too old.", "Nothing was sent. Make a new plan (n)."));
    } else if let Some(why) = second::over(&guard.second, at) {
        guard.refuse(Refused::new(why, "Nothing was sent. Read it again (n)."));
    }
}

/// After a poll: a plan for a version that is no longer there is refused, and said.
pub fn watch(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(guard) = guard_of(model) else { return vec![] };
    if !matches!(guard.phase, Phase::Plan | Phase::Reason | Phase::Send | Phase::Phrase) {
        return vec![];
    }
    let Some(planned) = guard.plan.as_ref().map(|p| p.record().target()) else { return second::watch(model, now) };
    let Some(seen) = newer(model, &planned.id) else { return second::watch(model, now) };
    if seen == planned.version {
        return second::watch(model, now);
    }
    let why = format!("The record changed while you read ({} -> {}).", planned.version.short(), seen.short());
    if let Some(guard) = guard_of(model) {
        guard.refuse(Refused::new(why.clone(), "Nothing was sent. Make a new plan (n)."));
    }
    model.notice = Some(Notice::caution(format!("{why} The plan is refused."), now));
    vec![]
}

fn newer(model: &Model, id: &RecordId) -> Option<crate::domain::ids::Version> {
    model.picture.record(id).map(|record| record.version.clone())
}
