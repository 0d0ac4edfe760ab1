//! What the database does with a consent, for a model that has none: requests are kept with the record they are about.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use unstuck::app::{Acting, Model, Msg};
use unstuck::domain::approval::{
    ApprovalLimits, ApprovalRequest, ApprovalState, ConsentOrder, Need, ResumeRequest, ResumeState,
};
use unstuck::domain::ids::{ApprovalId, EvidenceId, Operator, PlanHash, RecordId, ResumeId};
use unstuck::domain::port::Dossier;
use unstuck::domain::promise::Promise;
use unstuck::domain::snapshot::ServerFacts;
use unstuck::domain::time::{Instant, Now, Seconds};

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

/// Records and a time: what a new console finds.
type World = (BTreeMap<RecordId, Dossier>, Now);

fn at((records, now): &World, look: &str) -> Console {
    let mut console = Console::with(incident(), look, Acting::On);
    strict(&mut console);
    console.records = records.clone();
    console.now = *now;
    console.poll_now();
    console
}

/// dana's console after dana's look-up of the oldest record.
pub fn looked_up(look: &str) -> Console {
    static WORLD: OnceLock<World> = OnceLock::new();
    let world = WORLD.get_or_init(|| {
        let mut console = Console::on(incident());
        console.keys("2<Enter>al<Enter>");
        (console.records, console.now)
    });
    at(world, look)
}

/// dana's console after a second person was asked to adopt the oldest record's charge.
pub fn asked(look: &str) -> Console {
    static WORLD: OnceLock<World> = OnceLock::new();
    let world = WORLD.get_or_init(|| {
        let console = result_of_asking("dark");
        (console.records, console.now)
    });
    at(world, look)
}

/// At the page that says what goes to a second person.
pub fn about_to_ask(look: &str) -> Console {
    let mut console = looked_up(look);
    console.keys("2<Enter>ar<Enter>").write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>");
    console
}

/// The result of asking.
pub fn result_of_asking(look: &str) -> Console {
    let mut console = about_to_ask(look);
    console.keys("<Enter>");
    console
}

/// lee's console in front of dana's request.
pub fn reads_it(look: &str) -> Console {
    let mut console = asked(look);
    sits_down(&mut console, "lee");
    console.keys("8<Enter>");
    console
}

/// A request whose every text tries to be something else.
pub fn hostile_request(look: &str) -> Console {
    let mut console = asked(look);
    let evil = "\u{202e}\u{1b}]52;c;aGk=\u{7}\u{200b}yes\u{2028}done\n";
    for request in console.records.values_mut().flat_map(|dossier| &mut dossier.approvals) {
        request.operator = Operator::new(format!("kim{evil}"));
        request.session_user = format!("ops{evil}");
        request.reason = evil.repeat(9);
        request.ticket = Some(evil.to_owned());
        request.action = format!("adopt{evil}");
        request.plan_hash = PlanHash::new(evil);
        if let Some(plan) = &mut request.plan {
            plan.hash = PlanHash::new(evil);
            plan.wording.will_not = evil.to_owned();
            plan.wording.relies_on = vec![evil.to_owned(); 3];
            plan.need = Need::Yes(evil.to_owned());
            plan.promises.push(Promise::AskProvider { provider: evil.to_owned() });
        }
    }
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

/// dana's plan for the same record, where somebody has refused, withdrawn or let lapse what was asked.
pub fn came_to(look: &str, state: ApprovalState) -> Console {
    let mut console = asked(look);
    let at = console.now.0;
    for dossier in console.records.values_mut() {
        for request in &mut dossier.approvals {
            request.state = state;
            request.decided_by = Some(Operator::new("lee"));
            request.decided_at = Some(at);
            request.decided_reason = Some("the customer says otherwise".to_owned());
        }
    }
    console.poll_now();
    console.keys("2<Enter>ar");
    console
}

/// The glass may be broken: nobody has answered for eleven minutes.
pub fn unanswered(look: &str) -> Console {
    let mut console = asked(look);
    console.wait(660);
    console.poll_now();
    console.keys("2<Enter>al<Enter><Enter>ar");
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
            dossier.approvals.insert(0, request_of(dossier, order, login, ApprovalId(number), at));
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
        if one.state == ApprovalState::Waiting && at > one.expires_at {
            one.state = ApprovalState::Expired;
        }
        if one.state == ApprovalState::Approved && one.act_until.is_some_and(|until| at > until) {
            one.state = ApprovalState::Lapsed;
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

fn request_of(
    dossier: &Dossier,
    order: &ConsentOrder,
    login: &str,
    number: ApprovalId,
    at: Instant,
) -> ApprovalRequest {
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
