//! When "not found" is proof that nothing was charged, and what may be done then: rows 13 to 17.

use chrono::DateTime;

use super::super::evidence::{Absence, Evidence, LookupOutcome};
use super::super::time::{self, Instant};
use super::{Case, Decision, HAND_OVER, Refusal, Step, TRIAGE};

impl<'a> Case<'a> {
    /// Rows 13 to 17: the provider says there is no charge.
    pub(super) fn absent(&self, absence: Absence, latest: &Evidence) -> Decision {
        let decide = |row, step| Decision { row, step };
        let refuse = |row, why: String, way_out: &str| decide(row, Step::Refuse(Refusal::new(why, way_out)));
        if let Some(stored) = &self.detail.record.provider_ref {
            return refuse(13, format!("We stored charge {stored}, but the provider does not know it."), HAND_OVER);
        }
        if let Err((why, look_again)) = self.definitive(absence, latest) {
            return decide(14, Step::Wait { why, look_again });
        }
        // Stricter than the table: with the order paid by another payment, a hand back could only charge it twice.
        if let Some(paid) = self.paid_sibling() {
            return refuse(
                15,
                format!("Payment {} already paid this order: nothing may be charged.", paid.payment),
                TRIAGE,
            );
        }
        let (Some(retention), Some(first_use)) = (self.terms.key_retention, self.detail.record.first_key_use) else {
            let why = "There is no charge, but how long the provider remembers the key is not known.";
            return refuse(17, why.to_owned(), HAND_OVER);
        };
        let window_end = retention.after(first_use);
        if self.policy.key_margin.after(self.now) < window_end {
            return decide(15, Step::HandBack);
        }
        let over = self.policy.skew.after(self.terms.settle.after(window_end));
        if self.now > over {
            return decide(16, Step::FinishAsNotCharged);
        }
        let why = "There is no charge, but the provider may forget the key at any moment.".to_owned();
        decide(14, Step::Wait { why, look_again: over })
    }

    /// The earlier look-up that agrees; or why "not found" is no proof of absence yet, and from when it can be.
    pub(super) fn definitive(&self, absence: Absence, latest: &Evidence) -> Result<&'a Evidence, (String, Instant)> {
        let gap = self.policy.not_found_gap;
        let next = gap.after(latest.started_at);
        if absence == Absence::MayHaveMissed {
            return Err(("NOT FOUND by a look-up that can miss a charge: not proof of absence.".to_owned(), next));
        }
        let lease_end = self.detail.record.lease.until.unwrap_or(DateTime::UNIX_EPOCH);
        let last_attempt = self.detail.last_attempt_at.unwrap_or(self.detail.record.created_at).max(lease_end);
        let settled = self.policy.skew.after(self.terms.settle.after(last_attempt));
        if latest.started_at <= settled {
            return Err((
                "NOT FOUND, but the last attempt is too recent for it to be proof.".to_owned(),
                settled.max(next),
            ));
        }
        let agrees = |earlier: &&Evidence| {
            let apart = time::age(earlier.started_at, latest.started_at);
            earlier.started_at > settled
                && apart >= gap
                && apart <= self.policy.not_found_gap_max
                && matches!(earlier.outcome, LookupOutcome::NotFound { absence: Absence::Consistent, .. })
        };
        let Some(first) = self.evidence.iter().filter(agrees).min_by_key(|earlier| earlier.started_at) else {
            return Err((format!("NOT FOUND once. A second look-up {} later has to agree.", time::words(gap)), next));
        };
        let contradicted = self
            .evidence
            .iter()
            .any(|other| other.started_at >= first.started_at && matches!(other.outcome, LookupOutcome::Found { .. }));
        if contradicted {
            return Err(("NOT FOUND, but a look-up before it found a charge.".to_owned(), next));
        }
        Ok(first)
    }
}
