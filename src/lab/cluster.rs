//! A throw-away PostgreSQL: started in seconds, stopped and removed on every way out.
//!
//! Order of sources: a server named by `UNSTUCK_LAB_SERVER_URL`, the system's programs, the bundled
//! archive, one clear sentence. Never reads `UNSTUCK_DATABASE_URL` nor any `PG…` variable that says where
//! to connect. Ways out: [`Drop`], the supervising child when we are killed, the sweep at the next start.
//!
//! ```no_run
//! # async fn example() -> Result<(), unstuck::lab::cluster::ClusterError> {
//! use unstuck::lab::cluster::{Cluster, ClusterOptions};
//! let cluster = Cluster::start(ClusterOptions::from_env()).await?;
//! let database = cluster.create_database("an example").await?;
//! println!("{} at {}", cluster.source(), database.name());
//! # Ok(()) }
//! ```

mod account;
mod bundled;
mod database;
mod error;
mod find;
mod launch;
mod options;
mod running;
mod server;
mod supervise;
mod sweep;
mod workdir;

use std::path::PathBuf;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

pub use bundled::is_bundled;
pub use database::{LabDatabase, Login};
pub use error::ClusterError;
pub use find::SystemPrograms;
pub use options::{ClusterOptions, ServerSource, StatementLog, SynchronousCommit};

use running::Running;

/// A server to make throw-away databases on.
#[derive(Debug)]
pub struct Cluster {
    source: ServerSource,
    maintenance: PgConnectOptions,
    running: Option<Running>,
}

impl Cluster {
    /// Finds or starts a server and waits until a connection succeeds.
    ///
    /// # Errors
    /// [`ClusterError::NoServer`] when there is no program of any kind; its text is for the operator.
    pub async fn start(options: ClusterOptions) -> Result<Self, ClusterError> {
        if let Some(url) = &options.server_url {
            return Self::on_server(options::parse_server_url(url)?).await;
        }
        let (source, running) = Running::start(options).await?;
        Ok(Self { source, maintenance: running.maintenance(), running: Some(running) })
    }

    async fn on_server(maintenance: PgConnectOptions) -> Result<Self, ClusterError> {
        let mut connection = maintenance.connect().await?;
        let version: String =
            sqlx::query_scalar("SELECT current_setting('server_version')").fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok(Self { source: ServerSource::Server { version: options::first_word(&version) }, maintenance, running: None })
    }

    /// Where the server comes from; prints as "PostgreSQL 15.18 (system)".
    pub fn source(&self) -> &ServerSource {
        &self.source
    }

    /// How a superuser connects to the maintenance database. For making databases, not for working in.
    pub fn admin_options(&self) -> PgConnectOptions {
        self.maintenance.clone()
    }

    /// A new, empty, marked database; `purpose` is only for people who look at the server.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn create_database(&self, purpose: &str) -> Result<LabDatabase, ClusterError> {
        LabDatabase::create(&self.maintenance, purpose).await
    }

    /// The loopback port and the password of the superuser, for clients that cannot use the socket.
    pub fn loopback(&self) -> Option<(u16, String)> {
        self.running.as_ref().map(Running::loopback)
    }

    /// The cluster's directory, when it is ours.
    pub fn directory(&self) -> Option<PathBuf> {
        self.running.as_ref().map(|running| running.directory().to_owned())
    }

    /// The file the server writes to; with [`StatementLog::All`] every top-level statement, each line
    /// `TIME pid=… user=… db=… app=… LOG:  …`.
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server.
    pub fn statement_log(&self) -> Result<PathBuf, ClusterError> {
        Ok(self.ours()?.log())
    }

    /// `kill -9` of the server: no shutdown, connections cut, what was not committed lost.
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server.
    pub fn kill9(&self) -> Result<(), ClusterError> {
        self.ours()?.server().kill9();
        Ok(())
    }

    /// Stops the server in an orderly way, clients disconnected.
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server.
    pub fn stop(&self) -> Result<(), ClusterError> {
        self.ours()?.server().stop();
        Ok(())
    }

    /// Starts the server again on the same port, socket and data, and waits until it answers.
    ///
    /// # Errors
    /// [`ClusterError::DidNotStart`] with the end of its log.
    pub async fn restart(&self) -> Result<(), ClusterError> {
        self.ours()?.restart().await
    }

    /// Freezes the server and all its backends (SIGSTOP): connections stay open and say nothing.
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server, or what the server says to being asked for its backends.
    pub async fn pause(&self) -> Result<(), ClusterError> {
        self.ours()?.pause().await
    }

    /// Ends [`Cluster::pause`].
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server.
    pub fn resume(&self) -> Result<(), ClusterError> {
        self.ours()?.server().thaw();
        Ok(())
    }

    /// Goes away the way a killed process does: nothing is stopped here, only the supervisor's pipe
    /// closes. Returns when the supervisor is done.
    ///
    /// # Errors
    /// [`ClusterError::NotOurs`] for somebody's server.
    pub fn abandon(mut self) -> Result<(), ClusterError> {
        self.running.take().ok_or(ClusterError::NotOurs)?.abandon();
        Ok(())
    }

    fn ours(&self) -> Result<&Running, ClusterError> {
        self.running.as_ref().ok_or(ClusterError::NotOurs)
    }
}
