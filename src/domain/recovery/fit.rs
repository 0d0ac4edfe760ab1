//! Whether a charge is fit to decide: its mode, its amount, and what of it was given back. Row 7, and the end of row 4.

use super::super::evidence::{Class, Evidence, Match, Observed};
use super::super::money::Money;
use super::super::time;
use super::{Case, HAND_OVER, Refusal, Step};

impl Case<'_> {
    /// A charge that was given back ends the payment only where it is in the right mode, and nothing else of this record
    /// can still take money: a hold or an open charge beside it is not over yet.
    pub(super) fn reversed(&self, hit: &Observed, observed: &[Observed], latest: &Evidence) -> Step {
        if let Some(wrong) = self.wrong_mode(hit) {
            return Step::Refuse(Refusal::new(wrong, HAND_OVER));
        }
        let alive = observed.iter().find(|other| {
            !other.class.moved_money() && other.class != Class::Failed && other.matches(self.detail) == Match::Decides
        });
        match alive {
            Some(other) => {
                let (gone, name, raw) = (&hit.provider_ref, &other.provider_ref, &other.raw);
                let look_again = self.policy.not_found_gap.min(time::Seconds(60)).after(latest.started_at);
                Step::Wait { why: format!("{gone} was given back, but {name} is still {raw}."), look_again }
            }
            None => Step::FinishAsReversed { charge: hit.clone() },
        }
    }

    /// Why the charge may be of the provider's other world.
    fn wrong_mode(&self, hit: &Observed) -> Option<String> {
        let name = &hit.provider_ref;
        match (self.policy.mode, hit.mode) {
            (Some(wanted), Some(seen)) if wanted != seen => {
                Some(format!("{name} is in the provider's other mode (test or live)."))
            }
            (Some(_), None) => Some(format!("{name} does not say whether it is test or live.")),
            (Some(_) | None, _) => None,
        }
    }

    /// Row 7: what makes a charge unfit to decide, in words.
    pub(super) fn does_not_fit(&self, hit: &Observed) -> Option<String> {
        let name = &hit.provider_ref;
        if let Some(wrong) = self.wrong_mode(hit) {
            return Some(wrong);
        }
        if hit.class == Class::Failed {
            return None;
        }
        let Some(ours) = &self.detail.record.money else {
            return Some(format!("Our own amount is not known, so {name} cannot be compared."));
        };
        if &hit.money() != ours {
            return Some(format!("{name} is over {}, our payment over {ours}.", hit.money()));
        }
        if hit.class == Class::Reversed || hit.money.refunded.is_some_and(|back| back != 0) {
            return Some(format!("{name} was reversed or refunded."));
        }
        if hit.class == Class::Succeeded && hit.money.captured.is_some_and(|captured| captured != ours.minor) {
            let captured = Money { minor: hit.money.captured.unwrap_or(0), currency: ours.currency.clone() };
            return Some(format!("{name} captured only {captured} of {ours}."));
        }
        None
    }
}

/// Whether all the money of a charge went back.
pub(super) fn given_back_whole(hit: &Observed) -> bool {
    hit.class == Class::Reversed
        && hit.money.refunded.is_none_or(|back| back >= hit.money.captured.unwrap_or(hit.money.amount))
}
