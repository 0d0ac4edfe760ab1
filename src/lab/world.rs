//! A whole world in one call: server, database, provider, service, traffic and an incident.
//!
//! What the demo opens the console on, and what end-to-end tests run against. Leaves nothing behind,
//! by [`World::shutdown`] or by being dropped.

mod login;
mod options;
mod seat;

use std::sync::Arc;

use secrecy::SecretString;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{Mutex, watch};

use super::carrier::CarrierDesk;
use super::client::Clients;
use super::cluster::{Cluster, LabDatabase, ServerSource};
use super::incident::{Ended, Ending, Incident, Stage, Story};
use super::provider::{Access, Keys, LabProvider, ProviderDesk};
use super::service::{Service, ServiceOptions};
use super::system::{Surroundings, System};
use super::task::Task;
use super::traffic::{Baskets, Traffic};
use super::{LabError, policy, sql};
use crate::domain::policy::ProviderTerms;

use login::Role;

pub use login::ConsoleLogin;
pub use options::{ENVIRONMENT, ENVIRONMENT_KIND, WorldOptions};
pub use seat::{NoSeat, Seat, SecondSeat};

/// What `unstuck install` applies.
const INSTALL: &str = include_str!("../../queries/reference/install.sql");

/// How the telling of the incident stands.
type Telling = Option<Result<Story, Arc<LabError>>>;

/// A running world.
#[derive(Debug)]
pub struct World {
    // In the order they end: nobody may find the thing it talks to gone.
    telling: Task,
    traffic: Traffic,
    told: watch::Receiver<Telling>,
    service: Arc<Mutex<Service>>,
    surroundings: Surroundings,
    provider: LabProvider,
    login: ConsoleLogin,
    approver: ConsoleLogin,
    options: WorldOptions,
    database: LabDatabase,
    source: ServerSource,
    cluster: Option<Cluster>,
}

impl World {
    /// Starts a throw-away server and a world on it.
    ///
    /// # Errors
    /// [`LabError::Cluster`] when there is no server to be had; its text is for the operator.
    pub async fn start(options: WorldOptions) -> Result<Self, LabError> {
        let cluster = Cluster::start(options.cluster.clone()).await?;
        let mut world = Self::start_in(&cluster, options).await?;
        if cluster.directory().is_some() {
            world.database.goes_with_its_server();
        }
        world.cluster = Some(cluster);
        Ok(world)
    }

    /// Starts a world on a server somebody else looks after.
    ///
    /// # Errors
    /// Whatever its parts say.
    pub async fn start_in(cluster: &Cluster, options: WorldOptions) -> Result<Self, LabError> {
        let mut database = cluster.create_database("a world").await?;
        let owner = database.admin_options();
        let behaves = service_options(&options);
        Service::create_schema_for(&owner, behaves.conduct).await?;
        install(&database).await?;
        let login = ConsoleLogin::create(&mut database, cluster, Role::Operator).await?;
        let approver = ConsoleLogin::create(&mut database, cluster, Role::Approver).await?;
        let surroundings = Surroundings::start(&owner, &systems(&options)).await?;
        let provider = LabProvider::start_as(surroundings.habits(options.provider), options.seed).await?;
        let recoverer = Service::recoverer_login(&mut database).await?;
        let asked = surroundings.served_by(ServiceOptions { recoverer_as: Some(recoverer), ..behaves });
        let service = Service::start_with(&owner, &provider.url(), &asked, surroundings.stalls()).await?;
        if surroundings.has(System::Webhooks) {
            provider.desk().subscribe(service.webhook_urls());
        }
        let clients = Clients::new(service.urls(), asked.conduct.client_key)?;
        let baskets = if surroundings.has(System::Checkouts) { Baskets::Some } else { Baskets::None };
        let traffic = Traffic::start(clients.clone(), provider.desk(), options.seed, options.traffic, baskets);
        let stalls = service.stalls();
        let service = Arc::new(Mutex::new(service));
        let stage = Stage {
            seed: options.seed,
            service: Arc::clone(&service),
            stalls,
            provider: provider.desk(),
            carrier: surroundings.carrier(),
            clients,
            database: owner.application_name("unstuck-lab-story"),
        };
        let (tell, told) = watch::channel(None);
        let telling = Task::spawn(tell_incident(stage, options.clone(), tell));
        let source = cluster.source().clone();
        Ok(Self {
            telling,
            traffic,
            told,
            service,
            surroundings,
            provider,
            login,
            approver,
            options,
            database,
            source,
            cluster: None,
        })
    }

    /// Waits until the incident's records are stuck, and says which they are. Without an incident: nothing, at once.
    ///
    /// # Errors
    /// [`LabError::Story`] when the incident did not come about as written.
    pub async fn story(&self) -> Result<Story, LabError> {
        let mut told = self.told.clone();
        let ended = || LabError::Story("the world ended first".to_owned());
        let telling = told.wait_for(Option::is_some).await.map_err(|_| ended())?;
        match &*telling {
            Some(Ok(story)) => Ok(story.clone()),
            Some(Err(error)) => Err(LabError::Story(error.to_string())),
            None => Err(ended()),
        }
    }

    /// Which records are stuck, when that is known by now: never waits.
    pub fn told(&self) -> Option<Story> {
        match &*self.told.borrow() {
            Some(Ok(story)) => Some(story.clone()),
            Some(Err(_)) | None => None,
        }
    }

    /// What has to be true when the incident was handled well, and whether it is so by now. Without an incident: nothing.
    ///
    /// # Errors
    /// When the story did not come about, or whatever the server says.
    pub async fn endings(&self) -> Result<Vec<(Ending, Ended)>, LabError> {
        let (story, provider) = (self.story().await?, self.provider());
        let mut connection = self.admin_options().connect().await?;
        let mut found = Vec::new();
        for ending in self.options.incident.map_or(&[][..], |incident| incident.ends_well) {
            found.push((*ending, ending.look(&story, &provider, &mut connection).await?));
        }
        connection.close().await?;
        Ok(found)
    }

    /// How the console connects: a login that is an operator and nothing else.
    pub fn console_options(&self) -> PgConnectOptions {
        self.login.options()
    }

    /// The same as a URL, for a console in a process of its own. Contains the password.
    pub fn console_url(&self) -> String {
        self.login.url()
    }

    /// How a second person's console connects: a login that is an approver and nothing else.
    pub fn approver_options(&self) -> PgConnectOptions {
        self.approver.options()
    }

    /// The same as a URL, for a console in a process of its own. Contains the password.
    pub fn approver_url(&self) -> String {
        self.approver.url()
    }

    /// Lets somebody sit down beside `first`, with the approver's login, from a console in a process of its own.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn second_seat(&self, first: &str) -> Result<SecondSeat, LabError> {
        let seat = Seat {
            database: SecretString::from(self.approver_url()),
            provider: self.provider_url(),
            keys: self.options.provider.keys,
            first: first.to_owned(),
        };
        SecondSeat::open(self.cluster.as_ref().and_then(Cluster::directory).as_deref(), &seat)
    }

    /// How the owner of the tables connects: for tests that look behind the console.
    pub fn admin_options(&self) -> PgConnectOptions {
        self.database.admin_options()
    }

    /// Where the provider listens.
    pub fn provider_url(&self) -> String {
        self.provider.url()
    }

    /// The provider's handle for tests and scripts.
    pub fn provider(&self) -> ProviderDesk {
        self.provider.desk()
    }

    /// How many charges of an order moved money, or still may: the provider's own count.
    pub fn charges_for_order(&self, order: &str) -> usize {
        self.provider.desk().charges_for_order(order)
    }

    /// The carrier's handle, in a world with checkouts.
    pub fn carrier(&self) -> Option<CarrierDesk> {
        self.surroundings.carrier()
    }

    /// Who asked the provider what so far.
    pub fn access_log(&self) -> Vec<Access> {
        self.provider.desk().access_log()
    }

    /// The service, for tests that kill its pods.
    pub fn service(&self) -> Arc<Mutex<Service>> {
        Arc::clone(&self.service)
    }

    /// How it was started: incident, seed, and the times a policy needs.
    pub fn options(&self) -> &WorldOptions {
        &self.options
    }

    /// Where the server comes from; prints as "PostgreSQL 15.18 (system)".
    pub fn source(&self) -> &ServerSource {
        &self.source
    }

    /// The server, when it is this world's own.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.cluster.as_ref()
    }

    /// Ends everything in order and waits for it.
    ///
    /// # Errors
    /// When the database could not be removed from a server that is not ours.
    pub async fn shutdown(self) -> Result<(), LabError> {
        let Self { telling, traffic, service, surroundings, provider, database, cluster, .. } = self;
        telling.end().await;
        drop(traffic);
        drop(service);
        drop(surroundings);
        drop(provider);
        let removed = database.remove().await;
        // Stopping a server blocks: not on a thread that others wait for.
        tokio::task::spawn_blocking(move || drop(cluster)).await.ok();
        Ok(removed?)
    }
}

async fn tell_incident(stage: Stage, options: WorldOptions, tell: watch::Sender<Telling>) {
    let told = match options.incident {
        None => Ok(Story { records: Vec::new() }),
        Some(incident) => {
            tokio::time::sleep(options.calm).await;
            (incident.tell)(&stage).await.map_err(Arc::new)
        }
    };
    if let Err(error) = &told {
        tracing::error!(%error, "the incident did not come about");
    }
    tell.send(Some(told)).ok();
}

/// What the incident needs and what was asked for.
fn systems(options: &WorldOptions) -> Vec<System> {
    let of_incident = options.incident.map_or(&[][..], |incident| incident.systems);
    let asked = |system: &System| options.systems.contains(system) || of_incident.contains(system);
    System::ALL.into_iter().filter(asked).collect()
}

fn service_options(options: &WorldOptions) -> ServiceOptions {
    let defaults = ServiceOptions::default();
    let terms = match options.provider.keys {
        Keys::Honoured => defaults.terms,
        Keys::Ignored => ProviderTerms { key_retention: None, ..defaults.terms },
    };
    ServiceOptions {
        pods: options.pods,
        terms,
        lease: options.lease,
        provider_timeout: options.provider_timeout,
        recoverer: options.incident.map_or(defaults.recoverer, |incident| incident.recoverer),
        orphans: options.incident.map_or(defaults.orphans, |incident| incident.orphans),
        conduct: options.incident.map_or(defaults.conduct, Incident::conduct),
        ..defaults
    }
}

/// Schema `unstuck` with its log, functions and roles, and the name of this environment.
async fn install(database: &LabDatabase) -> Result<(), LabError> {
    let mut connection = database.admin_options().connect().await?;
    database.verify(&mut connection).await?;
    sql::run(&mut connection, INSTALL).await?;
    sqlx::query("SELECT unstuck.set_environment($1, $2)")
        .bind(ENVIRONMENT)
        .bind(ENVIRONMENT_KIND)
        .execute(&mut connection)
        .await?;
    for (limit, seconds) in policy::DATABASE_LIMITS {
        sqlx::query("SELECT unstuck.set_limit($1, $2)").bind(limit).bind(seconds).execute(&mut connection).await?;
    }
    Ok(connection.close().await?)
}
