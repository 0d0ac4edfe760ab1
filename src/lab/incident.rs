//! The incidents: one file each, one list.
//!
//! An incident is a story told with real requests, a real provider and a real database. It says what
//! must be seen on the console, what should be done and what must not. The same seed tells the same story:
//! same orders, keys, amounts and charges; times relative to its start.

mod oom_kill;
mod slow_provider;
mod stage;

use futures_util::future::BoxFuture;

use super::LabError;
use super::service::{Conduct, Recoverer};
use super::system::System;

pub(super) use stage::Stage;

/// Every incident there is. The first one is told when none is asked for.
pub const ALL: &[&Incident] = &[&oom_kill::INCIDENT, &slow_provider::INCIDENT];

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
    /// Whether the service recovers by itself.
    pub(super) recoverer: Recoverer,
    /// What the service and its clients do wrong.
    pub(super) conduct: Conduct,
    /// What its world has beside payments.
    pub(super) systems: &'static [System],
    /// Tells it; done when its records are stuck.
    pub(super) tell: for<'a> fn(&'a Stage) -> BoxFuture<'a, Result<Story, LabError>>,
}

impl std::fmt::Debug for Incident {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Incident").field("name", &self.name).finish_non_exhaustive()
    }
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
    /// The stuck records, the oldest first.
    pub records: Vec<StuckRecord>,
}

/// One stuck record and the truth about it.
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

/// What the provider has for a stuck record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// One charge that succeeded: adopt it.
    Charged,
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
            assert!(!incident.must_see.is_empty() && !incident.should_do.is_empty() && !incident.must_not.is_empty());
        }
    }
}
