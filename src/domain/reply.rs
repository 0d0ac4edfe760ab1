//! What to say: to the customer, without internal ids and without promises; to engineering, with times and refs.

use std::fmt::Write as _;

use super::case::{Case, money};
use super::ids::ProviderRef;
use super::money::Money;
use super::time::{Instant, clock};
use super::triage::{Confidence, Next, Note, Triage, Verdict};

mod english;
mod vietnamese;

/// The language a customer is answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Vietnamese.
    Vietnamese,
}

/// What the customer is told, in the words of no language yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    /// Once, and nothing else to explain.
    Once,
    /// Once, and the other line is a hold.
    Hold,
    /// Once, and another attempt was declined.
    Declined,
    /// Once, and something was given back.
    Refunded,
    /// Once; what they saw twice is one payment.
    ShownTwice,
    /// Twice: we are on it.
    Twice,
    /// Nothing was taken.
    Nothing,
    /// Two purchases.
    TwoOrders,
    /// Paid, and our books are behind.
    PaidNotShown,
    /// We do not know yet.
    Checking,
}

/// The text for the customer: one paragraph. It names no id of ours or the provider's and promises nothing.
pub fn customer(case: &Case, triage: &Triage, language: Language) -> String {
    let message = message(triage);
    let amount = paid(case, triage);
    match language {
        Language::English => english::say(message, amount.as_ref().map(Money::to_string)),
        Language::Vietnamese => vietnamese::say(message, amount.as_ref()),
    }
}

fn message(triage: &Triage) -> Message {
    if triage.confidence == Confidence::Low || triage.next == Next::HandOver {
        return Message::Checking;
    }
    match (triage.verdict, triage.note) {
        (Verdict::ChargedOnce, Some(Note::HoldOnly)) => Message::Hold,
        (Verdict::ChargedOnce, Some(Note::DeclinedBefore)) => Message::Declined,
        (Verdict::ChargedOnce, Some(Note::Refunded)) => Message::Refunded,
        (Verdict::ChargedOnce, Some(Note::Replayed | Note::EventAppliedTwice)) => Message::ShownTwice,
        (Verdict::ChargedOnce, None) => Message::Once,
        (Verdict::ChargedTwice, _) => Message::Twice,
        (Verdict::NotCharged, _) => Message::Nothing,
        (Verdict::TwoOrders, _) => Message::TwoOrders,
        (Verdict::PaidNotRecorded, _) => Message::PaidNotShown,
        (Verdict::InDoubt | Verdict::LatentDouble | Verdict::NotKnown, _) => Message::Checking,
    }
}

/// What was taken of a customer who was charged once, in one piece or in parts; of others, by the first charge.
fn paid(case: &Case, triage: &Triage) -> Option<Money> {
    let parts = if triage.verdict == Verdict::ChargedOnce { triage.charges.len() } else { 1 };
    let took = |name: &ProviderRef| {
        let charge = case.charges.iter().flatten().find(|row| row.provider_ref.as_ref() == Some(name))?;
        money(charge.captured.or(charge.amount), charge.currency.as_ref()).filter(|money| money.minor > 0)
    };
    let mut parts = triage.charges.iter().take(parts).map(took);
    let first = parts.next()??;
    parts.try_fold(first, |sum, part| sum.checked_add(&part?).ok())
}

/// The text for engineering: facts with UTC times, refs and the way back (`link`).
pub fn engineering(case: &Case, triage: &Triage, link: &str, now: Instant) -> String {
    let mut text = String::new();
    let mut line = |said: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{said}");
    };
    line(format!("Verdict: {}. Confidence: {}.", triage.verdict.word(), triage.confidence.word()));
    if let Some(cause) = triage.cause {
        line(format!("Cause: {}.", cause.word()));
    }
    if let Some(note) = triage.note {
        line(format!("Also: {}.", note.word()));
    }
    if let Some(story) = &triage.story {
        line(story.clone());
    }
    if !triage.charges.is_empty() {
        let refs: Vec<String> = triage.charges.iter().map(ToString::to_string).collect();
        line(format!("Charges that stand: {}.", refs.join(", ")));
    }
    if !triage.too_much.is_empty() {
        line(format!("Taken too much: {}.", triage.too_much));
    }
    for said in &triage.because {
        line(format!("- {said}"));
    }
    for said in &triage.missing {
        line(format!("- {said}"));
    }
    line(format!("Next: {}.", triage.next.word()));
    let asked = case.asked.as_deref().map(|asked| format!("Asked: {asked}. ")).unwrap_or_default();
    let looked = case.now.unwrap_or(now);
    line(format!("{asked}As of {} {}. Look again: {link}", looked.format("%Y-%m-%d"), clock(looked)));
    text
}

#[cfg(test)]
mod tests;
