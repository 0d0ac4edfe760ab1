//! The logins of a world: an operator and an approver, each of them nothing else.

use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

use crate::lab::cluster::{Cluster, ClusterError, LabDatabase, Login};

/// Whose console a login is for, by the group `install.sql` grants its rights to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Who looks up, resumes, holds and asks.
    Operator,
    /// The second person, who says yes or no to what an operator asked for.
    Approver,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Operator => "console",
            Self::Approver => "approver",
        }
    }

    fn group(self) -> &'static str {
        match self {
            Self::Operator => "unstuck_operator",
            Self::Approver => "unstuck_approver",
        }
    }
}

/// What the console calls itself to the server.
const APPLICATION: &str = "unstuck";

/// A login role and the ways to connect as it.
#[derive(Debug, Clone)]
pub struct ConsoleLogin {
    options: PgConnectOptions,
    url: String,
}

impl ConsoleLogin {
    pub(super) async fn create(
        database: &mut LabDatabase,
        cluster: &Cluster,
        role: Role,
    ) -> Result<Self, ClusterError> {
        let login = database.create_login(role.name(), &[role.group()]).await?;
        let options = database.login_options(&login).application_name(APPLICATION);
        let url = url(database, cluster, &login, &options);
        Ok(Self { options, url })
    }

    pub(super) fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }
}

/// Over loopback on our own server; the way we came on somebody else's.
fn url(database: &LabDatabase, cluster: &Cluster, login: &Login, options: &PgConnectOptions) -> String {
    match cluster.loopback() {
        Some((port, _)) => {
            format!("postgres://{}:{}@127.0.0.1:{port}/{}?sslmode=disable", login.name, login.password, database.name())
        }
        None => options.to_url_lossy().to_string(),
    }
}
