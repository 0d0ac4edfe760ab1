//! How a recording is played, as the picture says it: never to be taken for the world as it is.

use crate::domain::time::{Instant, clock};
use crate::ui::widgets::band::Band;
use crate::ui::{Line, Role};

/// Whose console is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// What the operator saw.
    Operator,
    /// The viewer walks about by their own keys.
    Viewer,
}

/// Whether it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// It is played.
    Playing,
    /// It waits.
    Paused,
    /// There is no more.
    Ended,
}

/// Where a recording breaks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The last moment that can be shown.
    pub at: Instant,
    /// Why.
    pub why: String,
}

/// How it is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playback {
    /// Whose console is shown.
    pub seat: Seat,
    /// Whether it moves.
    pub motion: Motion,
    /// How many times as fast as it was.
    pub speed: u64,
    /// The recorded moment.
    pub at: Instant,
    /// Milliseconds since its start.
    pub passed: u64,
    /// Milliseconds it has in all.
    pub length: u64,
    /// What the operator pressed last, and when.
    pub pressed: Option<(Instant, String)>,
    /// Where it breaks off, when it does.
    pub cut: Option<Cut>,
}

impl Playback {
    /// Whether keys of the viewer lead here.
    pub fn is_viewers(&self) -> bool {
        self.seat == Seat::Viewer
    }

    /// Why nothing can be started. What the operator started is shown as it was.
    pub fn why_no_action(&self) -> Option<String> {
        self.is_viewers().then(|| {
            "Actions are off: this is a recording. Open the console on the database itself: unstuck --act".to_owned()
        })
    }

    /// The band of the recorded console, marked so that nobody takes it for a live one.
    pub fn band(&self, recorded: &Band) -> Band {
        let state = match self.motion {
            Motion::Playing => format!("playing x{}", self.speed),
            Motion::Paused => "PAUSED".to_owned(),
            Motion::Ended => "END".to_owned(),
        };
        let day = self.at.format("%Y-%m-%d");
        Band {
            environment: (format!("REPLAY {}", recorded.environment.0), Role::BandReplay),
            database: recorded.database.clone(),
            mode: (state, Role::Heading),
            extra: [vec![recorded.mode.0.clone()], recorded.extra.clone()].concat(),
            age: (format!("recorded {day} {}", clock(self.at)), Role::Stale),
            clock: recorded.age.0.replacen("data", "then", 1),
            help: recorded.help.clone(),
        }
    }

    /// The line under the tabs: how far, who looks, what was pressed, where it breaks off.
    pub fn line(&self) -> Line {
        let mut line = Line::of(Role::Dim, format!(" {} of {}", minutes(self.passed), minutes(self.length)));
        if let Some(cut) = &self.cut {
            line.push(Role::Caution, format!("  ! CUT OFF at {}: {}.", clock(cut.at), cut.why));
        }
        match self.seat {
            Seat::Operator => {}
            Seat::Viewer => line = line.and(Role::Heading, "  You walk about.").and(Role::Key, " f").then(" follows."),
        }
        if let Some((at, what)) = &self.pressed {
            line.push(Role::Dim, format!("  {} ", clock(*at)));
            line.push(Role::Normal, what.clone());
        }
        line
    }
}

/// A length as players show it: `02:10`, `1:02:10`.
fn minutes(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, rest) = (seconds / 3_600, seconds % 3_600);
    let short = format!("{:02}:{:02}", rest / 60, rest % 60);
    if hours > 0 { format!("{hours}:{short}") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_like_a_players() {
        assert_eq!([0, 130_999, 3_730_000].map(minutes), ["00:00", "02:10", "1:02:10"]);
        assert_eq!(minutes(u64::MAX), "5124095576030:25:51");
    }
}
