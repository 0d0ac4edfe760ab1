//! Asking, answering and taking back: each checked here first, each re-checked by the database.

use serde::Serialize;

use super::super::environment::Environment;
use super::super::guard::{Context, Expect, Phrase, Refused, Words, change_for};
use super::super::ids::{
    ApprovalId, Attempt, EvidenceId, Holder, Key, Operator, PlanHash, RecordId, ResumeId, Scope, Version,
};
use super::super::port::Dossier;
use super::super::time::{self, Instant};
use super::{ApprovalRequest, ApprovalState, ResumeRequest, ResumeState, StoredPlan, halves};

/// A step of an approval that passed its checks: a question, an answer, or a withdrawal. The store uses it up.
#[derive(Debug)]
pub struct Consent {
    order: ConsentOrder,
}

/// What the database function is told. It re-checks all of it under lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsentOrder {
    /// `ask`, `approve`, `refuse` or `withdraw`.
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
    /// The plan it is about.
    pub plan_hash: PlanHash,
    /// In which words.
    pub reason: String,
    /// The incident or ticket.
    pub ticket: String,
    /// The own look-up it rests on.
    pub evidence_id: Option<EvidenceId>,
    /// How old that may be, in seconds.
    pub max_evidence_age_s: u64,
    /// What must be true of payment and charge (a question).
    pub expect: Option<Expect>,
    /// The reason a failed payment is given (a question).
    pub failure_reason: Option<String>,
    /// Which action is asked for (a question).
    pub for_action: Option<&'static str>,
    /// The plan, whole (a question).
    pub plan: Option<Box<StoredPlan>>,
    /// The request that is answered or withdrawn.
    pub request: Option<ApprovalId>,
    /// The hand back that is withdrawn.
    pub resume: Option<ResumeId>,
    /// `approved` or `refused`.
    pub verdict: Option<&'static str>,
}

impl Consent {
    /// Only the guard's own checks come here.
    pub(in crate::domain) fn new(order: ConsentOrder) -> Self {
        Self { order }
    }

    /// What the database function is told.
    pub fn order(&self) -> &ConsentOrder {
        &self.order
    }

    /// About which record.
    pub fn id(&self) -> RecordId {
        RecordId { scope: self.order.scope.clone(), key: self.order.key.clone() }
    }
}

const AGAIN: &str = "Nothing was sent. Read it again.";

/// A yes: by somebody else, to a plan that is intact, on a look-up of one's own that leads to the very same plan,
/// with the phrase typed.
pub fn approve(
    request: &ApprovalRequest,
    facts: &Dossier,
    words: &Words,
    context: &Context,
) -> Result<Consent, Refused> {
    let (phrase, evidence) = ready(request, facts, context)?;
    if !phrase.is(&words.phrase) {
        return Err(Refused::new("The phrase is not the same.", "Nothing was sent. Type it as it is shown."));
    }
    let mut order = answer(request, "approve", &words.reason, context);
    order.evidence_id = Some(evidence);
    order.verdict = Some("approved");
    Ok(Consent::new(order))
}

/// What has to be typed to approve; or what stands in the way.
pub fn approvable(request: &ApprovalRequest, facts: &Dossier, context: &Context) -> Result<Phrase, Refused> {
    ready(request, facts, context).map(|(phrase, _)| phrase)
}

/// Every check of a yes but the phrase.
fn ready(request: &ApprovalRequest, facts: &Dossier, context: &Context) -> Result<(Phrase, EvidenceId), Refused> {
    answerable(request, context, facts.at)?;
    here(&context.environment, facts)?;
    let Some(plan) = request.plan.as_ref().filter(|plan| plan.is_intact(request)) else {
        return Err(Refused::new(
            "The plan does not fit its hash: what you read may not be what would be done.",
            "Refuse it, and tell the payments lead.",
        ));
    };
    let record = &facts.detail.record;
    if record.id != request.id || record.version != request.version || record.attempt != request.attempt {
        return Err(Refused::new("The record changed since the plan was made.", "Whoever asked must make a new plan."));
    }
    let asker = Holder::of_operator(&request.operator);
    let (own, evidence) = change_for(facts, context, &asker)?;
    if own.word() != plan.change.word() || own.parts() != plan.change.parts() {
        return Err(Refused::new(
            format!("Your own look-up leads to another step ({}) than the plan ({}).", own.word(), plan.change.word()),
            "Refuse it, or look again (a l).",
        ));
    }
    Ok((Phrase::of_approval(&context.environment, record, &request.plan_hash), evidence))
}

/// A no. It needs no look-up and no reason.
pub fn refuse(request: &ApprovalRequest, reason: &str, context: &Context, now: Instant) -> Result<Consent, Refused> {
    answerable(request, context, now)?;
    let mut order = answer(request, "refuse", reason, context);
    order.verdict = Some("refused");
    Ok(Consent::new(order))
}

/// The asker takes a question back that nobody answered.
pub fn withdraw(request: &ApprovalRequest, reason: &str, context: &Context) -> Result<Consent, Refused> {
    if request.state != ApprovalState::Waiting {
        return Err(Refused::new(format!("The request is {} already.", request.state.word()), AGAIN));
    }
    if request.operator != context.operator {
        return Err(Refused::new(
            format!("Only {} may take it back.", request.operator),
            "An approver refuses it instead.",
        ));
    }
    Ok(Consent::new(answer(request, "withdraw", reason, context)))
}

/// Takes a hand back back that nobody took up. Anybody may: it only prevents.
pub fn withdraw_hand_back(resume: &ResumeRequest, reason: &str, context: &Context) -> Result<Consent, Refused> {
    match resume.state {
        ResumeState::Waiting | ResumeState::Unanswered => {}
        ResumeState::Taken
        | ResumeState::Finished
        | ResumeState::Refused
        | ResumeState::Withdrawn
        | ResumeState::Expired => {
            return Err(Refused::new(format!("The hand back is {} already.", resume.state.word()), AGAIN));
        }
    }
    let (scope, key) = halves(&resume.id);
    Ok(Consent::new(ConsentOrder {
        version: resume.version.clone(),
        attempt: Some(resume.attempt),
        plan_hash: resume.plan_hash.clone(),
        ticket: resume.ticket.clone().unwrap_or_default(),
        resume: Some(resume.number),
        ..blank("withdraw", scope, key, reason, context)
    }))
}

/// What stands in the way of any answer of this person.
fn answerable(request: &ApprovalRequest, context: &Context, now: Instant) -> Result<(), Refused> {
    let same = |a: &str, b: &str| a.trim().eq_ignore_ascii_case(b.trim());
    if request.state != ApprovalState::Waiting {
        return Err(Refused::new(format!("The request is {} already.", request.state.word()), AGAIN));
    }
    if now > request.expires_at {
        return Err(Refused::new(
            format!("The request was open until {}.", time::clock(request.expires_at)),
            "Whoever asked may ask again.",
        ));
    }
    if same(request.operator.as_str(), context.operator.as_str()) {
        return Err(Refused::new("Nobody decides about their own plan.", "Ask a second person."));
    }
    if request.session_user == context.role {
        return Err(Refused::new(
            format!("The request was made with this very login ({}).", context.role),
            "A second person decides, with a login of their own.",
        ));
    }
    Ok(())
}

fn here(environment: &Environment, facts: &Dossier) -> Result<(), Refused> {
    if facts.environment.as_ref() == Some(&environment.name) {
        return Ok(());
    }
    let name = facts.environment.as_deref().unwrap_or("nothing");
    Err(Refused::new(
        format!("The database says it is {name}, the console {environment}."),
        "Nothing was sent. Check where you are.",
    ))
}

fn answer(request: &ApprovalRequest, action: &'static str, reason: &str, context: &Context) -> ConsentOrder {
    let (scope, key) = halves(&request.id);
    ConsentOrder {
        version: request.version.clone(),
        attempt: request.attempt,
        plan_hash: request.plan_hash.clone(),
        ticket: request.ticket.clone().unwrap_or_default(),
        request: Some(request.number),
        ..blank(action, scope, key, reason, context)
    }
}

fn blank(action: &'static str, scope: Scope, key: Key, reason: &str, context: &Context) -> ConsentOrder {
    ConsentOrder {
        action,
        environment: context.environment.name.clone(),
        operator: context.operator.clone(),
        scope,
        key,
        version: Version::new(""),
        attempt: None,
        plan_hash: PlanHash::new(""),
        reason: reason.trim().to_owned(),
        ticket: String::new(),
        evidence_id: None,
        max_evidence_age_s: context.policy.evidence_freshness.0,
        expect: None,
        failure_reason: None,
        for_action: None,
        plan: None,
        request: None,
        resume: None,
        verdict: None,
    }
}
