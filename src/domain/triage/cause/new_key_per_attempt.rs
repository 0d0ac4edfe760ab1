//! The client made a new key for each attempt: to everybody behind it, two purchases.

use std::collections::BTreeSet;

use super::{Known, Twice, at, later};
use crate::domain::triage::Cause;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::NewKeyPerAttempt, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let keys: BTreeSet<_> = twice.standing.iter().filter_map(|charge| charge.key.as_ref()).collect();
    let (first, second) = (keys.first()?, keys.iter().nth(1)?);
    let when = |key| twice.standing.iter().find(|charge| charge.key.as_ref() == Some(key)).and_then(|one| one.seen.at);
    let asked = |key| twice.purchase.first_use(key).or_else(|| when(key));
    let mut both = [(asked(*first), *first), (asked(*second), *second)];
    both.sort();
    let [(began, first), (again, second)] = both;
    Some(format!(
        "The client asked for {} with key {first} at {} and with key {second} at {}{}: a new key for the same purchase.",
        twice.purchase.name,
        at(began),
        at(again),
        later(began, again),
    ))
}
