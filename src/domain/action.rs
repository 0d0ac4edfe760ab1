//! The closed list of guarded actions. Nothing outside this list can be done; a removal is not in it.

use serde::{Deserialize, Serialize};

use super::ids::{EvidenceId, PaymentId, ProviderRef, ResumeId};
use super::money::Money;
use super::recovery::Step;
use super::time::Seconds;

/// What a person can ask for from the action menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Ask the provider what happened.
    LookUp,
    /// Go on from the recovery point, by the recovery table.
    Resume,
    /// Take an expired lease for a while, so that no sweeper or retry does.
    Hold,
    /// Give the lease back.
    Release,
    /// Take a hand back back, before a recoverer takes it up.
    Withdraw,
    /// Write a note on the record.
    Note,
    /// Name an owner and put the record on the list of handed-over ones.
    HandOver,
}

impl Request {
    /// Every request, in the order of the menu.
    pub const ALL: [Self; 7] =
        [Self::LookUp, Self::Resume, Self::Hold, Self::Release, Self::Withdraw, Self::Note, Self::HandOver];

    /// The verb in menus and dialog titles.
    pub fn title(self) -> &'static str {
        match self {
            Self::LookUp => "Provider look-up",
            Self::Resume => "Resume",
            Self::Hold => "Hold",
            Self::Release => "Release the hold",
            Self::Withdraw => "Withdraw the hand back",
            Self::Note => "Add a note",
            Self::HandOver => "Hand over to a person",
        }
    }
}

/// Two stored look-ups that agree that there is no charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The earlier.
    pub first: EvidenceId,
    /// The latest.
    pub latest: EvidenceId,
}

/// How long a key is relied on, as the database function is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTerms {
    /// How long the provider remembers a key.
    pub retention: Seconds,
    /// How close to its end it is not relied on any more.
    pub margin: Seconds,
    /// How long a charge may take to show up, clocks that differ included.
    pub settle: Seconds,
}

/// The change a plan carries out: the request with everything the database function needs to re-check it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum Change {
    /// GET at the provider; one row of evidence, no state.
    LookUp,
    /// Finish as SUCCEEDED with a charge the provider reports.
    Adopt {
        /// The stored evidence it rests on.
        evidence: EvidenceId,
        /// The payment that is finished.
        payment: PaymentId,
        /// The charge.
        provider_ref: ProviderRef,
        /// The amount on both sides.
        money: Money,
    },
    /// Finish as FAILED with the provider's final no.
    Fail {
        /// The stored evidence it rests on.
        evidence: EvidenceId,
        /// The payment that is finished.
        payment: PaymentId,
        /// The charge that was refused.
        provider_ref: ProviderRef,
        /// The provider's reason.
        reason: String,
    },
    /// Finish as FAILED: the charge was given back, and another payment paid the order.
    Reverse {
        /// The stored evidence it rests on.
        evidence: EvidenceId,
        /// The payment that is finished.
        payment: PaymentId,
        /// The charge that was given back; it stays stored.
        provider_ref: ProviderRef,
        /// The payment's amount.
        money: Money,
    },
    /// Finish as FAILED: nothing was charged, and the provider has forgotten the key.
    NotCharged {
        /// The stored proof.
        proof: Proof,
        /// The payment that is finished.
        payment: PaymentId,
        /// The payment's amount.
        money: Money,
        /// What the provider promises.
        terms: KeyTerms,
    },
    /// Give the record back to the service's recoverer, which may charge with the same provider key.
    HandBack {
        /// The stored proof that nothing was charged yet.
        proof: Proof,
        /// The payment it is about.
        payment: PaymentId,
        /// The payment's amount: what may be charged.
        money: Money,
        /// What the provider promises.
        terms: KeyTerms,
    },
    /// Take an expired lease as a person.
    Hold {
        /// For how long.
        length: Seconds,
    },
    /// Give the lease back.
    Release,
    /// Take a hand back back that no recoverer took up.
    Withdraw {
        /// Which.
        resume: ResumeId,
    },
    /// Append a note.
    Note,
    /// Append an owner and a note: the record stands on the handed-over list until someone takes it.
    HandOver,
}

impl Change {
    /// The word in the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::LookUp => "lookup",
            Self::Adopt { .. } => "adopt",
            Self::Fail { .. } => "fail",
            Self::Reverse { .. } => "reverse",
            Self::NotCharged { .. } => "not_charged",
            Self::HandBack { .. } => "hand_back",
            Self::Hold { .. } => "hold",
            Self::Release => "release",
            Self::Withdraw { .. } => "withdraw",
            Self::Note => "note",
            Self::HandOver => "hand_over",
        }
    }

    /// How much a person has to do before it runs.
    pub fn ladder(&self) -> Ladder {
        match self {
            Self::LookUp => Ladder::PlanLine,
            // Withdrawing can only prevent a charge: it must be quick.
            Self::Note | Self::HandOver | Self::Withdraw { .. } => Ladder::Reason,
            Self::Adopt { .. }
            | Self::Fail { .. }
            | Self::Reverse { .. }
            | Self::NotCharged { .. }
            | Self::HandBack { .. }
            | Self::Hold { .. }
            | Self::Release => Ladder::Phrase,
        }
    }

    /// What is approved: everything about the change but which row of evidence it rests on, so that a look-up
    /// made again, saying the same, leads to the same plan.
    pub fn parts(&self) -> Vec<String> {
        let key = |terms: &KeyTerms| format!("{} {} {}", terms.retention.0, terms.margin.0, terms.settle.0);
        let sum = |money: &Money| format!("{} {}", money.minor, money.currency);
        match self {
            Self::Adopt { evidence: _, payment, provider_ref, money }
            | Self::Reverse { evidence: _, payment, provider_ref, money } => {
                vec![payment.to_string(), provider_ref.to_string(), sum(money)]
            }
            Self::Fail { evidence: _, payment, provider_ref, reason } => {
                vec![payment.to_string(), provider_ref.to_string(), reason.clone()]
            }
            Self::NotCharged { proof: _, payment, money, terms }
            | Self::HandBack { proof: _, payment, money, terms } => {
                vec![payment.to_string(), sum(money), key(terms)]
            }
            Self::Hold { length } => vec![length.0.to_string()],
            Self::Withdraw { resume } => vec![resume.to_string()],
            Self::LookUp | Self::Release | Self::Note | Self::HandOver => vec![],
        }
    }
}

/// The rungs of the guard ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ladder {
    /// A plan line and Enter.
    PlanLine,
    /// A plan, then a reason.
    Reason,
    /// A plan, a reason with a ticket, then the typed phrase.
    Phrase,
}

/// The name of a step in menus: what a resume would come to.
pub fn resume_title(step: &Step) -> &'static str {
    match step {
        Step::Adopt { .. } => "adopt the charge, no new charge",
        Step::FinishAsFailed { .. } => "finish as failed",
        Step::FinishAsReversed { .. } => "finish as reversed",
        Step::FinishAsNotCharged => "finish as not charged",
        Step::HandBack => "hand back to the recoverer",
        Step::LookUpFirst { .. } => "look up first",
        Step::Wait { .. } => "wait",
        Step::NothingToDo => "nothing to do",
        Step::Refuse(_) => "not possible",
    }
}

/// The short word for the NEXT column.
pub fn next_word(step: &Step) -> &'static str {
    match step {
        Step::Adopt { .. } => "adopt",
        Step::FinishAsFailed { .. } => "fail",
        Step::FinishAsReversed { .. } => "reversed",
        Step::FinishAsNotCharged => "not charged",
        Step::HandBack => "hand back",
        Step::LookUpFirst { .. } => "lookup",
        Step::Wait { .. } => "wait",
        Step::NothingToDo => "-",
        Step::Refuse(_) => "hand over",
    }
}
