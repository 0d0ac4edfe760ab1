//! Why there is no throw-away server, in words for the person who typed `demo`.

use std::path::PathBuf;

/// What can go wrong between "give me a PostgreSQL" and the first query.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No program of any kind; says what was looked for and the one command that helps.
    #[error(
        "no PostgreSQL server program was found (looked for `initdb` and `postgres` in {looked}); install it with: {install}"
    )]
    NoServer {
        /// The places, in words.
        looked: String,
        /// One command for this system.
        install: String,
    },
    /// PostgreSQL refuses to run as root and there is nobody to run it as.
    #[error("running as root, and this system has neither a user `postgres` nor `nobody` to run PostgreSQL as")]
    NobodyToRunAs,
    /// `initdb` or `postgres` ended, or never accepted a connection.
    #[error("PostgreSQL from {program} did not start: {detail}")]
    DidNotStart {
        /// The program that was started.
        program: PathBuf,
        /// The end of what it wrote.
        detail: String,
    },
    /// The bundled archive could not be unpacked.
    #[error("the bundled PostgreSQL could not be unpacked: {0}")]
    Unpack(#[source] std::io::Error),
    /// The operating system refused something.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was being done, as an infinitive.
        doing: &'static str,
        /// The reason given.
        source: std::io::Error,
    },
    /// `UNSTUCK_LAB_SERVER_URL` is not usable.
    #[error("UNSTUCK_LAB_SERVER_URL: {0}")]
    ServerUrl(String),
    /// The program is ending while it starts.
    #[error("the start of the server was interrupted")]
    Interrupted,
    /// A database without this process's own marker.
    #[error("refusing to use database \"{0}\": the lab works only in databases it created itself in this process")]
    ForeignDatabase(String),
    /// A server that belongs to somebody is not killed, frozen or restarted.
    #[error("this server was not started by the lab: it is not the lab's to stop")]
    NotOurs,
    /// The server answered with an error.
    #[error("the lab's server: {0}")]
    Database(#[from] sqlx::Error),
}

impl ClusterError {
    pub(super) fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}
