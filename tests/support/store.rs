//! A database with the service's tables, and a store over it: what the tests of the store stand on.

use std::sync::{Arc, OnceLock};

use sqlx::{ConnectOptions as _, Connection, PgConnection};
use unstuck::domain::environment::{Environment, EnvironmentKind};
use unstuck::domain::policy::{Policy, RulePolicy};
use unstuck::domain::time::Seconds;
use unstuck::lab::cluster::{Cluster, LabDatabase, ServerSource};
use unstuck::lab::sql;
use unstuck::store::install;
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile::{self, Profile};

use super::cluster::shared;
use super::proof::{LogGuard, witness};

/// What a database is given before the test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    /// The reference tables and schema `unstuck`.
    Installed,
    /// The reference tables alone.
    Plain,
    /// The one table of the records profile.
    Records,
}

/// A database of this test's own, a superuser's connection to it, and how the console logs in.
pub struct Ground {
    pub database: LabDatabase,
    pub admin: PgConnection,
    login: unstuck::lab::cluster::Login,
    _log: LogGuard,
}

impl Drop for Ground {
    /// Every test of the store ends with what the console did in its database being looked at.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            witness::look(&self.database.admin_options());
        }
    }
}

impl Ground {
    /// On the shared cluster, with `tests/fixtures/clean.sql` (or the records fixture) in it.
    pub async fn new(tables: Tables) -> Self {
        Self::on(shared().await, tables).await
    }

    pub async fn on(cluster: &Cluster, tables: Tables) -> Self {
        let mut database = cluster.create_database("a store test").await.expect("a database of our own");
        let mut admin = PgConnection::connect_with(&database.admin_options()).await.expect("a connection");
        let (profile, fixture) = match tables {
            Tables::Installed | Tables::Plain => ("reference", include_str!("../fixtures/clean.sql")),
            Tables::Records => ("records", include_str!("../fixtures/records.sql")),
        };
        let library = Library::shipped();
        let schema = library.text(&format!("{profile}/schema.sql")).expect("a schema");
        sql::run(&mut admin, schema).await.expect("the tables");
        sql::run(&mut admin, fixture).await.expect("the fixture");
        let groups: &[&str] = if tables == Tables::Installed {
            let script = install::script(&library, "reference").expect("a script");
            let owner = StoreOptions::new(database.admin_options(), shipped());
            install::apply(&owner, &script, &demo()).await.expect("the installation");
            &["unstuck_operator"]
        } else {
            &[]
        };
        let login = database.create_login("console", groups).await.expect("a login");
        if tables != Tables::Installed {
            let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {}", sql::ident(&login.name));
            sql::run(&mut admin, &grant).await.expect("the grant");
        }
        witness::install(&mut admin).await;
        Self { database, admin, login, _log: LogGuard::over(cluster) }
    }

    /// Runs a statement as the superuser.
    pub async fn run(&mut self, script: &str) {
        sql::run(&mut self.admin, script).await.unwrap_or_else(|error| panic!("{script}: {error}"));
    }

    /// One text as the superuser sees it.
    pub async fn text(&mut self, query: &'static str) -> String {
        sqlx::query_scalar(query).fetch_one(&mut self.admin).await.expect("one text")
    }

    /// One number as the superuser sees it.
    pub async fn number(&mut self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&mut self.admin).await.expect("one number")
    }

    /// Another superuser's connection, for locks that are held meanwhile.
    pub async fn other(&self) -> PgConnection {
        PgConnection::connect_with(&self.database.admin_options()).await.expect("a connection")
    }

    /// What the console logs in with. The patience is wide: these machines are slow and shared.
    pub fn options(&self) -> StoreOptions {
        let mut options = StoreOptions::new(self.database.login_options(&self.login), shipped());
        options.policy = policy();
        options.environment = Some(demo());
        options.poll_within = std::time::Duration::from_secs(20);
        options.read_within = std::time::Duration::from_secs(20);
        options
    }

    pub fn store(&self) -> PgStore {
        PgStore::new(self.options())
    }

    /// The console's login as an address, for the real binary.
    pub fn url(&self) -> String {
        self.database.login_options(&self.login).to_url_lossy().to_string()
    }

    /// The console's login in the hands of a person with a client of their own.
    pub async fn in_psql(&self) -> PgConnection {
        self.in_psql_as(&self.login).await
    }

    /// Another login in the same hands.
    pub async fn in_psql_as(&self, login: &unstuck::lab::cluster::Login) -> PgConnection {
        let options = self.database.login_options(login).application_name("psql");
        PgConnection::connect_with(&options).await.expect("a connection")
    }
}

/// Where the tests are.
pub fn demo() -> Environment {
    Environment { name: "demo".to_owned(), kind: EnvironmentKind::Demo }
}

/// The shipped profiles, read once.
pub fn shipped() -> Arc<Vec<Profile>> {
    static SHIPPED: OnceLock<Arc<Vec<Profile>>> = OnceLock::new();
    let load = || Arc::new(profile::load(&Library::shipped()).unwrap_or_else(|mistakes| panic!("{mistakes}")));
    Arc::clone(SHIPPED.get_or_init(load))
}

/// The policy that `clean.sql` is clean under.
pub fn policy() -> Policy {
    Policy {
        stuck_after: Seconds(300),
        rules: RulePolicy {
            retention_s: Some(86_400),
            retry_window_s: Some(600),
            provider_timeout_s: Some(10),
            outbox_limit_s: Some(60),
            saga_limit_s: Some(300),
            grace_s: Some(0),
        },
        ..Policy::default()
    }
}

/// Whether server time-outs fire on this cluster; says so when they do not, so that a skip is seen.
pub async fn server_timers(test: &str) -> bool {
    let bundled = matches!(shared().await.source(), ServerSource::Bundled { .. });
    if bundled {
        println!("{test}: skipped, the bundled server has no server time-outs");
    }
    !bundled
}
