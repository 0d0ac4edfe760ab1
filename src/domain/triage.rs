//! Was this customer charged twice, and why? One pure function from evidence to a verdict.

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::ids::ProviderRef;
use super::money::Totals;

mod books;
mod cause;
mod clash;
mod conclude;
mod leak;
mod missing;
mod note;
mod parts;
mod place;
mod report;
mod standing;
#[cfg(test)]
mod tests;
mod told_twice;
mod unasked;
mod words;

/// What the evidence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One charge moved money and stands.
    ChargedOnce,
    /// Two or more charges moved money for one purchase and stand.
    ChargedTwice,
    /// Nothing was taken.
    NotCharged,
    /// An open payment exists and nothing else moved money.
    InDoubt,
    /// One success and one unknown on the same order: a double charge if the unknown resolves to yes.
    LatentDouble,
    /// The provider took it once, our books do not say so.
    PaidNotRecorded,
    /// Two purchases, not one charged twice.
    TwoOrders,
    /// The evidence cannot tell: sources are missing or contradict each other.
    NotKnown,
}

/// Why a customer was charged twice. The earliest broken link wins, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The gap between the attempts reaches the time keys are kept.
    KeyExpired,
    /// The record was removed and the retry charged again.
    RecordDeleted,
    /// A time-out was taken for a failure and the customer tried again.
    TimeoutMarkedFailed,
    /// Two workers were on one charge: the lease was shorter than the provider's time-out.
    LeaseTooShort,
    /// One key of ours, two provider keys.
    UnstableProviderKey,
    /// The provider was called without a key.
    NoProviderKey,
    /// The client made a key per attempt.
    NewKeyPerAttempt,
    /// A charge that no payment of ours stands for.
    ChargeWithoutPayment,
    /// None of the above can be shown.
    Unknown,
    /// Not in that order: a key without a scope let one tenant's answer reach another, charged or not.
    GlobalKey,
}

/// What else is true of a customer who was charged once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Note {
    /// A retry got the stored answer.
    Replayed,
    /// The other line on the statement is a hold that was never captured.
    HoldOnly,
    /// An attempt before it was declined.
    DeclinedBefore,
    /// Another charge was taken and given back.
    Refunded,
    /// One provider event was applied more than once.
    EventAppliedTwice,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Nothing is left to do but to answer.
    TellCustomer,
    /// One of the charges has to be given back, by whoever may.
    RefundOne,
    /// Ask the provider what happened.
    Lookup,
    /// Take the step the recovery table names.
    Resume,
    /// Look again later.
    Wait,
    /// Give it to payments on-call.
    HandOver,
}

/// How far the evidence carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Our books and the provider agree on every charge.
    High,
    /// Nothing contradicts it, and a source that would prove it is missing.
    Medium,
    /// No promise: hand over.
    Low,
}

/// The answer to one support question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triage {
    /// What the evidence says.
    pub verdict: Verdict,
    /// Why, when charged twice; a leak across scopes is named whatever the verdict.
    pub cause: Option<Cause>,
    /// What else is true, when charged once.
    pub note: Option<Note>,
    /// The charges that moved money and still stand, sorted.
    pub charges: Vec<ProviderRef>,
    /// What to do now.
    pub next: Next,
    /// How far the evidence carries.
    pub confidence: Confidence,
    /// The interleaving in one sentence, with times: what happened, in the order in which it did.
    pub story: Option<String>,
    /// Sentences that name the rows which prove it.
    pub because: Vec<String>,
    /// Sources we do not have, and what each would tell.
    pub missing: Vec<String>,
    /// What was taken too much, per currency; empty unless charged twice.
    pub too_much: Totals,
}

impl Verdict {
    /// What it is called on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::ChargedOnce => "charged once",
            Self::ChargedTwice => "charged twice",
            Self::NotCharged => "not charged",
            Self::InDoubt => "in doubt",
            Self::LatentDouble => "may become a double charge",
            Self::PaidNotRecorded => "paid, and not in our books",
            Self::TwoOrders => "two purchases, each charged once",
            Self::NotKnown => "not known",
        }
    }
}

impl Cause {
    /// What it is called on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::KeyExpired => "the key had expired when the retry came",
            Self::RecordDeleted => "the record was removed and the retry charged again",
            Self::TimeoutMarkedFailed => "a time-out was taken for a failure",
            Self::LeaseTooShort => "the lease was shorter than the provider's answer",
            Self::UnstableProviderKey => "one key of ours became two at the provider",
            Self::NoProviderKey => "the provider was called without a key",
            Self::NewKeyPerAttempt => "new key per attempt",
            Self::ChargeWithoutPayment => "a charge that no payment of ours stands for",
            Self::Unknown => "not known",
            Self::GlobalKey => "keys without their scope: an answer reached another tenant",
        }
    }
}

impl Note {
    /// What it is called on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Replayed => "a retry got the stored answer",
            Self::HoldOnly => "the other line is a hold that was not captured",
            Self::DeclinedBefore => "an attempt before it was declined",
            Self::Refunded => "something was given back",
            Self::EventAppliedTwice => "one event of the provider was applied more than once",
        }
    }
}

impl Next {
    /// What to do, in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::TellCustomer => "tell the customer",
            Self::RefundOne => "one charge has to be given back, by whoever may; not from here",
            Self::Lookup => "ask the provider",
            Self::Resume => "take the step the recovery table names",
            Self::Wait => "wait and look again",
            Self::HandOver => "hand over to payments on-call",
        }
    }
}

impl Confidence {
    /// What it is called on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// Judges a case. Cautious: what the evidence does not carry is not said.
pub fn judge(case: &Case) -> Triage {
    let books = books::sort(case);
    let mut triage = conclude::conclude(&books);
    triage.missing = missing::sources(case);
    unasked::weigh(case, &mut triage);
    if let Some(leak) = leak::find(&books) {
        triage.cause = Some(Cause::GlobalKey);
        triage.story = Some(match triage.story.take() {
            Some(story) => format!("{leak} {story}"),
            None => leak,
        });
        // Another tenant saw what is not theirs: that is nobody's to answer alone.
        triage.next = Next::HandOver;
    }
    if triage.confidence == Confidence::Low {
        triage.next = Next::HandOver;
    }
    triage
}
