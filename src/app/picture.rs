//! The picture of the world: the last good snapshot, how old it is, and what happened to polls since.
//!
//! Owns freshness (fresh, ageing, STALE, LOST), pausing, and the estimate of the database's
//! clock between polls. Must not know screens. A snapshot is replaced whole.

use std::collections::VecDeque;

use crate::domain::ids::RecordId;
use crate::domain::port::StoreError;
use crate::domain::record::Record;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Instant, Now, Seconds, age, clock, words};

/// Errors kept for the banner.
const ERRORS_SHOWN: usize = 4;
/// Polls in a row that must fail before the database counts as lost.
const LOST_AFTER: u32 = 2;
/// Numbers older than this are "as of".
const STALE_AFTER: Seconds = Seconds(15);

/// How far the numbers on screen can be trusted to be now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// No poll has come back yet.
    Waiting,
    /// At most two polls old.
    Fresh(Seconds),
    /// Older, but not stale.
    Ageing(Seconds),
    /// Too old to act on.
    Stale(Seconds),
    /// The database does not answer. The age is that of the last good picture, if there was one.
    Lost(Option<Seconds>),
    /// A person holds the picture.
    Paused(Seconds),
}

impl Freshness {
    /// True when numbers must say "as of" and trend words must go.
    pub fn is_old(self) -> bool {
        matches!(self, Self::Stale(_) | Self::Lost(_) | Self::Paused(_))
    }
}

/// A snapshot and when it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What was seen.
    pub snapshot: Box<Snapshot>,
    /// When it came, by the console's clock.
    pub at: Now,
}

/// A poll that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// When.
    pub at: Now,
    /// Why.
    pub why: StoreError,
}

/// The picture.
#[derive(Debug, Default)]
pub struct Picture {
    shown: Option<Seen>,
    newer: Option<Seen>,
    paused: Option<Now>,
    failures: u32,
    lost_since: Option<Now>,
    generation: u64,
    /// The last failed polls, newest last.
    pub errors: VecDeque<Failed>,
    /// How many polls failed in a row, and when the next one is due, as the poller said.
    pub next_try: Option<Instant>,
}

impl Picture {
    /// What is on screen.
    pub fn shown(&self) -> Option<&Seen> {
        self.shown.as_ref()
    }

    /// The snapshot on screen.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.shown.as_ref().map(|seen| &*seen.snapshot)
    }

    /// Polls that failed in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// When polls began to fail.
    pub fn lost_since(&self) -> Option<Now> {
        self.lost_since
    }

    /// Takes a good poll; false when a newer one was taken before.
    pub fn take(&mut self, generation: u64, snapshot: Box<Snapshot>, now: Now) -> Taken {
        if generation < self.generation {
            return Taken::Outdated;
        }
        self.generation = generation;
        self.failures = 0;
        self.lost_since = None;
        self.next_try = None;
        let seen = Seen { snapshot, at: now };
        if self.paused.is_some() {
            self.newer = Some(seen);
            Taken::Held
        } else {
            self.shown = Some(seen);
            Taken::Shown
        }
    }

    /// Takes a failed poll.
    pub fn fail(&mut self, generation: u64, why: StoreError, next_try: Option<Instant>, now: Now) -> Taken {
        if generation < self.generation {
            return Taken::Outdated;
        }
        self.generation = generation;
        self.failures = self.failures.saturating_add(1);
        self.lost_since.get_or_insert(now);
        self.next_try = next_try;
        self.errors.push_back(Failed { at: now, why });
        while self.errors.len() > ERRORS_SHOWN {
            self.errors.pop_front();
        }
        Taken::Shown
    }

    /// Holds the picture, or goes back to now.
    pub fn toggle_pause(&mut self, now: Now) {
        if self.paused.take().is_some() {
            if let Some(newer) = self.newer.take() {
                self.shown = Some(newer);
            }
        } else if self.shown.is_some() {
            self.paused = Some(now);
        }
    }

    /// Whether a person holds the picture.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// How far the numbers can be trusted to be now.
    pub fn freshness(&self, poll_every: Seconds, now: Now) -> Freshness {
        let old = self.shown.as_ref().map(|seen| age(seen.at.0, now.0));
        if self.failures >= LOST_AFTER {
            return Freshness::Lost(old);
        }
        let stale = STALE_AFTER.max(Seconds(poll_every.0.saturating_mul(3)));
        match old {
            None => Freshness::Waiting,
            Some(old) if self.paused.is_some() => Freshness::Paused(old),
            Some(old) if old > stale => Freshness::Stale(old),
            Some(old) if old.0 > poll_every.0.saturating_mul(2) => Freshness::Ageing(old),
            Some(old) => Freshness::Fresh(old),
        }
    }

    /// The database's clock now: what the last poll said and the time since.
    pub fn db_now(&self, now: Now) -> Instant {
        match &self.shown {
            Some(seen) => age(seen.at.0, now.0).after(seen.snapshot.db_now),
            None => now.0,
        }
    }

    /// The moment the numbers on screen were true: `14:03:27Z`.
    pub fn as_of(&self) -> String {
        self.snapshot().map_or_else(|| "never".to_owned(), |s| clock(s.db_now))
    }

    /// A record of the lists, by id.
    pub fn record(&self, id: &RecordId) -> Option<&Record> {
        let snapshot = self.snapshot()?;
        [&snapshot.stuck, &snapshot.unknown]
            .into_iter()
            .filter_map(|answer| answer.value())
            .flatten()
            .find(|record| &record.id == id)
    }

    /// Why nothing can be started on this picture, if so, with a way out.
    pub fn why_no_action(&self, poll_every: Seconds, now: Now) -> Option<String> {
        match self.freshness(poll_every, now) {
            Freshness::Fresh(_) | Freshness::Ageing(_) => None,
            Freshness::Waiting => Some("Actions are off: no picture of the database yet.".into()),
            Freshness::Paused(_) => Some("Actions are off while the picture is paused. Press p for now.".into()),
            Freshness::Stale(old) => {
                Some(format!("Actions are off: the picture is {} old. They come back with the next poll.", words(old)))
            }
            Freshness::Lost(_) => Some("Actions are off: the database does not answer. Nothing is queued.".into()),
        }
    }
}

/// What became of a poll's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is on screen.
    Shown,
    /// It waits until the pause ends.
    Held,
    /// A newer one was there already.
    Outdated,
}
