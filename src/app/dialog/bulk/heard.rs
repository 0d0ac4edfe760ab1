//! What the flow over several records hears: records that were read, outcomes, polls, time.

use super::{Entry, EntryState, Phase, bulk_of, next_run, run};
use crate::app::effect::{Effect, Run};
use crate::app::model::Model;
use crate::app::msg::GuardMsg;
use crate::app::notice::Notice;
use crate::domain::action::Change;
use crate::domain::guard::{BulkPlan, Marked, Plan, Refused};
use crate::domain::port::{Dossier, StoreError};
use crate::domain::time::Now;

/// Takes an answer, or gives it back when it is another's.
pub fn heard(model: &mut Model, run: Run, msg: GuardMsg, now: Now) -> Result<Vec<Effect>, GuardMsg> {
    if bulk_of(model).is_none_or(|bulk| bulk.run != run) {
        return Err(msg);
    }
    Ok(match msg {
        GuardMsg::Prepared(read) => prepared(model, read, now),
        GuardMsg::Checked(read) => run::checked(model, read, now),
        GuardMsg::Acted(acted) => run::acted(model, *acted, now),
        GuardMsg::ReadBack(read) => {
            let log = match read {
                Ok(Some(entry)) => Ok(*entry),
                Ok(None) => Err("The log has no outcome for it yet. Press r to ask again.".to_owned()),
                Err(error) => Err(format!("It could not be read back: {error}. Press r to ask again.")),
            };
            if let Some(finished) = bulk_of(model).and_then(super::Bulk::unknown) {
                finished.log = Some(log);
            }
            vec![]
        }
    })
}

/// One marked record was read: the next one is, or the plan is drawn up.
fn prepared(model: &mut Model, read: Result<Option<Box<Dossier>>, StoreError>, now: Now) -> Vec<Effect> {
    let read = match read {
        Ok(Some(dossier)) => Ok(Box::new(model.keep(*dossier))),
        Ok(None) => Err(Refused::new("There is no such record any more.", "Look for it: a retry may charge again.")),
        Err(error) => Err(Refused::new(format!("It could not be read: {error}."), "Try again.")),
    };
    let run = next_run(model);
    let context = model.setup.context.clone();
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let Phase::Preparing(reading) = &mut bulk.phase else { return vec![] };
    if reading.waiting.is_empty() {
        return vec![];
    }
    let target = reading.waiting.remove(0);
    reading.read.push(Marked { target, read });
    if let Some(next) = reading.waiting.first() {
        bulk.run = run;
        return vec![Effect::Prepare(run, next.id.clone())];
    }
    let marked = std::mem::take(&mut reading.read);
    let plan = BulkPlan::draw(bulk.request, marked, &context, now);
    bulk.entries = plan.plans().iter().map(entry).collect();
    bulk.left_out = plan.left_out().iter().map(|left| (left.id.clone(), left.why.clone())).collect();
    bulk.plan = Some(plan);
    bulk.go(Phase::Plan);
    vec![]
}

fn entry(plan: &Plan) -> Entry {
    let record = plan.record();
    let asked = match plan.change() {
        Change::Adopt { provider_ref, .. } => format!("adopt {provider_ref}"),
        Change::LookUp
        | Change::Fail { .. }
        | Change::Reverse { .. }
        | Change::NotCharged { .. }
        | Change::HandBack { .. }
        | Change::Hold { .. }
        | Change::Release
        | Change::Withdraw { .. }
        | Change::Note
        | Change::HandOver => {
            let provider = record.provider.as_ref().map_or("the provider", |name| name.as_str());
            format!("ask {provider}")
        }
    };
    Entry { id: record.id.clone(), money: record.money.clone(), asked, state: EntryState::NotStarted }
}

/// A plan that is too old is refused while it is on screen, not only when Enter is pressed.
pub fn expire(model: &mut Model, now: Now) {
    let Some(bulk) = bulk_of(model) else { return };
    let expired = bulk.plan.as_ref().is_some_and(|plan| now.0 > plan.expires_at());
    if expired && matches!(bulk.phase, Phase::Plan | Phase::Reason | Phase::Phrase) {
        bulk.refuse(Refused::new("The plan is too old.", "Nothing was sent. Make a new plan (n)."));
    }
}

/// After a poll: a plan with a record that has another version now is refused; a run looks at the rules.
pub fn watch(model: &mut Model, now: Now) -> Vec<Effect> {
    let seen = model.picture.snapshot().map(|snapshot| (snapshot.rules.clone(), snapshot.db_now));
    let Some(bulk) = bulk_of(model) else { return vec![] };
    match &bulk.phase {
        Phase::Running(..) => {
            if let (Some(armed), Some((rules, at))) = (bulk.armed.as_mut(), seen) {
                armed.see_rules(&rules, at);
            }
            run::tick(model, now)
        }
        Phase::Plan | Phase::Reason | Phase::Phrase => {
            let planned = bulk.plan.as_ref().map(BulkPlan::plans).unwrap_or_default();
            let targets: Vec<_> = planned.iter().map(|plan| plan.record().target()).collect();
            let other = |target: &crate::domain::ids::Target| {
                model.picture.record(&target.id).is_some_and(|record| record.version != target.version)
            };
            if let Some(changed) = targets.iter().find(|target| other(target)) {
                let why = format!("{} changed while you read.", changed.id);
                if let Some(bulk) = bulk_of(model) {
                    bulk.refuse(Refused::new(why.clone(), "Nothing was sent. Make a new plan (n)."));
                }
                model.notice = Some(Notice::caution(format!("{why} The plan is refused."), now));
            }
            vec![]
        }
        Phase::Menu | Phase::Preparing(_) | Phase::Result(_) | Phase::Refused(_) => vec![],
    }
}
