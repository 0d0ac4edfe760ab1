//! What runs beside the pods: the recoverer, and the notes of what happened to the service.

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::recoverer::{NAME, Recoverer, Worker};
use super::{ServiceOptions, Stalls};
use crate::lab::LabError;
use crate::lab::task::Task;

/// The tasks beside the pods; dropping it ends them.
#[derive(Debug)]
pub struct Background {
    pool: PgPool,
    worker: Worker,
    how: Recoverer,
    sweepers: usize,
    recovering: Vec<Task>,
}

impl Background {
    pub(super) async fn start(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
        stalls: Stalls,
    ) -> Result<Self, LabError> {
        let pool =
            PgPoolOptions::new().max_connections(2).connect_with(database.clone().application_name("notes")).await?;
        let worker = Worker::start(database, provider, options, stalls).await?;
        let mut made =
            Self { pool, worker, how: options.recoverer, sweepers: options.sweepers, recovering: Vec::new() };
        match options.recoverer {
            Recoverer::On => {}
            Recoverer::Off { why } => made.event(NAME, &format!("switched off: {why}"), "platform-team").await?,
            Recoverer::Down { why } => made.event(NAME, &format!("not running: {why}"), "platform-team").await?,
        }
        made.revive();
        Ok(made)
    }

    /// The recoverer, for one look at one record.
    pub(super) fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Kills the recoverer at whatever it waits for; nothing it began is undone.
    pub(super) fn kill(&mut self) {
        self.recovering.clear();
    }

    /// Starts it again, knowing nothing.
    pub(super) fn revive(&mut self) {
        let serving = || Task::spawn(self.worker.clone().serve_hand_backs());
        // The same names as before: whoever comes back goes on with its own turns.
        let sweeping = |nth: usize| Task::spawn(self.worker.clone().sweep(format!("{NAME}-{nth}")));
        self.recovering = match self.how {
            Recoverer::On => std::iter::once(serving()).chain((1..=self.sweepers).map(sweeping)).collect(),
            Recoverer::Off { .. } => vec![serving()],
            Recoverer::Down { .. } => Vec::new(),
        };
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
