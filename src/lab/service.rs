//! The payment service: N pods over one database, one provider. Correct, or with the flaws it is asked for.
//!
//! Owns the rows of the reference schema; what it answers is DOMAIN's table, kept by the unique
//! constraint, the lease and the attempt. A pod can be killed in the middle of a request: that is what
//! the console is for.

mod answer;
mod api;
mod background;
mod bare;
mod checkout;
mod consumer;
pub mod flaw;
mod flow;
mod gateway;
pub mod job;
mod large;
mod meeting;
mod order;
mod pod;
mod reconcile;
mod records;
mod recover;
mod recoverer;
mod schema;
mod stall;
mod webhook;

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::cluster::LabDatabase;
use super::{LabError, policy, sql};
use crate::domain::ids::RecordId;
use crate::domain::policy::{Policy, ProviderTerms};

pub use background::Background;
pub use consumer::Books;
pub use flaw::Conduct;
pub use job::{Job, Jobs, Tally};
pub use meeting::Meetings;
pub use pod::Pod;
pub use reconcile::Orphans;
pub use recoverer::{Recovered, Recoverer};
pub use stall::{StallPoint, Stalls};

/// Name of the lab's provider in every table.
pub const PROVIDER: &str = "labpay";

/// What the recoverer's login may do in the service's tables.
const RECOVERER_READS: &str =
    "GRANT SELECT ON idempotency_keys, payments, payment_attempts, provider_calls, api_requests, receipts, sweep_turns";
const RECOVERER_CHANGES: &str =
    "GRANT UPDATE ON idempotency_keys, payments, payment_attempts, provider_calls, sweep_turns";
const RECOVERER_ADDS: &str =
    "GRANT INSERT ON payment_attempts, provider_calls, payment_transitions, outbox, service_events, sweep_turns";

/// How a service behaves.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// How many pods, named `pod-a`, `pod-b` …
    pub pods: usize,
    /// How long a lease lives. Longer than the provider's time-out, always.
    pub lease: Duration,
    /// How long a pod waits for the provider.
    pub provider_timeout: Duration,
    /// Whether stuck records are recovered without a person.
    pub recoverer: Recoverer,
    /// How many sweepers the recoverer has. They share the work.
    pub sweepers: usize,
    /// How the recoverer logs in; `None`: as the pods do.
    pub recoverer_as: Option<PgConnectOptions>,
    /// What the recoverer goes by.
    pub policy: Policy,
    /// What the provider promises.
    pub terms: ProviderTerms,
    /// Connections of each pod, all opened at the start.
    pub connections: u32,
    /// What runs by itself beside the pods, of [`job::ALL`].
    pub jobs: Vec<&'static Job>,
    /// How long a done record is kept. Longer than any client retries, always.
    pub retention: Duration,
    /// Base URLs of those who hear every event.
    pub consumers: Vec<String>,
    /// Base URL of the carrier; without one no checkout ever ships.
    pub carrier: Option<String>,
    /// What is done about a charge nobody's order accounts for.
    pub orphans: Orphans,
    /// Correct, or with flaws.
    pub conduct: Conduct,
    /// Where a flawed service lets requests meet.
    pub meetings: Meetings,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            pods: 2,
            lease: Duration::from_secs(10),
            provider_timeout: Duration::from_secs(2),
            recoverer: Recoverer::On,
            sweepers: 1,
            recoverer_as: None,
            policy: policy::policy(),
            terms: policy::terms(),
            connections: 8,
            jobs: vec![job::RELAY],
            retention: Duration::from_hours(24),
            consumers: Vec::new(),
            carrier: None,
            orphans: Orphans::Refund,
            conduct: Conduct::CORRECT,
            meetings: Meetings::default(),
        }
    }
}

/// A running service.
#[derive(Debug)]
pub struct Service {
    pods: Vec<Pod>,
    background: Background,
    jobs: Jobs,
    _running: job::Running,
    flawed: flaw::Jobs,
    stalls: Stalls,
}

impl Service {
    /// Creates the tables and indexes, those of the reference profile, for the correct service.
    ///
    /// # Errors
    /// Whatever the server says, for instance that they are there already.
    pub async fn create_schema(database: &PgConnectOptions) -> Result<(), LabError> {
        Self::create_schema_for(database, Conduct::CORRECT).await
    }

    /// The same for a service of that conduct: only the correct one has the database refuse a second succeeded
    /// payment of an order.
    ///
    /// # Errors
    /// As [`Service::create_schema`].
    pub async fn create_schema_for(database: &PgConnectOptions, conduct: Conduct) -> Result<(), LabError> {
        let mut connection = database.connect().await?;
        schema::create(&mut connection, conduct).await?;
        Ok(connection.close().await?)
    }

    /// A login for the recoverer: what its work needs in the service's tables, and `unstuck_recoverer`. Schema
    /// `unstuck` must be installed.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn recoverer_login(database: &mut LabDatabase) -> Result<PgConnectOptions, LabError> {
        let login = database.create_login("recoverer", &["unstuck_recoverer"]).await?;
        let mut connection = database.admin_options().connect().await?;
        let role = sql::ident(&login.name);
        sql::run(
            &mut connection,
            &format!("{RECOVERER_READS} TO {role}; {RECOVERER_CHANGES} TO {role}; {RECOVERER_ADDS} TO {role}"),
        )
        .await?;
        connection.close().await?;
        Ok(database.login_options(&login))
    }

    /// Starts the pods and what runs beside them. `provider` is a base URL.
    ///
    /// # Errors
    /// [`LabError::Database`] or [`LabError::Listen`].
    pub async fn start(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
    ) -> Result<Self, LabError> {
        // Boxed: it is large, and whoever starts a service need not be.
        Box::pin(Self::start_with(database, provider, options, Stalls::default())).await
    }

    /// The same, with points to hang at that others share.
    ///
    /// # Errors
    /// As [`Service::start`].
    pub async fn start_with(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
        stalls: Stalls,
    ) -> Result<Self, LabError> {
        let options = &options.clone().without_what_it_lacks();
        let mut pods = Vec::new();
        for name in pod_names().take(options.pods) {
            // Large, and part of every caller's future.
            pods.push(Box::pin(Pod::start(&name, database, provider, options, stalls.clone())).await?);
        }
        let background = Box::pin(Background::start(database, provider, options, stalls.clone())).await?;
        let jobs = Jobs::open(database, provider, options, stalls.clone()).await?;
        let running = jobs.start()?;
        let flawed = flaw::Jobs::start(database, options.conduct).await?;
        Ok(Self { pods, background, jobs, _running: running, flawed, stalls })
    }

    /// Base URLs of the pods that are up, in order of their names.
    pub fn urls(&self) -> Vec<String> {
        self.pods.iter().filter(|pod| pod.is_up()).map(Pod::url).collect()
    }

    /// A pod by its place.
    pub fn pod(&self, nth: usize) -> Option<&Pod> {
        self.pods.get(nth)
    }

    /// Kills a pod as the kernel does when memory runs out: no goodbye, everything in flight is gone.
    pub fn kill_pod(&mut self, nth: usize) {
        if let Some(pod) = self.pods.get_mut(nth) {
            pod.kill();
        }
    }

    /// Starts a killed pod again at its old address.
    ///
    /// # Errors
    /// As [`Service::start`].
    pub async fn revive_pod(&mut self, nth: usize) -> Result<(), LabError> {
        match self.pods.get_mut(nth) {
            Some(pod) => pod.revive().await,
            None => Ok(()),
        }
    }

    /// Kills the recoverer: no goodbye, whatever it held stays held until the lease is over.
    pub fn kill_recoverer(&mut self) {
        self.background.kill();
    }

    /// Starts it again.
    pub fn revive_recoverer(&mut self) {
        self.background.revive();
    }

    /// One look of the recoverer at one record, now, as a round of its sweep would; also while the sweep is off.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn recover(&self, id: &RecordId) -> Result<Recovered, LabError> {
        Ok(self.background.worker().recover(id).await?)
    }

    /// Where pods and the recoverer can be told to hang.
    pub fn stalls(&self) -> Stalls {
        self.stalls.clone()
    }

    /// Where a provider sends its webhooks: every pod takes them.
    pub fn webhook_urls(&self) -> Vec<String> {
        self.pods.iter().map(|pod| format!("{}/webhooks/{PROVIDER}", pod.url())).collect()
    }

    /// The jobs, for single passes.
    pub fn jobs(&self) -> Jobs {
        self.jobs.clone()
    }

    /// Lets the jobs that only flawed services have run now, once; says how many records they removed.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn run_jobs(&self) -> Result<u64, LabError> {
        self.flawed.run_now().await
    }

    /// What runs beside the pods.
    pub fn background(&self) -> &Background {
        &self.background
    }
}

impl ServiceOptions {
    /// A conduct that takes nothing over has no recoverer either.
    fn without_what_it_lacks(mut self) -> Self {
        if !self.conduct.recovers() {
            self.recoverer = Recoverer::Down { why: "this service has none" };
        }
        self
    }
}

fn pod_names() -> impl Iterator<Item = String> {
    ('a'..='z').map(|letter| format!("pod-{letter}"))
}
