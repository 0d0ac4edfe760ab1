//! A time-out was taken for a failure: the payment was marked failed while its charge was on its way.

use super::{Known, OWN_SKEW, Twice, at};
use crate::domain::case::{PaymentRow, Transition};
use crate::domain::payment::PaymentStatus;
use crate::domain::time::{Instant, age, words};
use crate::domain::triage::Cause;
use crate::domain::triage::books::{PROVIDER_SKEW, Placed};

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::TimeoutMarkedFailed, shows };

/// How many charges of one order are looked at.
const MOST: usize = 50;

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    // Each is held against each: of a hundred thousand, the earliest tell.
    let standing = twice.standing.get(..MOST).unwrap_or(&twice.standing);
    standing.iter().find_map(|charge| {
        // The charge of a payment, or of the payment of its key where nobody stored the ref.
        let payment = charge.payment.or_else(|| {
            let key = charge.key.as_ref()?;
            twice.purchase.payments.iter().copied().find(|payment| {
                payment.scope.as_ref() == Some(&key.scope)
                    && payment.key.as_ref() == Some(&key.key)
                    && payment.provider_ref.is_none()
            })
        })?;
        let (failed_at, by) = failed(twice, payment)?;
        let charged = charge.seen.at;
        let after = match (failed_at, charged) {
            (Some(failed), Some(charged)) if charged > failed => {
                format!(", {} after we marked it failed", words(age(failed, charged)))
            }
            _ => ", and we had marked it failed".to_owned(),
        };
        // The customer tried again because of the mark: a charge begun before it has another cause.
        let retry = standing.iter().find(|other| {
            other.seen.name != charge.seen.name
                && failed_at.is_none_or(|failed| begun_after(twice, charge, other, failed))
        })?;
        let new_key = retry.key.is_some() && retry.key != charge.key;
        Some(format!(
            "The first call reached the provider at {}{after}{}; the retry at {} carried {}.",
            at(charged),
            by.map(|by| format!(" ({by})")).unwrap_or_default(),
            at(retry.seen.at),
            if new_key { "a new key" } else { "no sign of the first" },
        ))
    })
}

/// Whether a charge was begun after an instant of our clock: by our clock where that can be told, else by the
/// provider's, with room for the difference of the two.
fn begun_after(twice: &Twice<'_, '_>, first: &Placed<'_>, other: &Placed<'_>, failed: Instant) -> bool {
    let own_key = other.key.as_ref().filter(|key| first.key.as_ref() != Some(*key));
    let ours = own_key.and_then(|key| twice.purchase.first_use(key));
    match (ours, other.seen.at) {
        (Some(ours), _) => OWN_SKEW.after(ours) >= failed,
        (None, Some(theirs)) => PROVIDER_SKEW.after(theirs) >= failed,
        (None, None) => true,
    }
}

/// When a payment whose charge stands was marked failed, and by whom; not when a success was overwritten.
fn failed<'a>(twice: &Twice<'a, '_>, payment: &'a PaymentRow) -> Option<(Option<Instant>, Option<&'a str>)> {
    let id = payment.id.as_ref().map(crate::domain::ids::PaymentId::as_str);
    let changes: &[&'a Transition] = id.and_then(|id| twice.books.transitions.get(id)).map_or(&[], Vec::as_slice);
    let marked = changes.iter().find(|change| change.to == Some(PaymentStatus::Failed));
    match marked {
        Some(change) if change.from == Some(PaymentStatus::Succeeded) => None,
        Some(change) => Some((change.at, change.by.as_deref())),
        None if payment.status == Some(PaymentStatus::Failed) => Some((payment.updated_at, None)),
        None => None,
    }
}
