//! The lanes say what the rows say: in the order in which it happened, and not known where it is not known.

use super::*;
use crate::domain::case::{SettlementLine, Webhook};
use crate::domain::evidence::Class;
use crate::domain::ids::{Key, PaymentId, ProviderRef, Scope};
use crate::domain::payment::PaymentStatus;

fn at(second: i64) -> Option<Instant> {
    Instant::from_timestamp(1_775_034_000 + second, 0)
}

fn used(key: &str, second: i64) -> Request {
    Request { at: at(second), scope: Some(Scope::new("shop")), key: Some(Key::new(key)), ..Request::default() }
}

fn record(key: &str) -> KeyRecord {
    KeyRecord { scope: Some(Scope::new("shop")), key: Some(Key::new(key)), created_at: at(0), ..KeyRecord::default() }
}

fn told(case: &Case) -> Vec<String> {
    Lanes::of(case).entries.iter().map(|entry| format!("{}: {}", entry.lane.word(), entry.what)).collect()
}

#[test]
fn what_happened_in_one_moment_is_told_as_one_thing_follows_another() {
    let hook =
        Webhook { kind: Some("charge.paid".to_owned()), at: at(0), times_applied: Some(2), ..Webhook::default() };
    let payment = |status| PaymentRow { created_at: at(0), status: Some(status), ..PaymentRow::default() };
    let case = Case {
        requests: Some(vec![Request { status: Some(201), ..used("k-1", 0) }]),
        records: Some(vec![KeyRecord { status: Some("done".to_owned()), ..record("k-1") }]),
        payments: Some(vec![payment(PaymentStatus::Succeeded)]),
        webhooks: Some(vec![hook]),
        settlements: Some(vec![SettlementLine { at: at(0), ..SettlementLine::default() }]),
        ..Case::default()
    };
    let expected = [
        "client: request",
        "API: answered 201",
        "record: record stored",
        "record: payment created",
        "record: payment is SUCCEEDED",
        "webhook: charge.paid received",
        "webhook: charge.paid applied 2 times",
        "settlement: line settled",
    ];
    assert_eq!(told(&case), expected);
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let names = ["c", "a", "b"];
    let payments: Vec<PaymentRow> =
        names.map(|id| PaymentRow { id: Some(PaymentId::new(id)), created_at: at(0), ..PaymentRow::default() }).into();
    let mut turned = payments.clone();
    turned.reverse();
    let of = |payments| Lanes::of(&Case { payments: Some(payments), ..Case::default() });
    assert_eq!(of(payments), of(turned));
}

#[test]
fn what_a_row_does_not_say_is_not_known() {
    let case = Case { requests: Some(vec![used("k-1", 0)]), records: Some(vec![record("k-1")]), ..Case::default() };
    let told = told(&case);
    assert!(told.contains(&"API: answer not known".to_owned()), "{told:?}");
    assert!(told.contains(&"record: whether the record is done is not known".to_owned()), "{told:?}");
    assert!(!Lanes::of(&case).gaps.iter().any(|(lane, _)| *lane == Lane::Api));
}

#[test]
fn a_used_key_without_a_record_is_a_gap_only_where_we_have_the_records() {
    let with = |records| Case { requests: Some(vec![used("k-1", 0), used("k-2", 9)]), records, ..Case::default() };
    let lost = |case: &Case| {
        let lanes = Lanes::of(case);
        let lost = lanes.entries.iter().filter(|entry| entry.what == "no record of this key");
        lost.filter_map(|entry| entry.reference.clone()).collect::<Vec<_>>()
    };
    assert_eq!(lost(&with(Some(vec![record("k-1")]))), ["shop/k-2"]);
    assert_eq!(lost(&with(None)), Vec::<String>::new());
}

#[test]
fn a_charge_tells_what_was_taken_not_what_was_asked_for() {
    let charge = |class, captured| Charge {
        provider_ref: Some(ProviderRef::new("ch_1")),
        class: Some(class),
        amount: Some(5_000),
        captured,
        currency: Some("EUR".to_owned()),
        ..Charge::default()
    };
    for (class, captured, said) in [
        (Class::Succeeded, Some(3_200), "provider: charge CAPTURED EUR 32.00 of EUR 50.00"),
        (Class::Succeeded, Some(5_000), "provider: charge CAPTURED EUR 50.00"),
        (Class::Succeeded, None, "provider: charge CAPTURED EUR 50.00"),
        (Class::Authorised, Some(0), "provider: charge AUTHORISED ONLY EUR 50.00"),
    ] {
        assert_eq!(told(&Case { charges: Some(vec![charge(class, captured)]), ..Case::default() }), [said]);
    }
}

#[test]
fn a_charge_before_our_request_stands_before_it_and_nothing_is_lost_of_many() {
    let charge = Charge { created_at: at(-3), ..Charge::default() };
    let requests = (0..500).map(|second| used("k-1", second)).collect();
    let lanes = Lanes::of(&Case { charges: Some(vec![charge]), requests: Some(requests), ..Case::default() });
    assert_eq!((lanes.entries.len(), lanes.entries.first().map(|entry| entry.lane)), (1_001, Some(Lane::Provider)));
    assert_eq!(lanes.entries.get(1).and_then(|entry| lanes.after_start(entry)).as_deref(), Some("+3.0s"));
}
