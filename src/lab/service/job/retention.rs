//! Retention: records nobody retries any more make room, by the rules.
//!
//! Only what is done, only when it has been done for longer than the retention, only when its payment is
//! final, and never without a trace: the key moves to `expired_keys`, so that a client who comes back too late
//! is told so and is not charged again. A record that is still `processing` stays, however old it is.

use std::time::Duration;

use futures_util::FutureExt;

use super::{Job, Tally, Workshop};
use crate::lab::LabError;

pub(super) static JOB: Job = Job {
    name: "retention",
    sentence: "moves done records out of the way once their retention is over",
    every: Duration::from_mins(1),
    pass: |workshop| pass(workshop).boxed(),
};

/// Where expired keys are remembered.
pub(in crate::lab::service) const TABLES: &str = "
CREATE TABLE expired_keys (
  scope         text        NOT NULL,
  key           text        NOT NULL,
  fingerprint   text        NOT NULL,
  response_code integer     NOT NULL,
  provider      text,
  provider_key  text,
  provider_ref  text,
  created_at    timestamptz NOT NULL,
  done_at       timestamptz NOT NULL,
  expired_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (scope, key)
);";

/// Records of one statement: none holds locks for long.
const BATCH: i64 = 200;

async fn pass(workshop: &Workshop) -> Result<Tally, LabError> {
    let keep = workshop.options.retention.as_secs_f64();
    let mut tally = Tally::default();
    loop {
        // One statement: a key is in one of the two tables at every moment, whoever dies when.
        let moved = sqlx::query(
            "WITH due AS (
               SELECT k.scope, k.key FROM idempotency_keys k
               WHERE k.status = 'done' AND k.updated_at < clock_timestamp() - make_interval(secs => $1)
                 AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.scope = k.scope AND p.key = k.key AND p.status IN ('created', 'pending', 'unknown'))
               ORDER BY k.updated_at LIMIT $2 FOR UPDATE OF k SKIP LOCKED
             ), gone AS (
               DELETE FROM idempotency_keys k USING due WHERE k.scope = due.scope AND k.key = due.key RETURNING k.*
             )
             INSERT INTO expired_keys (scope, key, fingerprint, response_code, provider, provider_key, provider_ref, created_at, done_at)
             SELECT scope, key, fingerprint, coalesce(response_code, 0), provider, provider_key, provider_ref, created_at, updated_at FROM gone
             ON CONFLICT (scope, key) DO NOTHING",
        )
        .bind(keep)
        .bind(BATCH)
        .execute(workshop.pool())
        .await?
        .rows_affected();
        let moved = usize::try_from(moved).unwrap_or(usize::MAX);
        tally.seen += moved;
        tally.changed += moved;
        if moved == 0 {
            break;
        }
    }
    // Events everybody has; consumers remember message ids for as long again, in case one is on its way twice.
    sqlx::query("DELETE FROM outbox WHERE published_at < clock_timestamp() - make_interval(secs => $1)")
        .bind(keep)
        .execute(workshop.pool())
        .await?;
    sqlx::query("DELETE FROM processed_messages WHERE processed_at < clock_timestamp() - make_interval(secs => $1)")
        .bind(keep * 2.0)
        .execute(workshop.pool())
        .await?;
    Ok(tally)
}
