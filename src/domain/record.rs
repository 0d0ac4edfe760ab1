//! The idempotency record and its payment, as one poll or one re-read saw them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::ids::{
    Attempt, Holder, Key, Operator, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId, Scope,
    Target, Version,
};
use super::money::Money;
use super::payment::PaymentStatus;
use super::time::Instant;

/// Whether the final outcome is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordStatus {
    /// Someone is, or was, on it.
    Processing,
    /// The final outcome is stored: success or definite failure.
    Done,
    /// A word this console does not know.
    Unrecognised(String),
}

impl RecordStatus {
    /// Reads a contract word.
    pub fn from_word(word: &str) -> Self {
        match word {
            "processing" => Self::Processing,
            "done" => Self::Done,
            other => Self::Unrecognised(other.to_owned()),
        }
    }
}

impl fmt::Display for RecordStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Processing => "processing",
            Self::Done => "done",
            Self::Unrecognised(word) => word,
        })
    }
}

/// How far the operation is known to have got: recovery starts here, never at the start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPoint {
    /// The provider may not have been called.
    Created,
    /// The provider was called; the answer is not stored.
    ProviderCalled,
    /// The provider's reference is stored; the rest is ours to finish.
    Charged,
    /// Nothing left to do.
    Done,
    /// A word this console does not know.
    Unrecognised(String),
}

impl RecoveryPoint {
    /// Reads a contract word.
    pub fn from_word(word: &str) -> Self {
        match word {
            "created" => Self::Created,
            "provider_called" => Self::ProviderCalled,
            "charged" => Self::Charged,
            "done" => Self::Done,
            other => Self::Unrecognised(other.to_owned()),
        }
    }
}

impl fmt::Display for RecoveryPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Created => "created",
            Self::ProviderCalled => "provider_called",
            Self::Charged => "charged",
            Self::Done => "done",
            Self::Unrecognised(word) => word,
        })
    }
}

/// Until when one worker owns the record, and who that is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The end of the lease; absent when the schema keeps none.
    pub until: Option<Instant>,
    /// Who took it last.
    pub holder: Option<Holder>,
}

impl Lease {
    /// Whether somebody owns the record at `now` (the database's clock).
    pub fn is_live(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until > now)
    }
}

/// One record with its payment: a line of the Stuck and Unknown lists. What the profile cannot tell is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Scope and key.
    pub id: RecordId,
    /// The order it is for.
    pub order: Option<OrderId>,
    /// Its payment.
    pub payment: Option<PaymentId>,
    /// Whether the outcome is stored.
    pub status: RecordStatus,
    /// Where the payment stands.
    pub payment_status: Option<PaymentStatus>,
    /// How far it is known to have got.
    pub recovery_point: Option<RecoveryPoint>,
    /// Who owns it and until when.
    pub lease: Lease,
    /// How many times the lease was taken.
    pub attempt: Option<Attempt>,
    /// Who was asked to charge.
    pub provider: Option<ProviderName>,
    /// The charge, when its id is stored.
    pub provider_ref: Option<ProviderRef>,
    /// How much.
    pub money: Option<Money>,
    /// The earliest moment this key may have reached the provider (a re-created record lies about its own age).
    pub first_key_use: Option<Instant>,
    /// When the record was made.
    pub created_at: Instant,
    /// When record or payment changed last.
    pub changed_at: Instant,
    /// The person it was handed over to.
    pub owner: Option<Operator>,
    /// What a plan is bound to.
    pub version: Version,
}

impl Record {
    /// The record at this version: what cursors, plans and actions point at.
    pub fn target(&self) -> Target {
        Target { id: self.id.clone(), version: self.version.clone() }
    }
}

/// Another payment of the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sibling {
    /// Which payment.
    pub payment: PaymentId,
    /// Where it stands.
    pub status: PaymentStatus,
    /// How much.
    pub money: Option<Money>,
    /// Its charge.
    pub provider_ref: Option<ProviderRef>,
    /// The scope it was made under.
    pub scope: Scope,
    /// The key it was made under.
    pub key: Key,
}

/// One record whole: what the recovery table decides on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordDetail {
    /// The record and its payment.
    pub record: Record,
    /// SHA-256 over method, path, account and normalised body.
    pub fingerprint: Option<String>,
    /// The stored answer's code.
    pub response_code: Option<i32>,
    /// The key the provider was sent.
    pub provider_key: Option<ProviderKey>,
    /// When the provider was last called for it, as far as is known.
    pub last_attempt_at: Option<Instant>,
    /// The other payments of the order.
    pub siblings: Vec<Sibling>,
    /// Another payment that carries the stored provider reference.
    pub ref_owner: Option<PaymentId>,
}
