//! Records are kept for less time than clients go on trying: the late retry is a new payment.

use std::time::Duration;

use sqlx::postgres::PgPool;

use super::{Conduct, Flaw};

/// How long finished records are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Longer than any client tries again.
    CoversRetries,
    /// Only this long.
    Short {
        /// From the last change on.
        kept: Duration,
    },
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "short-ttl",
    does: "Finished records are removed before the last client has stopped trying.",
    harm: "A phone that was offline for two days sends its old key, and pays again.",
    put_into: |conduct| Conduct { retention: Retention::Short { kept: Duration::from_secs(5) }, ..conduct },
};

impl Retention {
    /// Removes what is past its time; says how much that was.
    pub(super) async fn expire(self, pool: &PgPool) -> Result<u64, sqlx::Error> {
        match self {
            Self::CoversRetries => Ok(0),
            Self::Short { kept } => {
                let removed = sqlx::query(
                    "DELETE FROM idempotency_keys WHERE status = 'done' AND updated_at <= clock_timestamp() - make_interval(secs => $1)",
                );
                Ok(removed.bind(kept.as_secs_f64()).execute(pool).await?.rows_affected())
            }
        }
    }
}
