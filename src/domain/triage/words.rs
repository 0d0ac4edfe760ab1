//! The sentences that name the rows.

use super::books::{Placed, Purchase};
use super::cause::at;
use super::standing::{Money, Source};
use crate::domain::case::{PaymentRow, money};
use crate::domain::money::Money as Amount;

/// How many rows of a kind are named; the rest is counted.
const NAMED: usize = 12;

/// A charge, what became of it, and what of ours it belongs to.
pub(super) fn charge(one: &Placed<'_>) -> String {
    let seen = &one.seen;
    let amount = match (seen.kept, seen.currency) {
        (Some(kept), Some(currency)) => Amount::new(kept.saturating_add(seen.returned), currency).to_string(),
        (None, _) | (_, None) => money(seen.charge.and_then(|row| row.amount), seen.currency)
            .map_or_else(|| "an amount we do not know".to_owned(), |amount| amount.to_string()),
    };
    let became = match seen.money {
        Money::Stands if seen.returned > 0 => "was taken, and given back in part",
        Money::Stands => "was taken and stands",
        Money::GivenBack => "was taken and given back",
        Money::Held => "is a hold that was not captured",
        Money::Open => "has no final state yet",
        Money::Refused => "was refused: no money moved",
    };
    let says = match seen.source {
        Source::Provider => "the provider",
        Source::Told => "the provider's report or event",
        Source::Books => "our books, without the provider",
    };
    let belongs = one
        .payment
        .and_then(|payment| payment.id.as_ref())
        .map(|id| format!(", payment {id}"))
        .or_else(|| one.key.as_ref().map(|key| format!(", key {key}")))
        .unwrap_or_default();
    format!("Charge {} of {amount} at {} {became}{belongs} (says {says}).", seen.name, at(seen.at))
}

/// A payment and its status.
pub(super) fn payment(row: &PaymentRow) -> String {
    let id = row.id.as_ref().map_or_else(|| "without an id".to_owned(), ToString::to_string);
    let status = row.status.as_ref().map_or_else(|| "of a status we do not know".to_owned(), ToString::to_string);
    let of = row.provider_ref.as_ref().map(|of| format!(", charge {of}")).unwrap_or_default();
    format!("Payment {id} is {status} since {}{of}.", at(row.updated_at.or(row.created_at)))
}

/// The rows of a purchase: its charges, then the payments that no charge names.
pub(super) fn rows(purchase: &Purchase<'_>) -> Vec<String> {
    let unnamed = purchase.payments.iter().filter(|row| purchase.charge_of(row).is_none());
    let all: Vec<String> = purchase.charges.iter().map(charge).chain(unnamed.map(|row| payment(row))).collect();
    limited(all)
}

fn limited(mut all: Vec<String>) -> Vec<String> {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    if more > 0 {
        all.push(format!("And {more} more rows."));
    }
    all
}
