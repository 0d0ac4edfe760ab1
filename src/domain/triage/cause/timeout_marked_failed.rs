//! A time-out was taken for a failure: the payment was marked failed while its charge was on its way.

use super::{Known, Twice, at};
use crate::domain::case::{PaymentRow, Transition};
use crate::domain::payment::PaymentStatus;
use crate::domain::time::{age, words};
use crate::domain::triage::Cause;
use crate::domain::triage::books::PROVIDER_SKEW;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::TimeoutMarkedFailed, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    twice.standing.iter().find_map(|charge| {
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
        // The customer tried again because of the mark: a charge made before it has another cause.
        let retry = twice.standing.iter().find(|other| {
            let after = |failed| other.seen.at.is_none_or(|at| PROVIDER_SKEW.after(at) >= failed);
            other.seen.name != charge.seen.name && failed_at.is_none_or(after)
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

/// When a payment whose charge stands was marked failed, and by whom; not when a success was overwritten.
fn failed<'a>(
    twice: &Twice<'a, '_>,
    payment: &'a PaymentRow,
) -> Option<(Option<crate::domain::time::Instant>, Option<&'a str>)> {
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
