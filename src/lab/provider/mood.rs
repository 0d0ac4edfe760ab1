//! How the provider behaves: for everybody, and for single orders.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{ChargeStatus, Notice};

/// Whether a kind of request gets through at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Served.
    #[default]
    Up,
    /// Answered 503 at once; nothing is done.
    Unavailable,
    /// Never answered; nothing is done.
    Silent,
}

/// How everything is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mood {
    /// Between asking for a charge and having it.
    pub latency: Duration,
    /// Charges.
    pub charging: Reach,
    /// Look-ups and reports.
    pub reading: Reach,
    /// Webhooks.
    pub notice: Notice,
}

impl Default for Mood {
    fn default() -> Self {
        Self { latency: Duration::from_millis(40), charging: Reach::Up, reading: Reach::Up, notice: Notice::Prompt }
    }
}

/// Whether the answer to a charge reaches who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// Sent.
    #[default]
    Sent,
    /// The charge is made, its answer never sent.
    Lost,
    /// Neither made nor answered: the request never really arrived.
    NeverArrived,
}

/// What is to become of the charges of one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// How the charge ends.
    pub status: ChargeStatus,
    /// Why, when it fails.
    pub failure_code: Option<&'static str>,
    /// Until it is made; the general latency when `None`.
    pub latency: Option<Duration>,
    /// Whether its answer arrives.
    pub answer: Answer,
    /// Its webhooks; as all are when `None`.
    pub notice: Option<Notice>,
}

impl Default for Fate {
    fn default() -> Self {
        Self { status: ChargeStatus::Succeeded, failure_code: None, latency: None, answer: Answer::Sent, notice: None }
    }
}

impl Fate {
    /// A definite no with the provider's reason.
    pub fn declined(failure_code: &'static str) -> Self {
        Self { status: ChargeStatus::Failed, failure_code: Some(failure_code), ..Self::default() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Moods(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    mood: Mood,
    fates: HashMap<String, Fate>,
}

impl Moods {
    pub(super) fn set(&self, mood: Mood) {
        self.with(|state| state.mood = mood);
    }

    pub(super) fn now(&self) -> Mood {
        self.with(|state| state.mood)
    }

    pub(super) fn destine(&self, order: &str, fate: Fate) {
        self.with(|state| state.fates.insert(order.to_owned(), fate));
    }

    pub(super) fn fate(&self, order: &str) -> Fate {
        self.with(|state| state.fates.get(order).cloned()).unwrap_or_default()
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
