//! The recoverer's own rounds over expired leases: it looks and decides first, and takes only what it will finish.
//!
//! So a record it cannot finish is left as it was, for a person to hold or hand back: a take would count as an
//! attempt, and "not found" would start anew.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::StatusCode;

use super::{Deed, Memory, NAME, Worker, left};
use crate::domain::ids::RecordId;
use crate::lab::service::answer::Answer;
use crate::lab::service::records::Held;

const EVERY: Duration = Duration::from_secs(5);

/// What one look at a record came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// It is done, by this recoverer.
    Finished,
    /// It was left as it is, and why.
    Left(String),
    /// It was charged, and how that ended is not known: it is looked up when the lease is over.
    Unknown,
}

impl Worker {
    /// Sweeps for ever, beside other sweepers of other names.
    pub(in crate::lab::service) async fn sweep(self, sweeper: String) {
        let mut known = HashMap::new();
        loop {
            tokio::time::sleep(EVERY).await;
            if let Err(error) = self.sweep_once(&sweeper, &mut known).await {
                tracing::debug!(%error, "the recoverer could not work");
            }
        }
    }

    async fn sweep_once(&self, sweeper: &str, known: &mut HashMap<RecordId, Memory>) -> Result<(), sqlx::Error> {
        let expired = self.flow.records.turns(sweeper).await?;
        known.retain(|id, _| expired.contains(id));
        // What people handed back is served as a hand back: a take of ours would make another attempt of it.
        let waiting =
            if self.flow.records.may_serve().await? { self.flow.records.waiting().await? } else { Vec::new() };
        let mut finished = 0_usize;
        for id in expired.iter().filter(|id| !waiting.iter().any(|asked| asked.record == **id)) {
            let memory = known.entry(id.clone()).or_default();
            let now = self.flow.records.now().await?;
            if memory.again.is_some_and(|again| again > now) {
                continue;
            }
            match self.recover_with(id, memory).await? {
                Recovered::Finished => finished = finished.saturating_add(1),
                Recovered::Unknown => {}
                Recovered::Left(why) if why == memory.why => {}
                Recovered::Left(why) => {
                    self.note(&format!("left {} {}: {why}", id.scope, id.key)).await?;
                    memory.why = why;
                }
            }
        }
        sqlx::query(
            "INSERT INTO service_events (at, kind, what, who, next_at)
             VALUES (clock_timestamp(), 'recoverer', $1, $2, clock_timestamp() + make_interval(secs => $3))",
        )
        .bind(format!("finished {finished} of {} expired", expired.len()))
        .bind(NAME)
        .bind(EVERY.as_secs_f64())
        .execute(self.pool())
        .await?;
        Ok(())
    }

    /// One look at one record, now, as a round would.
    pub(in crate::lab::service) async fn recover(&self, id: &RecordId) -> Result<Recovered, sqlx::Error> {
        self.recover_with(id, &mut Memory::default()).await
    }

    async fn recover_with(&self, id: &RecordId, memory: &mut Memory) -> Result<Recovered, sqlx::Error> {
        let records = &self.flow.records;
        let Some(before) = records.facts(id).await? else {
            return Ok(Recovered::Left("there is no such record".to_owned()));
        };
        let Some(seen) = Held::seen(&before) else {
            return Ok(Recovered::Left("it has no payment or no provider key".to_owned()));
        };
        if before.record.lease.is_live(records.now().await?) {
            return Ok(Recovered::Left("somebody holds the lease".to_owned()));
        }
        let decision = self.judge(&before, &seen, memory).await?;
        let Some(deed) = Deed::of(&decision.step) else {
            return Ok(Recovered::Left(left(&decision)));
        };
        let Some(held) = records.take_as_seen(&before).await? else {
            return Ok(Recovered::Left("somebody else was first".to_owned()));
        };
        memory.looked_up.clear();
        match self.carry_out(&held, &deed).await? {
            Ok(answer) => Ok(Recovered::by(&answer)),
            Err(not_sent) => {
                records.give_back(&held, not_sent.why()).await?;
                Ok(Recovered::Left(not_sent.why().to_owned()))
            }
        }
    }
}

impl Recovered {
    /// What a client would have been told, told to the recoverer.
    pub(super) fn by(answer: &Answer) -> Self {
        match answer.code {
            StatusCode::CREATED | StatusCode::PAYMENT_REQUIRED => Self::Finished,
            StatusCode::SERVICE_UNAVAILABLE => Self::Unknown,
            _ => Self::Left("somebody else was first".to_owned()),
        }
    }
}
