use proptest::prelude::*;

use super::super::evidence::{Absence, Mode};
use super::super::ids::{Key, PaymentId, ProviderRef, Scope};
use super::super::money::Money;
use super::super::record::{RecoveryPoint, Sibling};
use super::super::samples::{ago, asked, found, hit, nothing, now, order_only, stuck, terms};
use super::super::time::Seconds;
use super::*;

fn me() -> Holder {
    Holder::new("operator:dana")
}

fn decide(detail: &RecordDetail, evidence: &[Evidence]) -> Decision {
    next_step(detail, evidence, &me(), &Policy::default(), &terms(), now())
}

fn paid(payment: &str, charge: &str) -> Sibling {
    Sibling {
        payment: PaymentId::new(payment),
        status: PaymentStatus::Succeeded,
        money: Some(Money::new(12_840, "EUR")),
        provider_ref: Some(ProviderRef::new(charge)),
        scope: Scope::new("shop-eu"),
        key: Key::new("other"),
    }
}

#[test]
fn row_1_a_live_lease_of_another_is_left_alone() {
    let mut detail = stuck();
    detail.record.lease.until = Some(Seconds(10).after(now()));
    let decision = decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]);
    assert_eq!(decision.row, 1);
    detail.record.lease.holder = Some(me());
    assert_eq!(decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).row, 10, "one's own hold goes on");
}

#[test]
fn rows_2_and_3_done_is_done_unless_the_provider_says_otherwise() {
    let mut detail = stuck();
    detail.record.status = RecordStatus::Done;
    detail.record.payment_status = Some(PaymentStatus::Failed);
    assert_eq!(decide(&detail, &[]).step, Step::NothingToDo);
    assert_eq!(decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).row, 2);
    detail.record.payment_status = Some(PaymentStatus::Succeeded);
    detail.record.provider_ref = Some(ProviderRef::new("ch_1"));
    assert_eq!(decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).row, 3);
}

#[test]
fn row_4_an_order_that_is_paid_is_not_paid_again() {
    let mut detail = stuck();
    detail.siblings = vec![paid("pay_2", "ch_2")];
    let both = decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]);
    assert_eq!(both.row, 4);
    let Step::Refuse(refusal) = both.step else { panic!("must refuse") };
    assert!(refusal.why.contains("pay_2") && refusal.why.contains("ch_1"), "{}", refusal.why);
    let given_back = decide(&detail, &[found(5, vec![hit("ch_1", Class::Reversed)])]);
    assert!(matches!(given_back.step, Step::FinishAsReversed { .. }));
    // What can still take money beside it, or a charge of the other mode, ends nothing.
    for class in [Class::Pending, Class::Open, Class::Unrecognised, Class::Authorised] {
        let beside = [found(5, vec![hit("ch_1", Class::Reversed), hit("ch_3", class)])];
        let decision = decide(&detail, &beside);
        assert!(decision.row == 4 && matches!(decision.step, Step::Wait { .. }), "{class}: {decision:?}");
    }
    let failed_beside = [found(5, vec![hit("ch_1", Class::Reversed), hit("ch_3", Class::Failed)])];
    assert!(matches!(decide(&detail, &failed_beside).step, Step::FinishAsReversed { .. }));
    let live = Policy { mode: Some(Mode::Live), ..Policy::default() };
    let test = [found(5, vec![Observed { mode: Some(Mode::Test), ..hit("ch_1", Class::Reversed) }])];
    let decision = next_step(&detail, &test, &me(), &live, &terms(), now());
    assert!(matches!(decision.step, Step::Refuse(_)), "{decision:?}");
}

#[test]
fn a_charge_that_took_money_and_vanished_decides_nothing() {
    let earlier = found(60, vec![hit("ch_9", Class::Succeeded)]);
    for latest in [Class::Failed, Class::Succeeded] {
        let decision = decide(&stuck(), &[found(5, vec![hit("ch_1", latest)]), earlier.clone()]);
        let Step::Refuse(refusal) = &decision.step else { panic!("{latest}: {decision:?}") };
        assert!(decision.row == 8 && refusal.why.contains("ch_9"), "{refusal:?}");
    }
    // The same charge under another word is what the provider says now.
    assert_eq!(decide(&stuck(), &[found(5, vec![hit("ch_9", Class::Failed)]), earlier]).row, 12);
}

#[test]
fn row_5_without_fresh_evidence_look_up_first() {
    assert_eq!(decide(&stuck(), &[]).row, 5);
    assert_eq!(decide(&stuck(), &[found(301, vec![hit("ch_1", Class::Succeeded)])]).row, 5);
    let mut called_again = stuck();
    called_again.last_attempt_at = Some(ago(3));
    assert_eq!(decide(&called_again, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).row, 5);
    let mut charged = stuck();
    charged.record.recovery_point = Some(RecoveryPoint::Charged);
    charged.record.provider_ref = Some(ProviderRef::new("ch_1"));
    assert_eq!(decide(&charged, &[]).row, 5, "a stored ref is verified before it is adopted");
}

#[test]
fn row_6_no_answer_concludes_nothing() {
    let silent = LookupOutcome::Unreachable { why: "time-out".to_owned(), retry_after_s: Some(7) };
    let Step::Wait { look_again, .. } = decide(&stuck(), &[asked(5, silent)]).step else { panic!("must wait") };
    assert_eq!(look_again, Seconds(7).after(ago(5)));
}

#[test]
fn row_7_what_does_not_fit_is_refused() {
    let mut other_amount = hit("ch_1", Class::Succeeded);
    other_amount.money.amount = 12_841;
    let mut part = hit("ch_1", Class::Succeeded);
    part.money.captured = Some(1);
    let mut refunded = hit("ch_1", Class::Succeeded);
    refunded.money.refunded = Some(1);
    let mut dollars = hit("ch_1", Class::Succeeded);
    dollars.money.currency = "USD".to_owned();
    for odd in [other_amount, part, refunded, dollars, hit("ch_1", Class::Reversed)] {
        assert_eq!(decide(&stuck(), &[found(5, vec![odd.clone()])]).row, 7, "{odd:?}");
    }
    let live = Policy { mode: Some(super::super::evidence::Mode::Live), ..Policy::default() };
    let mut test_mode = hit("ch_1", Class::Succeeded);
    test_mode.mode = Some(super::super::evidence::Mode::Test);
    let decision = next_step(&stuck(), &[found(5, vec![test_mode])], &me(), &live, &terms(), now());
    assert_eq!(decision.row, 7);
}

#[test]
fn row_8_two_charges_are_never_take_the_newest() {
    let two = vec![hit("ch_1", Class::Succeeded), hit("ch_2", Class::Succeeded)];
    assert_eq!(decide(&stuck(), &[found(5, two)]).row, 8);
    let with_the_orders = vec![hit("ch_1", Class::Succeeded), order_only("ch_2", Class::Succeeded)];
    assert_eq!(decide(&stuck(), &[found(5, with_the_orders)]).row, 8);
}

#[test]
fn a_charge_of_the_order_alone_never_decides() {
    let decision = decide(&stuck(), &[found(5, vec![order_only("ch_2", Class::Succeeded)])]);
    assert!(matches!(decision.step, Step::Refuse(_)), "{decision:?}");
    let failed = decide(&stuck(), &[found(5, vec![order_only("ch_2", Class::Failed)])]);
    assert!(matches!(failed.step, Step::Refuse(_)), "{failed:?}");
}

#[test]
fn a_charge_that_belongs_to_another_payment_is_not_adopted() {
    let mut detail = stuck();
    detail.siblings = vec![Sibling { status: PaymentStatus::Unknown, ..paid("pay_2", "ch_1") }];
    assert!(matches!(decide(&detail, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).step, Step::Refuse(_)));
    let mut owned = stuck();
    owned.ref_owner = Some(PaymentId::new("pay_9"));
    assert!(matches!(decide(&owned, &[found(5, vec![hit("ch_1", Class::Succeeded)])]).step, Step::Refuse(_)));
}

#[test]
fn rows_9_to_12_only_a_final_word_is_final() {
    let of = |hits| decide(&stuck(), &[found(5, hits)]);
    assert_eq!(of(vec![hit("ch_1", Class::Succeeded), hit("ch_2", Class::Pending)]).row, 9);
    assert_eq!(of(vec![hit("ch_1", Class::Succeeded)]).row, 10);
    assert_eq!(
        of(vec![hit("ch_1", Class::Succeeded), hit("ah_2", Class::Authorised), hit("ch_3", Class::Failed)]).row,
        10
    );
    for class in [Class::Authorised, Class::Pending, Class::Open, Class::Unrecognised] {
        assert_eq!(of(vec![hit("ch_1", class), hit("ch_2", Class::Failed)]).row, 11, "{class:?}");
    }
    assert_eq!(of(vec![hit("ch_1", Class::Failed), hit("ch_2", Class::Failed)]).row, 12);
}

#[test]
fn row_13_a_stored_ref_the_provider_does_not_know_is_handed_over() {
    let mut detail = stuck();
    detail.record.provider_ref = Some(ProviderRef::new("ch_1"));
    assert_eq!(decide(&detail, &[nothing(400), nothing(5)]).row, 13);
}

#[test]
fn row_14_one_not_found_is_no_proof() {
    assert_eq!(decide(&stuck(), &[nothing(5)]).row, 14);
    assert_eq!(decide(&stuck(), &[nothing(100), nothing(5)]).row, 14, "too close together");
    assert_eq!(decide(&stuck(), &[nothing(2_400), nothing(5)]).row, 14, "too far apart");
    let search = LookupOutcome::NotFound { absence: Absence::MayHaveMissed, why: "index".to_owned() };
    assert_eq!(decide(&stuck(), &[nothing(400), asked(5, search)]).row, 14);
    let found_before = [nothing(400), found(200, vec![hit("ch_1", Class::Succeeded)]), nothing(5)];
    assert_eq!(decide(&stuck(), &found_before).row, 14);
    let mut recent = stuck();
    recent.last_attempt_at = Some(ago(450));
    recent.record.lease.until = Some(ago(450));
    assert_eq!(decide(&recent, &[nothing(400), nothing(5)]).row, 14, "the first was before the settle time");
}

#[test]
fn rows_15_to_17_absence_is_proven_and_the_key_decides() {
    let proof = [nothing(400), nothing(5)];
    assert_eq!(decide(&stuck(), &proof).step, Step::HandBack);
    let mut old = stuck();
    old.record.first_key_use = Some(ago(86_400 + 3_600));
    assert_eq!(decide(&old, &proof).step, Step::FinishAsNotCharged);
    let mut nearly = stuck();
    nearly.record.first_key_use = Some(ago(86_400 - 1_800));
    assert_eq!(decide(&nearly, &proof).row, 14, "the key may be forgotten at any moment");
    let no_keys = ProviderTerms { key_retention: None, settle: Seconds(60) };
    assert_eq!(next_step(&stuck(), &proof, &me(), &Policy::default(), &no_keys, now()).row, 17);
    let mut paid_order = stuck();
    paid_order.siblings = vec![paid("pay_2", "ch_2")];
    assert!(matches!(decide(&paid_order, &proof).step, Step::Refuse(_)), "a paid order is never charged again");
}

fn any_class() -> impl Strategy<Value = Class> {
    prop::sample::select(vec![
        Class::Succeeded,
        Class::Authorised,
        Class::Pending,
        Class::Open,
        Class::Failed,
        Class::Reversed,
        Class::Unrecognised,
    ])
}

fn any_hit() -> impl Strategy<Value = Observed> {
    (any_class(), 0_u8..4, any::<bool>(), prop::sample::select(vec![12_840_i64, 1, 0]), any::<bool>()).prop_map(
        |(class, number, own, amount, refunded)| {
            let name = format!("ch_{number}");
            let mut hit = if own { hit(&name, class) } else { order_only(&name, class) };
            hit.money.amount = amount;
            if refunded {
                hit.money.refunded = Some(1);
            }
            hit
        },
    )
}

pub(in crate::domain) fn any_evidence() -> impl Strategy<Value = Vec<Evidence>> {
    let one = (0_u64..3_000, prop::option::of(prop::collection::vec(any_hit(), 0..4)), any::<bool>()).prop_map(
        |(age, hits, reachable)| match (hits, reachable) {
            (Some(hits), _) => found(age, hits),
            (None, true) => nothing(age),
            (None, false) => asked(age, LookupOutcome::Unreachable { why: "down".to_owned(), retry_after_s: None }),
        },
    );
    prop::collection::vec(one, 0..4)
}

pub(in crate::domain) fn any_detail() -> impl Strategy<Value = RecordDetail> {
    let lease =
        prop::sample::select(vec![(-1_200_i64, "pod-a"), (30, "pod-a"), (30, "operator:dana"), (30, "operator:lee")]);
    let siblings = prop::collection::vec((0_u8..4, any::<bool>()), 0..2);
    (lease, siblings, 0_u64..100_000, prop::option::of(0_u8..4), any::<bool>()).prop_map(
        |((offset, holder), siblings, first_use, stored, done)| {
            let mut detail = stuck();
            detail.record.lease.until = chrono::TimeDelta::try_seconds(offset).map(|offset| now() + offset);
            detail.record.lease.holder = Some(Holder::new(holder));
            detail.record.first_key_use = Some(ago(first_use));
            detail.record.provider_ref = stored.map(|number| ProviderRef::new(format!("ch_{number}")));
            detail.siblings = siblings
                .into_iter()
                .map(|(number, succeeded)| Sibling {
                    status: if succeeded { PaymentStatus::Succeeded } else { PaymentStatus::Failed },
                    ..paid("pay_2", &format!("ch_{number}"))
                })
                .collect();
            if done {
                detail.record.status = RecordStatus::Done;
            }
            detail
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_leads_to_a_step_that_can_hurt(detail in any_detail(), evidence in any_evidence()) {
        let decision = decide(&detail, &evidence);
        let latest = evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id));
        let fresh = latest.is_some_and(|latest| time::age(latest.started_at, now()) <= Seconds(300));
        let live_for_another = detail.record.lease.is_live(now()) && detail.record.lease.holder != Some(me());
        let hits: Vec<&Observed> = latest.into_iter().flat_map(|latest| match &latest.outcome {
            LookupOutcome::Found { observed } => observed.iter().collect(),
            LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. } => Vec::new(),
        }).collect();
        let paid_otherwise = detail.siblings.iter().any(|sibling| sibling.status == PaymentStatus::Succeeded);
        match &decision.step {
            Step::Adopt { charge } => {
                prop_assert!(fresh && !live_for_another && detail.record.status == RecordStatus::Processing);
                prop_assert_eq!(charge.class, Class::Succeeded);
                prop_assert_eq!(Some(charge.money()), detail.record.money.clone());
                prop_assert_eq!(charge.matches(&detail), Match::Decides);
                prop_assert!(detail.siblings.iter().all(|sibling| sibling.provider_ref.as_ref() != Some(&charge.provider_ref)));
                prop_assert!(!paid_otherwise);
                let moved = hits.iter().filter(|hit| hit.class.moved_money()).count();
                prop_assert_eq!(moved, 1, "never take one of several");
            }
            Step::FinishAsFailed { .. } => {
                prop_assert!(fresh && !live_for_another);
                prop_assert!(hits.iter().filter(|hit| hit.matches(&detail) == Match::Decides).all(|hit| hit.class == Class::Failed));
            }
            Step::HandBack => {
                prop_assert!(fresh && !live_for_another && hits.is_empty() && !paid_otherwise);
                prop_assert!(detail.record.provider_ref.is_none());
            }
            Step::FinishAsNotCharged => prop_assert!(fresh && !live_for_another && hits.is_empty()),
            Step::FinishAsReversed { charge } => prop_assert!(charge.class == Class::Reversed && paid_otherwise),
            Step::Refuse(refusal) => prop_assert!(!refusal.why.is_empty() && !refusal.way_out.is_empty()),
            Step::Wait { why, .. } | Step::LookUpFirst { why } => prop_assert!(!why.is_empty()),
            Step::NothingToDo => prop_assert_eq!(&detail.record.status, &RecordStatus::Done),
        }
    }
}
