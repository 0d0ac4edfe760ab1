use super::super::evidence::{Class, Evidence};
use super::super::ids::Version;
use super::super::record::RecordDetail;
use super::super::samples::{context, dossier, found, hit, now, stuck};
use super::super::time::Seconds;
use super::*;

fn evidence() -> Vec<Evidence> {
    vec![found(9, vec![hit("ch_77ab", Class::Succeeded)])]
}

fn facts() -> Dossier {
    dossier(stuck(), evidence())
}

fn plan() -> Plan {
    draw(Request::Resume, &facts(), &context(), Now(now())).unwrap()
}

fn words() -> Words {
    Words {
        reason: "look-up shows it captured once".to_owned(),
        ticket: "INC-2291".to_owned(),
        phrase: "prod shop-eu 4K91ab EUR 128.40".to_owned(),
        owner: String::new(),
    }
}

#[test]
fn a_resume_by_the_book_is_armed() {
    let plan = plan();
    assert_eq!(plan.phrase().shown(), "prod shop-eu 4K91ab EUR 128.40");
    let armed = plan.arm(&facts(), &words(), &context(), Now(now())).unwrap();
    assert_eq!(armed.order().action, "adopt");
    assert_eq!(armed.order().expect.amount, Some(12_840));
    assert_eq!(armed.order().expect.provider_ref.as_ref().map(super::super::ids::ProviderRef::as_str), Some("ch_77ab"));
}

#[test]
fn whatever_changed_refuses_the_plan() {
    type Spoil = fn(&mut Dossier, &mut Words, &mut Context, &mut Now);
    let spoils: [(&str, Spoil); 11] = [
        ("another version", |facts, _, _, _| {
            facts.detail.record.version = Version::new("other");
        }),
        ("a newer attempt", |facts, _, _, _| {
            facts.detail.record.attempt = Some(Attempt(2));
        }),
        ("a live lease", |facts, _, _, _| {
            facts.detail.record.lease.until = Some(Seconds(9).after(now()));
        }),
        ("evidence that grew old", |facts, _, _, _| {
            facts.at = Seconds(400).after(now());
        }),
        ("newer evidence", |facts, _, _, _| {
            facts.evidence.insert(0, found(1, vec![hit("ch_9", Class::Succeeded)]));
        }),
        ("another environment", |facts, _, _, _| {
            facts.environment = Some("staging".to_owned());
        }),
        ("no schema to log in", |facts, _, _, _| {
            facts.environment = None;
        }),
        ("a plan too old", |_, _, _, now| {
            now.0 = Seconds(121).after(now.0);
        }),
        ("another phrase", |_, words, _, _| {
            words.phrase = "prod shop-eu 4K91ab EUR 128.4".to_owned();
        }),
        ("no ticket", |_, words, _, _| {
            words.ticket = "later".to_owned();
        }),
        ("another person", |_, _, context, _| {
            context.operator = Operator::new("lee");
        }),
    ];
    for (what, spoil) in spoils {
        let (mut facts, mut words, mut context, mut when) = (facts(), words(), context(), Now(now()));
        spoil(&mut facts, &mut words, &mut context, &mut when);
        let refused = plan().arm(&facts, &words, &context, when);
        assert!(refused.is_err(), "{what} must refuse the plan");
        let refused = refused.unwrap_err();
        assert!(!refused.why.is_empty() && !refused.way_out.is_empty(), "{what}: {refused}");
    }
}

#[test]
fn a_reason_is_more_than_dots() {
    let dots = Words { reason: "...............".to_owned(), ..words() };
    assert!(plan().arm(&facts(), &dots, &context(), Now(now())).is_err());
}

#[test]
fn hand_back_shows_its_plan_and_is_refused() {
    let detail = stuck();
    let proof = vec![super::super::samples::nothing(400), super::super::samples::nothing(5)];
    let facts = dossier(detail, proof);
    let plan = draw(Request::Resume, &facts, &context(), Now(now())).unwrap();
    assert_eq!(plan.change(), &Change::HandBack);
    assert!(plan.promises().iter().any(|promise| promise.asked().contains("CHARGE")));
    assert!(plan.arm(&facts, &words(), &context(), Now(now())).is_err());
}

#[test]
fn a_hostile_scope_does_not_reach_the_phrase() {
    let mut detail: RecordDetail = stuck();
    detail.record.id = super::super::ids::RecordId::new("sh\u{202e}op\u{1b}[2J", "—");
    let facts = dossier(detail, evidence());
    let plan = draw(Request::Resume, &facts, &context(), Now(now())).unwrap();
    assert!(plan.phrase().shown().is_ascii(), "{}", plan.phrase().shown());
    assert!(
        plan.phrase().shown().contains(&plan.hash().short()),
        "a key without letters is replaced by the plan's hash"
    );
}
