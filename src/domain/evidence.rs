//! Evidence: what a provider said about a charge, and what that may be used for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::{EvidenceId, Operator, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef};
use super::money::Money;
use super::record::RecordDetail;
use super::time::Instant;

/// What a charge's state means for money, in the provider-neutral words of the recovery table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A final yes: the money was taken.
    Succeeded,
    /// A hold that was not captured.
    Authorised,
    /// The provider is still working on it.
    Pending,
    /// Waiting for the customer.
    Open,
    /// A final no.
    Failed,
    /// Taken and given back, or cancelled after capture.
    Reversed,
    /// A word the adapter does not list: never treated as final.
    Unrecognised,
}

impl Class {
    /// Whether the charge moved money at some time.
    pub fn moved_money(self) -> bool {
        matches!(self, Self::Succeeded | Self::Reversed)
    }

    /// The word on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Succeeded => "CAPTURED",
            Self::Authorised => "AUTHORISED ONLY",
            Self::Pending => "PENDING",
            Self::Open => "OPEN",
            Self::Failed => "DECLINED",
            Self::Reversed => "REVERSED",
            Self::Unrecognised => "NOT RECOGNISED",
        }
    }
}

/// Test or live: a hit in the wrong mode proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Mode {
    /// Real money.
    Live,
    /// The provider's test world.
    Test,
}

impl From<bool> for Mode {
    /// Providers say `livemode: true` or `false`.
    fn from(live: bool) -> Self {
        if live { Self::Live } else { Self::Test }
    }
}

impl From<Mode> for bool {
    fn from(mode: Mode) -> Self {
        mode == Mode::Live
    }
}

/// One charge as a provider reports it. What it does not say is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The provider's id for the charge.
    #[serde(rename = "ref")]
    pub provider_ref: ProviderRef,
    /// Our reference, as the provider stored it.
    pub reference: Option<PaymentId>,
    /// The order, as the provider stored it.
    pub order: Option<OrderId>,
    /// The idempotency key the charge was made with.
    pub provider_key: Option<ProviderKey>,
    /// What its state means.
    pub class: Class,
    /// The provider's own word.
    pub raw: String,
    /// How much was asked for.
    #[serde(flatten)]
    pub money: ObservedMoney,
    /// When it was made.
    pub created_at: Option<Instant>,
    /// In which mode.
    #[serde(rename = "live")]
    pub mode: Option<Mode>,
}

/// The amounts of a charge, in minor units of one currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedMoney {
    /// What was asked for.
    pub amount: i64,
    /// What was captured; absent when the provider does not say.
    pub captured: Option<i64>,
    /// What was given back; absent when the provider does not say.
    pub refunded: Option<i64>,
    /// The currency.
    pub currency: String,
}

impl Observed {
    /// The amount asked for.
    pub fn money(&self) -> Money {
        Money::new(self.money.amount, &self.money.currency)
    }

    /// How this charge relates to a record: only one that carries its key, payment or stored reference decides.
    pub fn matches(&self, detail: &RecordDetail) -> Match {
        let key = detail.provider_key.is_some() && self.provider_key == detail.provider_key;
        let payment = detail.record.payment.is_some() && self.reference == detail.record.payment;
        let stored = detail.record.provider_ref.as_ref() == Some(&self.provider_ref);
        if key || payment || stored {
            Match::Decides
        } else if detail.record.order.is_some() && self.order == detail.record.order {
            Match::OrderOnly
        } else {
            Match::Foreign
        }
    }
}

/// How a charge relates to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Match {
    /// Carries the record's provider key, payment or stored reference.
    Decides,
    /// Only the order is the same: shown, counted toward "several", never decides.
    OrderOnly,
    /// Nothing in common.
    Foreign,
}

/// What one look-up concluded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum LookupOutcome {
    /// The provider has charges for it.
    Found {
        /// All of them.
        observed: Vec<Observed>,
    },
    /// The provider says there is none. Not proof unless `absence` says so.
    NotFound {
        /// Whether this look-up could have missed a charge.
        absence: Absence,
        /// Which look-ups said so.
        why: String,
    },
    /// No answer that means anything: time-out, 401, 403, 429, 5xx, HTML, cut-off paging.
    Unreachable {
        /// What happened.
        why: String,
        /// Seconds the provider asked us to wait.
        retry_after_s: Option<u64>,
    },
}

impl LookupOutcome {
    /// The word on the screen and in the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Found { observed } => match observed.as_slice() {
                [one] => one.class.word(),
                [] => "NOT FOUND",
                [..] => "SEVERAL CHARGES",
            },
            Self::NotFound { .. } => "NOT FOUND",
            Self::Unreachable { .. } => "PROVIDER DID NOT ANSWER",
        }
    }
}

/// Whether a look-up that found nothing could have missed a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// Strongly consistent, paged to its end, the adapter's own "no such object".
    Consistent,
    /// A search index, a cut-off list, or a 404 the adapter does not know.
    MayHaveMissed,
}

/// One look-up: who asked whom, when, what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Its row, when it is stored; `None` marks evidence kept for this session only.
    pub id: Option<EvidenceId>,
    /// Who asked.
    pub operator: Operator,
    /// Who was asked.
    pub provider: ProviderName,
    /// When the look-up began: its age counts from here.
    pub started_at: Instant,
    /// What was concluded.
    pub outcome: LookupOutcome,
    /// The requests made, each with its status and the SHA-256 of the body.
    pub steps: Vec<LookupStep>,
}

/// One request of a look-up. Never holds a secret or a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookupStep {
    /// What was asked: method and path without secrets.
    pub asked: String,
    /// What came back: a status, or why none did.
    pub answered: String,
    /// SHA-256 of the body, in hex, when there was one.
    pub body_sha256: Option<String>,
    /// Seconds the provider asked us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
