//! What the database does with a consent, for a model that has none: requests are kept with the record they are about.

use unstuck::domain::approval::{ApprovalRequest, ApprovalState, ConsentOrder, ResumeState};
use unstuck::domain::ids::{ApprovalId, EvidenceId, PlanHash};
use unstuck::domain::port::Dossier;
use unstuck::domain::time::{Instant, Seconds};

/// How long a request can be answered, an approval be acted on, and when the glass may be broken.
const WAITS: Seconds = Seconds(1_800);
const ACTS: Seconds = Seconds(120);
const GLASS: Seconds = Seconds(600);

/// Takes a consent that is done into the record it is about.
pub fn consented(dossier: &mut Dossier, order: &ConsentOrder, login: &str, at: Instant) {
    match (order.action, order.request) {
        ("ask", _) => {
            let number = dossier.approvals.first().map_or(12, |newest| newest.number.0 + 1);
            dossier.approvals.insert(0, asked(dossier, order, login, ApprovalId(number), at));
        }
        ("withdraw", None) => {
            for resume in dossier.resumes.iter_mut().filter(|resume| Some(resume.number) == order.resume) {
                resume.state = ResumeState::Withdrawn;
                resume.state_at = at;
            }
        }
        (word, request) => {
            for one in dossier.approvals.iter_mut().filter(|one| Some(one.number) == request) {
                one.state = match word {
                    "approve" => ApprovalState::Approved,
                    "refuse" => ApprovalState::Refused,
                    _ => ApprovalState::Withdrawn,
                };
                one.decided_by = Some(order.operator.clone());
                one.decided_session = Some(login.to_owned());
                one.decided_at = Some(at);
                one.decided_reason = Some(order.reason.clone()).filter(|reason| !reason.is_empty());
                one.act_until = (one.state == ApprovalState::Approved).then(|| ACTS.after(at));
            }
        }
    }
}

/// What time alone does to requests.
pub fn aged(dossier: &mut Dossier, at: Instant) {
    for one in &mut dossier.approvals {
        match one.state {
            ApprovalState::Waiting if at > one.expires_at => one.state = ApprovalState::Expired,
            ApprovalState::Approved if one.act_until.is_some_and(|until| at > until) => {
                one.state = ApprovalState::Lapsed;
            }
            _ => {}
        }
    }
}

fn asked(dossier: &Dossier, order: &ConsentOrder, login: &str, number: ApprovalId, at: Instant) -> ApprovalRequest {
    let record = &dossier.detail.record;
    let action = order.for_action.unwrap_or_default();
    ApprovalRequest {
        number,
        at,
        action: action.to_owned(),
        id: record.id.clone(),
        order: record.order.clone(),
        money: record.money.clone(),
        operator: order.operator.clone(),
        session_user: login.to_owned(),
        reason: order.reason.clone(),
        ticket: Some(order.ticket.clone()),
        plan_hash: PlanHash::new(order.plan_hash.as_str()),
        version: order.version.clone(),
        attempt: order.attempt,
        evidence: order.evidence_id.unwrap_or(EvidenceId(0)),
        expires_at: WAITS.after(at),
        state: ApprovalState::Waiting,
        decided_by: None,
        decided_session: None,
        decided_at: None,
        decided_reason: None,
        act_until: None,
        break_glass_from: (action == "adopt").then(|| GLASS.after(at)),
        plan: order.plan.as_deref().cloned(),
    }
}
