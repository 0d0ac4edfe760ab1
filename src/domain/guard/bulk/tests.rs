use super::super::super::evidence::{Class, Evidence, LookupOutcome};
use super::super::super::ids::{Attempt, LogId, PaymentId, ProviderKey, Version};
use super::super::super::log::Outcome;
use super::super::super::payment::PaymentStatus;
use super::super::super::promise::Said;
use super::super::super::record::{RecordStatus, RecoveryPoint};
use super::super::super::rule::{Breach, Rule, RuleReport, RuleState, Severity};
use super::super::super::samples::{ago, approval_of, asked, context, dossier, found, hit, nothing, now, stuck};
use super::super::super::time::Seconds;
use super::*;

/// The `nth` stuck record over `money`, with a look-up that found its own charge captured.
fn facts(nth: usize, money: &Money) -> Dossier {
    let mut detail = stuck();
    let id = RecordId::new("shop-eu", format!("key-{nth:03}"));
    detail.record.payment = Some(PaymentId::new(format!("pay_{nth}")));
    detail.record.order = Some(OrderId::new(format!("ord_{nth}")));
    detail.record.version = Version::new(format!("{nth:064x}"));
    detail.record.money = Some(money.clone());
    detail.provider_key = Some(ProviderKey::new(format!("pay:{id}")));
    let mut charge = hit(&format!("ch_{nth}"), Class::Succeeded);
    charge.reference.clone_from(&detail.record.payment);
    charge.order.clone_from(&detail.record.order);
    charge.provider_key.clone_from(&detail.provider_key);
    charge.money.amount = money.minor;
    charge.money.captured = Some(money.minor);
    money.currency.code().clone_into(&mut charge.money.currency);
    detail.record.id = id;
    dossier(detail, vec![found(9, vec![charge])])
}

fn euros(count: usize) -> Vec<Dossier> {
    (0..count).map(|nth| facts(nth, &Money::new(100 + i64::try_from(nth).unwrap(), "EUR"))).collect()
}

fn marked(facts: &[Dossier]) -> Vec<Marked> {
    let mark = |facts: &Dossier| Marked { target: facts.detail.record.target(), read: Ok(Box::new(facts.clone())) };
    facts.iter().map(mark).collect()
}

fn plan(request: BulkRequest, facts: &[Dossier]) -> BulkPlan {
    BulkPlan::draw(request, marked(facts), &context(), Now(now()))
}

fn words(plan: &BulkPlan) -> Words {
    Words {
        reason: "look-ups show them captured".to_owned(),
        ticket: "INC-2291".to_owned(),
        phrase: plan.phrase().shown().to_owned(),
        ..Words::default()
    }
}

fn rule(id: &str, cadence: u64, state: RuleState) -> RuleReport {
    let rule = Rule {
        id: id.to_owned(),
        sentence: "one order has at most one success".to_owned(),
        severity: Severity::Critical,
        cadence: Seconds(cadence),
        next: "look".to_owned(),
        file: "x.sql".to_owned(),
    };
    RuleReport { rule, state }
}

fn holds(seconds_ago: u64) -> RuleState {
    RuleState::Holds { checked_at: ago(seconds_ago), audited_at: None }
}

fn broken(keys: &[&str], at: Instant) -> RuleState {
    let breach = |key: &&str| Breach {
        scope: Some(super::super::super::ids::Scope::new("shop-eu")),
        key: Some(super::super::super::ids::Key::new(*key)),
        order: None,
        payment: None,
        reference: None,
        money: None,
        at: None,
        detail: format!("for {at}"),
    };
    RuleState::Violated { checked_at: at, breaches: keys.iter().map(breach).collect(), since: at }
}

fn rules(state: RuleState) -> Vec<RuleReport> {
    vec![rule("I1", 10, state), rule("I7", 10, RuleState::NotKnown { why: "not set".to_owned() })]
}

fn started(plan: BulkPlan) -> BulkArmed {
    let words = words(&plan);
    plan.start(&words, &context(), Baseline::of(&rules(holds(5))), Now(now())).unwrap()
}

/// The record as it is after its adopt.
fn adopted(before: &Dossier, seconds_later: u64) -> Dossier {
    let mut after = before.clone();
    let record = &mut after.detail.record;
    record.attempt = Some(Attempt(2));
    record.status = RecordStatus::Done;
    record.recovery_point = Some(RecoveryPoint::Done);
    record.payment_status = Some(PaymentStatus::Succeeded);
    let LookupOutcome::Found { observed } = &after.evidence[0].outcome else { panic!("found") };
    record.provider_ref = Some(observed[0].provider_ref.clone());
    after.detail.response_code = Some(201);
    after.at = Seconds(seconds_later).after(now());
    after
}

fn done() -> Outcome {
    Outcome::Done { log: Some(LogId(1)), detail: None }
}

#[test]
fn a_list_names_every_record_and_sums_each_currency_alone() {
    let mut facts = euros(2);
    facts.push(super::tests::facts(7, &Money::new(1_200, "JPY")));
    let mut context = context();
    context.policy.approval_limits.set(Money::new(9_000, "JPY"));
    let plan = BulkPlan::draw(BulkRequest::Adopt, marked(&facts), &context, Now(now()));
    assert_eq!(plan.phrase().shown(), "prod 3 EUR 2.01 JPY 1200");
    assert_eq!(plan.totals().to_string(), "EUR 2.01 + JPY 1,200");
    assert_eq!(plan.left_out(), []);
    let look_ups = BulkPlan::draw(BulkRequest::LookUp, marked(&facts), &context, Now(now()));
    assert_eq!((look_ups.phrase().shown(), look_ups.unpriced()), ("3", 0));
    assert_ne!(look_ups.hash(), plan.hash());
}

#[test]
fn what_is_no_plain_adopt_is_left_out_by_name() {
    let mut all = euros(10);
    all[1].evidence.clear();
    all[2].evidence = vec![found(400, vec![])];
    all[3].detail.record.money = Some(Money::new(2_000_000, "EUR"));
    let LookupOutcome::Found { observed } = &mut all[3].evidence[0].outcome else { panic!("found") };
    observed[0].money.amount = 2_000_000;
    observed[0].money.captured = Some(2_000_000);
    let LookupOutcome::Found { observed } = &mut all[4].evidence[0].outcome else { panic!("found") };
    observed[0].class = Class::Failed;
    observed[0].money.captured = Some(0);
    all[5].evidence = vec![nothing(5), nothing(400)];
    all[6].evidence[0].operator = super::super::super::ids::Operator::new("lee");
    let mut marks = marked(&all);
    marks[7].target.version = Version::new("as it was");
    marks[8].read = Err(Refused::new("There is no such record any more.", "Look for it."));
    let plan = BulkPlan::draw(BulkRequest::Adopt, marks, &context(), Now(now()));
    let listed: Vec<String> = plan.plans().iter().map(|plan| plan.record().id.key.to_string()).collect();
    assert_eq!(listed, ["key-000", "key-009"]);
    let why: Vec<String> = plan.left_out().iter().map(|left| format!("{} {}", left.id.key, left.why)).collect();
    for (key, words) in [
        ("key-001", "No look-up has been made"),
        ("key-002", "look-up"),
        ("key-003", "EUR 20,000.00 is EUR 10,000.00 or more"),
        ("key-004", "finish as failed, not adopt"),
        ("key-005", "hand back, not adopt"),
        ("key-006", "The latest look-up is lee's"),
        ("key-007", "It changed since it was marked"),
        ("key-008", "no such record"),
    ] {
        assert!(why.iter().any(|line| line.starts_with(key) && line.contains(words)), "{key} {words}: {why:#?}");
    }
    assert_eq!(why.len(), 8);
}

#[test]
fn ten_adopts_and_twenty_five_look_ups_are_the_most() {
    let facts = euros(30);
    let adopts = plan(BulkRequest::Adopt, &facts);
    assert_eq!((adopts.plans().len(), adopts.left_out().len()), (10, 20));
    assert!(adopts.left_out()[0].why.why.contains("At most 10"), "{:?}", adopts.left_out()[0]);
    let look_ups = plan(BulkRequest::LookUp, &facts);
    assert_eq!((look_ups.plans().len(), look_ups.left_out().len()), (25, 5));
}

#[test]
fn two_records_of_one_order_or_one_charge_are_both_left_to_a_person() {
    let mut facts = euros(5);
    let order = facts[0].detail.record.order.clone();
    facts[2].detail.record.order.clone_from(&order);
    let LookupOutcome::Found { observed } = &mut facts[2].evidence[0].outcome else { panic!("found") };
    observed[0].order = order;
    let LookupOutcome::Found { observed } = &mut facts[3].evidence[0].outcome else { panic!("found") };
    observed[0].provider_ref = super::super::super::ids::ProviderRef::new("ch_4");
    let plan = plan(BulkRequest::Adopt, &facts);
    let listed: Vec<String> = plan.plans().iter().map(|plan| plan.record().id.key.to_string()).collect();
    assert_eq!(listed, ["key-001"], "{:?}", plan.left_out());
    assert_eq!(plan.left_out().len(), 4);
}

#[test]
fn one_mark_twice_is_one_record() {
    let facts = euros(1);
    let twice = vec![facts[0].clone(), facts[0].clone()];
    let plan = plan(BulkRequest::Adopt, &twice);
    assert_eq!((plan.plans().len(), plan.left_out().len()), (1, 1));
}

#[test]
fn a_sum_that_is_no_money_is_not_on_the_list() {
    let mut context = context();
    context.environment.kind = super::super::super::environment::EnvironmentKind::Demo;
    let facts = [facts(0, &Money::new(i64::MAX, "EUR")), facts(1, &Money::new(1, "EUR"))];
    let plan = BulkPlan::draw(BulkRequest::Adopt, marked(&facts), &context, Now(now()));
    assert_eq!(plan.plans().len(), 1);
    assert!(plan.left_out()[0].why.why.contains("larger than any real amount"));
}

#[test]
fn only_the_whole_text_in_time_by_the_same_person_starts_it() {
    type Spoil = fn(&mut Words, &mut Context, &mut Now, &mut Baseline);
    let spoils: [(&str, Spoil); 8] = [
        ("another count", |words, _, _, _| words.phrase = words.phrase.replace(" 2 ", " 3 ")),
        ("another sum", |words, _, _, _| words.phrase.push('0')),
        ("no ticket", |words, _, _, _| words.ticket.clear()),
        ("no reason", |words, _, _, _| words.reason = "ok".to_owned()),
        ("too late", |_, _, now, _| now.0 = Seconds(121).after(now.0)),
        ("another person", |_, context, _, _| context.operator = super::super::super::ids::Operator::new("lee")),
        ("another role", |_, context, _, _| context.role = "postgres".to_owned()),
        ("no rule known", |_, _, _, rules| *rules = Baseline::default()),
    ];
    for (what, spoil) in spoils {
        let plan = plan(BulkRequest::Adopt, &euros(2));
        let (mut words, mut context, mut when) = (words(&plan), context(), Now(now()));
        let mut baseline = Baseline::of(&rules(holds(5)));
        spoil(&mut words, &mut context, &mut when, &mut baseline);
        assert!(plan.start(&words, &context, baseline, when).is_err(), "{what}");
    }
    let none = plan(BulkRequest::Adopt, &[]);
    let words = words(&none);
    assert!(none.start(&words, &context(), Baseline::of(&rules(holds(5))), Now(now())).is_err());
}

#[test]
fn the_canary_is_read_back_and_the_rules_are_read_again_before_the_second() {
    let facts = euros(3);
    let mut run = started(plan(BulkRequest::Adopt, &facts));
    let armed = run.arm_next(&facts[0], &context(), Now(now())).unwrap();
    assert_eq!(armed.order().reason.split(" [bulk ").next(), Some("look-ups show them captured"));
    assert!(armed.order().reason.ends_with(", 1 of 3]"), "{}", armed.order().reason);
    assert_eq!(armed.id(), facts[0].detail.record.id);
    assert_eq!(run.progress(), Progress::Sent);
    assert!(run.arm_next(&facts[1], &context(), Now(now())).is_err(), "one at a time");
    let read_back = run.ended(&done(), Some(&adopted(&facts[0], 1)), None);
    assert!(read_back.iter().all(|(_, said)| matches!(said, Said::Yes(_))), "{read_back:?}");
    assert_eq!(run.progress(), Progress::Canary);
    assert!(run.arm_next(&facts[1], &context(), Now(now())).is_err(), "the rules come first");
    let later = |seconds: u64| Seconds(seconds).after(now());
    // A poll from before, and one that has not read the rules since, do not count.
    run.see_rules(&rules(holds(0)), later(0));
    run.see_rules(&rules(holds(0)), later(2));
    assert_eq!((run.progress(), run.unread(&rules(holds(0)))), (Progress::Canary, 1));
    run.see_rules(&rules(RuleState::Holds { checked_at: later(3), audited_at: None }), later(3));
    assert_eq!(run.progress(), Progress::Next(facts[1].detail.record.id.clone()));
    for nth in [1, 2] {
        run.arm_next(&facts[nth], &context(), Now(later(4))).unwrap();
        run.ended(&done(), Some(&adopted(&facts[nth], 4)), None);
    }
    assert_eq!(run.progress(), Progress::Finished);
}

/// Every surprise, after the canary was sent: nothing is armed any more.
#[test]
fn any_surprise_stops_the_run() {
    type Surprise = fn(&mut BulkArmed, &Dossier);
    let surprises: [(&str, Surprise); 10] = [
        ("refused", |run, facts| {
            run.ended(&Outcome::Refused { why: "no".to_owned() }, Some(facts), None);
        }),
        ("conflict", |run, facts| {
            run.ended(&Outcome::Conflict { why: "attempt".to_owned() }, Some(facts), None);
        }),
        ("unknown", |run, facts| {
            run.ended(&Outcome::Unknown { why: "lost".to_owned(), intent: None }, Some(&adopted(facts, 1)), None);
        }),
        ("done, not read back", |run, _| {
            run.ended(&done(), None, None);
        }),
        ("done, and the record says no", |run, facts| {
            run.ended(&done(), Some(facts), None);
        }),
        ("done, with another charge", |run, facts| {
            let mut after = adopted(facts, 1);
            after.detail.record.provider_ref = Some(super::super::super::ids::ProviderRef::new("ch_other"));
            run.ended(&done(), Some(&after), None);
        }),
        ("a new breach", |run, facts| {
            run.ended(&done(), Some(&adopted(facts, 1)), None);
            run.see_rules(&rules(broken(&["key-000"], Seconds(3).after(now()))), Seconds(3).after(now()));
        }),
        ("a rule that can no longer be judged", |run, facts| {
            run.ended(&done(), Some(&adopted(facts, 1)), None);
            run.see_rules(&rules(RuleState::NotKnown { why: "x".to_owned() }), Seconds(3).after(now()));
        }),
        ("rules that are not read again", |run, facts| {
            run.ended(&done(), Some(&adopted(facts, 1)), None);
            run.see_rules(&rules(holds(0)), Seconds(200).after(now()));
        }),
        ("a person", |run, facts| {
            run.stop(Refused::new("You stopped it.", ""));
            run.ended(&done(), Some(&adopted(facts, 1)), None);
        }),
    ];
    for (what, surprise) in surprises {
        let facts = euros(3);
        let mut run = started(plan(BulkRequest::Adopt, &facts));
        run.arm_next(&facts[0], &context(), Now(now())).unwrap();
        surprise(&mut run, &facts[0]);
        assert!(matches!(run.progress(), Progress::Stopped(_)), "{what}: {:?}", run.progress());
        // Whatever good comes later: it stays stopped.
        let later = Seconds(9).after(now());
        run.see_rules(&rules(RuleState::Holds { checked_at: later, audited_at: None }), later);
        assert!(run.arm_next(&facts[1], &context(), Now(now())).is_err(), "{what}");
        assert!(matches!(run.progress(), Progress::Stopped(_)), "{what}");
    }
}

#[test]
fn a_breach_that_was_there_before_does_not_stop_it() {
    let before = rules(broken(&["old"], ago(9)));
    let facts = euros(2);
    let plan = plan(BulkRequest::Adopt, &facts);
    let words = words(&plan);
    let mut run = plan.start(&words, &context(), Baseline::of(&before), Now(now())).unwrap();
    run.arm_next(&facts[0], &context(), Now(now())).unwrap();
    run.ended(&done(), Some(&adopted(&facts[0], 1)), None);
    let later = Seconds(5).after(now());
    run.see_rules(&rules(broken(&["old"], later)), later);
    assert!(matches!(run.progress(), Progress::Next(_)), "{:?}", run.progress());
    run.see_rules(&rules(broken(&["old", "new"], later)), later);
    let Progress::Stopped(why) = run.progress() else { panic!("{:?}", run.progress()) };
    assert!(why.why.contains("A new breach of I1") && why.why.contains("shop-eu/new"), "{why}");
}

#[test]
fn rules_that_do_not_judge_young_rows_are_waited_for_until_they_judge_the_canary() {
    let mut context = context();
    context.policy.rules.grace_s = Some(30);
    let facts = euros(2);
    let plan = BulkPlan::draw(BulkRequest::Adopt, marked(&facts), &context, Now(now()));
    let words = words(&plan);
    let mut run = plan.start(&words, &context, Baseline::of(&rules(holds(5))), Now(now())).unwrap();
    run.arm_next(&facts[0], &context, Now(now())).unwrap();
    run.ended(&done(), Some(&adopted(&facts[0], 1)), None);
    for (seconds, expected) in [(20, false), (31, false), (32, true)] {
        let at = Seconds(seconds).after(now());
        run.see_rules(&rules(RuleState::Holds { checked_at: at, audited_at: None }), at);
        assert_eq!(matches!(run.progress(), Progress::Next(_)), expected, "{seconds}");
    }
}

#[test]
fn a_slow_rule_vouches_with_its_last_look() {
    let slow = vec![rule("I12", 60, holds(50)), rule("I1", 10, holds(5))];
    let baseline = Baseline::of(&slow);
    assert_eq!((baseline.unread(&slow, now()), baseline.len()), (1, 2));
}

#[test]
fn a_list_that_was_confirmed_long_ago_is_not_gone_on_with() {
    let facts = euros(2);
    for when in [Seconds(601).after(now()), Seconds(1).before(now())] {
        let mut run = started(plan(BulkRequest::LookUp, &facts));
        assert!(run.arm_next(&facts[0], &context(), Now(when)).is_err());
        assert!(matches!(run.progress(), Progress::Stopped(_)));
    }
}

#[test]
fn the_third_look_up_without_an_answer_is_the_last() {
    let facts = euros(6);
    let mut run = started(plan(BulkRequest::LookUp, &facts));
    let silent = || Evidence {
        id: Some(super::super::super::ids::EvidenceId(2_000_000)),
        ..asked(0, LookupOutcome::Unreachable { why: "timed out".to_owned(), retry_after_s: None })
    };
    let after = |facts: &Dossier, evidence: &Evidence| {
        let mut after = facts.clone();
        after.evidence.insert(0, evidence.clone());
        after
    };
    for (nth, evidence) in [(0, silent()), (1, found(0, vec![])), (2, silent()), (3, silent())] {
        let evidence = Evidence { id: Some(super::super::super::ids::EvidenceId(2_000_000)), ..evidence };
        assert!(matches!(run.progress(), Progress::Next(_)), "{nth}");
        run.arm_next(&facts[nth], &context(), Now(now())).unwrap();
        run.ended(&done(), Some(&after(&facts[nth], &evidence)), Some(&evidence));
    }
    let Progress::Stopped(why) = run.progress() else { panic!("{:?}", run.progress()) };
    assert!(why.why.contains("3 look-ups got no answer"), "{why}");
}

#[test]
fn an_answer_that_was_not_kept_is_a_surprise_unless_nothing_was_to_be_kept() {
    let facts = euros(2);
    let evidence = Evidence { id: None, ..found(0, vec![]) };
    let mut run = started(plan(BulkRequest::LookUp, &facts));
    run.arm_next(&facts[0], &context(), Now(now())).unwrap();
    run.ended(&done(), Some(&facts[0]), Some(&evidence));
    assert!(matches!(run.progress(), Progress::Stopped(_)));
    let mut run = started(plan(BulkRequest::LookUp, &facts));
    run.arm_next(&facts[0], &context(), Now(now())).unwrap();
    run.ended(&Outcome::Done { log: None, detail: None }, Some(&facts[0]), Some(&evidence));
    assert!(matches!(run.progress(), Progress::Next(_)));
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// A marked record: its amount, currency, how it is spoiled, and at which place another's facts are offered.
    fn anything() -> impl Strategy<Value = Vec<(i64, &'static str, u8)>> {
        let currency = prop_oneof![Just("EUR"), Just("JPY"), Just("KWD")];
        proptest::collection::vec((1..2_000_000_i64, currency, 0..8_u8), 0..14)
    }

    proptest! {
        #[test]
        fn what_is_armed_was_on_the_list_as_it_was_and_sums_are_of_one_currency(
            cast in anything(), swap in 0..14_usize, late in 0..14_usize,
        ) {
            let mut context = context();
            for money in [Money::new(1_000_000, "JPY"), Money::new(1_000_000, "KWD")] {
                context.policy.approval_limits.set(money);
            }
            let mut all = Vec::new();
            let mut marks = Vec::new();
            for (nth, (minor, currency, spoil)) in cast.iter().enumerate() {
                let mut facts = facts(nth, &Money::new(*minor, currency));
                match spoil {
                    0 => facts.evidence.clear(),
                    1 => facts.detail.record.lease.until = Some(Seconds(60).after(now())),
                    2 => facts.detail.record.status = RecordStatus::Done,
                    3 => facts.approvals = vec![],
                    _ => {}
                }
                let mut target = facts.detail.record.target();
                if *spoil == 4 {
                    target.version = Version::new("older");
                }
                marks.push(Marked { target, read: Ok(Box::new(facts.clone())) });
                all.push(facts);
            }
            let plan = BulkPlan::draw(BulkRequest::Adopt, marks, &context, Now(now()));
            prop_assert!(plan.plans().len() <= 10);
            prop_assert_eq!(plan.plans().len() + plan.left_out().len(), cast.len(), "nothing is dropped silently");
            // The sums, counted another way.
            for sum in plan.totals().iter() {
                let of = |plan: &Plan| plan.record().money.clone().filter(|m| m.currency == sum.currency).map_or(0, |m| m.minor);
                prop_assert_eq!(sum.minor, plan.plans().iter().map(of).sum::<i64>());
                let said = format!("{} {}", sum.currency, sum.amount());
                prop_assert!(plan.phrase().shown().contains(&said));
            }
            let start = format!("prod {}", plan.plans().len());
            prop_assert!(plan.phrase().shown().starts_with(&start));
            let listed: Vec<(RecordId, Version)> =
                plan.plans().iter().map(|plan| (plan.record().id.clone(), plan.record().version.clone())).collect();
            let words = words(&plan);
            let Ok(mut run) = plan.start(&words, &context, Baseline::of(&rules(holds(5))), Now(now())) else {
                prop_assert!(listed.is_empty());
                return Ok(());
            };
            let mut armed = Vec::new();
            for step in 0..20_u64 {
                let Progress::Next(id) = run.progress() else { break };
                let own = all.iter().position(|facts| facts.detail.record.id == id);
                // Sometimes another record's facts come back, or the record has changed.
                let place = if armed.len() == swap { (own.unwrap_or(0) + 1) % all.len() } else { own.unwrap_or(0) };
                let mut read = all[place].clone();
                if armed.len() == late {
                    read.detail.record.version = Version::new("newer");
                }
                let Ok(change) = run.arm_next(&read, &context, Now(now())) else {
                    prop_assert!(matches!(run.progress(), Progress::Stopped(_)));
                    break;
                };
                prop_assert_eq!(&change.id(), &read.detail.record.id);
                prop_assert_eq!(&change.order().version, &read.detail.record.version);
                armed.push((change.id(), change.order().version.clone()));
                run.ended(&done(), Some(&adopted(&read, step)), None);
                let later = Seconds(step + 1).after(now());
                run.see_rules(&rules(RuleState::Holds { checked_at: later, audited_at: None }), later);
            }
            prop_assert_eq!(&armed[..], &listed[..armed.len()], "in the order of the list, and nothing else");
            let tripped = swap.min(late);
            prop_assert!(armed.len() <= tripped || armed.len() == listed.len() || all.len() == 1);
        }
    }
}

#[test]
fn an_approval_does_not_put_a_record_on_a_list() {
    // What a second person saw was one plan.
    let mut facts = facts(0, &Money::new(2_000_000, "EUR"));
    let one = draw(Request::Resume, &facts, &context(), Now(now())).unwrap();
    facts.approvals = vec![approval_of(&one, super::super::super::approval::ApprovalState::Approved, 60)];
    let plan = plan(BulkRequest::Adopt, &[facts]);
    assert_eq!((plan.plans().len(), plan.left_out().len()), (0, 1));
    assert!(plan.left_out()[0].why.way_out.contains("Do it alone"), "{:?}", plan.left_out());
}
