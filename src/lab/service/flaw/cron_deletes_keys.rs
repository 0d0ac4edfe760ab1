//! A cron that removes stuck keys: the service forgets that the provider was already called.

use std::time::Duration;

use sqlx::postgres::PgPool;

use super::{Conduct, Flaw};

/// What is done about records that are stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StuckKeys {
    /// They are kept; whoever takes the lease goes on with them.
    Kept,
    /// A cron removes them.
    DeletedByCron {
        /// How long a record has to be stuck.
        after: Duration,
    },
}

pub(in crate::lab) static FLAW: Flaw = Flaw {
    name: "cron-deletes-keys",
    does: "A cron removes keys that have been processing for too long, so that clients can start again.",
    harm: "The retry charges again: what was removed is the only thing that knew of the first call.",
    put_into: |conduct| Conduct { stuck_keys: StuckKeys::DeletedByCron { after: Duration::from_secs(8) }, ..conduct },
};

impl StuckKeys {
    /// Removes what has been stuck for long enough, and notes it as such jobs do; says how much that was.
    pub(super) async fn clear(self, pool: &PgPool) -> Result<u64, sqlx::Error> {
        match self {
            Self::Kept => Ok(0),
            Self::DeletedByCron { after } => {
                let mut tx = pool.begin().await?;
                let removed = sqlx::query(
                    "DELETE FROM idempotency_keys
                     WHERE status = 'processing' AND greatest(locked_until, updated_at) <= clock_timestamp() - make_interval(secs => $1)",
                )
                .bind(after.as_secs_f64())
                .execute(&mut *tx)
                .await?
                .rows_affected();
                if removed > 0 {
                    sqlx::query("INSERT INTO service_events (at, kind, what, who) VALUES (clock_timestamp(), 'sweeper', $1, 'cron')")
                        .bind(format!("removed {removed} stuck keys"))
                        .execute(&mut *tx)
                        .await?;
                }
                tx.commit().await?;
                Ok(removed)
            }
        }
    }
}
