//! The jobs only flawed services have: they remove records. The product never does; here is why.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::{Conduct, Retention, StuckKeys};
use crate::lab::LabError;
use crate::lab::task::Task;

const NAME: &str = "cron";
const EVERY: Duration = Duration::from_secs(1);

/// Running jobs; dropping them ends them.
#[derive(Debug)]
pub(in crate::lab::service) struct Jobs {
    conduct: Conduct,
    running: Option<(PgPool, Task)>,
}

impl Jobs {
    /// Starts what the conduct has; the correct service has none.
    pub(in crate::lab::service) async fn start(
        database: &PgConnectOptions,
        conduct: Conduct,
    ) -> Result<Self, LabError> {
        if conduct.stuck_keys == StuckKeys::Kept && conduct.retention == Retention::CoversRetries {
            return Ok(Self { conduct, running: None });
        }
        let options = database.clone().application_name(NAME);
        let pool = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
        let task = Task::spawn(run(pool.clone(), conduct));
        Ok(Self { conduct, running: Some((pool, task)) })
    }

    /// Runs them once, now.
    pub(in crate::lab::service) async fn run_now(&self) -> Result<u64, LabError> {
        match &self.running {
            Some((pool, _)) => Ok(once(pool, self.conduct).await?),
            None => Ok(0),
        }
    }
}

async fn run(pool: PgPool, conduct: Conduct) {
    loop {
        tokio::time::sleep(EVERY).await;
        if let Err(error) = once(&pool, conduct).await {
            tracing::debug!(%error, "a job of a flawed service could not work");
        }
    }
}

async fn once(pool: &PgPool, conduct: Conduct) -> Result<u64, sqlx::Error> {
    Ok(conduct.stuck_keys.clear(pool).await? + conduct.retention.expire(pool).await?)
}
