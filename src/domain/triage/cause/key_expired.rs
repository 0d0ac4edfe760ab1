//! The record was no longer kept when the retry came: to the service it was a new request.

use super::{Known, Twice, at, later};
use crate::domain::time::age;
use crate::domain::triage::Cause;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::KeyExpired, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let (key, [first, second]) = twice.same_key()?;
    let began = first.seen.at.or_else(|| twice.purchase.first_use(key))?;
    let again = second.seen.at.or_else(|| twice.purchase.record(key)?.created_at)?;
    let kept = twice.books.case.retention();
    (age(began, again) >= kept).then(|| {
        format!(
            "Key {key} charged at {}, and again at {}{}: keys are kept for {} hours, so the retry was a new request.",
            at(Some(began)),
            at(Some(again)),
            later(Some(began), Some(again)),
            kept.0 / 3_600,
        )
    })
}
