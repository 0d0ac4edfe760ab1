//! No idempotency key at all: two attempts are two payments.

use super::super::answer::Answer;
use super::super::bare;
use super::super::flow::Flow;
use super::super::records::Intent;
use super::{Conduct, Flaw};

/// Whether a request needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHeader {
    /// Without one it is refused.
    Required,
    /// Nobody looks at it; nothing is remembered.
    Ignored,
}

pub(super) static FLAW: Flaw = Flaw {
    name: "no-key",
    does: "The service takes a payment without any idempotency key.",
    harm: "A client that timed out and tries again pays twice.",
    put_into: |conduct| Conduct { key_header: KeyHeader::Ignored, ..conduct },
};

impl KeyHeader {
    /// The key the service goes by. Without one the payment's own id takes its place, so that its rows hang together.
    pub(in crate::lab::service) fn key(self, sent: Option<&str>, payment: &str) -> Option<String> {
        match self {
            Self::Required => sent.map(str::to_owned),
            Self::Ignored => Some(payment.to_owned()),
        }
    }
}

/// Charges, and writes down what came of it.
pub(super) async fn answer(flow: &Flow, intent: &Intent) -> Result<Answer, sqlx::Error> {
    bare::pay(flow, intent).await.map(|paid| paid.answer)
}
