//! The second person: when one is needed, what they are shown, and what came of it.
//!
//! The database enforces all of this again with the logins it knows. What is here makes the console say
//! it beforehand, in words. [`Consent`] is to this room what `Armed` is to changes: only its own checks make one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::action::Change;
use super::environment::{Environment, EnvironmentKind};
use super::guard::{Expect, Wording};
use super::ids::{
    ApprovalId, Attempt, EvidenceId, Key, Operator, OrderId, PlanHash, RecordId, ResumeId, Scope, Version,
};
use super::money::{Currency, Money};
use super::policy::Policy;
use super::promise::Promise;
use super::record::Record;
use super::time::Instant;

mod asked;
mod came_of;
mod consent;
mod intact;
mod standing;
mod waiting;

pub(super) use asked::{act_until, answered, kept};
pub use came_of::{Line as CameOf, came_of};
pub use consent::{Consent, ConsentOrder, approvable, approve, refuse, withdraw, withdraw_hand_back};
pub use standing::{Standing, newest_of};
pub use waiting::{news, waiting, waiting_sentence};

/// Whether a change needs a second person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "need", content = "why")]
pub enum Need {
    /// One person is enough.
    No,
    /// It does; the sentence says why.
    Yes(String),
}

/// Whether `change`, of a payment over `money`, needs a second person in this environment.
pub fn approval_needed(change: &Change, money: Option<&Money>, environment: &Environment, policy: &Policy) -> Need {
    match change {
        Change::HandBack { .. } => Need::Yes("A charge may be made: a second person approves, always.".to_owned()),
        Change::Reverse { .. } | Change::NotCharged { .. } => {
            Need::Yes("It ends a payment without the provider's no: a second person approves, always.".to_owned())
        }
        Change::Adopt { .. } | Change::Fail { .. } => {
            if environment.kind != EnvironmentKind::Production {
                return Need::No;
            }
            let Some(money) = money else {
                return Need::Yes(format!("The amount is not known, and {environment} is production."));
            };
            match policy.approval_limits.of(&money.currency) {
                Some(limit) if money.minor < limit.minor => Need::No,
                Some(limit) => Need::Yes(format!("{environment} is production and {money} is {limit} or more.")),
                None => Need::Yes(format!("{environment} is production and {} has no approval limit.", money.currency)),
            }
        }
        Change::LookUp
        | Change::Hold { .. }
        | Change::Release
        | Change::Withdraw { .. }
        | Change::Note
        | Change::HandOver => Need::No,
    }
}

/// From which amount on a second person approves, by currency. A currency that is not listed: always.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalLimits(BTreeMap<Currency, i64>);

impl ApprovalLimits {
    /// Sets the limit of the amount's currency.
    pub fn set(&mut self, limit: Money) {
        self.0.insert(limit.currency, limit.minor);
    }

    /// The limit of a currency.
    pub fn of(&self, currency: &Currency) -> Option<Money> {
        self.0.get(currency).map(|minor| Money { minor: *minor, currency: currency.clone() })
    }

    /// Every limit, in alphabetical order of the code.
    pub fn iter(&self) -> impl Iterator<Item = Money> + '_ {
        self.0.iter().map(|(currency, minor)| Money { minor: *minor, currency: currency.clone() })
    }
}

impl FromIterator<Money> for ApprovalLimits {
    fn from_iter<I: IntoIterator<Item = Money>>(amounts: I) -> Self {
        let mut limits = Self::default();
        for money in amounts {
            limits.set(money);
        }
        limits
    }
}

/// A plan as it is kept for a second person: whole, not a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPlan {
    /// The hash that is approved.
    pub hash: PlanHash,
    /// What the hash is over, in order; the database computes it again.
    pub hashed: Vec<String>,
    /// The action's word.
    pub action: String,
    /// What would be done.
    pub change: Change,
    /// The record as the asker saw it.
    pub record: Record,
    /// What will happen, line by line.
    pub promises: Vec<Promise>,
    /// What will not happen, and what it rests on.
    pub wording: Wording,
    /// What must be true of payment and charge.
    pub expect: Expect,
    /// The reason a failed payment is given.
    pub failure_reason: Option<String>,
    /// Why a second person is needed.
    pub need: Need,
    /// When it was drawn up, by the asker's clock.
    pub made_at: Instant,
}

/// Where a request for approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody answered yet.
    Waiting,
    /// Yes; it may be acted on until `act_until`.
    Approved,
    /// No.
    Refused,
    /// The asker took it back.
    Withdrawn,
    /// Nobody answered in time.
    Expired,
    /// It was approved, and nobody acted in time.
    Lapsed,
    /// It was acted on.
    Used,
}

impl ApprovalState {
    const ALL: [Self; 7] =
        [Self::Waiting, Self::Approved, Self::Refused, Self::Withdrawn, Self::Expired, Self::Lapsed, Self::Used];

    /// The word of `get_approvals`, and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
            Self::Lapsed => "lapsed",
            Self::Used => "used",
        }
    }

    /// Reads the word of `get_approvals`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// One request for approval, with its answer when there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Its number.
    pub number: ApprovalId,
    /// When it was asked.
    pub at: Instant,
    /// The action's word.
    pub action: String,
    /// Which record.
    pub id: RecordId,
    /// Its order.
    pub order: Option<OrderId>,
    /// How much.
    pub money: Option<Money>,
    /// Who asked.
    pub operator: Operator,
    /// With which login.
    pub session_user: String,
    /// What they saw.
    pub reason: String,
    /// The incident or ticket.
    pub ticket: Option<String>,
    /// The plan that is approved or not.
    pub plan_hash: PlanHash,
    /// For which version of the record.
    pub version: Version,
    /// For which attempt.
    pub attempt: Option<Attempt>,
    /// The asker's look-up.
    pub evidence: EvidenceId,
    /// Until when it can be answered.
    pub expires_at: Instant,
    /// Where it stands.
    pub state: ApprovalState,
    /// Who answered.
    pub decided_by: Option<Operator>,
    /// With which login.
    pub decided_session: Option<String>,
    /// When.
    pub decided_at: Option<Instant>,
    /// In which words.
    pub decided_reason: Option<String>,
    /// Until when an approval may be acted on.
    pub act_until: Option<Instant>,
    /// From when the asker may go on without an answer (adopt only).
    pub break_glass_from: Option<Instant>,
    /// The plan, whole; absent when it cannot be read, and then it cannot be approved.
    pub plan: Option<StoredPlan>,
}

/// Where a hand back stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeState {
    /// The recoverer has not answered yet.
    Waiting,
    /// Nobody answers: a minute has gone by.
    Unanswered,
    /// A recoverer is at work.
    Taken,
    /// It is done.
    Finished,
    /// The recoverer refused.
    Refused,
    /// It was taken back in time.
    Withdrawn,
    /// Past its end, without a word.
    Expired,
}

impl ResumeState {
    const ALL: [Self; 7] =
        [Self::Waiting, Self::Unanswered, Self::Taken, Self::Finished, Self::Refused, Self::Withdrawn, Self::Expired];

    /// The word of `get_requests`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Unanswered => "unanswered",
            Self::Taken => "taken",
            Self::Finished => "finished",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }

    /// Reads the word of `get_requests`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// Whether something can still come of it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Waiting | Self::Unanswered | Self::Taken)
    }

    /// Whether somebody said how it ended. A hand back past its end is not ended so: a recoverer that took it
    /// in time may still say.
    pub fn is_said(self) -> bool {
        matches!(self, Self::Finished | Self::Refused | Self::Withdrawn)
    }

    /// Whether a recoverer may still take it up, and a person take it back.
    pub fn is_untaken(self) -> bool {
        matches!(self, Self::Waiting | Self::Unanswered)
    }
}

/// A record handed back to the service's recoverer, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeRequest {
    /// Its number.
    pub number: ResumeId,
    /// When it was handed back.
    pub at: Instant,
    /// Which record.
    pub id: RecordId,
    /// Its order.
    pub order: Option<OrderId>,
    /// How much.
    pub money: Option<Money>,
    /// At which attempt.
    pub attempt: Attempt,
    /// At which version.
    pub version: Version,
    /// By which plan.
    pub plan_hash: PlanHash,
    /// With whose approval.
    pub approval: ApprovalId,
    /// By whom.
    pub operator: Operator,
    /// What they saw.
    pub reason: String,
    /// The incident or ticket.
    pub ticket: Option<String>,
    /// When it can no longer be taken up.
    pub not_after: Instant,
    /// Where it stands.
    pub state: ResumeState,
    /// Since when.
    pub state_at: Instant,
    /// Which worker took or ended it.
    pub worker: Option<String>,
    /// What the recoverer said.
    pub detail: Option<String>,
}

/// Scope and key of an order that names a record.
fn halves(id: &RecordId) -> (Scope, Key) {
    (id.scope.clone(), id.key.clone())
}

#[cfg(test)]
mod tests;
