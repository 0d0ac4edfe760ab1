//! Applying an install script: an administrator's work, on an administrator's connection.
//!
//! The console never does this: it opens no connection of its own for it, and its role could not. The
//! script is one that was built in; nothing that was read at run time is ever run here.

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::domain::environment::EnvironmentKind;

/// Why nothing was installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstalled {
    /// The address cannot be read; it is not repeated.
    #[error("the address is not valid; it looks like postgres://admin@host/payments")]
    BadAddress,
    /// No connection.
    #[error("no connection ({0})")]
    NoConnection(String),
    /// The server said no; nothing was changed.
    #[error("the database refused, and nothing was changed: {0}")]
    Database(String),
}

/// Runs `script` and names the environment, in one transaction: both or nothing.
///
/// # Errors
/// No connection, or the server's refusal in its own words.
pub async fn apply(
    address: &SecretString,
    script: &'static str,
    name: &str,
    kind: EnvironmentKind,
) -> Result<(), NotInstalled> {
    let mut connection = options(address)?
        .application_name("unstuck install")
        .disable_statement_logging()
        .connect()
        .await
        .map_err(|error| NotInstalled::NoConnection(meaning(&error)))?;
    let refused = |error: sqlx::Error| NotInstalled::Database(meaning(&error));
    let mut change = connection.begin().await.map_err(refused)?;
    // Many statements in one text: only the simple protocol takes that.
    sqlx::raw_sql(script).execute(&mut *change).await.map_err(refused)?;
    sqlx::query("SELECT unstuck.set_environment($1, $2)")
        .bind(name)
        .bind(kind_word(kind))
        .execute(&mut *change)
        .await
        .map_err(refused)?;
    change.commit().await.map_err(refused)?;
    let _ = connection.close().await;
    Ok(())
}

/// Reads the address. The parser takes any scheme for its own, so the scheme is checked here.
fn options(address: &SecretString) -> Result<PgConnectOptions, NotInstalled> {
    let text = address.expose_secret().trim();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        text.parse().map_err(|_| NotInstalled::BadAddress)
    } else {
        Err(NotInstalled::BadAddress)
    }
}

/// The word the database keeps for a kind of environment.
pub fn kind_word(kind: EnvironmentKind) -> &'static str {
    match kind {
        EnvironmentKind::Production => "production",
        EnvironmentKind::Staging => "staging",
        EnvironmentKind::Development => "development",
        EnvironmentKind::Demo => "demo",
    }
}

/// What a failure means, without the address and without the script.
fn meaning(error: &sqlx::Error) -> String {
    if let Some(refusal) = error.as_database_error() {
        let code = refusal.code().unwrap_or_default();
        return format!("{} (SQLSTATE {code})", refusal.message());
    }
    if let sqlx::Error::Io(why) = error {
        return why.to_string();
    }
    if matches!(error, sqlx::Error::Tls(_)) {
        return "the encrypted connection failed".to_owned();
    }
    "the server does not answer as PostgreSQL does".to_owned()
}
