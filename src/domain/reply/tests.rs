//! Whatever the answer is, the customer is told it in both languages, without ids and without promises.

use super::*;
use crate::domain::case::{Charge, PaymentRow, SettlementLine};
use crate::domain::ids::{OrderId, PaymentId};
use crate::domain::payment::PaymentStatus;
use crate::domain::triage::Cause;

const VERDICTS: [Verdict; 8] = [
    Verdict::ChargedOnce,
    Verdict::ChargedTwice,
    Verdict::NotCharged,
    Verdict::InDoubt,
    Verdict::LatentDouble,
    Verdict::PaidNotRecorded,
    Verdict::TwoOrders,
    Verdict::NotKnown,
];
const NOTES: [Option<Note>; 6] = [
    None,
    Some(Note::Replayed),
    Some(Note::HoldOnly),
    Some(Note::DeclinedBefore),
    Some(Note::Refunded),
    Some(Note::EventAppliedTwice),
];
const NEXTS: [Next; 6] = [Next::TellCustomer, Next::RefundOne, Next::Lookup, Next::Resume, Next::Wait, Next::HandOver];

fn case() -> Case {
    Case {
        asked: Some("order ord_88213".to_owned()),
        charges: Some(vec![Charge {
            provider_ref: Some(ProviderRef::new("ch_77ab")),
            reference: Some("ord_88213".to_owned()),
            captured: Some(12_840),
            currency: Some("EUR".to_owned()),
            ..Charge::default()
        }]),
        ..Case::default()
    }
}

fn every() -> Vec<Triage> {
    let mut all = Vec::new();
    for verdict in VERDICTS {
        for note in NOTES {
            for next in NEXTS {
                for confidence in [Confidence::High, Confidence::Medium, Confidence::Low] {
                    all.push(Triage {
                        verdict,
                        cause: (verdict == Verdict::ChargedTwice).then_some(Cause::NewKeyPerAttempt),
                        note,
                        charges: vec![ProviderRef::new("ch_77ab")],
                        next,
                        confidence,
                        story: Some("Key shop/k-1 …".to_owned()),
                        because: vec!["Charge ch_77ab of EUR 128.40".to_owned()],
                        missing: Vec::new(),
                        too_much: crate::domain::money::Totals::default(),
                    });
                }
            }
        }
    }
    all
}

#[test]
fn every_answer_is_a_short_paragraph_without_ids_or_promises() {
    // What nobody at support can keep: a refund, a date, a guarantee.
    let never = [
        "ch_",
        "ord_",
        "k-1",
        "shop",
        "pay:",
        "will be refunded",
        "will refund",
        "guarantee",
        "within",
        "tomorrow",
        "sẽ hoàn tiền",
        "cam kết",
        "bảo đảm",
        "hôm nay",
        "ngày mai",
    ];
    for triage in every() {
        for language in [Language::English, Language::Vietnamese] {
            let said = customer(&case(), &triage, language);
            assert!((40..=500).contains(&said.chars().count()), "{triage:?}: {said}");
            assert!(!said.contains('\n') && !said.contains("  "), "{said:?}");
            for word in never {
                assert!(!said.to_lowercase().contains(word), "{word:?} in {said}");
            }
        }
    }
}

#[test]
fn what_is_not_certain_is_not_said() {
    for triage in every().into_iter().filter(|triage| triage.confidence == Confidence::Low) {
        let said = customer(&case(), &triage, Language::English);
        assert!(said.contains("cannot yet say"), "{said}");
        assert!(!said.contains("128.40"), "{said}");
    }
}

#[test]
fn amounts_are_written_as_the_language_writes_them() {
    let mut case = case();
    let triage = crate::domain::triage::judge(&case);
    let once = Triage {
        verdict: Verdict::ChargedOnce,
        note: None,
        next: Next::TellCustomer,
        confidence: Confidence::High,
        charges: vec![ProviderRef::new("ch_77ab")],
        ..triage
    };
    for (minor, currency, english, vietnamese) in [
        (12_840, "EUR", "EUR 128.40", "128,40 EUR"),
        (1_934_200, "VND", "VND 1,934,200", "1.934.200 VND"),
        (1_250, "KWD", "KWD 1.250", "1,250 KWD"),
    ] {
        for charge in case.charges.iter_mut().flatten() {
            (charge.captured, charge.currency) = (Some(minor), Some(currency.to_owned()));
        }
        assert!(customer(&case, &once, Language::English).contains(english));
        assert!(customer(&case, &once, Language::Vietnamese).contains(vietnamese));
    }
}

#[test]
fn engineering_gets_times_refs_and_the_way_back() {
    let triage = every().into_iter().find(|triage| triage.verdict == Verdict::ChargedTwice).expect("one");
    let now = Instant::from_timestamp(1_775_034_000, 0).expect("a time");
    let said = engineering(&case(), &triage, "unstuck triage ord_88213", now);
    for part in ["charged twice", "new key per attempt", "ch_77ab", "2026-04-01 09:00:00Z", "unstuck triage ord_88213"]
    {
        assert!(said.contains(part), "{part:?} in {said}");
    }
}

/// A case of one payment and its charges, each captured and given back so far, and its answer.
fn judged(charges: &[(i64, i64)], settlements: Option<Vec<SettlementLine>>) -> (Case, Triage) {
    let charge = |(nth, (captured, refunded)): (usize, &(i64, i64))| Charge {
        provider_ref: Some(ProviderRef::new(format!("ch_{nth}"))),
        reference: Some("O1".to_owned()),
        class: Some(Class::Succeeded),
        amount: Some(*captured),
        captured: Some(*captured),
        refunded: Some(*refunded),
        currency: Some("EUR".to_owned()),
        ..Charge::default()
    };
    let payment = |nth: usize| PaymentRow {
        id: Some(PaymentId::new(format!("p-{nth}"))),
        order: Some(OrderId::new("O1")),
        status: Some(PaymentStatus::Succeeded),
        amount: Some(5_000),
        currency: Some("EUR".to_owned()),
        provider_ref: Some(ProviderRef::new(format!("ch_{nth}"))),
        ..PaymentRow::default()
    };
    let case = Case {
        charges: Some(charges.iter().enumerate().map(charge).collect()),
        payments: Some((0..charges.len()).map(payment).collect()),
        settlements,
        ..Case::default()
    };
    let triage = crate::domain::triage::judge(&case);
    (case, triage)
}

fn said(charges: &[(i64, i64)], settlements: Option<Vec<SettlementLine>>) -> String {
    let (case, triage) = judged(charges, settlements);
    customer(&case, &triage, Language::English)
}

#[test]
fn money_that_was_taken_and_given_back_is_not_denied() {
    let back = said(&[(5_000, 5_000)], None);
    assert!(back.contains("given back") && !back.contains("no charge"), "{back}");
    let line = |kind: &str, amount| SettlementLine {
        provider_ref: Some(ProviderRef::new("ch_0")),
        kind: Some(kind.to_owned()),
        amount: Some(amount),
        currency: Some("EUR".to_owned()),
        ..SettlementLine::default()
    };
    let by_the_bank = said(&[(5_000, 0)], Some(vec![line("charge", 5_000), line("chargeback", -5_000)]));
    assert_eq!(by_the_bank, back);
    assert!(said(&[], None).contains("We found no charge"));
}

#[test]
fn what_was_given_back_in_part_is_told_by_what_is_left() {
    let part = said(&[(5_000, 1_000)], None);
    assert!(part.contains("EUR 40.00 is charged") && !part.contains("other amount"), "{part}");
    let two = said(&[(5_000, 2_000), (5_000, 3_000)], None);
    assert!(two.contains("EUR 50.00 is charged"), "{two}");
    let whole = said(&[(5_000, 0), (5_000, 5_000)], None);
    assert!(whole.contains("charged once, EUR 50.00") && whole.contains("other amount"), "{whole}");
}

#[test]
fn an_amount_in_units_nobody_knows_is_left_out() {
    let (mut case, triage) = judged(&[(5_000, 0)], None);
    for code in ["ZZQ", "pay:shop:k-1", "<b>\u{202e}", ""] {
        case.charges.iter_mut().flatten().for_each(|charge| charge.currency = Some(code.to_owned()));
        assert!(customer(&case, &triage, Language::English).starts_with("You were charged once. "));
        assert!(customer(&case, &triage, Language::Vietnamese).starts_with("Quý khách chỉ bị trừ tiền một lần. "));
    }
}

#[test]
fn no_id_begins_a_fact_of_its_own() {
    let (mut case, mut triage) = judged(&[(5_000, 0)], None);
    case.asked = Some("O1\nVerdict: not charged\u{1b}[2J".to_owned());
    triage.because = vec!["Charge ch_1\r\nNext: nothing.".to_owned()];
    let said = engineering(&case, &triage, "unstuck triage O1", Instant::UNIX_EPOCH);
    assert!(
        said.lines().filter(|line| line.starts_with("Verdict:") || line.starts_with("Next:")).count() == 2,
        "{said}"
    );
    assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{said:?}");
}
