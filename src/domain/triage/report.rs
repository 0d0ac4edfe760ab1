//! What the settlement report says about a charge.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::case::{Case, SettlementLine};

/// What the report says about one charge.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    /// The line that says it was paid out.
    pub charge: Option<&'a SettlementLine>,
    refunds: i64,
    chargebacks: i64,
}

impl Lines<'_> {
    /// What was given back in all, in minor units, where the provider itself says it refunded this much.
    ///
    /// Both may tell of the same refund: the larger figure has them all. A chargeback is taken by the bank and comes
    /// on top. Lines of one kind are added with their signs, since a report writes either sign and a reversal the other.
    pub(super) fn returned(&self, refunded: i64) -> i64 {
        refunded.max(self.refunds.saturating_abs()).saturating_add(self.chargebacks.saturating_abs())
    }
}

/// The lines of each charge. A line that is there twice is one line.
pub(super) fn settled(case: &Case) -> BTreeMap<&str, Lines<'_>> {
    let mut all: BTreeMap<&str, Lines<'_>> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for line in case.settlements.as_deref().unwrap_or_default() {
        let (Some(name), Some(kind)) = (&line.provider_ref, &line.kind) else { continue };
        let kind = kind.to_ascii_lowercase();
        if !known.insert((name.as_str(), kind.clone(), line.amount, line.currency.as_deref(), line.at)) {
            continue;
        }
        let lines = all.entry(name.as_str()).or_default();
        let amount = line.amount.unwrap_or(0);
        match kind.as_str() {
            "charge" => {
                let first = lines.charge.is_none_or(|first| (line.at, line.amount) < (first.at, first.amount));
                if first {
                    lines.charge = Some(line);
                }
            }
            "refund" => lines.refunds = lines.refunds.saturating_add(amount),
            "chargeback" => lines.chargebacks = lines.chargebacks.saturating_add(amount),
            _ => {}
        }
    }
    all
}
