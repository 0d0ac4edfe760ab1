//! No fingerprint: a key that is used again for something else gets the first answer.

use super::{Conduct, Flaw};

/// What happens when a known key comes with another body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// 422, and nothing is done.
    Refused,
    /// Nobody notices.
    Unnoticed,
}

pub(super) static FLAW: Flaw = Flaw {
    name: "no-fingerprint",
    does: "The service does not compare a request with the one the key was first used for.",
    harm: "A client that asks for 250 is told of the 100 it paid before.",
    put_into: |conduct| Conduct { comparison: Comparison::Unnoticed, ..conduct },
};

impl Comparison {
    /// Whether a request may go on under a key whose first request had the fingerprint `kept`.
    pub(in crate::lab::service) fn lets_pass(self, kept: &str, sent: &str) -> Pass {
        match self {
            Self::Refused if kept != sent => Pass::No,
            Self::Refused | Self::Unnoticed => Pass::Yes,
        }
    }
}

/// Whether it is the same request, as far as the service can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum Pass {
    Yes,
    No,
}
