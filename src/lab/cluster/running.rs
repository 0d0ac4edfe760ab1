//! A server of ours that runs: found, made, started, started again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::account::Account;
use super::launch::Launcher;
use super::server::Server;
use super::workdir::WorkDir;
use super::{ClusterError, ClusterOptions, ServerSource, SystemPrograms, bundled, database, find, options, sweep};
use crate::lab::clock;

/// How long a server may take to accept its first connection.
const START_LIMIT: Duration = Duration::from_mins(1);
/// A free port may be taken before the server binds it.
const START_TRIES: u32 = 5;
/// After a kill the old backends must notice and go before a new server may begin: on a busy machine that takes a while.
const RESTART_TRIES: u32 = 100;

#[derive(Debug)]
pub(super) struct Running {
    server: Server,
    launcher: Launcher,
    password: String,
    // Last: it goes when the server is gone.
    directory: WorkDir,
}

impl Running {
    pub(super) async fn start(options: ClusterOptions) -> Result<(ServerSource, Self), ClusterError> {
        // initdb, unpacking and sweeping block: not on a thread that draws or polls.
        let prepared = tokio::task::spawn_blocking(move || prepare(&options)).await;
        let (source, running) = prepared.map_err(|_| ClusterError::Interrupted)??;
        running.begin(START_TRIES).await?;
        Ok((source, running))
    }

    pub(super) fn maintenance(&self) -> PgConnectOptions {
        options::local(&self.directory.socket_dir(), self.launcher.port, &self.password)
    }

    pub(super) fn loopback(&self) -> (u16, String) {
        (self.launcher.port, self.password.clone())
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn log(&self) -> PathBuf {
        self.directory.log()
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Starts the server, again if it ended before it was ready.
    pub(super) async fn restart(&self) -> Result<(), ClusterError> {
        self.server.stop();
        self.begin(RESTART_TRIES).await
    }

    async fn begin(&self, tries: u32) -> Result<(), ClusterError> {
        for _ in 0..tries {
            self.server.is(self.launcher.postgres(&self.directory)?);
            if self.ready().await? {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        Err(self.launcher.did_not_start(&self.directory.log()))
    }

    /// Waits until a connection succeeds; false when the server ended first.
    async fn ready(&self) -> Result<bool, ClusterError> {
        let maintenance = self.maintenance();
        let deadline = clock::instant() + START_LIMIT;
        while clock::instant() < deadline {
            if !self.server.is_alive() {
                return Ok(false);
            }
            if let Ok(Ok(connection)) = tokio::time::timeout(Duration::from_secs(2), maintenance.connect()).await {
                connection.close().await.ok();
                return Ok(true);
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        Err(self.launcher.did_not_start(&self.directory.log()))
    }

    /// Freezes the server and the backends it has now.
    pub(super) async fn pause(&self) -> Result<(), ClusterError> {
        let mut connection = self.maintenance().connect().await?;
        let backends: Vec<i32> = sqlx::query_scalar(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY pid LIMIT 1000",
        )
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        self.server.freeze(&backends)
    }

    /// Lets the watcher do everything, as our death would. The server is its to stop and ours to reap.
    pub(super) fn abandon(self) {
        let Self { server, directory, .. } = self;
        directory.abandon();
        server.reap();
    }
}

fn prepare(options: &ClusterOptions) -> Result<(ServerSource, Running), ClusterError> {
    sweep::sweep();
    let account = Account::choose()?;
    match prepare_as(account, options) {
        // For instance "could not look up effective user ID" in a container; the bundled programs do not mind.
        Err(refused @ ClusterError::DidNotStart { .. })
            if options.programs == SystemPrograms::Search && bundled::is_bundled() =>
        {
            let hidden = ClusterOptions { programs: SystemPrograms::Hidden, ..options.clone() };
            prepare_as(account, &hidden).map_err(|_| refused)
        }
        prepared => prepared,
    }
}

fn prepare_as(account: Account, options: &ClusterOptions) -> Result<(ServerSource, Running), ClusterError> {
    let directory = WorkDir::create(account)?;
    let (source, programs) = choose(options, account, directory.path())?;
    let launcher = Launcher::new(account, programs, options)?;
    let password = database::random_word(24);
    launcher.initdb(&directory, &password)?;
    let server = Server::new(directory.data().join("postmaster.pid"), directory.paused());
    Ok((source, Running { server, launcher, password, directory }))
}

fn choose(
    options: &ClusterOptions,
    account: Account,
    directory: &Path,
) -> Result<(ServerSource, PathBuf), ClusterError> {
    if let Some((path, version)) = options.programs.find(account) {
        return Ok((ServerSource::System { version, path: path.clone() }, path));
    }
    if let Some(programs) = bundled::unpack(directory)?
        && let Some(version) = find::probe(&programs, account)
    {
        return Ok((ServerSource::Bundled { version }, programs));
    }
    let carried =
        if bundled::is_bundled() { "the bundled programs, which do not run here" } else { "this build carries none" };
    let looked = format!("{}; {carried}", options.programs.looked());
    Err(ClusterError::NoServer { looked, install: find::install_command() })
}
