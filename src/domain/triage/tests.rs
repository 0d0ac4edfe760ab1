//! Every case of `tests/fixtures/triage` comes out as its `[expect]` says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::*;
use crate::domain::case::Charge;

/// The answer a case is expected to have; what is absent is not asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    verdict: Verdict,
    cause: Option<Cause>,
    note: Option<Note>,
    charges: Option<Vec<ProviderRef>>,
    next: Option<Next>,
    confidence: Option<Confidence>,
}

#[derive(Debug, Deserialize)]
struct Told {
    #[serde(flatten)]
    case: Case,
    expect: Expect,
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/triage");
    let mut all: Vec<PathBuf> = ["shared", "own"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("a folder of cases"))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    all.sort();
    all
}

#[test]
fn every_case_comes_out_right() {
    let files = files();
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).expect("a case");
        let told: Told = toml::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let is = judge(&told.case);
        let expect = told.expect;
        let asked = (
            expect.verdict,
            expect.cause,
            expect.note,
            expect.charges.unwrap_or_else(|| is.charges.clone()),
            expect.next.unwrap_or(is.next),
            expect.confidence.unwrap_or(is.confidence),
        );
        let came = (is.verdict, is.cause, is.note, is.charges.clone(), is.next, is.confidence);
        if asked != came {
            wrong.push(format!("{name}: wanted {asked:?}\n  but {came:?}\n  {:#?}", is.because));
        }
        assert!(!is.because.is_empty(), "{name} says nothing");
        if is.verdict == Verdict::ChargedTwice && is.cause != Some(Cause::Unknown) {
            assert!(is.story.is_some(), "{name} tells no story");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(files.len() >= 25, "{} cases", files.len());
}

fn told(name: &str) -> Case {
    let file = files().into_iter().find(|file| file.ends_with(name)).expect("a case of that name");
    let told: Told = toml::from_str(&std::fs::read_to_string(file).expect("a case")).expect("a case");
    told.case
}

/// What is cut away never makes an answer surer, and without the provider nothing is sure.
#[test]
fn a_source_less_is_never_more_certain() {
    for file in files() {
        let told: Told = toml::from_str(&std::fs::read_to_string(&file).expect("a case")).expect("a case");
        let whole = judge(&told.case);
        let without = [
            Case { charges: None, ..told.case.clone() },
            Case { payments: None, ..told.case.clone() },
            Case { charges: None, payments: None, ..told.case.clone() },
        ];
        for less in without {
            let is = judge(&less);
            assert_ne!(is.confidence, Confidence::High, "{}: {is:?}", file.display());
            assert!(is.confidence >= whole.confidence || is.confidence == Confidence::Medium, "{}", file.display());
        }
        let blind = judge(&Case { charges: None, settlements: None, webhooks: None, ..told.case });
        assert!(
            !matches!(blind.verdict, Verdict::ChargedOnce | Verdict::TwoOrders),
            "{}: nobody asked the provider: {blind:?}",
            file.display()
        );
    }
}

fn turn<T>(rows: &mut Option<Vec<T>>) {
    if let Some(rows) = rows {
        rows.reverse();
    }
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    for file in files() {
        let told: Told = toml::from_str(&std::fs::read_to_string(&file).expect("a case")).expect("a case");
        let is = judge(&told.case);
        let mut turned = told.case;
        turn(&mut turned.charges);
        turn(&mut turned.payments);
        turn(&mut turned.requests);
        turn(&mut turned.records);
        turn(&mut turned.webhooks);
        turn(&mut turned.settlements);
        turn(&mut turned.transitions);
        let then = judge(&turned);
        let file = file.display();
        assert_eq!(
            (is.verdict, is.cause, is.note, is.charges),
            (then.verdict, then.cause, then.note, then.charges),
            "{file}"
        );
    }
}

/// Low confidence is somebody else's to answer, whatever the verdict.
#[test]
fn what_is_not_certain_is_handed_over() {
    for file in files() {
        let told: Told = toml::from_str(&std::fs::read_to_string(&file).expect("a case")).expect("a case");
        let is = judge(&told.case);
        assert!(is.confidence != Confidence::Low || is.next == Next::HandOver, "{}: {is:?}", file.display());
        assert!(is.verdict != Verdict::ChargedTwice || is.charges.len() >= 2, "{}: {is:?}", file.display());
        assert!(is.cause.is_none() || is.verdict == Verdict::ChargedTwice || is.cause == Some(Cause::GlobalKey));
    }
}

#[test]
fn five_hundred_purchases_of_one_customer_are_five_hundred() {
    let mut case = told("yen-twice.toml");
    let (payments, charges) = (case.payments.take().expect("payments"), case.charges.take().expect("charges"));
    let (mut paid, mut taken) = (Vec::new(), Vec::new());
    for nth in 0..500 {
        let (mut payment, mut charge) = (payments[0].clone(), charges[0].clone());
        payment.id = Some(crate::domain::ids::PaymentId::new(format!("p-{nth}")));
        payment.order = Some(crate::domain::ids::OrderId::new(format!("O-{nth}")));
        payment.key = Some(crate::domain::ids::Key::new(format!("k-{nth}")));
        payment.provider_ref = Some(ProviderRef::new(format!("ch-{nth}")));
        charge.provider_ref.clone_from(&payment.provider_ref);
        charge.reference = Some(format!("O-{nth}"));
        charge.provider_key = None;
        paid.push(payment);
        taken.push(charge);
    }
    let once = Case { payments: Some(paid), charges: Some(taken), asked: Some("customer c-1".to_owned()), ..case };
    let is = judge(&once);
    assert_eq!((is.verdict, is.charges.len()), (Verdict::TwoOrders, 500));
    assert!(is.because.len() <= 30, "nobody reads {} sentences", is.because.len());
    // And one more charge on one of them is found among them all.
    let mut twice = once;
    let extra = Charge {
        provider_ref: Some(ProviderRef::new("ch-x")),
        ..twice.charges.as_ref().expect("charges")[321].clone()
    };
    twice.charges.as_mut().expect("charges").push(extra);
    let is = judge(&twice);
    assert_eq!((is.verdict, is.cause), (Verdict::ChargedTwice, Some(Cause::ChargeWithoutPayment)));
    assert_eq!(is.charges, [ProviderRef::new("ch-321"), ProviderRef::new("ch-x")]);
    assert_eq!(is.too_much.to_string(), "JPY 50,000");
}

/// Twenty thousand rows about one order, and about as many orders, are sorted and not walked for one another:
/// a walk would take minutes. No time is measured; a suite that hangs is what this is for.
#[test]
fn twenty_thousand_rows_are_sorted_and_not_walked() {
    let case = told("yen-twice.toml");
    let (payment, charge) =
        (case.payments.clone().expect("payments")[0].clone(), case.charges.clone().expect("charges")[0].clone());
    for one_order in [Some("O1"), None] {
        let order = |nth: usize| one_order.map_or_else(|| format!("O-{nth}"), str::to_owned);
        let payments: Vec<_> = (0..20_000)
            .map(|nth| crate::domain::case::PaymentRow {
                id: Some(crate::domain::ids::PaymentId::new(format!("p-{nth}"))),
                order: Some(crate::domain::ids::OrderId::new(order(nth))),
                key: Some(crate::domain::ids::Key::new(format!("k-{nth}"))),
                provider_ref: (nth % 2 == 0).then(|| ProviderRef::new(format!("ch-{nth}"))),
                ..payment.clone()
            })
            .collect();
        let charges: Vec<_> = (0..20_000)
            .map(|nth| Charge {
                provider_ref: Some(ProviderRef::new(format!("ch-{nth}"))),
                reference: Some(order(nth)),
                provider_key: (nth % 3 == 0).then(|| crate::domain::ids::ProviderKey::new(format!("pay:shop:k-{nth}"))),
                ..charge.clone()
            })
            .collect();
        let is = judge(&Case { payments: Some(payments), charges: Some(charges), ..case.clone() });
        let expected = if one_order.is_some() { Verdict::ChargedTwice } else { Verdict::TwoOrders };
        assert_eq!((is.verdict, is.charges.len()), (expected, 20_000));
        assert!(is.because.len() <= 30);
    }
}

mod any {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::case::{KeyRecord, PaymentRow, Request, SettlementLine, Transition, Webhook};
    use crate::domain::evidence::Class;
    use crate::domain::ids::{Key, OrderId, PaymentId, ProviderKey, Scope};
    use crate::domain::payment::PaymentStatus;
    use crate::domain::time::Instant;

    fn few(what: &'static str) -> impl Strategy<Value = Option<String>> {
        proptest::option::of((0..3_u8).prop_map(move |nth| format!("{what}{nth}")))
    }

    fn amount() -> impl Strategy<Value = Option<i64>> {
        prop_oneof![Just(None), Just(Some(5_000)), Just(Some(0)), any::<i64>().prop_map(Some)]
    }

    fn instant() -> impl Strategy<Value = Option<Instant>> {
        prop_oneof![
            Just(None),
            (0..200_000_i64).prop_map(|s| Instant::from_timestamp(1_775_000_000 + s, 0)),
            Just(Some(Instant::MIN_UTC)),
            Just(Some(Instant::MAX_UTC)),
        ]
    }

    fn charge() -> impl Strategy<Value = Charge> {
        let class = prop_oneof![
            Just(Class::Succeeded),
            Just(Class::Succeeded),
            Just(Class::Authorised),
            Just(Class::Pending),
            Just(Class::Failed),
            Just(Class::Reversed),
            Just(Class::Unrecognised)
        ];
        (few("ch"), few("o"), few("k"), proptest::option::of(class), amount(), amount(), amount(), instant()).prop_map(
            |(name, reference, key, class, amount, captured, refunded, created_at)| Charge {
                provider_ref: name.map(ProviderRef::new),
                reference,
                provider_key: key.map(ProviderKey::new),
                class,
                amount,
                captured,
                refunded,
                currency: Some("EUR".to_owned()),
                created_at,
            },
        )
    }

    fn payment() -> impl Strategy<Value = PaymentRow> {
        let status = prop_oneof![
            Just(PaymentStatus::Succeeded),
            Just(PaymentStatus::Failed),
            Just(PaymentStatus::Unknown),
            Just(PaymentStatus::Unrecognised("x".to_owned()))
        ];
        (few("p"), few("o"), few("s"), few("k"), proptest::option::of(status), amount(), few("ch"), instant()).prop_map(
            |(id, order, scope, key, status, amount, name, created_at)| PaymentRow {
                id: id.map(PaymentId::new),
                order: order.map(OrderId::new),
                scope: scope.map(Scope::new),
                key: key.map(Key::new),
                status,
                amount,
                currency: Some("EUR".to_owned()),
                provider_ref: name.map(ProviderRef::new),
                created_at,
                ..PaymentRow::default()
            },
        )
    }

    fn request() -> impl Strategy<Value = Request> {
        (few("s"), few("k"), few("o"), instant(), any::<Option<u16>>(), any::<Option<bool>>(), few("s")).prop_map(
            |(scope, key, order, at, status, replayed, answered)| Request {
                scope: scope.map(Scope::new),
                key: key.map(Key::new),
                order: order.map(OrderId::new),
                at,
                status,
                replayed,
                answered_scope: answered.map(Scope::new),
                ..Request::default()
            },
        )
    }

    fn record() -> impl Strategy<Value = KeyRecord> {
        (few("s"), few("k"), few("done"), any::<Option<u32>>(), few("ch"), instant()).prop_map(
            |(scope, key, status, attempt, name, created_at)| KeyRecord {
                scope: scope.map(Scope::new),
                key: key.map(Key::new),
                status: status.map(|status| status.replace('0', "")),
                attempt,
                response_code: Some(201),
                provider_ref: name.map(ProviderRef::new),
                created_at,
                ..KeyRecord::default()
            },
        )
    }

    fn rows<T: std::fmt::Debug>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Option<Vec<T>>> {
        proptest::option::of(proptest::collection::vec(one, 0..6))
    }

    fn case() -> impl Strategy<Value = Case> {
        let told = (few("ch"), few("ev"), amount(), instant()).prop_map(|(name, event, amount, at)| {
            (
                Webhook {
                    event,
                    kind: Some("charge.succeeded".to_owned()),
                    provider_ref: name.clone().map(ProviderRef::new),
                    at,
                    ..Webhook::default()
                },
                SettlementLine {
                    provider_ref: name.map(ProviderRef::new),
                    kind: Some(if at.is_some() { "charge" } else { "refund" }.to_owned()),
                    amount,
                    currency: Some("EUR".to_owned()),
                    at,
                },
            )
        });
        let changed = (few("p"), instant()).prop_map(|(payment, at)| Transition {
            payment: payment.map(PaymentId::new),
            to: Some(PaymentStatus::Failed),
            at,
            ..Transition::default()
        });
        (rows(charge()), rows(payment()), rows(request()), rows(record()), rows(told), rows(changed)).prop_map(
            |(charges, payments, requests, records, told, transitions)| {
                let (webhooks, settlements) = match told {
                    Some(told) => {
                        let (hooks, lines): (Vec<_>, Vec<_>) = told.into_iter().unzip();
                        (Some(hooks), Some(lines))
                    }
                    None => (None, None),
                };
                Case { requests, records, payments, transitions, charges, webhooks, settlements, ..Case::default() }
            },
        )
    }

    fn reversed(mut case: Case) -> Case {
        turn(&mut case.charges);
        turn(&mut case.payments);
        turn(&mut case.requests);
        turn(&mut case.records);
        turn(&mut case.webhooks);
        turn(&mut case.settlements);
        turn(&mut case.transitions);
        case
    }

    proptest! {
        #[test]
        fn the_order_of_any_rows_does_not_matter(case in case()) {
            let (is, then) = (judge(&case), judge(&reversed(case)));
            prop_assert_eq!(
                (is.verdict, is.cause, is.note, is.charges, is.next, is.confidence, is.too_much),
                (then.verdict, then.cause, then.note, then.charges, then.next, then.confidence, then.too_much)
            );
        }

        #[test]
        fn any_evidence_is_judged_with_care(case in case()) {
            let is = judge(&case);
            prop_assert!(is.confidence != Confidence::Low || is.next == Next::HandOver);
            prop_assert!(is.verdict != Verdict::ChargedTwice || is.charges.len() >= 2);
            prop_assert!(is.verdict != Verdict::ChargedOnce || !is.charges.is_empty(), "{:?}", is);
            prop_assert!(is.verdict != Verdict::ChargedOnce || is.charges.len() == 1 || is.confidence > Confidence::High);
            let named: BTreeSet<_> = is.charges.iter().collect();
            prop_assert!(named.len() == is.charges.len(), "a charge is one charge: {:?}", is);
            prop_assert!(is.verdict != Verdict::NotCharged || is.charges.is_empty());
            prop_assert!(case.charges.is_some() || is.confidence != Confidence::High);
            prop_assert!(case.charges.is_some() || is.verdict != Verdict::NotCharged);
            prop_assert!(is.cause.is_some() == (is.verdict == Verdict::ChargedTwice) || is.cause == Some(Cause::GlobalKey));
        }
    }
}
