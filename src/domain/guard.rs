//! The one guard. A [`Plan`] says what will happen; [`Plan::arm`] checks everything again on facts
//! re-read just now and is the only way to an [`Armed`]; the store takes `Armed` by value. An unguarded
//! change is therefore a type error, and a plan can be used once.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::action::{Change, Ladder, Request};
use super::approval::{ApprovalRequest, ApprovalState, Need, StoredPlan};
use super::environment::Environment;
use super::ids::{Attempt, Holder, Operator, PlanHash, ProviderName, RecordId};
use super::policy::{Policy, ProviderTerms};
use super::port::Dossier;
use super::record::Record;
use super::time::Instant;

mod arm;
mod bulk;
mod draw;
mod order;
mod phrase;

pub use bulk::{Baseline, BulkArmed, BulkPlan, BulkRequest, LeftOut, Marked, Progress};
pub(super) use draw::{change_for, said_of};
pub use draw::{draw, step_of};
pub use order::{Expect, Order};
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    hashed: Vec<String>,
    need: Need,
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
    /// The incident for which nobody could be waited for; empty = wait (break-glass, adopt only).
    pub incident: String,
}

/// A change that passed every check. Only [`Plan::arm`] and [`BulkArmed::arm_next`] make one; acting uses it up.
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

    /// Whether a second person is needed, and why.
    pub fn need(&self) -> &Need {
        &self.need
    }

    /// The request for approval of this very plan that counts: approved, or the newest that waits.
    pub fn approval<'f>(&self, facts: &'f Dossier, context: &Context) -> Option<&'f ApprovalRequest> {
        let mine = |request: &&ApprovalRequest| {
            request.plan_hash == self.hash
                && request.operator == context.operator
                && request.session_user == context.role
        };
        let of = |state: ApprovalState| facts.approvals.iter().filter(mine).find(|request| request.state == state);
        of(ApprovalState::Approved).or_else(|| of(ApprovalState::Waiting))
    }

    /// The plan as a second person gets it: whole.
    pub fn stored(&self) -> StoredPlan {
        let (expect, failure_reason) = self.expected();
        StoredPlan {
            hash: self.hash.clone(),
            hashed: self.hashed.clone(),
            action: self.change.word().to_owned(),
            change: self.change.clone(),
            record: self.record.clone(),
            promises: self.promises.clone(),
            wording: self.wording.clone(),
            expect,
            failure_reason,
            need: self.need.clone(),
            made_at: self.made_at,
        }
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
}

/// SHA-256 over the parts, each with its length, so that no two lists of parts look the same.
pub(super) fn hash_of(parts: &[&str]) -> PlanHash {
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
