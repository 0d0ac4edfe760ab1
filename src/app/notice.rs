//! A notice: one sentence about what just happened. It leaves by itself and never takes a key.

use crate::domain::time::{Instant, Now, Seconds};
use crate::ui::Role;

/// How long a notice stays.
const STAYS: Seconds = Seconds(8);

/// One sentence, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// How it looks.
    pub role: Role,
    until: Instant,
}

impl Notice {
    /// Something was done, or is so.
    pub fn info(text: impl Into<String>, now: Now) -> Self {
        Self { text: text.into(), role: Role::Info, until: STAYS.after(now.0) }
    }

    /// Something was not done, and why.
    pub fn caution(text: impl Into<String>, now: Now) -> Self {
        Self { text: text.into(), role: Role::Caution, until: STAYS.after(now.0) }
    }

    /// Whether it is still to be shown.
    pub fn is_current(&self, now: Now) -> bool {
        now.0 < self.until
    }

    /// When it leaves.
    pub fn until(&self) -> Instant {
        self.until
    }
}
