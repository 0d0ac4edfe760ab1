//! How fast a provider is asked: the console must never be the load that makes an incident worse.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::domain::fault::step;

/// The longest a look-up waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lets a few look-ups start in any one second, and none while the provider wants to be left alone.
#[derive(Debug)]
pub struct Pace {
    per_second: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The starts of the last look-ups, the newest last; some may lie ahead.
    starts: VecDeque<Instant>,
    quiet_until: Option<Instant>,
}

/// Why a look-up may not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSoon {
    /// Seconds until it may.
    pub wait_s: u64,
}

impl Pace {
    /// At most `per_second` starts in any one second.
    pub fn new(per_second: usize) -> Self {
        Self { per_second: per_second.max(1), state: Mutex::default() }
    }

    /// Waits for a turn.
    pub async fn turn(&self) -> Result<(), TooSoon> {
        step("turn", "", sleep_until(self.book(Instant::now())?)).await;
        Ok(())
    }

    /// Leaves the provider alone for that long: it asked for it.
    pub fn quiet(&self, seconds: u64) {
        let until = Instant::now().checked_add(Duration::from_secs(seconds));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.quiet_until = state.quiet_until.max(until);
    }

    fn book(&self, now: Instant) -> Result<Instant, TooSoon> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let too_soon =
            |until: Instant| TooSoon { wait_s: until.saturating_duration_since(now).as_secs().saturating_add(1) };
        if let Some(until) = state.quiet_until.filter(|until| *until > now) {
            return Err(too_soon(until));
        }
        let over = state.starts.len().saturating_sub(self.per_second);
        state.starts.drain(..over);
        let full = state.starts.len() == self.per_second;
        let turn = state
            .starts
            .front()
            .filter(|_| full)
            .and_then(|oldest| oldest.checked_add(Duration::from_secs(1)))
            .map_or(now, |free| free.max(now));
        if turn.saturating_duration_since(now) > PATIENCE {
            return Err(too_soon(turn));
        }
        state.starts.push_back(turn);
        Ok(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_a_second_and_no_more() {
        let pace = Pace::new(2);
        let now = Instant::now();
        let turns: Vec<u128> = (0..5).map(|_| pace.book(now).unwrap().duration_since(now).as_millis()).collect();
        assert_eq!(turns, [0, 0, 1000, 1000, 2000]);
    }

    #[tokio::test]
    async fn a_long_queue_and_a_quiet_provider_are_said() {
        let pace = Pace::new(1);
        let now = Instant::now();
        let booked = (0..100).filter(|_| pace.book(now).is_ok()).count();
        assert_eq!(booked, 11);
        let other = Pace::new(2);
        other.quiet(30);
        assert!(matches!(other.book(Instant::now()), Err(TooSoon { wait_s: 29..=31 })));
    }
}
