//! A case: what is on the table for one support question, source by source.
//!
//! The format is shared with other tools (`unstuck triage --from FILE`, TOML or JSON): names of tables and fields are
//! part of it. A source that is absent is one we do not have, which is not the same as one that is empty. Amounts are
//! minor units of the currency beside them; times are UTC; an absent field is not known.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::evidence::Class;
use super::ids::{Key, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId, Scope};
use super::money::Money;
use super::payment::PaymentStatus;
use super::time::{Instant, Seconds};

mod evidence;
pub mod file;
mod masked;
mod words;

/// How long keys are kept when nobody says: 24 hours.
const RETENTION_HOURS: u32 = 24;

/// Everything known about one support question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Case {
    /// What happened, in a sentence.
    pub about: Option<String>,
    /// What support typed.
    pub asked: Option<String>,
    /// When they looked.
    pub now: Option<Instant>,
    /// How long keys are kept; 24 when absent.
    pub retention_hours: Option<u32>,
    /// The same in seconds, where it is no whole number of hours; goes before the hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_s: Option<u64>,
    /// Requests that reached the API.
    #[serde(rename = "request", skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<Request>>,
    /// Idempotency records as they are now.
    #[serde(rename = "record", skip_serializing_if = "Option::is_none")]
    pub records: Option<Vec<KeyRecord>>,
    /// Payment rows as they are now.
    #[serde(rename = "payment", skip_serializing_if = "Option::is_none")]
    pub payments: Option<Vec<PaymentRow>>,
    /// Logged changes of payments.
    #[serde(rename = "transition", skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Vec<Transition>>,
    /// Charges as the provider tells them.
    #[serde(rename = "charge", skip_serializing_if = "Option::is_none")]
    pub charges: Option<Vec<Charge>>,
    /// Provider events that arrived.
    #[serde(rename = "webhook", skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Vec<Webhook>>,
    /// Lines of the provider's report.
    #[serde(rename = "settlement", skip_serializing_if = "Option::is_none")]
    pub settlements: Option<Vec<SettlementLine>>,
    /// Keys of the case about which the provider was not asked, or did not answer: it may know of more charges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_asked: Vec<RecordId>,
    /// Sources of which not every row could be read, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// A request that reached the API, and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// When it arrived.
    pub at: Option<Instant>,
    /// The namespace of its key.
    pub scope: Option<Scope>,
    /// Its idempotency key; absent when it carried none or nobody knows.
    pub key: Option<Key>,
    /// The HTTP method.
    pub method: Option<String>,
    /// The route.
    pub path: Option<String>,
    /// The order it was for.
    pub order: Option<OrderId>,
    /// How much, in minor units.
    pub amount: Option<i64>,
    /// Of which currency.
    pub currency: Option<String>,
    /// The fingerprint the service took of it.
    pub fingerprint: Option<String>,
    /// The status it was answered with.
    pub status: Option<u16>,
    /// Whether the answer was a stored one.
    pub replayed: Option<bool>,
    /// The scope of the record the answer came from, where the service logs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_scope: Option<Scope>,
    /// The payment the answer spoke of, where the service logs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_payment: Option<PaymentId>,
}

/// An idempotency record as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyRecord {
    /// The namespace of its key.
    pub scope: Option<Scope>,
    /// Its key.
    pub key: Option<Key>,
    /// The fingerprint of the request it was made for.
    pub fingerprint: Option<String>,
    /// `processing` or `done`, as the service writes it.
    pub status: Option<String>,
    /// How far the operation is known to have got.
    pub recovery_point: Option<String>,
    /// When the lease ends, or ended.
    pub locked_until: Option<Instant>,
    /// How often the lease was taken.
    pub attempt: Option<u32>,
    /// The status of the stored answer.
    pub response_code: Option<u16>,
    /// The charge it stands for.
    pub provider_ref: Option<ProviderRef>,
    /// When it was stored. One that was removed and stored again has a later time than its first request.
    pub created_at: Option<Instant>,
}

/// A payment row as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaymentRow {
    /// Its id.
    pub id: Option<PaymentId>,
    /// The order it is for.
    pub order: Option<OrderId>,
    /// The namespace of its key.
    pub scope: Option<Scope>,
    /// The key it was made under.
    pub key: Option<Key>,
    /// The customer; masked in everything that leaves the screen.
    pub customer: Option<String>,
    /// Its status.
    #[serde(with = "words::status")]
    pub status: Option<PaymentStatus>,
    /// How much, in minor units.
    pub amount: Option<i64>,
    /// Of which currency.
    pub currency: Option<String>,
    /// Who was asked to charge it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// The charge it stands for.
    pub provider_ref: Option<ProviderRef>,
    /// When it was made.
    pub created_at: Option<Instant>,
    /// When it last changed.
    pub updated_at: Option<Instant>,
}

/// A logged change of a payment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transition {
    /// Which payment.
    pub payment: Option<PaymentId>,
    /// From which status; absent for the first.
    #[serde(with = "words::status")]
    pub from: Option<PaymentStatus>,
    /// To which status.
    #[serde(with = "words::status")]
    pub to: Option<PaymentStatus>,
    /// When.
    pub at: Option<Instant>,
    /// By whom and why: `api: provider timeout`.
    pub by: Option<String>,
}

/// A charge as the provider tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Charge {
    /// The provider's id for it.
    #[serde(rename = "ref")]
    pub provider_ref: Option<ProviderRef>,
    /// Our reference as the provider stored it: an order or a payment of ours.
    pub reference: Option<String>,
    /// The key it was made with: empty when it was sent without one, absent when nobody knows.
    pub provider_key: Option<ProviderKey>,
    /// What its state means for money.
    #[serde(deserialize_with = "words::class::deserialize")]
    pub class: Option<Class>,
    /// What was asked for, in minor units.
    pub amount: Option<i64>,
    /// What was captured of it.
    pub captured: Option<i64>,
    /// What was given back of it.
    pub refunded: Option<i64>,
    /// Of which currency.
    pub currency: Option<String>,
    /// When it was made, by the provider's clock.
    pub created_at: Option<Instant>,
}

/// A provider event that arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Webhook {
    /// The provider's id for the event.
    pub event: Option<String>,
    /// What it is about, in the provider's words.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The charge it is about.
    #[serde(rename = "ref")]
    pub provider_ref: Option<ProviderRef>,
    /// When it arrived.
    pub at: Option<Instant>,
    /// When it was applied; absent when it was not, or nobody knows.
    pub applied_at: Option<Instant>,
    /// How often it was applied.
    pub times_applied: Option<u32>,
}

/// A line of the provider's settlement report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettlementLine {
    /// The charge it is about.
    #[serde(rename = "ref")]
    pub provider_ref: Option<ProviderRef>,
    /// `charge`, `refund`, `chargeback` or `fee`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// How much, in minor units.
    pub amount: Option<i64>,
    /// Of which currency.
    pub currency: Option<String>,
    /// When.
    pub at: Option<Instant>,
}

impl Case {
    /// The keys of its payments and records, each once.
    pub fn keys(&self) -> BTreeSet<RecordId> {
        let payments = self.payments.iter().flatten().map(|row| (&row.scope, &row.key));
        let records = self.records.iter().flatten().map(|row| (&row.scope, &row.key));
        let all = payments.chain(records);
        all.filter_map(|(scope, key)| Some(RecordId::new(scope.as_ref()?.as_str(), key.as_ref()?.as_str()))).collect()
    }

    /// How long keys are kept.
    pub fn retention(&self) -> Seconds {
        let hours = u64::from(self.retention_hours.unwrap_or(RETENTION_HOURS));
        Seconds(self.retention_s.unwrap_or(hours.saturating_mul(3_600)))
    }
}

/// An amount and its currency, when both are known.
pub fn money(amount: Option<i64>, currency: Option<&String>) -> Option<Money> {
    Some(Money::new(amount?, currency?))
}
