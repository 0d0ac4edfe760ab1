//! A charge that no payment of ours stands for.

use super::{Known, Twice, at};
use crate::domain::triage::Cause;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::ChargeWithoutPayment, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    twice.books.case.payments.as_ref()?;
    let orphan = twice.standing.iter().find(|charge| charge.payment.is_none())?;
    Some(format!(
        "Charge {} of {} stands at the provider, and no payment of ours accounts for it.",
        orphan.seen.name,
        at(orphan.seen.at),
    ))
}
