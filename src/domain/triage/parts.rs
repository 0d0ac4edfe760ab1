//! Several charges for one order: the same thing twice, or its parts.

use std::collections::BTreeSet;

use super::books::{Placed, Purchase};
use crate::domain::case::money;
use crate::domain::ids::{PaymentId, RecordId};
use crate::domain::money::Money;
use crate::domain::payment::PaymentStatus;

/// What several standing charges of one purchase are to each other.
pub(super) enum Parts {
    /// Together they are at most the price: it was taken in parts.
    OfOne(Money),
    /// Each is charged for itself.
    Whole,
    /// The amounts differ, and our books stand for each of them: nothing tells.
    NotKnown,
}

/// What the standing charges of a purchase are to each other.
pub(super) fn of(purchase: &Purchase<'_>, standing: &[&Placed<'_>]) -> Parts {
    let kept: Option<Vec<Money>> =
        standing.iter().map(|charge| money(charge.seen.kept, charge.seen.currency)).collect();
    if let (Some(kept), Some(price)) = (kept, price(purchase)) {
        let sum = kept.iter().try_fold(Money { minor: 0, currency: price.currency.clone() }, |sum, one| {
            if one.minor > 0 { sum.checked_add(one).ok() } else { None }
        });
        if sum.is_some_and(|sum| sum.minor <= price.minor) {
            return Parts::OfOne(price);
        }
    }
    let asked = |charge: &Placed<'_>| {
        let row = charge.seen.charge?;
        Some((row.amount.or(row.captured)?, row.currency.clone()?))
    };
    let amounts: Option<BTreeSet<_>> = standing.iter().map(|charge| asked(charge)).collect();
    let ours: Option<BTreeSet<PaymentId>> = standing.iter().map(|charge| paid_for(charge)).collect();
    let keys: Option<BTreeSet<RecordId>> = standing.iter().map(|charge| charge.key.clone()).collect();
    let all = |found: Option<usize>| found == Some(standing.len());
    if all(amounts.map(|set| set.len())) && all(ours.map(|set| set.len())) && all(keys.map(|set| set.len())) {
        Parts::NotKnown
    } else {
        Parts::Whole
    }
}

/// The payment that calls itself paid for this charge, and with its amount.
fn paid_for(charge: &Placed<'_>) -> Option<PaymentId> {
    let payment = charge.payment.filter(|row| row.status == Some(PaymentStatus::Succeeded))?;
    let theirs = charge.seen.charge.and_then(|row| row.amount.or(row.captured));
    payment.id.clone().filter(|_| payment.amount == theirs)
}

/// The price, when everything that names one names the same.
fn price(purchase: &Purchase<'_>) -> Option<Money> {
    let paid = purchase.payments.iter().map(|row| (row.amount, row.currency.as_ref()));
    let asked = purchase.requests.iter().map(|row| (row.amount, row.currency.as_ref()));
    let mut prices = paid.chain(asked).filter_map(|(amount, currency)| money(amount, currency));
    let first = prices.next().filter(|price| price.minor > 0)?;
    prices.all(|other| other == first).then_some(first)
}
