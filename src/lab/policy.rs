//! What the lab's payments team decided: seconds where production has minutes, so that a drill fits in one.
//!
//! One policy for the console and for the service's own recoverer. The database keeps its own numbers, which no
//! client can loosen; a world makes them as short.

use crate::domain::policy::{Policy, ProviderTerms, RulePolicy};
use crate::domain::time::Seconds;

/// What `unstuck.set_limit` is told in a world: names and seconds. A gap is a little shorter than the policy's,
/// because look-ups take unequal times.
pub(super) const DATABASE_LIMITS: [(&str, i64); 3] =
    [("absence_gap_s", 4), ("absence_gap_max_s", 600), ("settle_s", 2)];

/// The policy of the lab.
pub fn policy() -> Policy {
    Policy {
        stuck_after: Seconds(5),
        evidence_freshness: Seconds(120),
        not_found_gap: Seconds(5),
        not_found_gap_max: Seconds(600),
        skew: Seconds(1),
        hold_max: Seconds(120),
        rules: RulePolicy {
            retention_s: Some(86_400),
            retry_window_s: Some(600),
            provider_timeout_s: Some(2),
            outbox_limit_s: Some(30),
            saga_limit_s: Some(20),
            grace_s: Some(5),
        },
        ..Policy::default()
    }
}

/// What the lab's provider promises, as its adapter file declares it to the console.
pub fn terms() -> ProviderTerms {
    ProviderTerms { key_retention: Some(Seconds(86_400)), settle: Seconds(2) }
}
