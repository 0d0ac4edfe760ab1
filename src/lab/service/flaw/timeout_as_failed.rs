//! A time-out taken for a failure: the customer tries again, and the first charge was only slow.

use super::super::answer::Answer;
use super::super::flow::Flow;
use super::super::records::Held;
use super::{Conduct, Flaw};

/// What a provider's silence means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeOut {
    /// The third outcome: the record stays `processing`, the payment is UNKNOWN.
    Unknown,
    /// A failure, stored for good.
    Failed,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "timeout-as-failed",
    does: "When the provider does not answer in time the payment is marked failed.",
    harm: "The customer pays again under a new key, and both charges stand.",
    put_into: |conduct| Conduct { time_out: TimeOut::Failed, ..conduct },
};

/// The provider did not answer in time.
pub(in crate::lab::service) async fn timed_out(flow: &Flow, held: &Held) -> Result<Answer, sqlx::Error> {
    match flow.records.conduct.time_out {
        TimeOut::Unknown => flow.unknown(held, "the provider did not answer in time").await,
        TimeOut::Failed => flow.fail(held, "provider_timeout", None).await,
    }
}
