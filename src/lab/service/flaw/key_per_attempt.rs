//! A client that makes a key for every attempt: to the service, every retry is a new wish.

use super::{Conduct, Flaw};
use crate::lab::names;

/// Which key a client's retry carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKey {
    /// The one it made for the intent.
    PerIntent,
    /// A new one.
    PerAttempt,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "key-per-attempt",
    does: "The client makes a new key for every attempt.",
    harm: "No service can tell the retry from a second purchase: a lost answer is a second charge.",
    put_into: |conduct| Conduct { client_key: ClientKey::PerAttempt, ..conduct },
};

impl ClientKey {
    /// The key of an attempt, the first being 0, for an intent whose key is `made`.
    pub fn key(self, made: &str, attempt: usize) -> String {
        match (self, attempt) {
            (Self::PerIntent, _) | (Self::PerAttempt, 0) => made.to_owned(),
            (Self::PerAttempt, nth) => names::another_key(made, nth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_client_keeps_its_key_and_a_bad_one_never_repeats_one() {
        let keys = |habit: ClientKey| (0..4).map(|nth| habit.key("7Q4K-91DM-X2PZ", nth)).collect::<Vec<_>>();
        assert!(keys(ClientKey::PerIntent).iter().all(|key| key == "7Q4K-91DM-X2PZ"));
        let bad = keys(ClientKey::PerAttempt);
        assert_eq!(bad.first().map(String::as_str), Some("7Q4K-91DM-X2PZ"));
        assert_eq!(bad.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{bad:?}");
        assert!(bad.iter().all(|key| key.len() == 14), "they look like keys: {bad:?}");
        assert_eq!(bad, keys(ClientKey::PerAttempt), "the same story has the same keys");
    }
}
