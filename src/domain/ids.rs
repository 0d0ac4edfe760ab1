//! Identities. Each is a newtype, so that a key can never be passed where a scope is meant.
//!
//! The text inside is whatever the database or provider said: it is made safe where it is shown
//! (`ui/text`), never here, so that what is compared is what was stored.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The whole text, unabridged.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    )*};
}

text_id! {
    /// The namespace of a key: tenant, user or client.
    Scope;
    /// The client's id for one business operation. Unique within a [`Scope`], never globally.
    Key;
    /// The order a payment is for.
    OrderId;
    /// One payment of ours.
    PaymentId;
    /// The provider's id for a charge.
    ProviderRef;
    /// The key the provider is sent: identical on every retry and recovery.
    ProviderKey;
    /// The name of a provider as the service writes it.
    ProviderName;
    /// Who holds a lease: a pod, the recoverer, or a person (`operator:NAME`).
    Holder;
    /// The person at the console.
    Operator;
    /// The incident or ticket a change is done for.
    Ticket;
    /// SHA-256 over the record and payment rows: what a plan was made for.
    Version;
    /// SHA-256 over everything a plan rests on.
    PlanHash;
}

impl Version {
    /// Enough of it to compare by eye.
    pub fn short(&self) -> String {
        self.0.chars().take(6).collect()
    }
}

impl PlanHash {
    /// Enough of it to compare by eye.
    pub fn short(&self) -> String {
        self.0.chars().take(6).collect()
    }
}

impl Key {
    /// The last six letters or digits, in order: the part of the key a person types.
    /// `None` when the key has none.
    pub fn tail(&self) -> Option<String> {
        let mut tail: Vec<char> = self.0.chars().rev().filter(char::is_ascii_alphanumeric).take(6).collect();
        tail.reverse();
        if tail.is_empty() { None } else { Some(tail.into_iter().collect()) }
    }
}

impl Holder {
    /// How a person's hold is written in the lease, so that services and consoles can tell it from a pod.
    pub fn of_operator(operator: &Operator) -> Self {
        Self(format!("operator:{operator}"))
    }

    /// Whether a person holds the lease.
    pub fn is_person(&self) -> bool {
        self.0.starts_with("operator:")
    }
}

/// What identifies a record: always both halves, because a key is unique only within its scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RecordId {
    /// The key's namespace.
    pub scope: Scope,
    /// The idempotency key.
    pub key: Key,
}

impl RecordId {
    /// Both halves of the identity.
    pub fn new(scope: impl Into<String>, key: impl Into<String>) -> Self {
        Self { scope: Scope::new(scope), key: Key::new(key) }
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.key)
    }
}

/// A record at one version: what cursors, plans and actions point at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Which record.
    pub id: RecordId,
    /// Which version of it.
    pub version: Version,
}

/// How many times the lease has been taken: the fencing token of the final write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attempt(pub i64);

/// The id of one row of the action log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogId(pub i64);

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "au_{}", self.0)
    }
}

/// The number of one request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(pub i64);

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ap_{}", self.0)
    }
}

/// The number of one hand back to the service's recoverer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResumeId(pub i64);

impl fmt::Display for ResumeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hb_{}", self.0)
    }
}

/// The id of one stored piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EvidenceId(pub i64);

impl fmt::Display for EvidenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ev_{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_six_letters_or_digits() {
        assert_eq!(Key::new("7Q4K-91ab").tail().as_deref(), Some("4K91ab"));
        assert_eq!(Key::new("a-1").tail().as_deref(), Some("a1"));
        assert_eq!(Key::new("—*—").tail(), None);
    }

    #[test]
    fn a_record_is_named_by_both_halves() {
        assert_eq!(RecordId::new("shop-eu", "k1").to_string(), "shop-eu/k1");
    }
}
