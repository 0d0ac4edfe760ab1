//! The incidents: one file each, one list.
//!
//! An incident is a story told with real requests, a real provider and a real database. It says what
//! must be seen on the console, what should be done, what must not, and what is true when it was handled well.
//! The same seed tells the same story: same orders, keys, amounts and charges; times relative to its start.

mod calm;
mod cron_deletes_keys;
mod ending;
mod global_key;
mod key_expired;
mod key_per_attempt;
mod lost_webhook;
mod oom_kill;
mod orphan_charges;
mod payload_reuse;
mod shipment_down;
mod short_lease;
mod slow_provider;
mod stage;
mod tight_fingerprint;
mod timeout_as_failed;

use futures_util::future::BoxFuture;

use super::LabError;
use super::service::flaw::Flaw;
use super::service::{Conduct, Orphans, Recoverer};
use super::system::System;

pub use ending::{Ended, Ending};
pub(super) use stage::Stage;

/// Every incident there is. The first one is told when none is asked for.
pub const ALL: &[&Incident] = &[
    &oom_kill::INCIDENT,
    &slow_provider::INCIDENT,
    &cron_deletes_keys::INCIDENT,
    &key_per_attempt::INCIDENT,
    &payload_reuse::INCIDENT,
    &timeout_as_failed::INCIDENT,
    &lost_webhook::INCIDENT,
    &short_lease::INCIDENT,
    &orphan_charges::INCIDENT,
    &key_expired::INCIDENT,
    &global_key::INCIDENT,
    &tight_fingerprint::INCIDENT,
    &shipment_down::INCIDENT,
    &calm::INCIDENT,
];

/// One incident.
pub struct Incident {
    /// What `unstuck demo NAME` calls it.
    pub name: &'static str,
    /// What happened, in one sentence.
    pub sentence: &'static str,
    /// What must be seen on the console.
    pub must_see: &'static [&'static str],
    /// What should be done.
    pub should_do: &'static [&'static str],
    /// What must not be done.
    pub must_not: &'static [&'static str],
    /// What is true at the end when it was handled well.
    pub ends_well: &'static [Ending],
    /// Whether the service recovers by itself.
    pub(super) recoverer: Recoverer,
    /// What the service, its jobs and its clients do wrong.
    pub(super) flaws: &'static [&'static Flaw],
    /// What its world has beside payments.
    pub(super) systems: &'static [System],
    /// What the service does about charges nobody's order accounts for.
    pub(super) orphans: Orphans,
    /// Tells it; done when what must be seen can be seen.
    pub(super) tell: for<'a> fn(&'a Stage) -> BoxFuture<'a, Result<Story, LabError>>,
}

impl std::fmt::Debug for Incident {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Incident").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Incident {
    pub(super) fn conduct(&self) -> Conduct {
        Conduct::with(self.flaws)
    }
}

/// The incidents as a table: their names and sentences.
pub fn markdown() -> String {
    let rows = ALL.iter().map(|incident| format!("| `demo {}` | {} |\n", incident.name, incident.sentence));
    format!("| story | what happened |\n|---|---|\n{}", rows.collect::<String>())
}

/// The incident of that name.
///
/// # Errors
/// [`LabError::NoSuchIncident`], which lists those there are.
pub fn find(name: &str) -> Result<&'static Incident, LabError> {
    ALL.iter().copied().find(|incident| incident.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|incident| incident.name).collect();
        LabError::NoSuchIncident(name.to_owned(), names.join(", "))
    })
}

/// What an incident left behind, for whoever checks what the console makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// The records it is about, the oldest first; in most stories they are stuck.
    pub records: Vec<StuckRecord>,
}

/// One record and the truth about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckRecord {
    /// Scope of the key.
    pub scope: String,
    /// The key.
    pub key: String,
    /// The order.
    pub order: String,
    /// Minor units.
    pub amount: i64,
    /// ISO 4217.
    pub currency: &'static str,
    /// What the provider has.
    pub truth: Truth,
}

/// What the provider has for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// One charge that succeeded: adopt it, if the books do not have it.
    Charged,
    /// Two that succeeded: one has to be given back.
    ChargedTwice,
    /// One charge that failed for good: finish as failed.
    Declined,
    /// One charge that is not final: wait.
    Open,
    /// Nothing: the call never arrived.
    Absent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidents_are_found_by_name_and_say_what_must_not_be_done() {
        assert_eq!(find("oom-kill").unwrap().name, "oom-kill");
        let error = find("flood").unwrap_err().to_string();
        assert!(error.contains("oom-kill") && error.contains("slow-provider"), "{error}");
        for incident in ALL {
            let lists = [incident.must_see, incident.should_do, incident.must_not];
            assert!(lists.iter().all(|list| !list.is_empty()) && !incident.ends_well.is_empty(), "{}", incident.name);
            assert!(incident.sentence.ends_with('.'), "{}", incident.name);
        }
    }
}
