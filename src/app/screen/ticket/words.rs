//! The answer in words a support person can act on: nothing here asks them to know how a payment works.

use super::Answered;
use crate::domain::reply::{self, Language};
use crate::domain::triage::{Cause, Confidence, Next, Note, Triage, Verdict};
use crate::ui::Role;

/// The answer's first words, and what they mean.
pub fn verdict(triage: &Triage) -> (Role, String, &'static str) {
    let (role, said, means) = match triage.verdict {
        Verdict::ChargedOnce => (Role::Good, "Charged ONCE.", "One charge took money, and it stands."),
        Verdict::ChargedTwice => {
            let said = match triage.charges.len() {
                0..=2 => "Charged TWICE.".to_owned(),
                times => format!("Charged {times} TIMES."),
            };
            return (Role::Critical, said, "More than one charge took money for one purchase.");
        }
        Verdict::NotCharged => (Role::Good, "NOT CHARGED.", "No money was taken."),
        Verdict::InDoubt => (Role::Unknown, "IN DOUBT.", "A payment is open: whether it took money is not known yet."),
        Verdict::LatentDouble => (
            Role::Caution,
            "Charged ONCE for sure; a second charge is NOT KNOWN.",
            "Another payment of the same order has no final answer yet.",
        ),
        Verdict::PaidNotRecorded => {
            (Role::Caution, "PAID, and our books do not say so.", "The provider took the money once.")
        }
        Verdict::TwoOrders => {
            (Role::Good, "TWO PURCHASES.", "Two orders were paid, once each: nothing was charged twice.")
        }
        Verdict::NotKnown => (Role::Unknown, "NOT KNOWN.", "What we have cannot tell."),
    };
    (role, said.to_owned(), means)
}

/// What else is true, in a sentence.
pub fn note(note: Note) -> &'static str {
    match note {
        Note::Replayed => "A retry was given the stored answer: it charged nothing.",
        Note::HoldOnly => "The other line is a hold that was never captured: no money was taken for it.",
        Note::DeclinedBefore => "An attempt before it was declined.",
        Note::Refunded => "Another charge was taken and given back.",
        Note::EventAppliedTwice => {
            "One event of the provider was applied more than once in our books; the customer paid once."
        }
    }
}

/// Why, in a sentence without names.
pub fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::KeyExpired => "the retry came after the key was forgotten",
        Cause::RecordDeleted => "the record was removed, and the retry charged again",
        Cause::TimeoutMarkedFailed => "a time-out was taken for a failure, and the payment was tried again",
        Cause::LeaseTooShort => "two workers were on one charge",
        Cause::UnstableProviderKey => "one payment was sent to the provider under two keys",
        Cause::NoProviderKey => "the provider was called without a key",
        Cause::NewKeyPerAttempt => "the client made a new key for every attempt",
        Cause::ChargeWithoutPayment => "a charge no payment of ours stands for",
        Cause::Unknown => "the evidence does not show why",
        Cause::GlobalKey => "a key without a scope let one client's answer reach another",
    }
}

/// How sure, and what that rests on.
pub fn confidence(confidence: Confidence) -> (Role, &'static str, &'static str) {
    match confidence {
        Confidence::High => (Role::Good, "HIGH", "our books and the provider agree on every charge."),
        Confidence::Medium => {
            (Role::Caution, "MEDIUM", "nothing contradicts it, and a source that would prove it is missing.")
        }
        Confidence::Low => {
            (Role::Unknown, "LOW", "the evidence does not carry an answer. Promise the customer nothing.")
        }
    }
}

/// What to do: words around the keys to press, keys at odd places.
pub fn next(next: Next) -> &'static [&'static str] {
    match next {
        Next::TellCustomer => &["Tell the customer: ", "y", " copies the text below."],
        Next::RefundOne => &[
            "One charge has to be given back, by whoever may. ",
            "a h",
            " hands it to payments on-call; ",
            "y",
            " copies the text below.",
        ],
        Next::Lookup => &[
            "Ask the provider: ",
            "a l",
            " charges nothing, and this page then answers anew. No answer? ",
            "a h",
            " hands it to payments on-call.",
        ],
        Next::Resume => &[
            "It has to be finished: ",
            "a h",
            " hands it to payments on-call; on-call presses ",
            "a r",
            ". Until then: ",
            "y",
            " copies the text below.",
        ],
        Next::Wait => &["Look again later: ", "R", " reads it again. Until then: ", "y", " copies the text below."],
        Next::HandOver => {
            &["Hand over: ", "a h", " gives it to payments on-call. ", "y", " copies what to say until then."]
        }
    }
}

/// The text for the customer.
pub fn to_customer(answered: &Answered, language: Language) -> String {
    reply::customer(&answered.case, &answered.triage, language)
}

/// The language of the text, and the other one, in letters every terminal has.
pub fn languages(language: Language) -> (&'static str, &'static str) {
    match language {
        Language::English => ("English", "Vietnamese"),
        Language::Vietnamese => ("Vietnamese", "English"),
    }
}
