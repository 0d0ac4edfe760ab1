use super::super::approval::{ResumeState, Standing};
use super::super::evidence::{Class, Evidence};
use super::super::ids::{ResumeId, Version};
use super::super::promise::Promise;
use super::super::record::RecordDetail;
use super::super::samples::{context, dossier, found, handed_back, hit, now, stuck};
use super::super::time::{Now, Seconds};
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
        incident: String::new(),
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

fn proof() -> Vec<Evidence> {
    vec![super::super::samples::nothing(5), super::super::samples::nothing(400)]
}

#[test]
fn hand_back_shows_its_plan_and_is_refused_without_a_second_person() {
    let facts = dossier(stuck(), proof());
    let plan = draw(Request::Resume, &facts, &context(), Now(now())).unwrap();
    assert!(matches!(plan.change(), Change::HandBack { .. }));
    assert!(matches!(plan.standing(&facts, &context()), Standing::ToAsk { last: None, .. }));
    assert!(plan.promises().iter().any(|promise| promise.asked().contains("CHARGE")));
    let refused = plan.arm(&facts, &words(), &context(), Now(now())).unwrap_err();
    assert!(refused.why.contains("a second person approves, always"), "{refused}");
}

#[test]
fn a_look_up_made_again_that_says_the_same_leads_to_the_same_plan() {
    let first = draw(Request::Resume, &dossier(stuck(), proof()), &context(), Now(now())).unwrap();
    let mut evidence = proof();
    evidence.insert(0, super::super::samples::nothing(1));
    let again = draw(Request::Resume, &dossier(stuck(), evidence), &context(), Now(now())).unwrap();
    assert_eq!(first.hash(), again.hash());
    assert_ne!(first.change(), again.change(), "it rests on other rows");
    let charged = draw(Request::Resume, &facts(), &context(), Now(now())).unwrap();
    let mut other = facts();
    other.evidence = vec![found(1, vec![hit("ch_other", Class::Succeeded)])];
    let other = draw(Request::Resume, &other, &context(), Now(now())).unwrap();
    assert_ne!(charged.hash(), other.hash());
}

#[test]
fn a_look_up_of_somebody_else_is_nothing_to_act_on() {
    let mut facts = facts();
    facts.evidence[0].operator = Operator::new("lee");
    let refused = draw(Request::Resume, &facts, &context(), Now(now())).unwrap_err();
    assert!(refused.why.contains("lee's") && refused.way_out.contains("yourself"), "{refused}");
}

#[test]
fn a_hold_does_not_carry_a_record_over_the_end_of_its_key() {
    let drawn = |used: u64| {
        let mut facts = facts();
        facts.detail.record.first_key_use = Some(super::super::samples::ago(used));
        draw(Request::Hold, &facts, &context(), Now(now()))
    };
    // A day's key, an hour's margin, a quarter of an hour's hold.
    let latest = 86_400 - 3_600 - 900;
    let plan = drawn(latest).unwrap();
    assert!(matches!(plan.change(), Change::Hold { length: Seconds(900) }), "{:?}", plan.change());
    for used in [latest + 1, 86_400 - 3_600, 86_399] {
        let refused = drawn(used).unwrap_err();
        assert!(refused.why.contains("may forget the key"), "{used}: {refused}");
    }
    assert!(drawn(86_400).is_ok(), "once the key is over there is nothing left to lose");
}

#[test]
fn a_record_one_holds_is_not_handed_back() {
    let mut detail = stuck();
    detail.record.lease =
        super::super::record::Lease { until: Some(Seconds(60).after(now())), holder: Some(context().holder()) };
    let refused = draw(Request::Resume, &dossier(detail, proof()), &context(), Now(now())).unwrap_err();
    assert!(!refused.way_out.is_empty(), "{refused}");
}

mod hurts {
    //! No facts, however odd, arm a change that can hurt.

    use proptest::prelude::*;

    use super::super::super::approval::{ApprovalRequest, ApprovalState};
    use super::super::super::evidence::{Absence, LookupOutcome};
    use super::super::super::record::RecordStatus;
    use super::super::super::recovery::tests::{any_detail, any_evidence};
    use super::super::super::samples::{approval_of, context, dossier, now};
    use super::*;

    fn any_state() -> impl Strategy<Value = ApprovalState> {
        prop::sample::select(vec![
            ApprovalState::Waiting,
            ApprovalState::Approved,
            ApprovalState::Refused,
            ApprovalState::Withdrawn,
            ApprovalState::Expired,
            ApprovalState::Lapsed,
            ApprovalState::Used,
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_ends_or_may_charge_has_a_final_word_or_a_second_person(
            detail in any_detail(),
            evidence in any_evidence(),
            states in prop::collection::vec((any_state(), any::<bool>(), any::<bool>(), 0_u64..1_200), 0..3),
            incident in prop::sample::select(vec!["", "INC-7"]),
            dear in any::<bool>(),
        ) {
            let mut context = context();
            if dear {
                context.policy.approval_limits = std::iter::once(super::super::super::money::Money::new(1, "EUR")).collect();
            }
            let mut facts = dossier(detail, evidence);
            let Ok(plan) = draw(Request::Resume, &facts, &context, Now(now())) else { return Ok(()) };
            facts.approvals = states
                .into_iter()
                .map(|(state, mine, same, age)| {
                    let mut request: ApprovalRequest = approval_of(&plan, state, age);
                    if !mine {
                        request.operator = Operator::new("lee");
                    }
                    if !same {
                        request.plan_hash = super::super::super::ids::PlanHash::new("0".repeat(64));
                    }
                    request
                })
                .collect();
            let hash = plan.hash().clone();
            let phrase = plan.phrase().shown().to_owned();
            let words = Words { phrase, incident: incident.to_owned(), ..words() };
            let Ok(armed) = plan.arm(&facts, &words, &context, Now(now())) else { return Ok(()) };
            prop_assert_eq!(facts.detail.record.status.clone(), RecordStatus::Processing);
            let counts = |state: ApprovalState| facts.approvals.iter().any(|request| {
                Some(request.number) == armed.order().approval
                    && request.state == state
                    && request.plan_hash == hash
                    && request.operator == context.operator
            });
            let approved = counts(ApprovalState::Approved);
            let glass = counts(ApprovalState::Waiting) && armed.order().incident.as_deref() == Some("INC-7");
            let absent = facts.evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id)).is_some_and(|latest| {
                matches!(latest.outcome, LookupOutcome::NotFound { absence: Absence::Consistent, .. })
            });
            match armed.change() {
                Change::Adopt { .. } => prop_assert!(!dear || approved || glass),
                Change::Fail { .. } => prop_assert!(!dear || approved, "a final no may not break the glass"),
                Change::Reverse { .. } => prop_assert!(approved),
                Change::NotCharged { proof, .. } | Change::HandBack { proof, .. } => {
                    prop_assert!(approved && absent && proof.first != proof.latest);
                    prop_assert!(facts.detail.record.provider_ref.is_none());
                }
                Change::LookUp
                | Change::Hold { .. }
                | Change::Release
                | Change::Withdraw { .. }
                | Change::Note
                | Change::HandOver => {
                    prop_assert!(false, "a resume is none of these");
                }
            }
        }
    }
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

#[test]
fn an_open_hand_back_keeps_everybody_else_off_until_it_is_withdrawn() {
    let drawn = |request, state| {
        let facts = Dossier {
            resumes: vec![handed_back(state, 30)],
            ..dossier(stuck(), vec![found(5, vec![hit("ch_1", Class::Succeeded)])])
        };
        draw(request, &facts, &context(), Now(now()))
    };
    for state in [ResumeState::Waiting, ResumeState::Unanswered] {
        for request in [Request::Resume, Request::Hold] {
            let refused = drawn(request, state).unwrap_err();
            assert!(
                refused.why.contains("Handed back at") && refused.way_out.contains("withdraw it first"),
                "{refused}"
            );
        }
        let plan = drawn(Request::Withdraw, state).unwrap();
        assert_eq!(plan.promises(), [Promise::Withdrawn { resume: ResumeId(7) }]);
        assert!(drawn(Request::LookUp, state).is_ok() && drawn(Request::HandOver, state).is_ok());
    }
    // Taken, and its lease over: what the table says holds, but nothing is taken back any more.
    assert!(drawn(Request::Resume, ResumeState::Taken).is_ok() && drawn(Request::Hold, ResumeState::Taken).is_ok());
    for ended in [ResumeState::Taken, ResumeState::Finished, ResumeState::Refused, ResumeState::Withdrawn] {
        assert!(drawn(Request::Withdraw, ended).is_err(), "{ended:?}");
    }
    assert!(drawn(Request::Resume, ResumeState::Expired).is_ok());
}

#[test]
fn taking_back_is_a_consent_about_this_hand_back_and_only_with_a_reason() {
    let facts = |state| Dossier { resumes: vec![handed_back(state, 30)], ..dossier(stuck(), vec![]) };
    let plan = || draw(Request::Withdraw, &facts(ResumeState::Unanswered), &context(), Now(now())).unwrap();
    let words = Words { reason: "the recoverer is switched off".to_owned(), ..Words::default() };
    let again = facts(ResumeState::Unanswered);
    let consent = plan().take_back(&again, &words, &context(), Now(now())).unwrap();
    assert_eq!((consent.order().action, consent.order().resume), ("withdraw", Some(ResumeId(7))));
    assert!(plan().take_back(&again, &Words::default(), &context(), Now(now())).is_err(), "no reason");
    assert!(plan().take_back(&facts(ResumeState::Taken), &words, &context(), Now(now())).is_err(), "taken meanwhile");
    let mut moved = facts(ResumeState::Waiting);
    moved.detail.record.version = Version::new("other");
    assert!(plan().take_back(&moved, &words, &context(), Now(now())).is_err(), "changed meanwhile");
    let looks = draw(Request::LookUp, &again, &context(), Now(now())).unwrap();
    assert!(looks.take_back(&again, &words, &context(), Now(now())).is_err(), "another plan");
}
