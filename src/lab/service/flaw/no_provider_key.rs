//! No provider key: the provider cannot recognise a second call for the same charge.

use super::super::answer::Answer;
use super::super::flow::Flow;
use super::super::records::Held;
use super::{Conduct, Flaw};

/// Whether the provider is told a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKeyUse {
    /// The same one on every attempt, made of ours.
    Derived,
    /// None. With nothing to ask by, whoever takes a record over starts from the beginning.
    NotSent,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "no-provider-key",
    does: "The provider is sent no key, and whoever takes a record over charges from the beginning.",
    harm: "A pod that dies after the charge leaves one that is charged again.",
    put_into: |conduct| Conduct { provider_key: ProviderKeyUse::NotSent, ..conduct },
};

impl ProviderKeyUse {
    /// What the provider is sent.
    pub(in crate::lab::service) fn sent(self, key: &str) -> Option<&str> {
        match self {
            Self::Derived => Some(key),
            Self::NotSent => None,
        }
    }
}

/// Goes on with a record whose lease was just taken.
pub(in crate::lab::service) async fn go_on(flow: &Flow, held: Held) -> Result<Answer, sqlx::Error> {
    match flow.records.conduct.provider_key {
        ProviderKeyUse::Derived => flow.recover(held).await,
        ProviderKeyUse::NotSent => flow.charge(held).await,
    }
}
