//! What payment services do wrong, on purpose: one file per flaw, one list.
//!
//! The correct service is [`Conduct::CORRECT`]; a flaw changes one point of it. The service asks its conduct
//! at that point and nowhere else, and what a flawed one does instead is written in the flaw's own file.
//! Flaws can be added up: most double charges need two of them.

mod check_then_act;
mod cron_deletes_keys;
mod global_key;
mod jobs;
mod key_per_attempt;
mod no_fingerprint;
mod no_key;
mod no_lease;
mod no_provider_key;
mod short_lease;
mod short_ttl;
mod tight_fingerprint;
mod timeout_as_failed;

use super::answer::Answer;
use super::flow::Flow;
use super::records::Intent;

pub use check_then_act::Claim;
pub use cron_deletes_keys::StuckKeys;
pub use global_key::KeySpace;
pub use key_per_attempt::ClientKey;
pub use no_fingerprint::Comparison;
pub use no_key::KeyHeader;
pub use no_lease::Takeover;
pub use no_provider_key::ProviderKeyUse;
pub use short_lease::LeaseLength;
pub use short_ttl::Retention;
pub use tight_fingerprint::Hashed;
pub use timeout_as_failed::TimeOut;

// By name, for the incidents that need them.
pub(in crate::lab) use cron_deletes_keys::FLAW as CRON_DELETES_KEYS;
pub(in crate::lab) use global_key::FLAW as GLOBAL_KEY;
pub(in crate::lab) use key_per_attempt::FLAW as KEY_PER_ATTEMPT;
pub(in crate::lab) use no_provider_key::FLAW as NO_PROVIDER_KEY;
pub(in crate::lab) use short_lease::FLAW as SHORT_LEASE;
pub(in crate::lab) use short_ttl::FLAW as SHORT_TTL;
pub(in crate::lab) use tight_fingerprint::FLAW as TIGHT_FINGERPRINT;
pub(in crate::lab) use timeout_as_failed::FLAW as TIMEOUT_AS_FAILED;

pub(super) use jobs::Jobs;
pub(super) use no_fingerprint::Pass;
pub(super) use no_provider_key::go_on;
pub(super) use timeout_as_failed::timed_out;

/// Every flaw there is.
pub const ALL: &[&Flaw] = &[
    &no_key::FLAW,
    &check_then_act::FLAW,
    &no_fingerprint::FLAW,
    &tight_fingerprint::FLAW,
    &no_lease::FLAW,
    &short_lease::FLAW,
    &no_provider_key::FLAW,
    &timeout_as_failed::FLAW,
    &global_key::FLAW,
    &short_ttl::FLAW,
    &cron_deletes_keys::FLAW,
    &key_per_attempt::FLAW,
];

/// One flaw.
pub struct Flaw {
    /// What it is called.
    pub name: &'static str,
    /// What the service, a job or a client does.
    pub does: &'static str,
    /// What comes of it.
    pub harm: &'static str,
    /// The conduct with this flaw in it.
    pub put_into: fn(Conduct) -> Conduct,
}

impl std::fmt::Debug for Flaw {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Flaw").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a service, the jobs beside it and its clients behave: one choice per point where the seeds' services differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// Whether a request needs a key.
    pub key_header: KeyHeader,
    /// Who may work on a key.
    pub claim: Claim,
    /// What happens when a known key comes with another body.
    pub comparison: Comparison,
    /// What the fingerprint is made of.
    pub hashed: Hashed,
    /// Who goes on with a record whose worker is gone.
    pub takeover: Takeover,
    /// How long one worker owns a record.
    pub lease_length: LeaseLength,
    /// Whether the provider is told a key.
    pub provider_key: ProviderKeyUse,
    /// What a provider's silence means.
    pub time_out: TimeOut,
    /// Where a key is unique.
    pub key_space: KeySpace,
    /// How long finished records are kept.
    pub retention: Retention,
    /// What is done about records that are stuck.
    pub stuck_keys: StuckKeys,
    /// Which key a client's retry carries.
    pub client_key: ClientKey,
}

impl Conduct {
    /// The correct service: DOMAIN's answer table.
    pub const CORRECT: Self = Self {
        key_header: KeyHeader::Required,
        claim: Claim::UniqueConstraint,
        comparison: Comparison::Refused,
        hashed: Hashed::Body,
        takeover: Takeover::AfterLease,
        lease_length: LeaseLength::OutlastsProvider,
        provider_key: ProviderKeyUse::Derived,
        time_out: TimeOut::Unknown,
        key_space: KeySpace::PerScope,
        retention: Retention::CoversRetries,
        stuck_keys: StuckKeys::Kept,
        client_key: ClientKey::PerIntent,
    };

    /// The correct service with these flaws.
    pub fn with(flaws: &[&Flaw]) -> Self {
        flaws.iter().fold(Self::CORRECT, |conduct, flaw| (flaw.put_into)(conduct))
    }

    /// The middleware most teams write first: look, insert, charge, store. The seeds measured it.
    pub fn naive() -> Self {
        Self::with(&[&check_then_act::FLAW, &no_lease::FLAW, &no_fingerprint::FLAW, &no_provider_key::FLAW])
    }

    /// A service without any idempotency key.
    pub fn without_keys() -> Self {
        Self::with(&[&no_key::FLAW])
    }

    /// [`Conduct::naive`], and a cron that removes its stuck keys.
    pub fn naive_with_cron() -> Self {
        (cron_deletes_keys::FLAW.put_into)(Self::naive())
    }

    /// Whether the service is the correct one, whatever its clients do. Only then the database refuses a second
    /// succeeded payment of one order, and a payment is named after its key.
    pub(super) fn serves_correctly(self) -> bool {
        Self { client_key: Self::CORRECT.client_key, ..self } == Self::CORRECT
    }

    /// Whether something in the service goes on with records whose worker is gone.
    pub(super) fn recovers(self) -> bool {
        self.takeover == Takeover::AfterLease
            && self.claim == Claim::UniqueConstraint
            && self.key_header == KeyHeader::Required
    }
}

impl Default for Conduct {
    fn default() -> Self {
        Self::CORRECT
    }
}

/// Answers a request in the way of the service's conduct.
pub(super) async fn answer(flow: &Flow, intent: &Intent) -> Result<Answer, sqlx::Error> {
    let conduct = flow.records.conduct;
    match (conduct.key_header, conduct.claim) {
        (KeyHeader::Ignored, _) => no_key::answer(flow, intent).await,
        (KeyHeader::Required, Claim::UniqueConstraint) => flow.answer(intent).await,
        (KeyHeader::Required, Claim::CheckThenInsert) => check_then_act::insert_first(flow, intent).await,
        (KeyHeader::Required, Claim::StoredAfter) => check_then_act::store_after(flow, intent).await,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_flaw_changes_something_and_no_two_the_same() {
        let mut seen = BTreeSet::new();
        for flaw in ALL {
            let flawed = Conduct::with(&[flaw]);
            assert_ne!(flawed, Conduct::CORRECT, "{}", flaw.name);
            assert!(seen.insert(format!("{flawed:?}")), "{} is another flaw once more", flaw.name);
            let of_a_client = flaw.name == key_per_attempt::FLAW.name;
            assert_eq!(flawed.serves_correctly(), of_a_client, "{}", flaw.name);
            assert!(flaw.does.ends_with('.') && flaw.harm.ends_with('.'), "{}", flaw.name);
        }
        assert_eq!(ALL.iter().map(|flaw| flaw.name).collect::<BTreeSet<_>>().len(), ALL.len());
    }

    #[test]
    fn every_point_of_the_conduct_has_its_flaw() {
        let all = Conduct::with(ALL);
        let correct = Conduct::CORRECT;
        // No `..`: a new point without a flaw does not compile here.
        let Conduct {
            key_header,
            claim,
            comparison,
            hashed,
            takeover,
            lease_length,
            provider_key,
            time_out,
            key_space,
            retention,
            stuck_keys,
            client_key,
        } = all;
        assert_ne!(key_header, correct.key_header);
        assert_ne!(claim, correct.claim);
        assert_ne!(comparison, correct.comparison);
        assert_ne!(hashed, correct.hashed);
        assert_ne!(takeover, correct.takeover);
        assert_ne!(lease_length, correct.lease_length);
        assert_ne!(provider_key, correct.provider_key);
        assert_ne!(time_out, correct.time_out);
        assert_ne!(key_space, correct.key_space);
        assert_ne!(retention, correct.retention);
        assert_ne!(stuck_keys, correct.stuck_keys);
        assert_ne!(client_key, correct.client_key);
    }
}
