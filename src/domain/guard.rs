//! The one guard. A [`Plan`] says what will happen; [`Plan::arm`] checks everything again on facts
//! re-read just now and is the only way to an [`Armed`]; the store takes `Armed` by value. An unguarded
//! change is therefore a type error, and a plan can be used once.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::action::{Availability, Change, Ladder, Request};
use super::environment::Environment;
use super::ids::{Attempt, EvidenceId, Holder, Key, Operator, PlanHash, ProviderName, RecordId, Scope, Version};
use super::policy::{Policy, ProviderTerms};
use super::port::Dossier;
use super::record::Record;
use super::time::{Instant, Now};

mod draw;
mod phrase;

pub use draw::{draw, step_of};
pub use phrase::Phrase;

/// Who is at the console, where, and under which policy: what a plan rests on besides the record.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where, as the configuration names it.
    pub environment: Environment,
    /// Who.
    pub operator: Operator,
    /// The database role.
    pub role: String,
    /// The team's numbers.
    pub policy: Policy,
    /// What each provider promises; a provider that is not listed promises nothing.
    pub terms: std::collections::BTreeMap<ProviderName, ProviderTerms>,
}

impl Context {
    /// The caller as a lease holder.
    pub fn holder(&self) -> Holder {
        Holder::of_operator(&self.operator)
    }

    /// What the record's provider promises.
    pub fn terms_of(&self, record: &Record) -> ProviderTerms {
        record.provider.as_ref().and_then(|name| self.terms.get(name)).copied().unwrap_or_default()
    }
}

/// Why an action was refused: what was in the way, and what to do. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why} {way_out}")]
pub struct Refused {
    /// Why.
    pub why: String,
    /// The way out.
    pub way_out: String,
}

impl Refused {
    /// A refusal with its way out.
    pub fn new(why: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { why: why.into(), way_out: way_out.into() }
    }
}

/// What will and will not happen, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wording {
    /// What the plan relies on: version, evidence, lease.
    pub relies_on: Vec<String>,
    /// What will not happen.
    pub will_not: String,
    /// What cannot be undone.
    pub cannot_undo: String,
    /// What is true when a step fails.
    pub if_it_fails: String,
}

/// A plan for one change of one record at one version. Not `Clone`: it is used up by arming it.
#[derive(Debug)]
pub struct Plan {
    request: Request,
    change: Change,
    record: Record,
    attempt: Option<Attempt>,
    promises: Vec<super::promise::Promise>,
    wording: Wording,
    hash: PlanHash,
    made_at: Instant,
    expires_at: Instant,
    phrase: Phrase,
}

/// What a person typed on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// What they saw.
    pub reason: String,
    /// The incident or ticket.
    pub ticket: String,
    /// The phrase.
    pub phrase: String,
    /// To whom a record is handed over; empty = to whoever takes it.
    pub owner: String,
}

/// Everything the database function is told. It re-checks all of it under lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    /// The action's word.
    pub action: &'static str,
    /// The environment's name.
    pub environment: String,
    /// Who.
    pub operator: Operator,
    /// The key's namespace.
    pub scope: Scope,
    /// The key.
    pub key: Key,
    /// The version the plan was made for.
    pub version: Version,
    /// The fencing token the plan saw.
    pub attempt: Option<Attempt>,
    /// The plan that was shown.
    pub plan_hash: PlanHash,
    /// What the person saw.
    pub reason: String,
    /// The incident or ticket.
    pub ticket: String,
    /// The evidence it rests on.
    pub evidence_id: Option<EvidenceId>,
    /// How old that evidence may be, in seconds.
    pub max_evidence_age_s: u64,
    /// What must be true of payment and charge.
    pub expect: Expect,
    /// The provider's reason, for a failed payment.
    pub failure_reason: Option<String>,
    /// How long a hold lasts.
    pub hold_seconds: Option<u64>,
    /// The new owner.
    pub owner: Option<String>,
}

/// What must be true of payment and charge when the change is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Expect {
    /// The payment.
    pub payment_id: Option<super::ids::PaymentId>,
    /// The charge.
    pub provider_ref: Option<super::ids::ProviderRef>,
    /// The amount in minor units.
    pub amount: Option<i64>,
    /// Its currency.
    pub currency: Option<String>,
}

/// A change that passed every check. Only [`Plan::arm`] makes one; acting uses it up.
#[derive(Debug)]
pub struct Armed {
    order: Order,
    change: Change,
}

impl Armed {
    /// What the database function is told.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// What is done.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// To which record.
    pub fn id(&self) -> RecordId {
        RecordId { scope: self.order.scope.clone(), key: self.order.key.clone() }
    }
}

impl Plan {
    /// What was asked for.
    pub fn request(&self) -> Request {
        self.request
    }

    /// What it comes to.
    pub fn change(&self) -> &Change {
        &self.change
    }

    /// The record as the plan saw it.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What will happen, in order.
    pub fn promises(&self) -> &[super::promise::Promise] {
        &self.promises
    }

    /// What will not happen, and what it rests on.
    pub fn wording(&self) -> &Wording {
        &self.wording
    }

    /// The hash over everything it rests on.
    pub fn hash(&self) -> &PlanHash {
        &self.hash
    }

    /// When it stops being usable.
    pub fn expires_at(&self) -> Instant {
        self.expires_at
    }

    /// What has to be typed.
    pub fn phrase(&self) -> &Phrase {
        &self.phrase
    }

    /// Whether the reason (and ticket) would be accepted.
    pub fn accepts_reason(&self, words: &Words, policy: &Policy) -> Result<(), Refused> {
        let letters = letters(&words.reason);
        if self.change.ladder() == Ladder::PlanLine {
            return Ok(());
        }
        if letters < policy.reason_min {
            return Err(Refused::new(
                format!("The reason has {letters} letters; at least {} are needed.", policy.reason_min),
                "Say what you saw, not what you do.",
            ));
        }
        if self.change.ladder() == Ladder::Phrase && !policy.ticket_pattern.accepts(words.ticket.trim()) {
            return Err(Refused::new("The ticket is not an incident or ticket id.", "Type it like INC-2291."));
        }
        Ok(())
    }

    /// Checks everything on facts re-read just now. The plan is used up either way.
    pub fn arm(self, facts: &Dossier, words: &Words, context: &Context, now: Now) -> Result<Armed, Refused> {
        const AGAIN: &str = "Nothing was sent. Make a new plan.";
        if let Availability::NotYet(why) = self.change.availability() {
            return Err(Refused::new(why, "Nothing was sent."));
        }
        if now.0 > self.expires_at || now.0 < self.made_at {
            return Err(Refused::new("The plan is too old.", AGAIN));
        }
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
        self.accepts_reason(words, &context.policy)?;
        if self.change.ladder() == Ladder::Phrase && !self.phrase.is(&words.phrase) {
            return Err(Refused::new("The phrase is not the same.", "Nothing was sent. Type it as it is shown."));
        }
        Ok(Armed { order: self.order(words, context), change: self.change })
    }

    fn order(&self, words: &Words, context: &Context) -> Order {
        let mut order = Order {
            action: self.change.word(),
            environment: context.environment.name.clone(),
            operator: context.operator.clone(),
            scope: self.record.id.scope.clone(),
            key: self.record.id.key.clone(),
            version: self.record.version.clone(),
            attempt: self.attempt,
            plan_hash: self.hash.clone(),
            reason: words.reason.trim().to_owned(),
            ticket: words.ticket.trim().to_owned(),
            evidence_id: None,
            max_evidence_age_s: context.policy.evidence_freshness.0,
            expect: Expect::default(),
            failure_reason: None,
            hold_seconds: None,
            owner: Some(words.owner.trim().to_owned()).filter(|owner| !owner.is_empty()),
        };
        match &self.change {
            Change::Adopt { evidence, payment, provider_ref, money } => {
                order.evidence_id = Some(*evidence);
                order.expect = Expect {
                    payment_id: Some(payment.clone()),
                    provider_ref: Some(provider_ref.clone()),
                    amount: Some(money.minor),
                    currency: Some(money.currency.code().to_owned()),
                };
            }
            Change::Fail { evidence, payment, provider_ref, reason } => {
                order.evidence_id = Some(*evidence);
                let money = self.record.money.as_ref();
                order.expect = Expect {
                    payment_id: Some(payment.clone()),
                    provider_ref: Some(provider_ref.clone()),
                    amount: money.map(|money| money.minor),
                    currency: money.map(|money| money.currency.code().to_owned()),
                };
                order.failure_reason = Some(reason.clone());
            }
            Change::Hold { length } => order.hold_seconds = Some(length.0),
            Change::LookUp | Change::HandBack | Change::Release | Change::Note | Change::HandOver => {}
        }
        order
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

/// SHA-256 over the parts, each with its length, so that no two lists of parts look the same.
fn hash_of(parts: &[&str]) -> PlanHash {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_string());
        digest.update(":");
        digest.update(part);
    }
    let mut hex = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    PlanHash::new(hex)
}

/// How many letters and digits a reason has: what `reason_min` counts.
pub fn letters(reason: &str) -> usize {
    reason.chars().filter(|letter| letter.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests;
