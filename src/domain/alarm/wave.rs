//! Waves of 409 and 422: alarms from rates.
//!
//! Three-valued, and no normal is invented. `[normal]` decides where it is given. Without it a wave is a rise
//! against the hour before, if enough of that hour was read to compare with; and for 422, which is always somebody's
//! bug, one key or one client that stands out. Where nothing can be compared nothing is said.

use std::collections::BTreeMap;

use super::{Alarm, Level, Normals};
use crate::domain::ids::Scope;
use crate::domain::money::Totals;
use crate::domain::rates::{Minute, Rates};
use crate::domain::snapshot::{Offender, Snapshot};
use crate::domain::time::{Instant, Seconds};

/// What a wave is looked for in: the same five minutes the Overview and the list of 409 and 422 show.
const WINDOW: Seconds = Seconds(300);
/// Fewer answers than this are no wave, whatever their share.
const FEWEST: u64 = 10;
/// A wave has at least this share of all answers, in tenths of a percent.
const SHARE: u64 = 50;
/// It is this many times the share of the hour before.
const TIMES: u64 = 3;
/// Fewer answers than this are too few to compare with.
const COMPARED: u64 = 100;
/// One key that is refused this often is no accident.
const ONE_KEY: u64 = 5;

/// Why it is a wave.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Why {
    /// Above the share that `[normal]` names, in tenths of a percent.
    AboveNormal(u64),
    /// The share of the hour before, in tenths of a percent, and this is several times that.
    Rose(u64),
    /// One key of this client was refused again and again.
    OneKey(Scope),
    /// Most of them are one client's.
    OneClient(Scope),
}

/// Keys that came with another content.
pub(super) fn mismatches(snapshot: &Snapshot, normals: &Normals) -> Option<Alarm> {
    let rates = snapshot.rates.value()?;
    let (now, pick) = (snapshot.db_now, |minute: Minute| minute.mismatch);
    let why = match normals.get("422") {
        Some(normal) => above(rates, now, pick, *normal),
        None => rose(rates, now, pick).or_else(|| one_client(rates, now, snapshot.offenders.value()?)),
    }?;
    let next =
        "4 shows who: tell that client's team, one key per intent. If I15 is broken as well, the service is wrong.";
    Some(alarm("422", "requests REFUSED, their key was used for another content", rates, now, pick, &why, next))
}

/// Keys that are in use.
pub(super) fn conflicts(snapshot: &Snapshot, normals: &Normals) -> impl Iterator<Item = Alarm> {
    let now = snapshot.db_now;
    let told = snapshot.rates.value().and_then(|rates| {
        let pick = |minute: Minute| minute.conflict;
        let why = match normals.get("409") {
            Some(normal) => above(rates, now, pick, *normal),
            None => rose(rates, now, pick),
        }?;
        let next = "4 shows who retries what. Leave records with a live lease alone.";
        Some(alarm("409", "requests told to WAIT, their key is in use", rates, now, pick, &why, next))
    });
    told.into_iter()
}

fn above(rates: &Rates, now: Instant, pick: fn(Minute) -> u64, normal: u64) -> Option<Why> {
    let sum = rates.over(WINDOW, now);
    (pick(sum) >= FEWEST && sum.share(pick(sum))? > normal).then_some(Why::AboveNormal(normal))
}

fn rose(rates: &Rates, now: Instant, pick: fn(Minute) -> u64) -> Option<Why> {
    let (sum, earlier) = (rates.over(WINDOW, now), rates.before(WINDOW, now));
    if earlier.requests < COMPARED || !many(sum, pick) {
        return None;
    }
    let before = earlier.share(pick(earlier))?;
    (sum.share(pick(sum))? >= before.saturating_mul(TIMES)).then_some(Why::Rose(before))
}

fn one_client(rates: &Rates, now: Instant, offenders: &[Offender]) -> Option<Why> {
    let sum = rates.over(WINDOW, now);
    let worst = offenders.iter().filter(|one| one.key.is_some()).max_by_key(|one| one.mismatches)?;
    if worst.mismatches >= ONE_KEY && sum.mismatch >= ONE_KEY {
        return Some(Why::OneKey(worst.scope.clone()));
    }
    let mut clients: BTreeMap<&Scope, u64> = BTreeMap::new();
    for one in offenders {
        let count = clients.entry(&one.scope).or_default();
        *count = count.saturating_add(one.mismatches);
    }
    let all = clients.values().copied().fold(0, u64::saturating_add);
    let (client, count) = clients.into_iter().max_by_key(|(_, count)| *count)?;
    (many(sum, |minute| minute.mismatch) && count.saturating_mul(2) >= all).then(|| Why::OneClient(client.clone()))
}

/// Enough of them, and a share worth waking somebody for.
fn many(sum: Minute, pick: fn(Minute) -> u64) -> bool {
    pick(sum) >= FEWEST && sum.share(pick(sum)).is_some_and(|share| share >= SHARE)
}

fn alarm(
    code: &str,
    words: &str,
    rates: &Rates,
    now: Instant,
    pick: fn(Minute) -> u64,
    why: &Why,
    next: &str,
) -> Alarm {
    let sum = rates.over(WINDOW, now);
    let count = pick(sum);
    let share = sum.share(count).map_or_else(|| "share not known".to_owned(), percent);
    let why = match why {
        Why::AboveNormal(normal) => format!("normal is under {}", percent(*normal)),
        Why::Rose(before) => format!("it was {} in the hour before", percent(*before)),
        Why::OneKey(client) => format!("most to one key of {client}"),
        Why::OneClient(client) => format!("most to {client}"),
    };
    Alarm {
        level: Level::Caution,
        what: format!("{count} {words} ({code}, {share} in 5 min): {why}."),
        money: Totals::default(),
        since: None,
        signal: None,
        next: next.to_owned(),
    }
}

/// Tenths of a percent: `4.8%`.
fn percent(tenths: u64) -> String {
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::ids::Key;

    fn now() -> Instant {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    /// So many requests and 422 in the last minute, and in one half an hour ago.
    fn rates(last: (u64, u64), earlier: (u64, u64)) -> Rates {
        let mut rates = Rates::default();
        for ((requests, mismatch), ago) in [(last, 60), (earlier, 1800)] {
            let counts = Minute { requests, mismatch, conflict: mismatch, ..Minute::default() };
            rates.add(Seconds(ago).before(now()), counts, now());
        }
        rates
    }

    fn offender(scope: &str, key: &str, mismatches: u64) -> Offender {
        let (scope, key) = (Scope::new(scope), Some(Key::new(key)));
        Offender { scope, route: "/payments".into(), key, conflicts: 0, mismatches, last_at: now() }
    }

    #[test]
    fn a_normal_that_is_given_decides() {
        let pick = |minute: Minute| minute.mismatch;
        assert_eq!(above(&rates((400, 40), (0, 0)), now(), pick, 50), Some(Why::AboveNormal(50)));
        assert_eq!(above(&rates((400, 40), (0, 0)), now(), pick, 100), None);
        assert_eq!(above(&rates((12, 9), (0, 0)), now(), pick, 2), None, "too few to be a wave");
    }

    #[test]
    fn a_rise_needs_an_hour_to_compare_with() {
        let pick = |minute: Minute| minute.conflict;
        assert_eq!(rose(&rates((400, 40), (400, 4)), now(), pick), Some(Why::Rose(10)));
        assert_eq!(rose(&rates((400, 40), (400, 20)), now(), pick), None, "it is always like that here");
        assert_eq!(rose(&rates((400, 40), (50, 0)), now(), pick), None, "nothing to compare with is no rise");
        assert_eq!(rose(&rates((4000, 40), (400, 0)), now(), pick), None, "one in a hundred wakes nobody");
    }

    #[test]
    fn one_key_or_one_client_stands_out() {
        let one_key = [offender("shop-eu", "A", 1), offender("partner-fit", "SESSION", 8)];
        let found = one_client(&rates((4000, 9), (0, 0)), now(), &one_key);
        assert_eq!(found, Some(Why::OneKey(Scope::new("partner-fit"))));
        let ordinary: Vec<Offender> = (0..40).map(|n| offender("partner-fit", &n.to_string(), 1)).collect();
        assert_eq!(
            one_client(&rates((2000, 40), (0, 0)), now(), &ordinary),
            None,
            "two in a hundred is an ordinary day"
        );
        let found = one_client(&rates((400, 40), (0, 0)), now(), &ordinary);
        assert_eq!(found, Some(Why::OneClient(Scope::new("partner-fit"))));
    }
}
