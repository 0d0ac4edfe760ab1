//! What a verdict is worth when the provider was not asked about every key, or not every row was read.

use super::{Confidence, Next, Note, Triage, Verdict};
use crate::domain::case::Case;

/// How many keys are named.
const NAMED: usize = 6;

/// Takes back what the evidence does not carry. Two charges that stand are two, whatever else there is.
pub(super) fn weigh(case: &Case, is: &mut Triage) {
    if !case.not_asked.is_empty() {
        let mut keys: Vec<String> = case.not_asked.iter().take(NAMED).map(ToString::to_string).collect();
        let more = case.not_asked.len().saturating_sub(NAMED);
        if more > 0 {
            keys.push(format!("{more} more"));
        }
        is.missing.push(format!(
            "The provider was not asked about {}, or did not answer: it may know of another charge.",
            keys.join(", ")
        ));
        is.confidence = is.confidence.max(Confidence::Medium);
        match is.verdict {
            Verdict::ChargedOnce | Verdict::NotCharged | Verdict::TwoOrders => not_known(is, Next::Lookup),
            Verdict::PaidNotRecorded => is.next = Next::Lookup,
            Verdict::ChargedTwice | Verdict::InDoubt | Verdict::LatentDouble | Verdict::NotKnown => {}
        }
    }
    if !case.cut.is_empty() {
        is.missing.extend(case.cut.iter().map(|what| format!("Not everything could be read: {what}.")));
        if is.verdict != Verdict::ChargedTwice {
            not_known(is, Next::HandOver);
        }
        is.confidence = Confidence::Low;
    }
}

fn not_known(is: &mut Triage, next: Next) {
    is.verdict = Verdict::NotKnown;
    is.note = None::<Note>;
    is.next = next;
}

#[cfg(test)]
mod tests {
    use crate::domain::case::Case;
    use crate::domain::ids::RecordId;
    use crate::domain::triage::{Confidence, Next, Verdict, judge};

    fn once() -> Case {
        let text = include_str!("../../../tests/fixtures/triage/own/one-charge-listed-twice.toml");
        toml::from_str(text).expect("a case")
    }

    #[test]
    fn a_key_nobody_asked_about_may_be_a_second_charge() {
        assert_eq!(judge(&once()).verdict, Verdict::ChargedOnce);
        let is = judge(&Case { not_asked: vec![RecordId::new("shop", "k-2")], ..once() });
        assert_eq!((is.verdict, is.next, is.confidence), (Verdict::NotKnown, Next::Lookup, Confidence::Medium));
        assert!(is.missing.iter().any(|said| said.contains("shop/k-2")), "{:?}", is.missing);
    }

    #[test]
    fn what_was_not_read_whole_is_handed_over() {
        let is = judge(&Case { cut: vec!["of payment only the latest 500 rows were read".to_owned()], ..once() });
        assert_eq!((is.verdict, is.next, is.confidence), (Verdict::NotKnown, Next::HandOver, Confidence::Low));
    }
}
