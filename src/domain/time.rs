//! Time as it is given: instants, ages and the difference between two clocks. Nothing here reads a clock.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// An instant in UTC.
pub type Instant = DateTime<Utc>;

/// The moment `update` and `view` are told it is, by the console's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now(pub Instant);

/// A length of time in whole seconds, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seconds(pub u64);

impl Seconds {
    /// As a difference of instants.
    pub fn delta(self) -> TimeDelta {
        i64::try_from(self.0).ok().and_then(TimeDelta::try_seconds).unwrap_or(TimeDelta::MAX)
    }

    /// `instant` and this much later; stays at the end of time when it would pass it.
    pub fn after(self, instant: Instant) -> Instant {
        instant.checked_add_signed(self.delta()).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// `instant` and this much earlier; stays at the start of time when it would pass it.
    pub fn before(self, instant: Instant) -> Instant {
        instant.checked_sub_signed(self.delta()).unwrap_or(DateTime::<Utc>::MIN_UTC)
    }
}

/// How long ago `then` was at `now`; zero when it lies ahead (clocks differ).
pub fn age(then: Instant, now: Instant) -> Seconds {
    Seconds(u64::try_from(now.signed_duration_since(then).num_seconds()).unwrap_or(0))
}

/// How long until `then`; zero when it has passed.
pub fn until(then: Instant, now: Instant) -> Seconds {
    age(now, then)
}

/// A length of time as people say it, two units at most: `8s`, `22m10s`, `23h38m`, `3d04h`.
pub fn words(length: Seconds) -> String {
    let seconds = length.0;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m{:02}s", seconds % 60),
        3_600..86_400 => format!("{hours}h{minutes:02}m"),
        // Longer than any system lived: a wrong clock or the end of time, and no column is as wide.
        864_000_000.. => ">9999d".to_owned(),
        _ => format!("{days}d{hours:02}h"),
    }
}

/// The time of day with seconds: `14:03:27Z`.
pub fn clock(instant: Instant) -> String {
    if let Some(end) = end_of_time(instant) {
        return end.to_owned();
    }
    instant.format("%H:%M:%SZ").to_string()
}

/// The time of day without seconds, with the date when it is more than twelve hours away from `now`.
pub fn since(instant: Instant, now: Instant) -> String {
    if let Some(end) = end_of_time(instant) {
        return end.to_owned();
    }
    if age(instant, now) > Seconds(12 * 3_600) || age(now, instant) > Seconds(12 * 3_600) {
        instant.format("%Y-%m-%d %H:%MZ").to_string()
    } else {
        instant.format("%H:%MZ").to_string()
    }
}

/// A database's infinity in words: a date would pretend to mean something.
fn end_of_time(instant: Instant) -> Option<&'static str> {
    if instant == Instant::MAX_UTC {
        Some("for ever")
    } else if instant == Instant::MIN_UTC {
        Some("ever")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_like_speech() {
        let said: Vec<String> = [8, 1330, 85_080, 273_600].map(|s| words(Seconds(s))).into();
        assert_eq!(said, ["8s", "22m10s", "23h38m", "3d04h"]);
        assert_eq!((words(Seconds(u64::MAX)), clock(Instant::MAX_UTC)), (">9999d".to_owned(), "for ever".to_owned()));
    }

    #[test]
    fn ages_are_never_negative() {
        let now = DateTime::<Utc>::UNIX_EPOCH;
        assert_eq!(age(Seconds(5).after(now), now), Seconds(0));
        assert_eq!(until(Seconds(5).after(now), now), Seconds(5));
        assert_eq!(Seconds(u64::MAX).after(now), DateTime::<Utc>::MAX_UTC);
    }
}
