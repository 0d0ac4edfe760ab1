//! The loop: wait for the first thing to happen, turn it into a message, update, start the effects, draw if
//! something visible changed. Idle on a still screen = no frames beyond the ticking ages.

use std::io;
use std::time::Duration;

use crossterm::event::Event;
use futures_util::{Stream, StreamExt};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::act::{Hands, Keeping};
use super::clock;
use super::input::{self, Input};
use super::record::Recorder;
use super::signals::{self, Ending};
use super::terminal::{Copied, Screen};
use crate::app::effect::Effect;
use crate::app::model::{Acting, Model};
use crate::app::msg::{Msg, Polled};
use crate::app::update::update;
use crate::app::view::view;
use crate::domain::time::Now;

/// At most this many frames a second.
const FRAME: Duration = Duration::from_millis(33);

/// Messages taken in one go before the next frame: a burst is one picture.
const BURST: usize = 32;

/// What the loop listens to.
pub struct Sources {
    /// Answers of tasks.
    pub msgs: mpsc::Receiver<Msg>,
    /// The newest poll.
    pub polls: watch::Receiver<Option<Polled>>,
}

/// Runs the console until it is left. Gives the model back, so that its end can be looked at.
pub async fn run(
    mut model: Model,
    screen: &mut Screen,
    events: impl Fn() -> Box<dyn Stream<Item = io::Result<Event>> + Send + Unpin>,
    mut sources: Sources,
    mut hands: Hands,
    mut recorder: Option<Recorder>,
) -> io::Result<Model> {
    let mut ending = Ending::listen()?;
    let mut input = events();
    let (columns, rows) = screen.size()?;
    let mut pending = vec![Msg::Resized(columns, rows)];
    let mut frame_due: Option<Instant> = Some(soon(Duration::ZERO));
    loop {
        let mut leaving = false;
        for msg in pending.drain(..) {
            for effect in take(&mut model, &mut recorder, msg, clock::now()) {
                match effect {
                    Effect::Quit => leaving = true,
                    Effect::Redraw => {
                        #[cfg(debug_assertions)]
                        hands.fault();
                        screen.clear()?;
                    }
                    Effect::Copy(text) => {
                        let note = match screen.copy(&text)? {
                            Copied::Asked => {
                                format!("Copied by OSC 52 (your terminal must allow it): {text}")
                            }
                            Copied::TooLong => {
                                "Too long for the clipboard: terminals cut it. Nothing was copied.".to_owned()
                            }
                        };
                        take(&mut model, &mut recorder, Msg::Said(note), clock::now());
                    }
                    other @ (Effect::PollNow
                    | Effect::Open(_)
                    | Effect::Find(_)
                    | Effect::Prepare(..)
                    | Effect::Check(..)
                    | Effect::Act(..)
                    | Effect::Consent(..)
                    | Effect::ReadBack(..)
                    | Effect::Ticket(_)
                    | Effect::Export(_)
                    | Effect::Refused(_)) => hands.start(other, keeping(&model)),
                }
            }
            frame_due.get_or_insert_with(|| soon(FRAME));
        }
        if leaving {
            break;
        }
        let wake = model.next_wake(clock::now());
        // Answers are looked at before input, so that a key never acts on a state already known to be old.
        tokio::select! {
            biased;
            () = ending.recv() => pending.push(Msg::Terminate),
            Some(msg) = sources.msgs.recv() => {
                pending.push(msg);
                while pending.len() < BURST && let Ok(msg) = sources.msgs.try_recv() {
                    pending.push(msg);
                }
            }
            Ok(()) = sources.polls.changed() => {
                let newest = sources.polls.borrow_and_update().clone();
                pending.extend(newest.map(Msg::Polled));
            }
            event = input.next() => match event.transpose()?.map(input::translate) {
                Some(Input::Msg(msg)) => pending.push(*msg),
                Some(Input::Suspend) => {
                    drop(input);
                    screen.pause(signals::stop_here)?;
                    input = events();
                    pending.push(Msg::Resumed);
                    frame_due = Some(soon(Duration::ZERO));
                }
                Some(Input::Nothing) => {}
                // The terminal is gone: the same as being asked to end.
                None => pending.push(Msg::Terminate),
            },
            () = until(frame_due) => {
                let now = clock::now();
                screen.draw(|frame| view(&model, frame, now))?;
                frame_due = None;
                take(&mut model, &mut recorder, Msg::Drawn, now);
            }
            () = sleep_to(wake), if frame_due.is_none() => pending.push(Msg::Wake),
        }
    }
    hands.finish().await;
    while let Ok(msg) = sources.msgs.try_recv() {
        take(&mut model, &mut recorder, msg, clock::now());
    }
    if let Some(recorder) = recorder {
        recorder.finish(clock::now());
    }
    Ok(model)
}

/// Takes a message; a recording notes it first, with the time it is taken at.
fn take(model: &mut Model, recorder: &mut Option<Recorder>, msg: Msg, now: Now) -> Vec<Effect> {
    if let Some(recorder) = recorder {
        recorder.note(model, &msg, now);
    }
    update(model, msg, now)
}

/// Whether a look-up's evidence is stored: only by a console that acts, on a database that lets it.
fn keeping(model: &Model) -> Keeping {
    let writable = model.facts.as_ref().is_some_and(|facts| facts.read_only.is_none());
    match model.setup.acting {
        Acting::On if writable => Keeping::Stored,
        Acting::On | Acting::Off => Keeping::ForTheSession,
    }
}

/// Waits for the frame's time; for ever when no frame is due.
async fn until(frame_due: Option<Instant>) {
    match frame_due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

fn soon(pause: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(pause).unwrap_or(now)
}

async fn sleep_to(instant: crate::domain::time::Instant) {
    let pause = instant.signed_duration_since(clock::now().0).to_std().unwrap_or(Duration::ZERO);
    tokio::time::sleep(pause.max(Duration::from_millis(5))).await;
}
