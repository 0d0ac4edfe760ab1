//! The recoverer's half of the contract with the console: the functions of schema `unstuck` it may call.
//!
//! `docs/recoverer.md` describes them for a team that writes its own.

use serde_json::Value;
use sqlx::Row;

use super::facts::facts;
use super::{Held, Records, Sql};
use crate::domain::evidence::{Absence, Evidence, LookupOutcome};
use crate::domain::ids::{EvidenceId, Operator, ProviderName, RecordId};
use crate::domain::record::RecordDetail;
use crate::domain::time::Instant;

/// A record that people handed back.
#[derive(Debug, Clone)]
pub(in crate::lab::service) struct HandBack {
    /// Its row in `unstuck.resume_request`.
    pub(in crate::lab::service) id: i64,
    pub(in crate::lab::service) record: RecordId,
    /// The attempt it was handed back with; the take makes it one more.
    pub(in crate::lab::service) attempt: i64,
    pub(in crate::lab::service) not_after: Instant,
    /// Who took it; `None` while it waits.
    pub(in crate::lab::service) worker: Option<String>,
}

/// What came of trying to take a hand back.
#[derive(Debug)]
pub(in crate::lab::service) enum Take {
    /// Ours: the record as it was before, and our lease.
    Taken(Box<(RecordDetail, Held)>),
    /// Somebody is at work on the record or the log; it still waits.
    Later,
    /// It can never be taken, and why.
    Refused(String),
}

/// How a hand back ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum Ending {
    /// The record is done.
    Finished,
    /// It is not, and this recoverer will do nothing more about it.
    Refused,
}

impl Ending {
    pub(in crate::lab::service) fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Refused => "refused",
        }
    }
}

impl Records {
    /// Whether schema `unstuck` is there and this login may serve hand backs.
    pub(in crate::lab::service) async fn may_serve(&self) -> Sql<bool> {
        sqlx::query_scalar(
            "SELECT coalesce((SELECT has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
               FROM pg_namespace n JOIN pg_proc p ON p.pronamespace = n.oid
               WHERE n.nspname = 'unstuck' AND p.proname = 'recoverer_take'), false)",
        )
        .fetch_one(&self.pool)
        .await
    }

    /// What waits, the oldest first.
    pub(in crate::lab::service) async fn waiting(&self) -> Sql<Vec<HandBack>> {
        let rows = sqlx::query(
            "SELECT id, scope, key, attempt, NULL::text AS worker, not_after FROM unstuck.recoverer_waiting()",
        );
        rows.fetch_all(&self.pool).await?.iter().map(hand_back).collect()
    }

    /// What this login took and did not end: the work of one that was killed, or of a call whose answer was lost.
    pub(in crate::lab::service) async fn unfinished(&self) -> Sql<Vec<HandBack>> {
        let rows = sqlx::query("SELECT id, scope, key, attempt, worker, not_after FROM unstuck.recoverer_unfinished()");
        rows.fetch_all(&self.pool).await?.iter().map(hand_back).collect()
    }

    /// What the look-ups said that a hand back rests on.
    pub(in crate::lab::service) async fn looked_up(&self, id: i64) -> Sql<Vec<Evidence>> {
        let rows = sqlx::query(
            "SELECT id, operator, provider, started_at, outcome, definitive, observed FROM unstuck.recoverer_evidence($1)",
        );
        rows.bind(id).fetch_all(&self.pool).await?.iter().map(evidence).collect()
    }

    /// Takes a hand back and the lease of its attempt in one transaction: both or neither.
    pub(in crate::lab::service) async fn take_handed_back(&self, wanted: &HandBack) -> Sql<Take> {
        let mut tx = self.pool.begin().await?;
        let (outcome, why): (String, Option<String>) =
            sqlx::query_as("SELECT outcome, why FROM unstuck.recoverer_take($1, $2)")
                .bind(wanted.id)
                .bind(&self.who)
                .fetch_one(&mut *tx)
                .await?;
        if outcome != "taken" {
            tx.commit().await?;
            return Ok(if outcome == "conflict" { Take::Later } else { Take::Refused(why.unwrap_or_default()) });
        }
        // The function locked the record and its payments: this is how they were before our own take.
        let before = facts(&mut tx, &wanted.record).await?;
        let (scope, key) = (wanted.record.scope.as_str(), wanted.record.key.as_str());
        let held = match i32::try_from(wanted.attempt) {
            Ok(attempt) => self.take_in(&mut tx, scope, key, attempt).await?,
            Err(_) => None,
        };
        let Some((before, mut held)) = before.zip(held) else {
            tx.rollback().await?;
            return Ok(Take::Later);
        };
        tx.commit().await?;
        held.not_after = Some(wanted.not_after);
        Ok(Take::Taken(Box::new((before, held))))
    }

    /// Says what became of it; the function's answer: `done`, `refused`, or `conflict` when the log is busy.
    pub(in crate::lab::service) async fn end_hand_back(
        &self,
        ended: &HandBack,
        how: Ending,
        detail: &str,
    ) -> Sql<String> {
        sqlx::query_scalar("SELECT outcome FROM unstuck.recoverer_close($1, $2, $3, $4)")
            .bind(ended.id)
            .bind(ended.worker.as_ref().unwrap_or(&self.who))
            .bind(how.word())
            .bind(detail)
            .fetch_one(&self.pool)
            .await
    }
}

fn hand_back(row: &sqlx::postgres::PgRow) -> Sql<HandBack> {
    Ok(HandBack {
        id: row.try_get("id")?,
        record: RecordId::new(row.try_get::<String, _>("scope")?, row.try_get::<String, _>("key")?),
        attempt: row.try_get("attempt")?,
        not_after: row.try_get("not_after")?,
        worker: row.try_get("worker")?,
    })
}

fn evidence(row: &sqlx::postgres::PgRow) -> Sql<Evidence> {
    let outcome: String = row.try_get("outcome")?;
    let definitive: bool = row.try_get("definitive")?;
    let observed: Value = row.try_get("observed")?;
    let why = String::new();
    let outcome = match outcome.as_str() {
        // What cannot be read is no charge we know, and no absence either.
        "found" => serde_json::from_value(observed).map_or_else(
            |error| LookupOutcome::Unreachable { why: error.to_string(), retry_after_s: None },
            |observed| LookupOutcome::Found { observed },
        ),
        "not_found" if definitive => LookupOutcome::NotFound { absence: Absence::Consistent, why },
        "not_found" => LookupOutcome::NotFound { absence: Absence::MayHaveMissed, why },
        _ => LookupOutcome::Unreachable { why, retry_after_s: None },
    };
    Ok(Evidence {
        id: Some(EvidenceId(row.try_get("id")?)),
        operator: Operator::new(row.try_get::<String, _>("operator")?),
        provider: ProviderName::new(row.try_get::<String, _>("provider")?),
        started_at: row.try_get("started_at")?,
        outcome,
        steps: Vec::new(),
    })
}
