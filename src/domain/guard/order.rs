//! What the database function is told: the plan in the words of the contract.

use serde::{Deserialize, Serialize};

use super::super::action::Change;
use super::super::ids::{
    ApprovalId, Attempt, EvidenceId, Key, Operator, PaymentId, PlanHash, ProviderRef, Scope, Version,
};
use super::super::money::Money;
use super::{Context, Plan, Words};

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
    /// The approval it is done with.
    pub approval: Option<ApprovalId>,
    /// The incident for which nobody was waited for.
    pub incident: Option<String>,
    /// The earlier look-up that agrees, for what rests on absence.
    pub proof_id: Option<EvidenceId>,
    /// How long the provider remembers the key, in seconds.
    pub key_retention_s: Option<u64>,
    /// How close to its end it is not relied on, in seconds.
    pub key_margin_s: Option<u64>,
    /// How long a charge may take to show up, in seconds.
    pub settle_s: Option<u64>,
    /// How long a hold lasts.
    pub hold_seconds: Option<u64>,
    /// The new owner.
    pub owner: Option<String>,
}

/// What must be true of payment and charge when the change is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// The payment.
    pub payment_id: Option<PaymentId>,
    /// The charge.
    pub provider_ref: Option<ProviderRef>,
    /// The amount in minor units.
    pub amount: Option<i64>,
    /// Its currency.
    pub currency: Option<String>,
}

impl Plan {
    pub(super) fn order(&self, words: &Words, context: &Context) -> Order {
        let (expect, failure_reason) = self.expected();
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
            expect,
            failure_reason,
            approval: None,
            incident: None,
            proof_id: None,
            key_retention_s: None,
            key_margin_s: None,
            settle_s: None,
            hold_seconds: None,
            owner: Some(words.owner.trim().to_owned()).filter(|owner| !owner.is_empty()),
        };
        match &self.change {
            Change::Adopt { evidence, .. } | Change::Fail { evidence, .. } | Change::Reverse { evidence, .. } => {
                order.evidence_id = Some(*evidence);
            }
            Change::NotCharged { proof, terms, .. } | Change::HandBack { proof, terms, .. } => {
                order.evidence_id = Some(proof.latest);
                order.proof_id = Some(proof.first);
                order.key_retention_s = Some(terms.retention.0);
                order.key_margin_s = Some(terms.margin.0);
                order.settle_s = Some(terms.settle.0);
            }
            Change::Hold { length } => {
                order.hold_seconds = Some(length.0);
                order.key_retention_s = context.terms_of(&self.record).key_retention.map(|kept| kept.0);
                order.key_margin_s = Some(context.policy.key_margin.0);
            }
            Change::LookUp | Change::Release | Change::Withdraw { .. } | Change::Note | Change::HandOver => {}
        }
        order
    }

    /// What must be true of payment and charge, and the reason a failed payment is given.
    pub(super) fn expected(&self) -> (Expect, Option<String>) {
        let of = |payment: &PaymentId, provider_ref: Option<&ProviderRef>, money: Option<&Money>| Expect {
            payment_id: Some(payment.clone()),
            provider_ref: provider_ref.cloned(),
            amount: money.map(|money| money.minor),
            currency: money.map(|money| money.currency.code().to_owned()),
        };
        match &self.change {
            Change::Adopt { payment, provider_ref, money, .. }
            | Change::Reverse { payment, provider_ref, money, .. } => {
                (of(payment, Some(provider_ref), Some(money)), None)
            }
            Change::Fail { payment, provider_ref, reason, .. } => {
                (of(payment, Some(provider_ref), self.record.money.as_ref()), Some(reason.clone()))
            }
            Change::NotCharged { payment, money, .. } | Change::HandBack { payment, money, .. } => {
                (of(payment, None, Some(money)), None)
            }
            Change::LookUp
            | Change::Hold { .. }
            | Change::Release
            | Change::Withdraw { .. }
            | Change::Note
            | Change::HandOver => (Expect::default(), None),
        }
    }
}
