//! What cannot be true at once: what our books say of a charge against what the provider says.

use std::collections::BTreeSet;

use super::books::{Books, Placed, Purchase};
use super::standing::Money;
use crate::domain::money::Money as Amount;
use crate::domain::payment::PaymentStatus;

/// What our books and the provider say of one charge that cannot both be true.
pub(super) fn clashes(books: &Books<'_>, purchase: &Purchase<'_>) -> Vec<String> {
    let paid = purchase.payments.iter().filter(|row| row.status == Some(PaymentStatus::Succeeded));
    let mut all = said_of(books, purchase);
    for row in paid {
        let id = row.id.as_ref().map_or("without an id", |id| id.as_str());
        let Some(of) = &row.provider_ref else { continue };
        match purchase.charge(of.as_str()) {
            None if books.case.charges.is_some() => {
                all.push(format!("payment {id} is succeeded with charge {of}, which the provider does not list"));
            }
            Some(charge) => match charge.seen.money {
                Money::Stands | Money::GivenBack => {}
                Money::Held => all.push(format!("payment {id} is succeeded, and charge {of} is only a hold")),
                Money::Open => all.push(format!("payment {id} is succeeded, and charge {of} has no final state")),
                Money::Refused => all.push(format!("payment {id} is succeeded, and charge {of} was refused")),
            },
            None => {}
        }
    }
    all
}

/// The contradictions among the rows of one charge or payment that touch this purchase.
fn said_of(books: &Books<'_>, purchase: &Purchase<'_>) -> Vec<String> {
    if books.contradictions.is_empty() {
        return Vec::new();
    }
    let ids: BTreeSet<&str> =
        purchase.payments.iter().filter_map(|row| row.id.as_ref().map(crate::domain::ids::PaymentId::as_str)).collect();
    let touches = |about: &str| purchase.charge(about).is_some() || ids.contains(about);
    let all = books.contradictions.iter().filter(|one| one.about.as_deref().is_none_or(touches));
    all.map(|one| one.what.clone()).take(12).collect()
}

/// Money was taken, but another amount or currency than our books say.
pub(super) fn other_amount(charge: &Placed<'_>) -> Option<String> {
    let (row, paid) = (charge.seen.charge?, charge.payment?);
    let ours = crate::domain::case::money(paid.amount, paid.currency.as_ref())?;
    let kept = charge.seen.kept;
    let theirs = [row.amount, row.captured, kept]
        .into_iter()
        .filter_map(|amount| crate::domain::case::money(amount, row.currency.as_ref()));
    let theirs: Vec<Amount> = theirs.collect();
    (!theirs.is_empty() && !theirs.contains(&ours)).then(|| {
        let said = theirs.first().map(ToString::to_string).unwrap_or_default();
        format!("Our books say {ours}, the provider says {said}: the amounts differ.")
    })
}
