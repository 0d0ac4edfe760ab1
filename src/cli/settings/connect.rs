//! From settings to a store and providers: what `check`, `show`, `doctor` and the console share.

use std::sync::Arc;
use std::time::Duration;

use super::{Settings, SettingsError};
use crate::cli::config;
use crate::domain::ids::ProviderName;
use crate::domain::policy::ProviderTerms;
use crate::domain::port::StoreError;
use crate::domain::time::Seconds;
use crate::provider::{HttpProvider, Limits, OpenError};
use crate::store::library::Library;
use crate::store::options::{Pooling, StoreOptions};
use crate::store::postgres::PgStore;
use crate::store::profile::{self, Profile};

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
pub enum NoStore {
    /// There is no address.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The address cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Query files are wrong; every mistake is listed.
    #[error("{0}")]
    Queries(String),
}

/// Every profile: the shipped ones, and what `--queries` lays over them.
pub fn profiles(settings: &Settings) -> Result<Arc<Vec<Profile>>, NoStore> {
    let mut library = Library::shipped();
    if let Some(folder) = &settings.queries {
        library =
            library.overlaid(folder).map_err(|mistakes| NoStore::Queries(profile::Mistakes(mistakes).to_string()))?;
    }
    profile::load(&library).map(Arc::new).map_err(|mistakes| NoStore::Queries(mistakes.to_string()))
}

/// A store for these settings. It has not connected yet.
pub fn store(settings: &Settings) -> Result<PgStore, NoStore> {
    let address = settings.address()?;
    let mut options = StoreOptions::from_url(address, profiles(settings)?)?;
    options.pooling = match settings.pooling {
        config::Pooling::Session => Pooling::Session,
        config::Pooling::Transaction => Pooling::Transaction,
    };
    options.policy = settings.policy.clone();
    options.environment.clone_from(&settings.environment);
    options.profile.clone_from(&settings.profile);
    // A poll may take three quarters of the time between two, so that they never overlap.
    options.poll_within = Duration::from_millis(settings.poll.0.saturating_mul(750)).min(Duration::from_secs(10));
    Ok(PgStore::new(options))
}

/// The same for one question on the command line, which may wait a little longer than a screen.
pub fn patient_store(settings: &Settings) -> Result<PgStore, NoStore> {
    let mut patient = settings.clone();
    patient.poll = patient.poll.max(Seconds(5));
    store(&patient)
}

/// Opens every provider of these settings, each with what came of it.
pub fn providers(
    settings: &Settings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<(ProviderName, Result<HttpProvider, OpenError>)> {
    settings
        .providers
        .iter()
        .map(|adapter| {
            let opened = HttpProvider::open(adapter.clone(), variable, Limits::default());
            (adapter.name.clone(), opened)
        })
        .collect()
}

/// What a provider promises; one that is not configured promises nothing.
pub fn terms(settings: &Settings, provider: Option<&ProviderName>) -> ProviderTerms {
    settings
        .providers
        .iter()
        .find(|adapter| Some(&adapter.name) == provider)
        .map(|adapter| adapter.terms)
        .unwrap_or_default()
}
