//! Trend words: RISING, FALLING, STEADY, STOPPED, NEW, with a number and a window; never a guess from too little.

use std::collections::VecDeque;
use std::fmt;

use super::time::{self, Instant, Seconds};

/// The samples of one signal since the console opened, at most an hour of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    samples: VecDeque<(Instant, u64)>,
}

/// How far back a trend looks.
pub const WINDOW: Seconds = Seconds(600);
const KEPT: Seconds = Seconds(3_600);

impl History {
    /// Adds a sample. One that is not newer than the last is not taken.
    pub fn push(&mut self, at: Instant, value: u64) {
        if self.samples.back().is_some_and(|(last, _)| *last >= at) {
            return;
        }
        self.samples.push_back((at, value));
        let oldest = KEPT.before(at);
        while self.samples.front().is_some_and(|(first, _)| *first < oldest) {
            self.samples.pop_front();
        }
    }

    /// The largest value in each of `slots` equal parts of the last hour before `now`; `None` where nothing was seen.
    pub fn series(&self, slots: u64, now: Instant) -> Vec<Option<u64>> {
        let slot = KEPT.0.checked_div(slots).unwrap_or(0).max(1);
        (0..slots)
            .rev()
            .map(|back| {
                let end = Seconds(slot.saturating_mul(back)).before(now);
                let start = Seconds(slot).before(end);
                self.samples.iter().filter(|(at, _)| *at > start && *at <= end).map(|(_, value)| *value).max()
            })
            .collect()
    }

    /// The trend over the last ten minutes, or over what there is of them.
    pub fn trend(&self, now: Instant) -> Trend {
        let from = WINDOW.before(now);
        let window: Vec<(Instant, u64)> = self.samples.iter().copied().filter(|(at, _)| *at >= from).collect();
        let ([(first_at, first), _, .., (_, last)], Some(peak)) =
            (window.as_slice(), window.iter().map(|(_, value)| *value).max())
        else {
            return Trend::TooEarly;
        };
        let span = time::age(*first_at, now);
        match (*first, *last) {
            (0, 1..) => Trend::New { by: *last, span },
            (first, last) if last > first => Trend::Rising { by: last.saturating_sub(first), span },
            (1.., 0) => Trend::Ended { span },
            (first, last) if last < first => Trend::Falling { by: first.saturating_sub(last), span },
            (0, _) if peak > 0 => Trend::Ended { span },
            (_, _) => Trend::Steady,
        }
    }
}

/// Which way a signal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trend {
    /// Fewer than three samples.
    TooEarly,
    /// There were none at the start of the window.
    New {
        /// How many there are now.
        by: u64,
        /// The window.
        span: Seconds,
    },
    /// More than at the start of the window.
    Rising {
        /// By how many.
        by: u64,
        /// The window.
        span: Seconds,
    },
    /// Fewer than at the start of the window.
    Falling {
        /// By how many.
        by: u64,
        /// The window.
        span: Seconds,
    },
    /// None are left.
    Ended {
        /// The window.
        span: Seconds,
    },
    /// As many as at the start of the window.
    Steady,
}

impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let window = |span: &Seconds| {
            if span.0 < 60 { format!("{}s", span.0) } else { format!("{}m", span.0 / 60) }
        };
        let text = match self {
            Self::TooEarly => "too early".to_owned(),
            Self::New { by, span } => format!("NEW +{by}/{}", window(span)),
            Self::Rising { by, span } => format!("RISING +{by}/{}", window(span)),
            Self::Falling { by, span } => format!("FALLING -{by}/{}", window(span)),
            Self::Ended { span } => format!("ENDED in {}", window(span)),
            Self::Steady => "STEADY".to_owned(),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    fn at(second: i64) -> Instant {
        DateTime::from_timestamp(1_800_000_000_i64.saturating_add(second), 0).unwrap()
    }

    fn history(values: &[u64]) -> History {
        let mut history = History::default();
        for (place, value) in values.iter().enumerate() {
            history.push(at(i64::try_from(place).unwrap() * 60), *value);
        }
        history
    }

    #[test]
    fn fewer_than_three_samples_are_too_early() {
        assert_eq!(history(&[1, 9]).trend(at(60)), Trend::TooEarly);
    }

    #[test]
    fn words_follow_the_numbers() {
        assert_eq!(history(&[7, 9, 12]).trend(at(120)).to_string(), "RISING +5/2m");
        assert_eq!(history(&[12, 9, 7]).trend(at(120)).to_string(), "FALLING -5/2m");
        assert_eq!(history(&[0, 0, 3]).trend(at(120)).to_string(), "NEW +3/2m");
        assert_eq!(history(&[3, 1, 0]).trend(at(120)).to_string(), "ENDED in 2m");
        assert_eq!(history(&[3, 4, 3]).trend(at(120)), Trend::Steady);
    }

    #[test]
    fn a_slot_without_samples_is_not_zero() {
        assert_eq!(history(&[5]).series(12, at(0)).last(), Some(&Some(5)));
        assert_eq!(history(&[5]).series(12, at(0)).first(), Some(&None));
    }
}
