//! Two workers were on one charge: the second took the record while the first still waited for the provider.

use super::{Known, Twice, at, later};
use crate::domain::time::{Seconds, age};
use crate::domain::triage::Cause;

pub(in crate::domain::triage) const KNOWN: Known = Known { cause: Cause::LeaseTooShort, shows };

/// Two charges of one key closer than this were made by workers at the same time: a dead worker is followed later,
/// when its lease has ended (DESIGN: leases are longer than the provider's time-out, which is tens of seconds).
const AT_ONCE: Seconds = Seconds(30);

fn shows(twice: &Twice<'_, '_>) -> Option<String> {
    let (key, [first, second]) = twice.same_key()?;
    let taken = twice.purchase.record(key)?.attempt?;
    if taken < 2 {
        return None;
    }
    let (began, again) = (first.seen.at?, second.seen.at?);
    // A request that went on, and not one that was told to wait, before the first charge was there.
    let mut workers = twice.purchase.requests.iter().filter(|request| {
        request.key.as_ref() == Some(&key.key)
            && request.status != Some(409)
            && request.at.is_some_and(|at| at <= began)
    });
    let both_at_work = workers.nth(1).is_some();
    (both_at_work || age(began, again) <= AT_ONCE).then(|| {
        format!(
            "Record {key} was taken {taken} times, and two workers charged at once: at {} and at {}{}; the lease ended \
             while the first still waited for the provider.",
            at(Some(began)),
            at(Some(again)),
            later(Some(began), Some(again)),
        )
    })
}
