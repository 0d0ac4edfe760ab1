//! What a look-up said, taken into a case.

use super::{Case, Charge};
use crate::domain::evidence::{Absence, Evidence, LookupOutcome, Observed};
use crate::domain::ids::RecordId;

impl Case {
    /// Takes in a look-up made for one of the case's keys; see [`Self::add_evidence`].
    pub fn heard(&mut self, id: &RecordId, evidence: &Evidence) {
        self.add_evidence(evidence);
        let answered = match &evidence.outcome {
            LookupOutcome::Found { .. } | LookupOutcome::NotFound { absence: Absence::Consistent, .. } => true,
            LookupOutcome::NotFound { absence: Absence::MayHaveMissed, .. } | LookupOutcome::Unreachable { .. } => {
                false
            }
        };
        if answered {
            self.not_asked.retain(|key| key != id);
        }
    }

    /// Takes in what a provider said: the newest word on a charge wins. A provider that did not answer, or may have
    /// missed a charge, leaves the source as it was: absent stays absent.
    ///
    /// Give the oldest evidence first.
    pub fn add_evidence(&mut self, evidence: &Evidence) {
        match &evidence.outcome {
            LookupOutcome::Found { observed } => {
                let charges = self.charges.get_or_insert_default();
                for one in observed {
                    let charge = Charge::from(one);
                    match charges.iter_mut().find(|known| known.provider_ref == charge.provider_ref) {
                        Some(known) => *known = charge,
                        None => charges.push(charge),
                    }
                }
            }
            LookupOutcome::NotFound { absence: Absence::Consistent, .. } => {
                self.charges.get_or_insert_default();
            }
            LookupOutcome::NotFound { absence: Absence::MayHaveMissed, .. } | LookupOutcome::Unreachable { .. } => {}
        }
    }
}

impl From<&Observed> for Charge {
    fn from(seen: &Observed) -> Self {
        let order = seen.order.as_ref().map(ToString::to_string);
        Self {
            provider_ref: Some(seen.provider_ref.clone()),
            reference: order.or_else(|| seen.reference.as_ref().map(ToString::to_string)),
            provider_key: seen.provider_key.clone(),
            class: Some(seen.class),
            amount: Some(seen.money.amount),
            captured: seen.money.captured,
            refunded: seen.money.refunded,
            currency: Some(seen.money.currency.clone()),
            created_at: seen.created_at,
        }
    }
}
