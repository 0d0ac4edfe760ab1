//! What a store is made with: where, how patient, and whose numbers.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::PgConnectOptions;

use super::profile::Profile;
use crate::domain::environment::Environment;
use crate::domain::policy::Policy;
use crate::domain::port::StoreError;

/// What every console connection calls itself.
pub const APPLICATION: &str = "unstuck";

/// What the one connection that applies an install script calls itself.
pub const INSTALLER: &str = "unstuck-install";

/// What stands between us and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    /// Nothing, or a pooler that keeps our session: statements are prepared once and kept.
    #[default]
    Session,
    /// A pooler that hands out a server connection per transaction: nothing is kept between them.
    Transaction,
}

/// What a store is made with. Every time-out has a default fit for a poll every two seconds.
#[derive(Clone)]
pub struct StoreOptions {
    pub(super) server: PgConnectOptions,
    pub(super) profiles: Arc<Vec<Profile>>,
    /// Whether prepared statements are kept.
    pub pooling: Pooling,
    /// The team's numbers; rules and signals are given them.
    pub policy: Policy,
    /// Where the configuration says we are; where the database disagrees nothing can be changed.
    pub environment: Option<Environment>,
    /// The profile to use whatever the catalogue says.
    pub profile: Option<String>,
    /// For one connection to be made.
    pub connect_within: Duration,
    /// For one whole poll.
    pub poll_within: Duration,
    /// For one re-read of a record, or a search.
    pub read_within: Duration,
    /// For one full audit of one rule.
    pub audit_within: Duration,
    /// How long the console waits for a guarded call before it says Unknown. It never cancels one.
    pub act_within: Duration,
    /// How many lines a list has at most.
    pub page: i64,
    /// The time after which a finished audit is repeated when nothing was found.
    pub audit_every: Duration,
    /// How soon after a look around the next one is taken when it was cut short, or when a statement no longer
    /// fits the tables; six times as long while what does not fit stays so.
    pub look_again: Duration,
}

impl StoreOptions {
    /// For a server given as connection options.
    pub fn new(server: PgConnectOptions, profiles: Arc<Vec<Profile>>) -> Self {
        Self {
            // Values come in binary, so float digits need no start-up option: some poolers refuse it.
            server: server.application_name(APPLICATION).statement_cache_capacity(200).extra_float_digits(None),
            profiles,
            pooling: Pooling::default(),
            policy: Policy::default(),
            environment: None,
            profile: None,
            connect_within: Duration::from_secs(5),
            poll_within: Duration::from_millis(1_500),
            read_within: Duration::from_secs(3),
            audit_within: Duration::from_secs(30),
            act_within: Duration::from_secs(15),
            page: 200,
            audit_every: Duration::from_mins(10),
            look_again: Duration::from_secs(10),
        }
    }

    /// The same with other profiles, such as those of `--queries DIR`.
    #[must_use]
    pub fn with_profiles(mut self, profiles: Arc<Vec<Profile>>) -> Self {
        self.profiles = profiles;
        self
    }

    /// For a server given as an address. The address is a secret: it may hold a password.
    ///
    /// # Errors
    /// An address that cannot be read; the error does not repeat it.
    pub fn from_url(url: &SecretString, profiles: Arc<Vec<Profile>>) -> Result<Self, StoreError> {
        let text = url.expose_secret().trim();
        // The parser takes any scheme for its own.
        let scheme = text.starts_with("postgres://") || text.starts_with("postgresql://");
        let server =
            scheme.then(|| text.parse::<PgConnectOptions>().ok()).flatten().ok_or_else(|| StoreError::Unreachable {
                why: "the address of the database is not valid; it looks like postgres://user@host/database".to_owned(),
            })?;
        Ok(Self::new(server, profiles))
    }
}

impl std::fmt::Debug for StoreOptions {
    /// Without the server: its options hold the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreOptions").field("pooling", &self.pooling).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_address_is_not_repeated() {
        let url = SecretString::from("postgres://me:hunter2@host:99999999/db".to_owned());
        let error = StoreOptions::from_url(&url, Arc::default()).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
        let good =
            StoreOptions::from_url(&SecretString::from("postgres://me:hunter2@host/db".to_owned()), Arc::default());
        assert!(!format!("{:?}", good.unwrap()).contains("hunter2"));
    }
}
