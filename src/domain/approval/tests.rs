use super::super::action::Request;
use super::super::evidence::{Class, Evidence};
use super::super::guard::{Context, Plan, Words, draw};
use super::super::port::Dossier;
use super::super::promise::Promise;
use super::super::samples::{approval_of, context, dossier, found, hit, nothing, now, stuck};
use super::super::time::{Now, Seconds};
use super::*;

fn absent() -> Vec<Evidence> {
    vec![nothing(5), nothing(400)]
}

fn facts() -> Dossier {
    dossier(stuck(), absent())
}

fn plan() -> Plan {
    draw(Request::Resume, &facts(), &context(), Now(now())).unwrap()
}

fn words() -> Words {
    Words {
        reason: "two look-ups found nothing".to_owned(),
        ticket: "INC-2291".to_owned(),
        phrase: plan().phrase().shown().to_owned(),
        ..Words::default()
    }
}

/// lee at another console, with another login.
fn lee() -> Context {
    Context { operator: Operator::new("lee"), role: "ops_lee".to_owned(), ..context() }
}

/// What lee's console reads after lee's own look-up.
fn lees(mut evidence: Vec<Evidence>) -> Dossier {
    for one in evidence.iter_mut().take(1) {
        one.operator = Operator::new("lee");
    }
    dossier(stuck(), evidence)
}

/// What lee types to approve.
fn yes_words(request: &ApprovalRequest) -> Words {
    let phrase = approvable(request, &lees(absent()), &lee());
    let phrase = phrase.map_or_else(|_| String::new(), |phrase| phrase.shown().to_owned());
    Words { reason: "agreed".to_owned(), phrase, ..Words::default() }
}

#[test]
fn a_second_person_is_needed_for_what_may_charge_and_for_large_amounts_in_production() {
    let adopt = draw(
        Request::Resume,
        &dossier(stuck(), vec![found(5, vec![hit("ch_1", Class::Succeeded)])]),
        &context(),
        Now(now()),
    );
    let adopt = adopt.unwrap();
    let production = context().environment;
    let staging = Environment { name: "staging".to_owned(), kind: EnvironmentKind::Staging };
    let limits = |limits: Vec<Money>| Policy { approval_limits: limits.into_iter().collect(), ..Policy::default() };
    let need = |environment: &Environment, policy: &Policy| {
        approval_needed(adopt.change(), adopt.record().money.as_ref(), environment, policy)
    };
    assert_eq!(need(&production, &limits(vec![Money::new(12_841, "EUR")])), Need::No);
    assert!(matches!(need(&production, &limits(vec![Money::new(12_840, "EUR")])), Need::Yes(_)));
    assert!(matches!(need(&production, &limits(vec![Money::new(99_999, "USD")])), Need::Yes(_)), "no limit for EUR");
    assert_eq!(need(&staging, &limits(vec![])), Need::No);
    let unknown = approval_needed(adopt.change(), None, &production, &limits(vec![Money::new(12_841, "EUR")]));
    assert!(matches!(unknown, Need::Yes(_)), "an unknown amount is not a small one");
    assert!(matches!(approval_needed(plan().change(), None, &staging, &limits(vec![])), Need::Yes(_)));
}

#[test]
fn a_plan_is_asked_for_whole_and_approved_on_a_look_up_of_ones_own() {
    let asked = plan().ask(&facts(), &words(), &context(), Now(now())).unwrap();
    let order = asked.order();
    assert_eq!((order.action, order.for_action), ("ask", Some("hand_back")));
    assert_eq!(order.plan.as_deref(), Some(&plan().stored()));
    let kept: StoredPlan = serde_json::from_value(serde_json::to_value(plan().stored()).unwrap()).unwrap();
    assert_eq!(kept, plan().stored());
    let request = approval_of(&plan(), ApprovalState::Waiting, 60);
    let yes = approve(&request, &lees(absent()), &yes_words(&request), &lee()).unwrap();
    assert_eq!((yes.order().verdict, yes.order().request), (Some("approved"), Some(request.number)));
    assert_eq!(yes.order().evidence_id, absent()[0].id);
    let mut facts = facts();
    facts.approvals = vec![approval_of(&plan(), ApprovalState::Approved, 60)];
    let armed = plan().arm(&facts, &words(), &context(), Now(now())).unwrap();
    assert_eq!(armed.order().approval, Some(request.number));
    assert_eq!(armed.order().key_retention_s, Some(86_400));
    assert!(armed.order().proof_id.is_some() && armed.order().incident.is_none());
    assert!(plan().ask(&facts, &words(), &context(), Now(now())).is_err(), "it is approved already");
}

#[test]
fn what_is_not_a_second_persons_yes_to_this_plan_is_refused() {
    type Spoil = fn(&mut ApprovalRequest, &mut Dossier, &mut Context);
    let spoils: [(&str, Spoil); 16] = [
        ("the asker", |_, _, context| context.operator = Operator::new("Dana ")),
        ("the asker's login", |_, _, context| context.role = "ops_dana".to_owned()),
        ("too late", |request, _, _| request.expires_at = Seconds(1).before(now())),
        ("answered already", |request, _, _| request.state = ApprovalState::Refused),
        ("a plan that cannot be read", |request, _, _| request.plan = None),
        ("a plan changed under its hash", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.change = Change::Hold { length: Seconds(1) };
            }
        }),
        ("parts changed under the hash", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.hashed.push("more".to_owned());
            }
        }),
        ("words that are not the change's", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.wording.cannot_undo = "everything can be undone".to_owned();
            }
        }),
        ("promises that are not the change's", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.promises = vec![Promise::LeaseFree];
            }
        }),
        ("another amount on the page", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.record.money = Some(Money::new(1, "EUR"));
            }
        }),
        ("another record on the page", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.record.id = RecordId::new("shop-eu", "another");
            }
        }),
        ("another action's word", |request, _, _| {
            if let Some(plan) = &mut request.plan {
                plan.action = "hold".to_owned();
            }
        }),
        ("another version", |_, facts, _| facts.detail.record.version = Version::new("other")),
        ("another environment", |_, facts, _| facts.environment = Some("staging".to_owned())),
        ("the asker's look-up", |_, facts, _| facts.evidence = absent()),
        ("a look-up that says otherwise", |_, facts, _| {
            facts.evidence = lees(vec![found(5, vec![hit("ch_1", Class::Succeeded)])]).evidence;
        }),
    ];
    for (what, spoil) in spoils {
        let (mut request, mut facts, mut context) =
            (approval_of(&plan(), ApprovalState::Waiting, 60), lees(absent()), lee());
        spoil(&mut request, &mut facts, &mut context);
        let typed = yes_words(&request);
        let refused = approve(&request, &facts, &typed, &context);
        assert!(refused.is_err(), "{what} must refuse the approval");
        let refused = refused.unwrap_err();
        assert!(!refused.why.is_empty() && !refused.way_out.is_empty(), "{what}: {refused}");
    }
}

#[test]
fn a_no_needs_neither_reason_nor_look_up_and_taking_back_is_the_askers() {
    let request = approval_of(&plan(), ApprovalState::Waiting, 60);
    assert_eq!(refuse(&request, "", &lee(), now()).unwrap().order().verdict, Some("refused"));
    assert!(refuse(&request, "", &context(), now()).is_err());
    assert_eq!(withdraw(&request, "", &context()).unwrap().order().action, "withdraw");
    assert!(withdraw(&request, "", &lee()).is_err());
    assert!(withdraw(&approval_of(&plan(), ApprovalState::Approved, 60), "", &context()).is_err());
}

#[test]
fn the_glass_is_broken_only_to_adopt_after_the_wait_and_for_an_incident() {
    let dear = Context { policy: Policy::default(), ..context() };
    let found = dossier(stuck(), vec![found(5, vec![hit("ch_1", Class::Succeeded)])]);
    let adopt = || draw(Request::Resume, &found, &dear, Now(now())).unwrap();
    let arm = |age: u64, incident: &str| {
        let mut facts = found.clone();
        facts.approvals = vec![approval_of(&adopt(), ApprovalState::Waiting, age)];
        let words = Words { phrase: adopt().phrase().shown().to_owned(), incident: incident.to_owned(), ..words() };
        adopt().arm(&facts, &words, &dear, Now(now()))
    };
    assert!(arm(599, "INC-1").is_err());
    assert!(arm(601, " ").is_err());
    assert_eq!(arm(601, "INC-1").unwrap().order().incident.as_deref(), Some("INC-1"));
    let mut facts = facts();
    facts.approvals = vec![approval_of(&plan(), ApprovalState::Waiting, 700)];
    let words = Words { incident: "INC-1".to_owned(), ..words() };
    assert!(plan().arm(&facts, &words, &context(), Now(now())).is_err(), "never for what may charge");
}

#[test]
fn a_yes_is_typed_and_is_not_the_phrase_of_the_act() {
    let request = approval_of(&plan(), ApprovalState::Waiting, 60);
    let act = words();
    assert!(approve(&request, &lees(absent()), &act, &lee()).is_err());
    let typed = yes_words(&request);
    assert_eq!(typed.phrase, format!("approve {}", act.phrase));
}

#[test]
fn where_the_second_person_stands_follows_the_newest_request_that_counts() {
    let standing = |requests: Vec<ApprovalRequest>| {
        let mut facts = facts();
        facts.approvals = requests;
        plan().standing(&facts, &context())
    };
    let one = |state| approval_of(&plan(), state, 60);
    assert!(matches!(standing(vec![]), Standing::ToAsk { last: None, .. }));
    assert!(matches!(standing(vec![one(ApprovalState::Waiting)]), Standing::Waits(_)));
    assert!(matches!(standing(vec![one(ApprovalState::Approved)]), Standing::Approved(_)));
    for over in [
        ApprovalState::Refused,
        ApprovalState::Withdrawn,
        ApprovalState::Expired,
        ApprovalState::Lapsed,
        ApprovalState::Used,
    ] {
        let request = one(over);
        assert!(!request.became().is_empty() && !request.way_on().is_empty());
        assert!(matches!(standing(vec![request]), Standing::ToAsk { last: Some(_), .. }), "{over:?}");
    }
    let mut theirs = one(ApprovalState::Approved);
    theirs.operator = Operator::new("pat");
    assert!(matches!(standing(vec![theirs]), Standing::ToAsk { last: None, .. }), "somebody else's approval");
}
