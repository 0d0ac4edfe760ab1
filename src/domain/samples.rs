//! Records, charges and evidence for tests of this room: one ordinary stuck record, varied by the test.

use chrono::DateTime;

use super::answer::Answer;
use super::approval::{ApprovalRequest, ApprovalState, ResumeRequest, ResumeState};
use super::environment::{Environment, EnvironmentKind};
use super::evidence::{Absence, Class, Evidence, LookupOutcome, Mode, Observed, ObservedMoney};
use super::guard::{Context, Plan};
use super::ids::{
    ApprovalId, Attempt, EvidenceId, Holder, Operator, OrderId, PaymentId, PlanHash, ProviderKey, ProviderName,
    ProviderRef, RecordId, ResumeId, Version,
};
use super::money::Money;
use super::payment::PaymentStatus;
use super::policy::{Policy, ProviderTerms};
use super::port::Dossier;
use super::record::{Lease, Record, RecordDetail, RecordStatus, RecoveryPoint};
use super::time::{Instant, Seconds};

/// The moment every sample is seen at.
pub(crate) fn now() -> Instant {
    DateTime::from_timestamp(1_796_000_000, 0).unwrap()
}

/// That many seconds before [`now`].
pub(crate) fn ago(seconds: u64) -> Instant {
    Seconds(seconds).before(now())
}

/// A record whose worker died twenty minutes ago, after the provider was called.
pub(crate) fn stuck() -> RecordDetail {
    RecordDetail {
        record: Record {
            id: RecordId::new("shop-eu", "7Q4K-91ab"),
            order: Some(OrderId::new("ord_88213")),
            payment: Some(PaymentId::new("pay_5521")),
            status: RecordStatus::Processing,
            payment_status: Some(PaymentStatus::Unknown),
            recovery_point: Some(RecoveryPoint::ProviderCalled),
            lease: Lease { until: Some(ago(1_200)), holder: Some(Holder::new("pod-a")) },
            attempt: Some(Attempt(1)),
            provider: Some(ProviderName::new("acme")),
            provider_ref: None,
            money: Some(Money::new(12_840, "EUR")),
            first_key_use: Some(ago(1_260)),
            created_at: ago(1_260),
            changed_at: ago(1_250),
            owner: None,
            version: Version::new("9f".repeat(32)),
        },
        fingerprint: None,
        response_code: None,
        provider_key: Some(ProviderKey::new("pay:shop-eu:7Q4K-91ab")),
        last_attempt_at: Some(ago(1_250)),
        siblings: Vec::new(),
        ref_owner: None,
    }
}

/// A charge that carries the sample record's provider key.
pub(crate) fn hit(provider_ref: &str, class: Class) -> Observed {
    let took = match class {
        Class::Succeeded | Class::Reversed => 12_840,
        Class::Authorised | Class::Pending | Class::Open | Class::Failed | Class::Unrecognised => 0,
    };
    Observed {
        provider_ref: ProviderRef::new(provider_ref),
        reference: Some(PaymentId::new("pay_5521")),
        order: Some(OrderId::new("ord_88213")),
        provider_key: Some(ProviderKey::new("pay:shop-eu:7Q4K-91ab")),
        class,
        raw: class.word().to_lowercase(),
        money: ObservedMoney {
            amount: 12_840,
            captured: Some(took),
            refunded: Some(if class == Class::Reversed { 12_840 } else { 0 }),
            currency: "EUR".to_owned(),
        },
        created_at: Some(ago(1_250)),
        mode: Some(Mode::Live),
    }
}

/// A charge of the same order that carries nothing of the sample record.
pub(crate) fn order_only(provider_ref: &str, class: Class) -> Observed {
    Observed {
        reference: Some(PaymentId::new("pay_other")),
        provider_key: Some(ProviderKey::new("pay:shop-eu:other")),
        ..hit(provider_ref, class)
    }
}

/// A look-up with this outcome, so many seconds ago.
pub(crate) fn asked(seconds: u64, outcome: LookupOutcome) -> Evidence {
    Evidence {
        id: Some(EvidenceId(i64::try_from(1_000_000_u64.saturating_sub(seconds)).unwrap())),
        operator: Operator::new("dana"),
        provider: ProviderName::new("acme"),
        started_at: ago(seconds),
        outcome,
        steps: Vec::new(),
    }
}

/// A look-up that found these charges.
pub(crate) fn found(seconds: u64, observed: Vec<Observed>) -> Evidence {
    asked(seconds, LookupOutcome::Found { observed })
}

/// A look-up that found nothing and could not have missed anything.
pub(crate) fn nothing(seconds: u64) -> Evidence {
    asked(seconds, LookupOutcome::NotFound { absence: Absence::Consistent, why: "empty list".to_owned() })
}

/// A provider with keys kept for a day.
pub(crate) fn terms() -> ProviderTerms {
    ProviderTerms { key_retention: Some(Seconds(86_400)), settle: Seconds(60) }
}

/// dana at the console of `prod`.
pub(crate) fn context() -> Context {
    Context {
        environment: Environment { name: "prod".to_owned(), kind: EnvironmentKind::Production },
        operator: Operator::new("dana"),
        role: "ops_dana".to_owned(),
        policy: Policy { approval_limits: [Money::new(1_000_000, "EUR")].into_iter().collect(), ..Policy::default() },
        terms: [(ProviderName::new("acme"), terms())].into_iter().collect(),
    }
}

/// The record with its evidence, re-read at [`now`].
pub(crate) fn dossier(detail: RecordDetail, evidence: Vec<Evidence>) -> Dossier {
    Dossier {
        detail,
        evidence,
        timeline: Answer::not_known("not read"),
        approvals: Vec::new(),
        resumes: Vec::new(),
        environment: Some("prod".to_owned()),
        at: now(),
    }
}

/// dana's request for approval of this plan, made `age` seconds ago; lee answered, if anybody did.
pub(crate) fn approval_of(plan: &Plan, state: ApprovalState, age: u64) -> ApprovalRequest {
    let record = plan.record();
    let decided = (state != ApprovalState::Waiting).then(|| Operator::new("lee"));
    ApprovalRequest {
        number: ApprovalId(7),
        at: ago(age),
        action: plan.change().word().to_owned(),
        id: record.id.clone(),
        order: record.order.clone(),
        money: record.money.clone(),
        operator: Operator::new("dana"),
        session_user: "ops_dana".to_owned(),
        reason: "two look-ups found nothing".to_owned(),
        ticket: Some("INC-2291".to_owned()),
        plan_hash: plan.hash().clone(),
        version: record.version.clone(),
        attempt: record.attempt,
        evidence: EvidenceId(1),
        expires_at: Seconds(1_800).after(ago(age)),
        state,
        decided_session: decided.as_ref().map(|_| "ops_lee".to_owned()),
        decided_at: decided.as_ref().map(|_| ago(0)),
        decided_by: decided,
        decided_reason: None,
        act_until: (state == ApprovalState::Approved).then(|| Seconds(120).after(now())),
        break_glass_from: (plan.change().word() == "adopt").then(|| Seconds(600).after(ago(age))),
        plan: Some(plan.stored()),
    }
}

/// The sample record, handed back a minute before the state began, so many seconds ago.
pub(crate) fn handed_back(state: ResumeState, age: u64) -> ResumeRequest {
    let record = stuck().record;
    let worker = match state {
        ResumeState::Waiting | ResumeState::Unanswered | ResumeState::Expired => None,
        ResumeState::Taken | ResumeState::Finished | ResumeState::Refused => Some("recoverer-1".to_owned()),
        ResumeState::Withdrawn => Some("operator:lee".to_owned()),
    };
    ResumeRequest {
        number: ResumeId(7),
        at: ago(age + 60),
        id: record.id,
        order: record.order,
        money: record.money,
        attempt: Attempt(1),
        version: record.version,
        plan_hash: PlanHash::new("4c91"),
        approval: ApprovalId(7),
        operator: Operator::new("dana"),
        reason: "two look-ups found nothing".to_owned(),
        ticket: Some("INC-2291".to_owned()),
        not_after: Seconds(900).after(ago(age + 60)),
        state,
        state_at: ago(age),
        worker,
        detail: None,
    }
}
