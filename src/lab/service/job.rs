//! What the service does beside answering: one file each, one list.
//!
//! A job makes one pass after the other, each of which may die anywhere: what it does is done once all the
//! same. Several workers of one job do not collide, because each row is taken with `FOR UPDATE SKIP LOCKED`.

mod checkout;
mod inbox;
mod reconcile;
mod relay;
mod retention;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::flow::Flow;
use super::gateway::Gateway;
use super::records::Records;
use super::{ServiceOptions, Stalls};
use crate::lab::task::Task;
use crate::lab::{LabError, http};

/// Every job there is.
pub const ALL: &[&Job] = &[&relay::JOB, &inbox::JOB, &checkout::JOB, &reconcile::JOB, &retention::JOB];

/// Publishes the outbox, at least once.
pub const RELAY: &Job = &relay::JOB;
/// Applies the webhooks that could not be applied when they came.
pub const INBOX: &Job = &inbox::JOB;
/// Moves checkouts forward, and before their pivot back.
pub const CHECKOUT: &Job = &checkout::JOB;
/// Holds the books against the provider's settlement reports.
pub const RECONCILE: &Job = &reconcile::JOB;
/// Retires the records nobody retries any more.
pub const RETENTION: &Job = &retention::JOB;

/// Tables of the jobs.
pub(super) const EXPIRED_KEYS: &str = retention::TABLES;
pub(super) const FINDINGS: &str = reconcile::TABLES;

/// What the pool of all jobs calls itself to the server.
const APPLICATION: &str = "payment-jobs";

/// One job.
pub struct Job {
    /// What it calls itself in the tables.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub sentence: &'static str,
    /// The pause between two passes.
    pub(super) every: Duration,
    /// One pass.
    pub(super) pass: for<'a> fn(&'a Workshop) -> BoxFuture<'a, Result<Tally, LabError>>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Job").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What one pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many things it looked at.
    pub seen: usize,
    /// How many of them it changed.
    pub changed: usize,
}

/// What a job works with.
#[derive(Debug, Clone)]
pub(super) struct Workshop {
    pub(super) flow: Flow,
    pub(super) http: reqwest::Client,
    pub(super) provider: String,
    pub(super) options: Arc<ServiceOptions>,
}

impl Workshop {
    pub(super) fn pool(&self) -> &PgPool {
        &self.flow.records.pool
    }
}

/// The jobs of one service: those that run by themselves, and a way to make single passes. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Jobs {
    pool: PgPool,
    provider: String,
    options: Arc<ServiceOptions>,
    stalls: Stalls,
}

/// The jobs that run by themselves; dropping it ends them.
#[derive(Debug)]
pub(super) struct Running {
    _tasks: Vec<Task>,
}

impl Jobs {
    pub(super) async fn open(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
        stalls: Stalls,
    ) -> Result<Self, LabError> {
        let pool = PgPoolOptions::new()
            .max_connections(8)
            .connect_with(database.clone().application_name(APPLICATION))
            .await?;
        Ok(Self { pool, provider: provider.to_owned(), options: Arc::new(options.clone()), stalls })
    }

    /// Starts those the service was asked to run.
    pub(super) fn start(&self) -> Result<Running, LabError> {
        let tasks: Result<Vec<Task>, LabError> =
            self.options.jobs.iter().map(|job| Ok(Task::spawn(keep_at_it(job, self.workshop(job)?)))).collect();
        Ok(Running { _tasks: tasks? })
    }

    /// Makes one pass of a job, whether it also runs by itself or not.
    ///
    /// # Errors
    /// Whatever the database or a neighbour over HTTP says; what the pass had done so far stays done.
    pub async fn run(&self, job: &'static Job) -> Result<Tally, LabError> {
        (job.pass)(&self.workshop(job)?).await
    }

    fn workshop(&self, job: &Job) -> Result<Workshop, LabError> {
        let gateway = Gateway::new(&self.provider, job.name, self.options.provider_timeout)?;
        let records = Records::new(self.pool.clone(), job.name.to_owned(), &self.options);
        Ok(Workshop {
            flow: Flow { records, gateway, stalls: self.stalls.clone(), meetings: self.options.meetings.clone() },
            http: http::client(&format!("payment-service/{}", job.name))?,
            provider: self.provider.clone(),
            options: Arc::clone(&self.options),
        })
    }
}

async fn keep_at_it(job: &'static Job, workshop: Workshop) {
    loop {
        if let Err(error) = (job.pass)(&workshop).await {
            tracing::debug!(job = job.name, %error, "a pass could not be made");
        }
        tokio::time::sleep(job.every).await;
    }
}
