//! What runs beside the pods: the recoverer, and the notes of what happened to the service.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::flow::Flow;
use super::gateway::Gateway;
use super::records::Records;
use super::{ServiceOptions, Stalls};
use crate::lab::LabError;
use crate::lab::task::Task;

/// Who the recoverer says it is.
const NAME: &str = "recoverer";
const RECOVER_EVERY: Duration = Duration::from_secs(5);

/// Whether stuck records are recovered without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recoverer {
    /// Every five seconds it takes expired leases and recovers them.
    On,
    /// Switched off, and `service_events` says by whom and why.
    Off {
        /// Why, in the words of who did it.
        why: &'static str,
    },
}

/// The tasks beside the pods; dropping it ends them.
#[derive(Debug)]
pub struct Background {
    pool: PgPool,
    tasks: Vec<Task>,
}

impl Background {
    pub(super) async fn start(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
    ) -> Result<Self, LabError> {
        let pool =
            PgPoolOptions::new().max_connections(3).connect_with(database.clone().application_name(NAME)).await?;
        let gateway = Gateway::new(provider, NAME, options.provider_timeout)?;
        let records = Records { pool: pool.clone(), who: NAME.to_owned(), lease_seconds: options.lease.as_secs_f64() };
        let flow = Flow { records, gateway, stalls: Stalls::default() };
        let mut made = Self { pool, tasks: Vec::new() };
        match options.recoverer {
            Recoverer::On => made.tasks.push(Task::spawn(recover(flow))),
            Recoverer::Off { why } => {
                made.event("recoverer", &format!("switched off: {why}"), "platform-team").await?;
            }
        }
        Ok(made)
    }

    /// Notes something that happened to the service: `deploy`, `sweeper`, `recoverer` or `config`.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn event(&self, kind: &str, what: &str, who: &str) -> Result<(), LabError> {
        sqlx::query("INSERT INTO service_events (at, kind, what, who) VALUES (clock_timestamp(), $1, $2, $3)")
            .bind(kind)
            .bind(what)
            .bind(who)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}

async fn recover(flow: Flow) {
    loop {
        tokio::time::sleep(RECOVER_EVERY).await;
        if let Err(error) = recover_once(&flow).await {
            tracing::debug!(%error, "the recoverer could not work");
        }
    }
}

async fn recover_once(flow: &Flow) -> Result<(), sqlx::Error> {
    let expired = flow.records.expired().await?;
    let mut finished = 0;
    for (scope, key, attempt) in &expired {
        if let Some(held) = flow.records.take(scope, key, *attempt).await? {
            let answer = flow.recover(held).await?;
            finished += i32::from(answer.code != axum::http::StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    sqlx::query(
        "INSERT INTO service_events (at, kind, what, who, next_at)
         VALUES (clock_timestamp(), 'recoverer', $1, $2, clock_timestamp() + make_interval(secs => $3))",
    )
    .bind(format!("finished {finished} of {} expired", expired.len()))
    .bind(NAME)
    .bind(RECOVER_EVERY.as_secs_f64())
    .execute(&flow.records.pool)
    .await?;
    Ok(())
}
