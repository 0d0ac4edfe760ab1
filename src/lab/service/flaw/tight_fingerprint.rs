//! A fingerprint over something that changes: every honest retry is refused.

use super::{Conduct, Flaw};
use crate::lab::clock;

/// What the fingerprint is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashed {
    /// Method, path, account and body.
    Body,
    /// And the time of the request.
    BodyAndTime,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "tight-fingerprint",
    does: "The fingerprint covers the time of the request.",
    harm: "A retry with the same key and the same body gets 422; its client makes a new key and pays again.",
    put_into: |conduct| Conduct { hashed: Hashed::BodyAndTime, ..conduct },
};

impl Hashed {
    /// What is hashed beside the body.
    pub(in crate::lab::service) fn volatile(self) -> Option<String> {
        match self {
            Self::Body => None,
            Self::BodyAndTime => Some(clock::now().to_rfc3339_opts(chrono::SecondsFormat::Nanos, true)),
        }
    }
}
