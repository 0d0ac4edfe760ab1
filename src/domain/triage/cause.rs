//! Why a customer was charged twice: one file a cause, in one list. The earliest broken link wins.

use std::collections::HashMap;

use super::Cause;
use super::books::{Books, Placed, Purchase};
use crate::domain::ids::RecordId;
use crate::domain::time::{Instant, Seconds, clock, words};

mod charge_without_payment;
mod key_expired;
mod lease_too_short;
mod new_key_per_attempt;
mod no_provider_key;
mod record_deleted;
mod timeout_marked_failed;
mod unstable_provider_key;

/// A cause that can be shown: its name, and what shows it in one sentence.
pub(super) struct Known {
    pub cause: Cause,
    pub shows: fn(&Twice<'_, '_>) -> Option<String>,
}

/// Every cause, the earliest link of the chain first.
const KNOWN: &[Known] = &[
    key_expired::KNOWN,
    record_deleted::KNOWN,
    timeout_marked_failed::KNOWN,
    lease_too_short::KNOWN,
    unstable_provider_key::KNOWN,
    no_provider_key::KNOWN,
    new_key_per_attempt::KNOWN,
    charge_without_payment::KNOWN,
];

/// How far our own clocks may differ from one another.
pub(super) const OWN_SKEW: Seconds = Seconds(5);

/// A purchase with several charges that stand.
pub(super) struct Twice<'a, 'b> {
    /// The whole case.
    pub books: &'b Books<'a>,
    /// The purchase.
    pub purchase: &'b Purchase<'a>,
    /// Its charges that stand, the earliest first.
    pub standing: Vec<&'b Placed<'a>>,
}

impl<'a> Twice<'a, '_> {
    /// Keys of ours that made more than one of the charges, each with the first two.
    pub(super) fn same_key(&self) -> Option<(&RecordId, [&Placed<'a>; 2])> {
        let mut first: HashMap<&RecordId, &Placed<'a>> = HashMap::new();
        self.standing.iter().find_map(|charge| {
            let key = charge.key.as_ref()?;
            first.insert(key, charge).map(|before| (key, [before, *charge]))
        })
    }
}

/// The cause of several charges, and the interleaving in one sentence.
pub(super) fn of(twice: &Twice<'_, '_>) -> (Cause, Option<String>) {
    KNOWN
        .iter()
        .find_map(|known| (known.shows)(twice).map(|story| (known.cause, Some(story))))
        .unwrap_or((Cause::Unknown, None))
}

/// A time in a sentence; what is not known says so.
pub(super) fn at(instant: Option<Instant>) -> String {
    instant.map_or_else(|| "a time we do not know".to_owned(), clock)
}

/// How much later the second is, when both are known: ` (31m later)`.
pub(super) fn later(first: Option<Instant>, second: Option<Instant>) -> String {
    match (first, second) {
        (Some(first), Some(second)) if second > first => {
            format!(" ({} later)", words(crate::domain::time::age(first, second)))
        }
        _ => String::new(),
    }
}
