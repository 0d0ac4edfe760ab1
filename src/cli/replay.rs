//! `unstuck replay FILE`: a recording in the full console, with no database, no provider and nothing to act on.

use super::args::{Common, ReplayArgs};
use super::out::{ExitCode, Out};
use super::settings;
use crate::app::replay::Player;
use crate::domain::time::clock;
use crate::shell::replay::{self, Found, Refused};

/// Plays a recording until it is left. Reads no configuration and no address of a database.
pub async fn run(
    args: &ReplayArgs,
    common: &Common,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    let look = match settings::look(common, None, variable) {
        Ok(look) => look,
        Err(error) => {
            out.complain(&error.to_string());
            return ExitCode::NotKnown;
        }
    };
    let Found { header, lines, length, cut } = match replay::load(&args.file) {
        Ok(found) => found,
        Err(refused) => {
            out.complain(&refused.to_string());
            return code_of(&refused);
        }
    };
    let last_words = cut.as_ref().map(|cut| format!("The recording is cut off at {}: {}.", clock(cut.at), cut.why));
    match Box::pin(replay::play(Player::new(header, look, lines, length, cut))).await {
        Ok(()) => {
            if let Some(words) = last_words {
                out.line(&words);
            }
            ExitCode::Ok
        }
        Err(error) => {
            out.complain(&format!("the terminal cannot be used: {error}"));
            ExitCode::NotKnown
        }
    }
}

fn code_of(refused: &Refused) -> ExitCode {
    match refused {
        Refused::Unreadable { .. } | Refused::NoFile(_) => ExitCode::NotKnown,
        Refused::NoRecording(_) | Refused::Newer { .. } | Refused::Damaged { .. } => ExitCode::Finding,
    }
}
