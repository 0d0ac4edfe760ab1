//! Requests per minute: the hour the console keeps, fed by the tail since the last poll.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::time::{Instant, Seconds};

/// The answers of one minute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minute {
    /// All requests.
    pub requests: u64,
    /// 2xx that were worked, not replayed.
    pub ok: u64,
    /// 409: the key is in use.
    pub conflict: u64,
    /// 422: the key was used with another content.
    pub mismatch: u64,
    /// Stored answers given again.
    pub replayed: u64,
    /// 503: the outcome is unknown.
    pub unavailable: u64,
    /// Other 5xx.
    pub failed: u64,
}

impl Minute {
    /// The sum, field by field.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            ok: self.ok.saturating_add(other.ok),
            conflict: self.conflict.saturating_add(other.conflict),
            mismatch: self.mismatch.saturating_add(other.mismatch),
            replayed: self.replayed.saturating_add(other.replayed),
            unavailable: self.unavailable.saturating_add(other.unavailable),
            failed: self.failed.saturating_add(other.failed),
        }
    }

    /// `part` of all requests in tenths of a percent; `None` when nothing was asked.
    pub fn share(self, part: u64) -> Option<u64> {
        part.saturating_mul(1000).checked_div(self.requests)
    }
}

/// The last hour, minute by minute. Minutes that were never read are absent, not zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    minutes: BTreeMap<Instant, Minute>,
    /// From when on the tail was read: minutes before are not known.
    pub known_since: Option<Instant>,
}

impl Rates {
    /// How many minutes are kept.
    pub const KEPT: u64 = 60;

    /// Adds what a tail brought to its minute and forgets what is older than an hour before `now`.
    pub fn add(&mut self, minute: Instant, counts: Minute, now: Instant) {
        let sum = self.minutes.entry(minute).or_default();
        *sum = sum.plus(counts);
        let oldest = Seconds(Self::KEPT.saturating_mul(60)).before(now);
        self.minutes.retain(|start, _| *start > oldest);
    }

    /// The minutes from the oldest, with their start.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Instant, Minute)> + '_ {
        self.minutes.iter().map(|(start, counts)| (*start, *counts))
    }

    /// The sum over the minutes that began within `window` before `now`.
    pub fn over(&self, window: Seconds, now: Instant) -> Minute {
        let from = window.before(now);
        self.iter().filter(|(start, _)| *start >= from).fold(Minute::default(), |sum, (_, counts)| sum.plus(counts))
    }

    /// The sum over the minutes that were read and began earlier than `window` before `now`.
    pub fn before(&self, window: Seconds, now: Instant) -> Minute {
        let from = window.before(now);
        self.iter().filter(|(start, _)| *start < from).fold(Minute::default(), |sum, (_, counts)| sum.plus(counts))
    }

    /// One value per minute for the last `count` minutes, `None` where a minute was not read.
    /// A minute inside the known time without requests is a true zero.
    pub fn series(&self, count: u64, now: Instant, pick: impl Fn(Minute) -> u64) -> Vec<Option<u64>> {
        let this = now.timestamp().div_euclid(60);
        let count = i64::try_from(count).unwrap_or(0);
        (0..count)
            .rev()
            .map(|back| {
                let start = chrono::DateTime::from_timestamp(this.saturating_sub(back).saturating_mul(60), 0)?;
                let end = Seconds(60).after(start);
                match self.minutes.get(&start) {
                    Some(counts) => Some(pick(*counts)),
                    None => self.known_since.is_some_and(|since| since < end).then_some(0),
                }
            })
            .collect()
    }
}
