//! Panics on purpose, for the tests that prove what one leaves behind. Debug builds only: a release has none of it.

/// The variable that asks for one: `ui` or `task`. The next ctrl-l brings it about.
const ASKED: &str = "UNSTUCK_PANIC";

/// Where it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// In the thread that draws.
    Ui,
    /// In a background task.
    Task,
}

impl Fault {
    /// What the environment asks for.
    pub fn asked() -> Option<Self> {
        match std::env::var(ASKED).ok()?.as_str() {
            "ui" => Some(Self::Ui),
            "task" => Some(Self::Task),
            _ => None,
        }
    }

    /// Panics.
    #[expect(clippy::panic, reason = "this is what it is for")]
    pub fn strike(self) -> String {
        panic!("{ASKED} asked for a panic ({self:?})")
    }
}
