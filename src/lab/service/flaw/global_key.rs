//! A key that is unique globally: one tenant meets another's record.

use super::super::records::{Intent, Records};
use super::{Conduct, Flaw};

/// Where a key is unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySpace {
    /// Within its scope.
    PerScope,
    /// Everywhere: the scope is not looked at, neither for the record nor for the fingerprint.
    Global,
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "global-key",
    does: "Records are found by key alone, whoever asks.",
    harm: "A tenant whose key collides with another's is given that tenant's answer.",
    put_into: |conduct| Conduct { key_space: KeySpace::Global, ..conduct },
};

impl KeySpace {
    /// The scope as far as the fingerprint knows it.
    pub(in crate::lab::service) fn account(self, scope: &str) -> &str {
        match self {
            Self::PerScope => scope,
            Self::Global => "",
        }
    }
}

impl Records {
    /// The request as the service goes on with it: under the scope whose record it will find.
    pub(in crate::lab::service) async fn placed(&self, intent: &Intent) -> Result<Intent, sqlx::Error> {
        let mut placed = intent.clone();
        match self.conduct.key_space {
            KeySpace::PerScope => {}
            KeySpace::Global => {
                let first = sqlx::query_scalar(
                    "SELECT scope FROM idempotency_keys WHERE key = $1 ORDER BY created_at, scope LIMIT 1",
                )
                .bind(&intent.key)
                .fetch_optional(&self.pool)
                .await?;
                placed.scope = first.unwrap_or(placed.scope);
            }
        }
        Ok(placed)
    }
}
