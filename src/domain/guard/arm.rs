//! Arming and asking: every check again, on facts re-read just now. A plan is used up by either.

use super::super::action::{Change, Ladder};
use super::super::approval::{ApprovalRequest, ApprovalState, Consent, ConsentOrder, Need, withdraw_hand_back};
use super::super::ids::{Attempt, Holder};
use super::super::port::Dossier;
use super::super::record::Record;
use super::super::time::{self, Now};
use super::{Armed, Context, Plan, Refused, Words, draw};

/// What to do when what a plan rests on is gone.
const AGAIN: &str = "Nothing was sent. Make a new plan.";

impl Plan {
    /// Checks everything on facts re-read just now. The plan is used up either way.
    pub fn arm(self, facts: &Dossier, words: &Words, context: &Context, now: Now) -> Result<Armed, Refused> {
        let request = self.approved(facts, words, context)?;
        self.still_true(facts, context, now)?;
        self.accepts_reason(words, &context.policy)?;
        if self.change.ladder() == Ladder::Phrase && !self.phrase.is(&words.phrase) {
            return Err(Refused::new("The phrase is not the same.", "Nothing was sent. Type it as it is shown."));
        }
        let mut order = self.order(words, context);
        order.approval = request.map(|request| request.number);
        let glass = request.is_some_and(|request| request.state == ApprovalState::Waiting);
        order.incident = glass.then(|| words.incident.trim().to_owned());
        Ok(Armed { order, change: self.change })
    }

    /// Asks a second person for this plan. Every check of [`Plan::arm`] but the approval and the phrase.
    pub fn ask(self, facts: &Dossier, words: &Words, context: &Context, now: Now) -> Result<Consent, Refused> {
        if self.need == Need::No {
            return Err(Refused::new("One person is enough for this.", "Go on without asking."));
        }
        if let Some(waits) = self.approval(facts, context) {
            return Err(Refused::new(
                format!("{} for this very plan is {} already.", waits.number, waits.state.word()),
                "Wait for the answer, act on it, or take it back.",
            ));
        }
        self.still_true(facts, context, now)?;
        self.accepts_reason(words, &context.policy)?;
        let order = self.order(words, context);
        Ok(Consent::new(ConsentOrder {
            action: "ask",
            environment: order.environment,
            operator: order.operator,
            scope: order.scope,
            key: order.key,
            version: order.version,
            attempt: order.attempt,
            plan_hash: order.plan_hash,
            reason: order.reason,
            ticket: order.ticket,
            evidence_id: order.evidence_id,
            max_evidence_age_s: order.max_evidence_age_s,
            expect: Some(order.expect),
            failure_reason: order.failure_reason,
            for_action: Some(self.change.word()),
            plan: Some(Box::new(self.stored())),
            request: None,
            resume: None,
            verdict: None,
        }))
    }

    /// Takes a hand back back. Every check of [`Plan::arm`] but the phrase, of which there is none.
    pub fn take_back(self, facts: &Dossier, words: &Words, context: &Context, now: Now) -> Result<Consent, Refused> {
        let Change::Withdraw { resume } = &self.change else {
            return Err(Refused::new("This plan takes nothing back.", "Nothing was sent. Make a new plan."));
        };
        self.still_true(facts, context, now)?;
        self.accepts_reason(words, &context.policy)?;
        let resume = facts.resumes.iter().find(|seen| seen.number == *resume).ok_or_else(|| {
            Refused::new(format!("{resume} is not there any more."), "Nothing was sent. Look at the record again.")
        })?;
        withdraw_hand_back(resume, &words.reason, context)
    }

    /// The second person's yes to this very plan, where one is needed; or the glass that may be broken instead.
    fn approved<'f>(
        &self,
        facts: &'f Dossier,
        words: &Words,
        context: &Context,
    ) -> Result<Option<&'f ApprovalRequest>, Refused> {
        let Need::Yes(why) = &self.need else {
            return Ok(None);
        };
        let Some(request) = self.approval(facts, context) else {
            return Err(Refused::new(
                format!("{why} Nobody has approved this plan."),
                "Nothing was sent. Ask for approval.",
            ));
        };
        if request.state == ApprovalState::Approved {
            return Ok(Some(request));
        }
        let opens = request.break_glass_from.filter(|_| matches!(self.change, Change::Adopt { .. }));
        match opens {
            Some(opens) if facts.at >= opens && !words.incident.trim().is_empty() => Ok(Some(request)),
            Some(opens) => Err(Refused::new(
                format!("{} waits for a second person.", request.number),
                format!("Wait; from {} on you may go on alone, with an incident id.", time::clock(opens)),
            )),
            None => Err(Refused::new(format!("{} waits for a second person.", request.number), "Wait for the answer.")),
        }
    }

    /// Whether what the plan rests on is still so, by facts re-read just now.
    fn still_true(&self, facts: &Dossier, context: &Context, now: Now) -> Result<(), Refused> {
        if now.0 > self.expires_at || now.0 < self.made_at {
            return Err(Refused::new("The plan is too old.", AGAIN));
        }
        self.unchanged(facts, context, now)
    }

    /// The same without the plan's own age: a list that was started in time may take longer than its plans live.
    pub(super) fn unchanged(&self, facts: &Dossier, context: &Context, now: Now) -> Result<(), Refused> {
        match &facts.environment {
            Some(name) if *name != context.environment.name => {
                return Err(Refused::new(
                    format!("The database says it is {name}, the console {}.", context.environment.name),
                    "Nothing was sent. Check where you are.",
                ));
            }
            None if self.change != Change::LookUp => {
                return Err(Refused::new(
                    "This database has no schema unstuck: nothing can be logged.",
                    "See: unstuck install --print",
                ));
            }
            Some(_) | None => {}
        }
        let seen = &facts.detail.record;
        if seen.target() != self.record.target() {
            return Err(Refused::new(
                format!(
                    "The record changed while you read ({} -> {}): {}.",
                    self.record.version.short(),
                    seen.version.short(),
                    difference(&self.record, seen)
                ),
                AGAIN,
            ));
        }
        let again = draw(self.request, facts, context, now)?;
        if again.change != self.change || again.hash != self.hash {
            return Err(Refused::new("What the plan rests on is no longer the same.", AGAIN));
        }
        Ok(())
    }
}

/// What changed between two sightings of a record, in words.
fn difference(before: &Record, after: &Record) -> String {
    let mut changes = Vec::new();
    if before.status != after.status {
        changes.push(format!("record {} -> {}", before.status, after.status));
    }
    if before.attempt != after.attempt {
        let said = |attempt: Option<Attempt>| attempt.map_or_else(|| "?".to_owned(), |attempt| attempt.0.to_string());
        changes.push(format!("attempt {} -> {}", said(before.attempt), said(after.attempt)));
    }
    if before.payment_status != after.payment_status {
        let said = |record: &Record| record.payment_status.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
        changes.push(format!("payment {} -> {}", said(before), said(after)));
    }
    if before.lease != after.lease {
        let holder = after.lease.holder.as_ref().map_or("nobody", Holder::as_str);
        changes.push(format!("lease: {holder}"));
    }
    if changes.is_empty() { "another field".to_owned() } else { changes.join(", ") }
}
