//! The run: read again, arm, send, read back; then a pause, then the next. Time is the model's, nothing sleeps.

use super::{Bulk, Doing, EntryState, Phase, Wish, bulk_of, next_run};
use crate::app::dialog::guard::Finished;
use crate::app::effect::Effect;
use crate::app::model::{Leave, Model};
use crate::app::msg::Acted;
use crate::domain::guard::{Baseline, BulkRequest, Progress, Refused};
use crate::domain::log::Outcome;
use crate::domain::port::{Dossier, StoreError};
use crate::domain::time::Now;

/// The phrase is right: the list is started, and the first record is read again.
pub(super) fn begin(model: &mut Model, now: Now) -> Vec<Effect> {
    let context = model.setup.context.clone();
    let rules = model.picture.snapshot().map(|s| Baseline::of(&s.rules)).unwrap_or_default();
    let Some(request) = bulk_of(model).map(|bulk| bulk.request) else { return vec![] };
    let off = model.why_not(request.request(), now);
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let words = bulk.words();
    let started = match (off, bulk.plan.take()) {
        (Some(why), _) => Err(Refused::new(why, "Nothing was sent.")),
        (None, Some(plan)) => plan.start(&words, &context, rules, now),
        (None, None) => Err(Refused::new("There is no plan.", "Nothing was sent. Make a new plan (n).")),
    };
    match started {
        Ok(armed) => {
            bulk.armed = Some(armed);
            bulk.go(Phase::Running(Doing::Pausing(now.0), Wish::GoOn));
            if !words.ticket.trim().is_empty() {
                words.ticket.trim().clone_into(&mut model.last_ticket);
            }
            tick(model, now)
        }
        Err(refused) => {
            bulk.refuse(refused);
            vec![]
        }
    }
}

/// Goes on when it is time to: reads the next record again, or ends the run.
pub fn tick(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Phase::Running(Doing::Pausing(until), wish) = bulk.phase else { return vec![] };
    let request = bulk.request.request();
    if let Some(why) = model.why_not(request, now) {
        return end(model, Refused::new(why, "What was not started is still marked."));
    }
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Some(progress) = bulk.armed.as_ref().map(super::BulkArmed::progress) else { return vec![] };
    match progress {
        Progress::Next(id) if now.0 >= until => {
            let run = next_run(model);
            if let Some(bulk) = bulk_of(model) {
                bulk.run = run;
                bulk.phase = Phase::Running(Doing::Checking, wish);
            }
            vec![Effect::Check(run, id)]
        }
        Progress::Next(_) | Progress::Canary | Progress::Sent => vec![],
        Progress::Finished | Progress::Stopped(_) => finish(bulk),
    }
}

/// The record that is next was read again: it is armed and sent, or the run ends.
pub(super) fn checked(model: &mut Model, read: Result<Option<Box<Dossier>>, StoreError>, now: Now) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Phase::Running(Doing::Checking, wish) = bulk.phase else { return vec![] };
    let Some(Progress::Next(id)) = bulk.armed.as_ref().map(super::BulkArmed::progress) else {
        return finish(bulk);
    };
    let request = bulk.request.request();
    let off = model.why_not(request, now);
    let facts = match (off, read) {
        (Some(why), _) => Err(Refused::new(why, "Nothing was sent for it.")),
        (None, Ok(Some(dossier))) => Ok(model.keep(*dossier)),
        (None, Ok(None)) => Err(Refused::new("There is no such record any more.", "Look for it before the rest.")),
        (None, Err(error)) => {
            Err(Refused::new(format!("It could not be read again: {error}."), "Nothing was sent for it."))
        }
    };
    let context = model.setup.context.clone();
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Some(armed) = bulk.armed.as_mut() else { return vec![] };
    let ready = facts.and_then(|facts| armed.arm_next(&facts, &context, now));
    match ready {
        Ok(change) => {
            if let Some(entry) = bulk.entry(&id) {
                entry.state = EntryState::Sent;
            }
            bulk.phase = Phase::Running(Doing::Acting(now.0), wish);
            vec![Effect::Act(bulk.run, Box::new(change))]
        }
        Err(why) => {
            armed.stop(why.clone());
            if let Some(entry) = bulk.entry(&id) {
                entry.state = EntryState::NotSent(why);
            }
            finish(bulk)
        }
    }
}

/// What came of the record that was sent.
pub(super) fn acted(model: &mut Model, acted: Acted, now: Now) -> Vec<Effect> {
    let Acted { outcome, evidence, after } = acted;
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Phase::Running(Doing::Acting(sent_at), wish) = bulk.phase else { return vec![] };
    let sent = |entry: &&super::Entry| matches!(entry.state, EntryState::Sent);
    let Some(id) = bulk.entries.iter().find(sent).map(|entry| entry.id.clone()) else { return vec![] };
    let (run, request) = (bulk.run, bulk.request);
    if let Some(own) = evidence.clone().filter(|evidence| evidence.id.is_none()) {
        model.session_evidence.entry(id.clone()).or_default().push(own);
    }
    let (after, trouble) = match after {
        Ok(Some(dossier)) => (Some(model.keep(dossier)), None),
        Ok(None) => (None, Some("The record was not found when it was read back.".to_owned())),
        Err(error) => (None, Some(format!("The record could not be read back: {error}."))),
    };
    model.last_outcome = Some((id.clone(), request.request(), outcome.clone()));
    let mut effects = Vec::new();
    if let Outcome::Unknown { intent: Some(intent), .. } = &outcome {
        effects.push(Effect::ReadBack(run, *intent));
    }
    let Some(bulk) = bulk_of(model) else { return effects };
    let Some(armed) = bulk.armed.as_mut() else { return effects };
    let read_back = armed.ended(&outcome, after.as_ref(), evidence.as_ref());
    if wish != Wish::GoOn {
        armed.stop(Refused::new("You stopped it.", "What was not started is still marked."));
    }
    let done = matches!(outcome, Outcome::Done { .. });
    if let Some(entry) = bulk.entry(&id) {
        entry.state = EntryState::Ended(Box::new(Finished {
            outcome,
            read_back,
            trouble,
            evidence,
            handed_back: None,
            log: None,
        }));
    }
    let next = sent_at.checked_add_signed(request.pace()).unwrap_or(now.0);
    bulk.phase = Phase::Running(Doing::Pausing(next), wish);
    if done && request == BulkRequest::Adopt {
        // It is not what was marked any more: it is done.
        model.marks.remove(&id);
        effects.push(Effect::PollNow);
    }
    effects.extend(tick(model, now));
    if model.leave == Leave::WhenSettled {
        model.leave = Leave::Now;
        effects.push(Effect::Quit);
    }
    effects
}

/// Ends the run where it stands. Nothing may be on its way.
pub fn end(model: &mut Model, why: Refused) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    if let Some(armed) = bulk.armed.as_mut() {
        armed.stop(why);
    }
    finish(bulk)
}

fn finish(bulk: &mut Bulk) -> Vec<Effect> {
    if let Some(armed) = bulk.armed.take() {
        let progress = armed.progress();
        bulk.go(Phase::Result(progress));
    }
    vec![Effect::PollNow]
}
