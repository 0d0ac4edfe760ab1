//! Whatever the answer is, the customer is told it in both languages, without ids and without promises.

use super::*;
use crate::domain::case::Charge;
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
