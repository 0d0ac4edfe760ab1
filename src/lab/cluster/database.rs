//! A database of the lab's own: made here, marked here, removed here; no other is ever worked in.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

use super::ClusterError;
use crate::lab::sql;

/// What the names of our databases begin with.
const PREFIX: &str = "unstuck_lab_";

/// A database this process created. There is no way to make one of an existing database.
#[derive(Debug)]
pub struct LabDatabase {
    name: String,
    token: String,
    admin: PgConnectOptions,
    maintenance: PgConnectOptions,
    logins: Vec<String>,
    removal: Removal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// By us, when dropped.
    Ours,
    /// There is nothing to do: it is gone, or goes with its server.
    Settled,
}

impl LabDatabase {
    pub(super) async fn create(maintenance: &PgConnectOptions, purpose: &str) -> Result<Self, ClusterError> {
        let name = format!("{PREFIX}{}", random_word(10));
        let token = random_word(24);
        let mut connection = maintenance.connect().await?;
        sql::run(&mut connection, &format!("CREATE DATABASE {}", sql::ident(&name))).await?;
        let admin = maintenance.clone().database(&name);
        let made =
            Self { name, token, admin, maintenance: maintenance.clone(), logins: Vec::new(), removal: Removal::Ours };
        let comment = sql::literal(&format!("throw-away, made by unstuck for: {purpose}"));
        sql::run(&mut connection, &format!("COMMENT ON DATABASE {} IS {comment}", sql::ident(&made.name))).await?;
        connection.close().await?;
        let mut inside = made.admin.connect().await?;
        sql::run(
            &mut inside,
            "CREATE SCHEMA unstuck_lab; CREATE TABLE unstuck_lab.marker (token text PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now())",
        )
        .await?;
        sqlx::query("INSERT INTO unstuck_lab.marker (token) VALUES ($1)")
            .bind(&made.token)
            .execute(&mut inside)
            .await?;
        inside.close().await?;
        Ok(made)
    }

    /// Its name, `unstuck_lab_…`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its owner connects.
    pub fn admin_options(&self) -> PgConnectOptions {
        self.admin.clone()
    }

    /// How a login made by [`LabDatabase::create_login`] connects.
    pub fn login_options(&self, login: &Login) -> PgConnectOptions {
        self.admin.clone().username(&login.name).password(&login.password)
    }

    /// Checks that `connection` is in this very database.
    ///
    /// # Errors
    /// [`ClusterError::ForeignDatabase`] when the marker of this process is not there.
    pub async fn verify(&self, connection: &mut PgConnection) -> Result<(), ClusterError> {
        let found: Result<Option<String>, sqlx::Error> =
            sqlx::query_scalar("SELECT token FROM unstuck_lab.marker WHERE token = $1")
                .bind(&self.token)
                .fetch_optional(&mut *connection)
                .await;
        if matches!(found, Ok(Some(_))) {
            return Ok(());
        }
        let name: String = sqlx::query_scalar("SELECT current_database()::text").fetch_one(connection).await?;
        Err(ClusterError::ForeignDatabase(name))
    }

    /// A role that can log in, member of `groups`, which goes away with the database.
    ///
    /// # Errors
    /// Whatever the server says, for instance that a group does not exist.
    pub async fn create_login(&mut self, hint: &str, groups: &[&str]) -> Result<Login, ClusterError> {
        let login = Login { name: format!("{hint}_{}", random_word(6)), password: random_word(20) };
        let mut connection = self.admin.connect().await?;
        let mut statement =
            format!("CREATE ROLE {} LOGIN PASSWORD {}", sql::ident(&login.name), sql::literal(&login.password));
        if !groups.is_empty() {
            let list: Vec<String> = groups.iter().map(|group| sql::ident(group)).collect();
            statement.push_str(" IN ROLE ");
            statement.push_str(&list.join(", "));
        }
        sql::run(&mut connection, &statement).await?;
        self.logins.push(login.name.clone());
        connection.close().await?;
        Ok(login)
    }

    /// Its whole server is about to go: removing the database first would only take time.
    pub(in crate::lab) fn goes_with_its_server(&mut self) {
        self.removal = Removal::Settled;
    }

    /// Removes the database and its logins.
    ///
    /// # Errors
    /// Whatever the server says; the database is then still there.
    pub async fn remove(mut self) -> Result<(), ClusterError> {
        if self.removal == Removal::Settled {
            return Ok(());
        }
        self.removal = Removal::Settled;
        take_away(&self.maintenance, &self.name, &self.logins).await
    }
}

impl Drop for LabDatabase {
    fn drop(&mut self) {
        if self.removal == Removal::Settled {
            return;
        }
        let (maintenance, name, logins) =
            (self.maintenance.clone(), self.name.clone(), std::mem::take(&mut self.logins));
        // Drop may run inside a runtime, which cannot wait for itself: a thread with its own does.
        let thread = std::thread::spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                let patience = std::time::Duration::from_secs(30);
                runtime.block_on(async {
                    tokio::time::timeout(patience, take_away(&maintenance, &name, &logins)).await.ok()
                });
            }
        });
        thread.join().ok();
    }
}

async fn take_away(maintenance: &PgConnectOptions, name: &str, logins: &[String]) -> Result<(), ClusterError> {
    let mut connection = maintenance.connect().await?;
    sql::run(&mut connection, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", sql::ident(name))).await?;
    for login in logins {
        drop_login(&mut connection, login).await?;
    }
    connection.close().await?;
    Ok(())
}

/// Roles belong to the whole server: another lab changing its own at this moment is a conflict, not an answer.
async fn drop_login(connection: &mut PgConnection, login: &str) -> Result<(), sqlx::Error> {
    let statement = format!("DROP ROLE IF EXISTS {}", sql::ident(login));
    for _ in 0..5 {
        if sql::run(connection, &statement).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    sql::run(connection, &statement).await
}

/// A login role of the lab.
#[derive(Debug, Clone)]
pub struct Login {
    /// Role name.
    pub name: String,
    /// Its password, for the loopback port (the socket asks for none).
    pub password: String,
}

pub(super) fn random_word(letters: usize) -> String {
    std::iter::repeat_with(fastrand::alphanumeric).map(|letter| letter.to_ascii_lowercase()).take(letters).collect()
}
