//! Playing a recording on this terminal: a file in place of the database, and nothing else but keys.

use std::io;
use std::time::Duration;

use crossterm::event::{Event as Sent, EventStream};
use futures_util::{Stream, StreamExt};
use tokio::time::Instant;

use super::input::{self, Input};
use super::signals::{self, Ending};
use super::terminal::{Copied, Screen};
use crate::app::msg::Msg;
use crate::app::replay::{Motion, Player, Source, Wish};

mod file;

pub use file::{Found, Lines, Refused, load};

/// How often a recording that is played is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Plays it until it is left.
///
/// # Errors
/// Only what the terminal itself does wrong.
pub async fn play<S: Source>(mut player: Player<S>) -> io::Result<()> {
    let mut screen = Screen::enter()?;
    let played = turn(&mut player, &mut screen, || Box::new(EventStream::new())).await;
    drop(screen);
    played
}

async fn turn<S: Source>(
    player: &mut Player<S>,
    screen: &mut Screen,
    events: impl Fn() -> Box<dyn Stream<Item = io::Result<Sent>> + Send + Unpin>,
) -> io::Result<()> {
    let mut ending = Ending::listen()?;
    let mut input = events();
    let (columns, rows) = screen.size()?;
    player.resized(columns, rows);
    let mut seen = Instant::now();
    loop {
        screen.draw(|frame| player.view(frame))?;
        tokio::select! {
            biased;
            () = ending.recv() => return Ok(()),
            event = input.next() => match event.transpose()?.map(input::translate) {
                Some(Input::Msg(msg)) => {
                    for wish in take(player, &msg) {
                        match wish {
                            Wish::Quit => return Ok(()),
                            Wish::Redraw => screen.clear()?,
                            Wish::Copy(text) => player.say(match screen.copy(&text)? {
                                Copied::Asked => format!("Copied by OSC 52 (your terminal must allow it): {text}"),
                                Copied::TooLong => "Too long for the clipboard: nothing was copied.".to_owned(),
                            }),
                        }
                    }
                }
                Some(Input::Suspend) => {
                    drop(input);
                    screen.pause(signals::stop_here)?;
                    input = events();
                    // The pause was not part of the recording.
                    seen = Instant::now();
                }
                Some(Input::Nothing) => {}
                // The terminal is gone.
                None => return Ok(()),
            },
            () = tokio::time::sleep(TICK), if player.motion() == Motion::Playing => {}
        }
        let now = Instant::now();
        player.advance(u64::try_from(now.saturating_duration_since(seen).as_millis()).unwrap_or(u64::MAX));
        seen = now;
    }
}

/// What of the terminal's messages means something here.
fn take<S: Source>(player: &mut Player<S>, msg: &Msg) -> Vec<Wish> {
    match msg {
        Msg::Key(chord) => return player.key(*chord),
        Msg::Resized(columns, rows) => player.resized(*columns, *rows),
        // Nothing of it can be sent anywhere, and the other messages never come from a terminal.
        Msg::Paste(_)
        | Msg::Focus
        | Msg::Resumed
        | Msg::Drawn
        | Msg::Wake
        | Msg::Connected(_)
        | Msg::Polled(_)
        | Msg::Dossier(..)
        | Msg::Found(..)
        | Msg::Guard(..)
        | Msg::Ticket(_)
        | Msg::Said(_)
        | Msg::Terminate => {}
    }
    Vec::new()
}
