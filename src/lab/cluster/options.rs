//! What a cluster can be asked for, and what it says about itself.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};

use super::{ClusterError, SystemPrograms};

/// Whether an acknowledged commit must survive `kill -9`. Crash, fault and race tests want [`SynchronousCommit::On`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SynchronousCommit {
    /// Fast; the last moments may be lost with the server.
    #[default]
    Off,
    /// Acknowledged means written.
    On,
}

/// Whether the server writes down every statement it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatementLog {
    /// Only warnings and errors.
    #[default]
    Off,
    /// Everything, with pid, user, database and application name.
    All,
}

/// How to start a throw-away server. The default looks at nothing in the environment.
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// A server to make databases on instead of starting one.
    pub server_url: Option<String>,
    /// Which of the system's programs may be used.
    pub programs: SystemPrograms,
    /// See [`SynchronousCommit`].
    pub synchronous_commit: SynchronousCommit,
    /// See [`StatementLog`].
    pub log_statements: StatementLog,
    /// Further server settings, which win over ours.
    pub settings: Vec<(String, String)>,
}

impl ClusterOptions {
    /// The defaults with `UNSTUCK_LAB_SERVER_URL` and `UNSTUCK_POSTGRES_BIN`; no other variable is read.
    pub fn from_env() -> Self {
        let server_url = std::env::var("UNSTUCK_LAB_SERVER_URL").ok().filter(|url| !url.is_empty());
        Self { server_url, programs: SystemPrograms::from_env(), ..Self::default() }
    }
}

/// Where the server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerSource {
    /// Programs of this system.
    System {
        /// As `postgres --version` says.
        version: String,
        /// The directory of the programs.
        path: PathBuf,
    },
    /// The archive inside this binary: full, but for server time-outs.
    Bundled {
        /// As `postgres --version` says.
        version: String,
    },
    /// A server named by `UNSTUCK_LAB_SERVER_URL`.
    Server {
        /// As the server says.
        version: String,
    },
}

impl ServerSource {
    /// Whether `statement_timeout`, `lock_timeout` and deadlock detection fire on this server.
    pub fn has_server_timeouts(&self) -> bool {
        match self {
            Self::System { .. } | Self::Server { .. } => true,
            Self::Bundled { .. } => false,
        }
    }
}

impl fmt::Display for ServerSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { version, .. } => write!(formatter, "PostgreSQL {version} (system)"),
            Self::Bundled { version } => write!(formatter, "PostgreSQL {version} (bundled, no server time-outs)"),
            Self::Server { version } => {
                write!(formatter, "PostgreSQL {version} (UNSTUCK_LAB_SERVER_URL)")
            }
        }
    }
}

/// Connection options of our own server: everything said, so that no `PG…` variable decides anything.
pub(super) fn local(socket_dir: &std::path::Path, port: u16, password: &str) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .socket(socket_dir)
        .username("postgres")
        .password(password)
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
        .application_name("unstuck-lab")
}

/// The maintenance database of `UNSTUCK_LAB_SERVER_URL`. Host and user must be in the URL: what it leaves
/// out would come from `PG…` variables, and those may name somebody's production.
pub(super) fn parse_server_url(url: &str) -> Result<PgConnectOptions, ClusterError> {
    let refuse = |why: &str| ClusterError::ServerUrl(why.to_owned());
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"))
        .ok_or_else(|| refuse("must begin with postgres://"))?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or_default();
    if user.is_empty() || host.is_empty() {
        return Err(refuse("must name a user and a host: postgres://USER@HOST/postgres"));
    }
    // The parser's own message would quote the URL, password included.
    let options = PgConnectOptions::from_str(url).map_err(|_| refuse("is not a PostgreSQL URL"))?;
    let named = rest.split('?').next().and_then(|head| head.split_once('/')).is_some_and(|(_, name)| !name.is_empty());
    let options = if named { options } else { options.database("postgres") };
    let has_port = host.rsplit(']').next().is_some_and(|tail| tail.contains(':')) || url.contains("port=");
    let options = if has_port { options } else { options.port(5432) };
    Ok(options.application_name("unstuck-lab"))
}

pub(super) fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_url_must_say_who_and_where() {
        assert!(parse_server_url("postgres://lab@localhost").is_ok());
        assert!(parse_server_url("postgres://lab@%2Frun%2Fpostgresql/postgres").is_ok());
        for vague in ["postgres:///x", "postgres://localhost/x", "postgres://lab@/x", "mysql://a@b"] {
            assert!(parse_server_url(vague).is_err(), "{vague}");
        }
        assert_eq!(parse_server_url("postgres://lab@localhost").unwrap().get_port(), 5432);
        assert_eq!(parse_server_url("postgres://lab@[::1]:5433/x").unwrap().get_port(), 5433);
        let error = parse_server_url("postgres://lab:s3cret@host:port/x").unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }

    #[test]
    fn a_source_says_what_it_cannot_do() {
        assert_eq!(
            ServerSource::Bundled { version: "17.5".to_owned() }.to_string(),
            "PostgreSQL 17.5 (bundled, no server time-outs)"
        );
    }
}
