//! Several sweepers, no collisions: each expired record is one sweeper's turn, until that sweeper is gone.
//!
//! A turn is no lease: it says who looks at a record, not who may change it. It is sticky, because what one
//! look-up found is only proof together with an earlier one.

use super::{Records, Sql};
use crate::domain::ids::RecordId;

/// Whose turn which record is.
pub(in crate::lab::service) const TABLES: &str = "
CREATE TABLE sweep_turns (
  scope   text        NOT NULL,
  key     text        NOT NULL,
  sweeper text        NOT NULL,
  until   timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);";

/// A sweeper that has not been heard of for so long, in seconds, is gone.
const TURN: f64 = 30.0;
/// So many records at most a sweeper takes on in one round, so that the others have some, too.
const AT_ONCE: i64 = 10;

impl Records {
    /// Takes on expired records that are nobody's turn, and names all that are this sweeper's, the oldest first.
    pub(in crate::lab::service) async fn turns(&self, sweeper: &str) -> Sql<Vec<RecordId>> {
        let mut tx = self.pool.begin().await?;
        // SKIP LOCKED passes by what another sweeper is taking on, and what a client or a person is changing.
        sqlx::query(
            "INSERT INTO sweep_turns (scope, key, sweeper, until)
             SELECT d.scope, d.key, $1, clock_timestamp() + make_interval(secs => $2)
             FROM (SELECT k.scope, k.key FROM idempotency_keys k
                   WHERE k.status = 'processing' AND k.locked_until < clock_timestamp()
                     AND NOT EXISTS (SELECT 1 FROM sweep_turns t WHERE t.scope = k.scope AND t.key = k.key AND t.until >= clock_timestamp())
                   ORDER BY k.created_at, k.scope, k.key LIMIT $3 FOR UPDATE OF k SKIP LOCKED) d
             ON CONFLICT (scope, key) DO UPDATE SET sweeper = excluded.sweeper, until = excluded.until
             WHERE sweep_turns.until < clock_timestamp()",
        )
        .bind(sweeper)
        .bind(TURN)
        .bind(AT_ONCE)
        .execute(&mut *tx)
        .await?;
        let found: Vec<(String, String)> = sqlx::query_as(
            "WITH mine AS (
               UPDATE sweep_turns t SET until = clock_timestamp() + make_interval(secs => $2)
               FROM idempotency_keys k
               WHERE t.sweeper = $1 AND k.scope = t.scope AND k.key = t.key AND k.status = 'processing' AND k.locked_until < clock_timestamp()
               RETURNING k.scope, k.key, k.created_at
             )
             SELECT scope, key FROM mine ORDER BY created_at, scope, key",
        )
        .bind(sweeper)
        .bind(TURN)
        .fetch_all(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(found.into_iter().map(|(scope, key)| RecordId::new(scope, key)).collect())
    }
}
