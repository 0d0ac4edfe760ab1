//! A declared adapter at work: the provider the console asks.

use std::fmt;

use reqwest::header::{HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::domain::evidence::{Evidence, LookupOutcome, LookupStep};
use crate::domain::ids::ProviderName;
use crate::domain::policy::ProviderTerms;
use crate::domain::port::{BoxFuture, Provider, Query};

use super::adapter::{Adapter, Auth};
use super::address;
use super::ask::Asking;
use super::clock;
use super::conclude::conclude;
use super::get_only::{GetOnly, Limits};
use super::pace::Pace;

/// Why a declared provider cannot be asked. Never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Neither the adapter nor the configuration says where it is.
    #[error("provider {0} has no address: set `base_url` in [providers.{0}]")]
    NoAddress(ProviderName),
    /// The address may not be used.
    #[error("provider {name}: `base_url` {why}")]
    BadAddress {
        /// Which.
        name: ProviderName,
        /// Why not.
        why: String,
    },
    /// The environment has no secret.
    #[error("provider {name} needs a read-only key in the environment variable {variable}, which is not set")]
    SecretMissing {
        /// Which.
        name: ProviderName,
        /// The variable.
        variable: String,
    },
    /// The secret could do more than read.
    #[error(
        "provider {name}: the key in {variable} begins with {prefix}, so it may do more than read; \
         use a restricted, read-only key"
    )]
    SecretTooStrong {
        /// Which.
        name: ProviderName,
        /// The variable.
        variable: String,
        /// How it begins.
        prefix: String,
    },
    /// The secret cannot stand in a header.
    #[error("provider {name}: the key in {variable} has characters that cannot be sent (a line end?)")]
    SecretUnusable {
        /// Which.
        name: ProviderName,
        /// The variable.
        variable: String,
    },
    /// The header's name is not one.
    #[error("provider {0}: `auth.header` is not the name of an HTTP header")]
    BadHeader(ProviderName),
    /// TLS cannot be set up on this machine.
    #[error("provider {0}: no trusted certificates were found on this machine; install ca-certificates")]
    NoTls(ProviderName),
}

/// A provider behind its declared HTTP API. It can look up and nothing else.
pub struct HttpProvider {
    adapter: Adapter,
    client: GetOnly,
    limits: Limits,
    pace: Pace,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider").field("name", &self.adapter.name).finish_non_exhaustive()
    }
}

impl HttpProvider {
    /// Opens a declared provider; `variable` reads the environment.
    pub fn open(
        adapter: Adapter,
        variable: &dyn Fn(&str) -> Option<String>,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let name = adapter.name.clone();
        let address = adapter.address.as_deref().ok_or_else(|| OpenError::NoAddress(name.clone()))?;
        let base = address::check(address).map_err(|why| OpenError::BadAddress { name: name.clone(), why })?;
        let secret = adapter.auth.as_ref().map(|auth| secret(&name, auth, variable)).transpose()?;
        let client = GetOnly::new(base, secret, limits).ok_or(OpenError::NoTls(name))?;
        Ok(Self { adapter, client, limits, pace: Pace::new(limits.per_second) })
    }

    /// What the provider promises about keys and delays.
    pub fn terms(&self) -> ProviderTerms {
        self.adapter.terms
    }

    async fn outcome(&self, query: &Query, steps: &mut Vec<LookupStep>) -> LookupOutcome {
        let mut asking = Asking { adapter: &self.adapter, client: &self.client, limits: self.limits, query, steps };
        let mut heard = Vec::new();
        for look_up in &self.adapter.look_ups {
            heard.push((look_up, asking.make(look_up).await));
        }
        conclude(&heard)
    }

    async fn ask(&self, query: &Query) -> Evidence {
        let turn = self.pace.turn().await;
        let started_at = clock::now();
        let mut steps = Vec::new();
        let outcome = if let Err(too_soon) = turn {
            let why = "not asked: it wants to be left alone, or too many look-ups are waiting";
            let retry_after_s = Some(too_soon.wait_s);
            steps.push(LookupStep {
                asked: "nothing".to_owned(),
                answered: why.to_owned(),
                body_sha256: None,
                retry_after_s,
            });
            LookupOutcome::Unreachable { why: why.to_owned(), retry_after_s }
        } else {
            let whole = tokio::time::timeout(self.limits.whole, self.outcome(query, &mut steps));
            whole.await.unwrap_or_else(|_| LookupOutcome::Unreachable {
                why: "time-out: the look-up as a whole took too long".to_owned(),
                retry_after_s: None,
            })
        };
        if let LookupOutcome::Unreachable { retry_after_s: Some(seconds), .. } = &outcome
            && turn.is_ok()
        {
            self.pace.quiet(*seconds);
        }
        Evidence {
            id: None,
            operator: query.operator.clone(),
            provider: self.adapter.name.clone(),
            started_at,
            outcome,
            steps,
        }
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &ProviderName {
        &self.adapter.name
    }

    fn lookup<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Evidence> {
        Box::pin(self.ask(query))
    }
}

/// The header the secret goes into, with the secret checked.
fn secret(
    name: &ProviderName,
    auth: &Auth,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(HeaderName, SecretString), OpenError> {
    let missing = || OpenError::SecretMissing { name: name.clone(), variable: auth.variable.clone() };
    let secret = SecretString::from(variable(&auth.variable).ok_or_else(missing)?);
    let bare = secret.expose_secret().trim();
    if bare.is_empty() {
        return Err(missing());
    }
    if let Some(prefix) = auth.refused.iter().find(|prefix| bare.starts_with(*prefix)) {
        return Err(OpenError::SecretTooStrong {
            name: name.clone(),
            variable: auth.variable.clone(),
            prefix: prefix.clone(),
        });
    }
    let whole = SecretString::from(format!("{}{bare}", auth.prefix));
    if HeaderValue::from_str(whole.expose_secret()).is_err() {
        return Err(OpenError::SecretUnusable { name: name.clone(), variable: auth.variable.clone() });
    }
    let header = HeaderName::from_bytes(auth.header.as_bytes()).map_err(|_| OpenError::BadHeader(name.clone()))?;
    Ok((header, whole))
}
