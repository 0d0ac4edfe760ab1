//! Several records at once: a list of plans that is confirmed as a list, never as a query.
//!
//! A [`BulkPlan`] is made of plans that were each drawn up alone, and says which marked records are left out
//! and why. [`BulkPlan::start`] checks what a person typed, once; what comes of it, [`BulkArmed`], gives out one
//! [`Armed`] at a time, each checked again on facts re-read just now. A record that is not on the list has no plan
//! here, so nothing can arm it.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::super::action::{Change, Request};
use super::super::approval::Need;
use super::super::ids::{OrderId, PlanHash, RecordId, Target};
use super::super::money::{Money, Totals};
use super::super::port::Dossier;
use super::super::time::{Instant, Now, Seconds};
use super::{Armed, Context, Phrase, Plan, Refused, Words, draw, hash_of};

mod baseline;
mod run;

pub use baseline::Baseline;
pub use run::{BulkArmed, Progress};

/// What can be done to several records at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BulkRequest {
    /// Ask the provider about each.
    LookUp,
    /// Finish each as SUCCEEDED with the charge a look-up found. Every other end of a resume is done alone.
    Adopt,
}

impl BulkRequest {
    /// What a request of the menu comes to for several records; `None`: it is done one record at a time.
    pub fn of(request: Request) -> Option<Self> {
        match request {
            Request::LookUp => Some(Self::LookUp),
            Request::Resume => Some(Self::Adopt),
            Request::Hold | Request::Release | Request::Withdraw | Request::Note | Request::HandOver => None,
        }
    }

    /// The request each record's own plan is drawn up for.
    pub fn request(self) -> Request {
        match self {
            Self::LookUp => Request::LookUp,
            Self::Adopt => Request::Resume,
        }
    }

    /// The verb in menus and titles.
    pub fn title(self) -> &'static str {
        match self {
            Self::LookUp => "Look up every marked record",
            Self::Adopt => "Resume the marked records, adopt only",
        }
    }

    /// The most records of one list: what a person can read, and what a sick provider can bear.
    pub fn most(self) -> usize {
        match self {
            Self::LookUp => 25,
            Self::Adopt => 10,
        }
    }

    /// The least time between sending two of them.
    pub fn pace(self) -> TimeDelta {
        match self {
            Self::LookUp => TimeDelta::milliseconds(500),
            Self::Adopt => TimeDelta::seconds(1),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::LookUp => "bulk lookup",
            Self::Adopt => "bulk adopt",
        }
    }
}

/// A marked record and what reading it brought.
#[derive(Debug)]
pub struct Marked {
    /// The record at the version that was marked.
    pub target: Target,
    /// The record as it is now, or why it could not be read.
    pub read: Result<Box<Dossier>, Refused>,
}

/// A marked record that is not on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub id: RecordId,
    /// Why, and what to do about it.
    pub why: Refused,
}

/// A list of plans under one hash. Not `Clone`: it is used up by starting it.
#[derive(Debug)]
pub struct BulkPlan {
    request: BulkRequest,
    plans: Vec<Plan>,
    left_out: Vec<LeftOut>,
    totals: Totals,
    hash: PlanHash,
    phrase: Phrase,
    made_at: Instant,
    expires_at: Instant,
}

impl BulkPlan {
    /// Draws up the list, in the order of the marks; the first on it is the canary.
    pub fn draw(request: BulkRequest, marked: Vec<Marked>, context: &Context, now: Now) -> Self {
        let mut candidates: Vec<Plan> = Vec::new();
        let mut left_out = Vec::new();
        for Marked { target, read } in marked {
            let id = target.id.clone();
            match one(request, &target, read, &candidates, context, now) {
                Ok(plan) => candidates.push(plan),
                Err(why) => left_out.push(LeftOut { id, why }),
            }
        }
        let shared = if request == BulkRequest::Adopt { shared(&candidates) } else { BTreeMap::new() };
        let mut plans: Vec<Plan> = Vec::new();
        let mut sums: BTreeMap<_, Money> = BTreeMap::new();
        for plan in candidates {
            let why = match shared.get(&plan.record.id) {
                Some(why) => Err(why.clone()),
                None if plans.len() >= request.most() => Err(Refused::new(
                    format!("At most {} are done in one go.", request.most()),
                    "Mark it again afterwards.",
                )),
                None => add(&mut sums, plan.record.money.as_ref()),
            };
            match why {
                Ok(()) => plans.push(plan),
                Err(why) => left_out.push(LeftOut { id: plan.record.id, why }),
            }
        }
        let totals: Totals = sums.into_values().collect();
        let phrase = match request {
            BulkRequest::LookUp => Phrase::of_count(plans.len()),
            BulkRequest::Adopt => Phrase::of_bulk(&context.environment, plans.len(), &totals),
        };
        let hash = hash_over(request, &plans, context);
        let expires_at = context.policy.plan_life.after(now.0);
        Self { request, plans, left_out, totals, hash, phrase, made_at: now.0, expires_at }
    }

    /// What is done to each.
    pub fn request(&self) -> BulkRequest {
        self.request
    }

    /// The plans, in the order they are carried out; the first is the canary.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// What was marked and is not on the list.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The sums of the list, currency by currency.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many on the list have an amount that is not known.
    pub fn unpriced(&self) -> usize {
        self.plans.iter().filter(|plan| plan.record.money.is_none()).count()
    }

    /// The hash over all plans, environment and role.
    pub fn hash(&self) -> &PlanHash {
        &self.hash
    }

    /// What has to be typed.
    pub fn phrase(&self) -> &Phrase {
        &self.phrase
    }

    /// Until when it can be started.
    pub fn expires_at(&self) -> Instant {
        self.expires_at
    }

    /// Whether reason and ticket would be accepted.
    pub fn accepts_reason(&self, words: &Words, context: &Context) -> Result<(), Refused> {
        self.plans.iter().try_for_each(|plan| plan.accepts_reason(words, &context.policy))
    }

    /// Checks what was typed. `rules` is what the canary is judged by. The plan is used up either way.
    pub fn start(self, words: &Words, context: &Context, rules: Baseline, now: Now) -> Result<BulkArmed, Refused> {
        if self.plans.is_empty() {
            return Err(Refused::new("There is nothing on the list.", "Close this page."));
        }
        if now.0 > self.expires_at || now.0 < self.made_at {
            return Err(Refused::new("The plan is too old.", "Nothing was sent. Make a new plan."));
        }
        if hash_over(self.request, &self.plans, context) != self.hash {
            return Err(Refused::new(
                "Environment, role or person are no longer the same.",
                "Nothing was sent. Make a new plan.",
            ));
        }
        if self.request == BulkRequest::Adopt && rules.is_empty() {
            return Err(Refused::new(
                "No rule is known to hold or not: nothing would show that the canary went wrong.",
                "Nothing was sent. Resume the records one by one.",
            ));
        }
        self.accepts_reason(words, context)?;
        if !self.phrase.is(&words.phrase) {
            return Err(Refused::new("The text is not the same.", "Nothing was sent. Type it as it is shown."));
        }
        let grace = Seconds(context.policy.rules.grace_s.unwrap_or(0));
        Ok(BulkArmed::new(self, words.clone(), rules, grace, now))
    }
}

/// The plan of one marked record, or why it has none here.
fn one(
    request: BulkRequest,
    target: &Target,
    read: Result<Box<Dossier>, Refused>,
    before: &[Plan],
    context: &Context,
    now: Now,
) -> Result<Plan, Refused> {
    let facts = read?;
    let seen = &facts.detail.record;
    if before.iter().any(|plan| plan.record.id == target.id) || seen.id != target.id {
        return Err(Refused::new("It is on the list already.", "Nothing to do."));
    }
    if seen.version != target.version {
        return Err(Refused::new(
            format!("It changed since it was marked ({} -> {}).", target.version.short(), seen.version.short()),
            "Look at it, then mark it again.",
        ));
    }
    let plan = draw(request.request(), &facts, context, now)?;
    match (&plan.change, request) {
        (Change::LookUp, BulkRequest::LookUp) | (Change::Adopt { .. }, BulkRequest::Adopt) => {}
        (other, _) => {
            return Err(Refused::new(format!("Its resume is {}, not adopt.", spoken(other)), "Do it alone."));
        }
    }
    match &plan.need {
        Need::No => Ok(plan),
        Need::Yes(why) => Err(Refused::new(why.clone(), "Do it alone: a second person sees one plan.")),
    }
}

fn spoken(change: &Change) -> &'static str {
    match change {
        Change::Fail { .. } => "finish as failed",
        Change::Reverse { .. } => "finish as reversed",
        Change::NotCharged { .. } => "finish as not charged",
        Change::HandBack { .. } => "hand back",
        Change::LookUp
        | Change::Adopt { .. }
        | Change::Hold { .. }
        | Change::Release
        | Change::Withdraw { .. }
        | Change::Note
        | Change::HandOver => change.word(),
    }
}

/// Records that share an order or a charge with another of the list. Which of the two is right is a person's
/// decision about these two, not a line of a list: both are left out.
fn shared(plans: &[Plan]) -> BTreeMap<RecordId, Refused> {
    let charge = |plan: &Plan| match &plan.change {
        Change::Adopt { provider_ref, .. } => Some(provider_ref.to_string()),
        Change::LookUp
        | Change::Fail { .. }
        | Change::Reverse { .. }
        | Change::NotCharged { .. }
        | Change::HandBack { .. }
        | Change::Hold { .. }
        | Change::Release
        | Change::Withdraw { .. }
        | Change::Note
        | Change::HandOver => None,
    };
    let order = |plan: &Plan| plan.record.order.as_ref().map(OrderId::to_string);
    let mut shared = BTreeMap::new();
    for plan in plans {
        let twice = |of: &dyn Fn(&Plan) -> Option<String>| {
            of(plan).filter(|mine| plans.iter().filter(|other| of(other).as_ref() == Some(mine)).count() > 1)
        };
        let what = match (twice(&order), twice(&charge)) {
            (Some(order), _) => format!("Another marked record is for order {order}, too."),
            (None, Some(charge)) => format!("Another marked record would adopt {charge}, too."),
            (None, None) => continue,
        };
        shared.insert(plan.record.id.clone(), Refused::new(what, "Look at both, one at a time."));
    }
    shared
}

/// Adds an amount to the sum of its currency, if the sum is still money.
fn add(sums: &mut BTreeMap<super::super::money::Currency, Money>, money: Option<&Money>) -> Result<(), Refused> {
    let Some(money) = money else { return Ok(()) };
    let sum = match sums.get(&money.currency) {
        Some(sum) => sum.checked_add(money),
        None => Ok(money.clone()),
    };
    let sum = sum.map_err(|error| Refused::new(format!("With it {error}."), "Look at its amount."))?;
    sums.insert(money.currency.clone(), sum);
    Ok(())
}

fn hash_over(request: BulkRequest, plans: &[Plan], context: &Context) -> PlanHash {
    let (operator, count) = (context.operator.to_string(), plans.len().to_string());
    let mut parts =
        vec![request.word(), &context.environment.name, &operator, &context.role, env!("CARGO_PKG_VERSION"), &count];
    parts.extend(plans.iter().map(|plan| plan.hash.as_str()));
    hash_of(&parts)
}

#[cfg(test)]
mod tests;
