//! Applying an install script: once, by an administrator, on a connection that does nothing else.
//!
//! The console never comes here; `unstuck install --apply` and the lab do.

use sqlx::{Connection, Executor, PgConnection};

use super::error::meaning;
use super::gate::{self, Script};
use super::library::Library;
use super::options::{INSTALLER, StoreOptions};
use super::scripted;
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::port::StoreError;

const NAME: &str = "SELECT unstuck.set_environment($1, $2)";

/// The install script of a profile, through the gate.
///
/// # Errors
/// There is none, or the gate refuses it.
pub fn script(library: &Library, profile: &str) -> Result<Script, StoreError> {
    let file = format!("{profile}/install.sql");
    let text = library.text(&file).ok_or_else(|| StoreError::CannotAnswer {
        why: format!("profile {profile} has no install.sql: it only reads"),
    })?;
    gate::install(&file, text).map_err(|refused| StoreError::CannotAnswer { why: refused.to_string() })
}

/// Runs the script and names the environment, in one transaction. Doing it again changes nothing.
///
/// # Errors
/// No connection, or not the rights of an administrator; nothing was applied then.
pub async fn apply(options: &StoreOptions, script: &Script, environment: &Environment) -> Result<(), StoreError> {
    const WHAT: &str = "install";
    // Not the console: whoever reads the server's log must be able to tell them apart.
    let server = options.server.clone().application_name(INSTALLER);
    let connecting = PgConnection::connect_with(&server);
    let mut connection = connecting.await.map_err(|error| meaning(&error, WHAT))?;
    let work = async {
        connection.execute("BEGIN").await?;
        connection.execute(sqlx::raw_sql(scripted(script))).await?;
        let name = sqlx::query(NAME).bind(&environment.name).bind(kind_word(environment.kind));
        name.execute(&mut connection).await?;
        connection.execute("COMMIT").await
    };
    work.await.map_err(|error| meaning(&error, WHAT))?;
    connection.close().await.ok();
    Ok(())
}

/// The database's word for a kind of environment.
pub fn kind_word(kind: EnvironmentKind) -> &'static str {
    match kind {
        EnvironmentKind::Production => "production",
        EnvironmentKind::Staging => "staging",
        EnvironmentKind::Development => "development",
        EnvironmentKind::Demo => "demo",
    }
}
