//! The three input guards: bursts, focus, and keys that were meant for the screen before.
//!
//! Owns when a key does *not* count. Pasted text arrives as fast keys on terminals without
//! bracketed paste; a click into the window is followed by typing meant for another window; a key
//! queued on a slow line would answer a question that was not on screen yet. No clock: time is given.

use std::collections::VecDeque;

use chrono::TimeDelta;

use super::key::{Chord, Held, Key};
use crate::domain::time::Now;

/// More keys than this within [`BURST_WINDOW`] are no typing.
const BURST_KEYS: usize = 8;
/// The window of the burst guard.
const BURST_WINDOW: TimeDelta = TimeDelta::milliseconds(150);
/// Letters do nothing for this long after the window got focus.
const FOCUS_PAUSE: TimeDelta = TimeDelta::milliseconds(300);
/// A confirm step takes its key only after it has been on screen for this long.
pub const DRAW_PAUSE: TimeDelta = TimeDelta::milliseconds(400);

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// It is part of a burst of so many keys, and does nothing.
    Burst(usize),
    /// The window has only just got focus.
    TooSoonAfterFocus,
}

/// What the guards remember.
#[derive(Debug, Default)]
pub struct InputGuards {
    recent: VecDeque<(Now, Chord)>,
    swallowed: usize,
    focus: Option<Now>,
}

impl InputGuards {
    /// The window got focus.
    pub fn focus(&mut self, now: Now) {
        self.focus = Some(now);
    }

    /// Judges a key.
    pub fn judge(&mut self, chord: Chord, now: Now) -> Verdict {
        let since = |then: Now| now.0.signed_duration_since(then.0);
        while self.recent.front().is_some_and(|(then, _)| since(*then) > BURST_WINDOW) {
            self.recent.pop_front();
        }
        if self.recent.is_empty() {
            self.swallowed = 0;
        }
        self.recent.push_back((now, chord));
        let held_down = moves(chord) && self.recent.iter().all(|(_, other)| *other == chord);
        if self.swallowed > 0 || (self.recent.len() > BURST_KEYS && !held_down) {
            self.swallowed = if self.swallowed == 0 { self.recent.len() } else { self.swallowed.saturating_add(1) };
            return Verdict::Burst(self.swallowed);
        }
        if chord.typed().is_some() && self.focus.is_some_and(|then| since(then) < FOCUS_PAUSE) {
            return Verdict::TooSoonAfterFocus;
        }
        Verdict::Counts
    }
}

/// Keys that people hold down: a slow line delivers them in bunches.
fn moves(chord: Chord) -> bool {
    match chord.key {
        Key::Up
        | Key::Down
        | Key::Left
        | Key::Right
        | Key::PageUp
        | Key::PageDown
        | Key::Home
        | Key::End
        | Key::Backspace => true,
        Key::Char('j' | 'k' | 'J' | 'K') => chord.held == Held::Nothing,
        Key::Char('d' | 'u') => chord.held == Held::Ctrl,
        Key::Char(_) | Key::Enter | Key::Esc | Key::Tab | Key::BackTab | Key::Delete | Key::Insert | Key::F(_) => false,
    }
}

/// A step that waits for a person: when it came on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnScreen(Option<Now>);

impl OnScreen {
    /// A step that has not been drawn yet.
    pub const fn not_yet() -> Self {
        Self(None)
    }

    /// It was drawn.
    pub fn drawn(&mut self, now: Now) {
        self.0.get_or_insert(now);
    }

    /// Whether a key can be an answer to it.
    pub fn can_be_answered(self, now: Now) -> bool {
        self.0.is_some_and(|then| now.0.signed_duration_since(then.0) >= DRAW_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;

    fn at(millis: i64) -> Now {
        Now(DateTime::from_timestamp_millis(1_796_047_407_000 + millis).expect("a time"))
    }

    #[test]
    fn a_burst_is_swallowed_until_the_keys_stop() {
        let mut guards = InputGuards::default();
        let text: Vec<Verdict> =
            "charge twice!".chars().zip(0..).map(|(c, i)| guards.judge(Chord::char(c), at(i))).collect();
        assert_eq!(text.iter().filter(|v| **v == Verdict::Counts).count(), 8);
        assert_eq!(text.last(), Some(&Verdict::Burst(13)));
        assert_eq!(guards.judge(Chord::char('j'), at(100)), Verdict::Burst(14));
        assert_eq!(guards.judge(Chord::char('j'), at(400)), Verdict::Counts);
    }

    #[test]
    fn holding_a_movement_key_is_no_burst() {
        let mut guards = InputGuards::default();
        for i in 0..40 {
            assert_eq!(guards.judge(Chord::char('j'), at(i)), Verdict::Counts);
        }
    }

    #[test]
    fn letters_wait_after_focus() {
        let mut guards = InputGuards::default();
        guards.focus(at(0));
        assert_eq!(guards.judge(Chord::char('a'), at(200)), Verdict::TooSoonAfterFocus);
        assert_eq!(guards.judge(Key::Esc.into(), at(210)), Verdict::Counts);
        assert_eq!(guards.judge(Chord::char('a'), at(600)), Verdict::Counts);
    }

    #[test]
    fn a_step_is_answered_only_after_it_was_seen() {
        let mut step = OnScreen::not_yet();
        assert!(!step.can_be_answered(at(10_000)));
        step.drawn(at(0));
        step.drawn(at(300));
        assert!(!step.can_be_answered(at(399)));
        assert!(step.can_be_answered(at(400)));
    }
}
