//! What the database does with a consent, for a model that has none: requests are kept with the record they are about.

use unstuck::app::{Acting, Model, Msg};
use unstuck::domain::approval::{
    ApprovalLimits, ApprovalRequest, ApprovalState, ConsentOrder, ResumeRequest, ResumeState,
};
use unstuck::domain::ids::{ApprovalId, EvidenceId, Operator, PlanHash, ResumeId};
use unstuck::domain::port::Dossier;
use unstuck::domain::snapshot::ServerFacts;
use unstuck::domain::time::{Instant, Seconds};

use super::console::Console;
use super::scenario::{facts, incident};

/// How long a request can be answered, an approval be acted on, and when the glass may be broken.
const WAITS: Seconds = Seconds(1_800);
const ACTS: Seconds = Seconds(120);
const GLASS: Seconds = Seconds(600);

/// Somebody else sits down at another console on the same database, with a login of their own.
pub fn sits_down(console: &mut Console, name: &str) {
    let mut setup = console.model.setup.clone();
    setup.context.operator = Operator::new(name);
    setup.context.role = format!("ops_{name}");
    let role = setup.context.role.clone();
    let size = console.model.size;
    let histories = std::mem::take(&mut console.model.histories);
    console.model = Model::new(setup);
    console.model.histories = histories;
    console.model.size = size;
    console.send(Msg::Connected(Box::new(ServerFacts { role, ..facts() })));
    console.poll_now();
}

/// In production every amount needs a second person here.
pub fn strict(console: &mut Console) {
    console.model.setup.context.policy.approval_limits = ApprovalLimits::default();
}

/// A console of dana's that asked a second person to adopt the oldest record's charge; the result is on screen.
pub fn asked_to_adopt(look: &str) -> Console {
    let mut console = Console::with(incident(), look, Acting::On);
    strict(&mut console);
    console.keys("2<Enter>al<Enter><Enter>ar<Enter>");
    console.write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>").keys("<Enter>");
    console
}

/// lee's console in front of dana's request.
pub fn reads_it(look: &str) -> Console {
    let mut console = asked_to_adopt(look);
    console.wait(60);
    sits_down(&mut console, "lee");
    console.keys("8<Enter>");
    console
}

/// The same, after lee's own look-up.
pub fn looked_up_too(look: &str) -> Console {
    let mut console = reads_it(look);
    console.keys("al<Enter><Enter>");
    console
}

/// lee has said yes, and dana is back.
pub fn approved(look: &str) -> Console {
    let mut console = looked_up_too(look);
    console.keys("A").write(&format!("approve {PHRASE}")).keys("<Enter>");
    sits_down(&mut console, "dana");
    console
}

/// What dana writes.
pub const REASON: &str = "look-up shows it captured once";

/// What is typed to adopt the oldest record's charge.
pub const PHRASE: &str = "prod shop-eu 7Q4K91 EUR 128.40";

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

/// What was approved is handed back to the service's recoverer.
pub fn handed_back(dossier: &Dossier, at: Instant) -> ResumeRequest {
    let record = &dossier.detail.record;
    let asked = dossier.approvals.first().expect("a request for approval");
    ResumeRequest {
        number: ResumeId(dossier.resumes.first().map_or(7, |newest| newest.number.0 + 1)),
        at,
        id: record.id.clone(),
        order: record.order.clone(),
        money: record.money.clone(),
        attempt: record.attempt.expect("an attempt"),
        version: record.version.clone(),
        plan_hash: asked.plan_hash.clone(),
        approval: asked.number,
        operator: asked.operator.clone(),
        reason: asked.reason.clone(),
        ticket: asked.ticket.clone(),
        not_after: Seconds(900).after(at),
        state: ResumeState::Waiting,
        state_at: at,
        worker: None,
        detail: None,
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
