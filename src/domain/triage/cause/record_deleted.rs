//! Somebody removed the record: the service forgot that the provider had been called, and the retry charged again.

use super::{Known, OWN_SKEW, Twice, at, later};
use crate::domain::time::{age, words};
use crate::domain::triage::Cause;
use crate::domain::triage::books::PROVIDER_SKEW;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::RecordDeleted, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let (key, [first, second]) = twice.same_key()?;
    twice.books.case.records.as_ref()?;
    let Some(record) = twice.purchase.record(key) else {
        // A record that is older than keys are kept is gone by itself.
        let began = twice.purchase.first_use(key).or(first.seen.at)?;
        let seen = twice.books.case.now.or(second.seen.at)?;
        if age(began, seen) >= twice.books.case.retention() {
            return None;
        }
        return Some(format!(
            "The record of key {key} is gone although keys are kept for {}: the first charge was at {}, and the \
             retry at {}{} found no record of it.",
            words(twice.books.case.retention()),
            at(first.seen.at),
            at(second.seen.at),
            later(first.seen.at, second.seen.at),
        ));
    };
    let stored = record.created_at?;
    let used = twice.purchase.first_use(key).filter(|used| age(*used, stored) > OWN_SKEW);
    // Without a sign of ours the provider's clock must do, with room for the difference of the clocks.
    let charged = first.seen.at.filter(|charged| age(*charged, stored) > PROVIDER_SKEW);
    let used = used.or(charged)?;
    Some(format!(
        "Key {key} was used at {}, but its record was stored at {}{}: the first record was removed in between, and the \
         retry charged again.",
        at(Some(used)),
        at(Some(stored)),
        later(Some(used), Some(stored)),
    ))
}
