//! The three-valued answer: known, or not known and why. Not known is never zero and never good.

use serde::{Deserialize, Serialize};

use super::time::Instant;

/// What a question to the database came back with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Answer<T> {
    /// Known, as of a moment of the database's clock.
    Known {
        /// What was answered.
        value: T,
        /// When it was true.
        at: Instant,
    },
    /// Not known: the reason is shown in its place.
    NotKnown {
        /// A sentence for the screen.
        why: String,
    },
}

impl<T> Answer<T> {
    /// A known value.
    pub fn known(value: T, at: Instant) -> Self {
        Self::Known { value, at }
    }

    /// Not known, and why.
    pub fn not_known(why: impl Into<String>) -> Self {
        Self::NotKnown { why: why.into() }
    }

    /// The value, when it is known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::NotKnown { .. } => None,
        }
    }

    /// Why it is not known, when it is not.
    pub fn why_not(&self) -> Option<&str> {
        match self {
            Self::Known { .. } => None,
            Self::NotKnown { why } => Some(why),
        }
    }
}
