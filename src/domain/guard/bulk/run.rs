//! A started list: one record at a time, each armed on its own, nothing after the first surprise.
//!
//! The order is kept here, not by whoever drives it: the next record is given out only after the one before
//! was read back as promised, and the second only after the rules were looked at again.

use std::collections::VecDeque;

use super::super::super::approval::Need;
use super::super::super::evidence::{Evidence, LookupOutcome};
use super::super::super::ids::{PlanHash, RecordId};
use super::super::super::log::Outcome;
use super::super::super::port::Dossier;
use super::super::super::promise::{Promise, Said};
use super::super::super::rule::RuleReport;
use super::super::super::time::{self, Instant, Now, Seconds};
use super::{Armed, Baseline, BulkPlan, BulkRequest, Context, Plan, Refused, Words};

/// Look-ups without an answer that end a run: the provider is sick, and more questions do not make it well.
const ERRORS: usize = 3;

/// How long a started run may go on: whoever typed the phrase must still be there.
const RUN_LIFE: Seconds = Seconds(600);

/// How long the rules may take to be read again after the canary.
const PATIENCE: Seconds = Seconds(120);

/// A confirmed list that is being worked through. Only [`BulkPlan::start`] makes one.
#[derive(Debug)]
pub struct BulkArmed {
    request: BulkRequest,
    hash: PlanHash,
    words: Words,
    waiting: VecDeque<Plan>,
    count: usize,
    sent: usize,
    errors: usize,
    rules: Baseline,
    standing: Standing,
    stopped: Option<Refused>,
    /// Rows younger than this are not judged by the rules: so long the canary says nothing.
    grace: Seconds,
    started_at: Instant,
}

/// What is going on.
#[derive(Debug)]
enum Standing {
    /// The next one may be armed.
    Ready,
    /// One was armed and has no answer yet.
    Sent(Vec<Promise>),
    /// The canary was read back as promised. From this moment of the database on the rules judge it; they were
    /// not read since.
    Canary(Instant),
}

/// Where a run stands, for whoever drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// This record is next: read it again and arm it.
    Next(RecordId),
    /// One is on its way.
    Sent,
    /// The canary is done; the rules have to be read again first.
    Canary,
    /// Nothing more will be sent: all are done.
    Finished,
    /// Nothing more will be sent: why.
    Stopped(Refused),
}

impl BulkArmed {
    pub(super) fn new(plan: BulkPlan, words: Words, rules: Baseline, grace: Seconds, now: Now) -> Self {
        Self {
            request: plan.request,
            hash: plan.hash,
            words,
            count: plan.plans.len(),
            waiting: plan.plans.into(),
            sent: 0,
            errors: 0,
            rules,
            standing: Standing::Ready,
            stopped: None,
            grace,
            started_at: now.0,
        }
    }

    /// Where it stands.
    pub fn progress(&self) -> Progress {
        match (&self.standing, &self.stopped, self.waiting.front()) {
            (Standing::Sent(_), _, _) => Progress::Sent,
            (Standing::Ready | Standing::Canary(_), Some(why), _) => Progress::Stopped(why.clone()),
            (Standing::Ready | Standing::Canary(_), None, None) => Progress::Finished,
            (Standing::Canary(_), None, Some(_)) => Progress::Canary,
            (Standing::Ready, None, Some(next)) => Progress::Next(next.record.id.clone()),
        }
    }

    /// Arms the next record on facts re-read just now. A refusal stops the run.
    pub fn arm_next(&mut self, facts: &Dossier, context: &Context, now: Now) -> Result<Armed, Refused> {
        let Progress::Next(id) = self.progress() else {
            return Err(Refused::new("It is not the turn of any record.", "Nothing was sent."));
        };
        let armed = match self.waiting.pop_front() {
            Some(plan) => self.arm(plan, &id, facts, context, now),
            None => Err(Refused::new("There is nothing left on the list.", "Nothing was sent.")),
        };
        if let Err(why) = &armed {
            self.stop(why.clone());
        }
        armed
    }

    fn arm(
        &mut self,
        plan: Plan,
        id: &RecordId,
        facts: &Dossier,
        context: &Context,
        now: Now,
    ) -> Result<Armed, Refused> {
        if facts.detail.record.id != *id {
            return Err(Refused::new("Another record was read.", "Nothing was sent for it. Make a new plan."));
        }
        if now.0 < self.started_at || now.0 > RUN_LIFE.after(self.started_at) {
            return Err(Refused::new("The list was confirmed too long ago.", "Make a new plan for the rest."));
        }
        if let Need::Yes(why) = &plan.need {
            return Err(Refused::new(why.clone(), "Do it alone: a second person sees one plan."));
        }
        plan.unchanged(facts, context, now)?;
        self.sent = self.sent.saturating_add(1);
        let named = format!("[bulk {}, {} of {}]", self.hash.short(), self.sent, self.count);
        let reason = format!("{} {named}", self.words.reason.trim()).trim().to_owned();
        let words = Words { reason, ..self.words.clone() };
        let order = plan.order(&words, context);
        self.standing = Standing::Sent(plan.promises);
        Ok(Armed { order, change: plan.change })
    }

    /// Takes what came of the record that was sent, with the record read back after it. Gives each promise with
    /// what the record says about it. Anything but what was promised stops the run.
    pub fn ended(
        &mut self,
        outcome: &Outcome,
        after: Option<&Dossier>,
        evidence: Option<&Evidence>,
    ) -> Vec<(String, Said)> {
        let Standing::Sent(promises) = std::mem::replace(&mut self.standing, Standing::Ready) else {
            return Vec::new();
        };
        let unread = || Said::NotKnown("not read back".to_owned());
        let read_back: Vec<(String, Said)> = promises
            .iter()
            .map(|promise| (promise.asked(), after.map_or_else(unread, |dossier| promise.read_back(dossier))))
            .collect();
        let verdict = match self.request {
            BulkRequest::LookUp => self.looked_up(outcome, evidence, &read_back),
            BulkRequest::Adopt => as_promised(outcome, &read_back),
        };
        match (verdict, after) {
            (Err(why), _) => self.stop(why),
            (Ok(()), Some(after)) if self.request == BulkRequest::Adopt && self.sent == 1 => {
                self.standing = Standing::Canary(self.grace.after(after.at));
            }
            (Ok(()), _) => {}
        }
        read_back
    }

    /// A look-up that got no answer is counted; one whose answer was not kept is a surprise.
    fn looked_up(
        &mut self,
        outcome: &Outcome,
        evidence: Option<&Evidence>,
        read_back: &[(String, Said)],
    ) -> Result<(), Refused> {
        let answered = match evidence.map(|evidence| &evidence.outcome) {
            Some(LookupOutcome::Found { .. } | LookupOutcome::NotFound { .. }) => true,
            Some(LookupOutcome::Unreachable { .. }) | None => false,
        };
        // What is kept for this session only cannot be read back, and no answer leaves nothing to be confirmed.
        let kept = answered && matches!(outcome, Outcome::Done { log: Some(_), .. });
        if kept || !matches!(outcome, Outcome::Done { .. }) {
            as_promised(outcome, read_back)?;
        }
        self.errors = self.errors.saturating_add(usize::from(!answered));
        if self.errors >= ERRORS {
            return Err(Refused::new(
                format!("{ERRORS} look-ups got no answer from the provider."),
                "Let it recover, then look up again.",
            ));
        }
        Ok(())
    }

    /// Takes what a poll of this moment says about the rules.
    pub fn see_rules(&mut self, rules: &[RuleReport], at: Instant) {
        if self.request == BulkRequest::LookUp || self.stopped.is_some() {
            return;
        }
        if let Some(why) = self.rules.surprise(rules) {
            self.stop(Refused::new(why, "Look at it (5) before anything else."));
            return;
        }
        if let Standing::Canary(since) = self.standing
            && at > since
            && self.rules.unread(rules, since) == 0
        {
            self.standing = Standing::Ready;
        }
        if let Standing::Canary(since) = self.standing
            && at > PATIENCE.after(since)
        {
            self.stop(Refused::new(
                format!("The rules were not read again within {}.", time::words(PATIENCE)),
                "Whether the canary broke one is NOT KNOWN: look at 5.",
            ));
        }
    }

    /// How many rules have not been read since the canary.
    pub fn unread(&self, rules: &[RuleReport]) -> usize {
        match self.standing {
            Standing::Canary(since) => self.rules.unread(rules, since),
            Standing::Ready | Standing::Sent(_) => 0,
        }
    }

    /// Sends nothing more; what is on its way still gets its answer. The first reason stays.
    pub fn stop(&mut self, why: Refused) {
        self.stopped.get_or_insert(why);
    }
}

/// Done, and every promise confirmed; or what the surprise is.
fn as_promised(outcome: &Outcome, read_back: &[(String, Said)]) -> Result<(), Refused> {
    match outcome {
        Outcome::Done { .. } => {}
        Outcome::Refused { why } | Outcome::Conflict { why } => {
            return Err(Refused::new(format!("{}: {why}", outcome.word()), "Look at this record before the rest."));
        }
        Outcome::Unknown { why, .. } => {
            return Err(Refused::new(
                format!("{}: {why}", outcome.word()),
                "It may or may not have been done. Do NOT repeat it: r asks the log what came of it.",
            ));
        }
    }
    let unconfirmed = read_back.iter().find_map(|(asked, said)| match said {
        Said::Yes(_) => None,
        Said::No(what) => Some(format!("Asked: {asked}. The record says: no, {what}.")),
        Said::NotKnown(what) => Some(format!("Asked: {asked}. Read back: NOT KNOWN, {what}.")),
    });
    match unconfirmed {
        None => Ok(()),
        Some(what) => Err(Refused::new(what, "Do not repeat it. Hand it over (a h).")),
    }
}
