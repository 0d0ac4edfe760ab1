//! The record was no longer kept when the retry came: to the service it was a new request.

use super::{Known, Twice, at, later};
use crate::domain::case::Request;
use crate::domain::ids::RecordId;
use crate::domain::time::{Instant, age, words};
use crate::domain::triage::Cause;
use crate::domain::triage::books::{PROVIDER_SKEW, Placed};

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::KeyExpired, shows };

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let (key, [first, second]) = twice.same_key()?;
    let kept = twice.books.case.retention();
    let (began, again) =
        gaps(twice, key, [first, second]).into_iter().find(|(began, again)| age(*began, *again) >= kept)?;
    Some(format!(
        "Key {key} charged at {}, and again at {}{}: keys are kept for {}, so the retry was a new request.",
        dated(began),
        dated(again),
        later(Some(began), Some(again)),
        words(kept),
    ))
}

/// The time between the attempts, by each clock there is: the provider's and ours, never one against the other unless
/// nothing else is known.
fn gaps(twice: &Twice<'_, '_>, key: &RecordId, [first, second]: [&Placed<'_>; 2]) -> Vec<(Instant, Instant)> {
    let mine = |row: &&&Request| row.scope.as_ref() == Some(&key.scope) && row.key.as_ref() == Some(&key.key);
    let before = second.seen.at.map(|at| PROVIDER_SKEW.after(at));
    let asked = || twice.purchase.requests.iter().filter(mine).filter_map(|row| row.at);
    let last = asked().filter(|at| before.is_none_or(|before| *at <= before)).max();
    let stored = || twice.purchase.record(key)?.created_at;
    let used = || twice.purchase.first_use(key);
    [
        first.seen.at.zip(second.seen.at),
        asked().min().zip(last),
        first.seen.at.or_else(used).zip(second.seen.at.or_else(stored)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn dated(instant: Instant) -> String {
    if instant == Instant::MAX_UTC || instant == Instant::MIN_UTC {
        return at(Some(instant));
    }
    instant.format("%Y-%m-%d %H:%M:%SZ").to_string()
}
