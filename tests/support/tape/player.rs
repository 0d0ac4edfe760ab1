//! Plays a tape against the real binary, in a shell in a pseudo-terminal.

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use regex::Regex;

use super::cast::Cast;
use super::{Camera, Command, On, Setting, Step, Tape};
use crate::support::keys::Key;
use crate::support::launch::{Launch, binary};
use crate::support::pty::Pty;
use crate::support::view::View;
use crate::support::{PATIENCE, now};

/// A pause is for the person who watches; the test only needs the screen to settle, and the
/// console's confirm screens to be old enough to take a key.
const LONGEST_SLEEP: Duration = Duration::from_millis(700);
/// Slower than any burst of keys, faster than a film.
const TYPING: (Duration, Duration) = (Duration::from_millis(30), Duration::from_millis(80));

/// For whom a tape is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// For a test: pauses are cut short.
    Test,
    /// For people who watch the film: pauses and typing as the tape says.
    Film,
}

/// What a played tape leaves to look at.
#[derive(Debug, Default)]
pub struct Played {
    /// Name and picture of every `Screenshot`, in order.
    pub pictures: Vec<(String, View)>,
    /// Line and screen of every `Wait` that came true.
    pub waits: Vec<(usize, String)>,
    /// What was written, when, and what of it the film shows.
    pub cast: Cast,
    /// The screen after the last command.
    pub last: String,
}

/// Plays `tape`; `name` is its path for messages.
///
/// # Errors
/// `name:line`, what did not happen, and the screen.
pub fn play(name: &str, tape: &Tape, launch: Launch, pace: Pace) -> Result<Played, String> {
    let launch = prepared(name, tape, launch)?;
    let size = (launch.cols, launch.rows);
    let pty = launch.start();
    let mut player = Player {
        pty,
        typing: Duration::from_millis(50),
        timeout: Duration::from_secs(15),
        pattern: Regex::new(">$").map_err(|e| e.to_string())?,
        clipboard: String::new(),
        pace,
        cuts: vec![(now(), Camera::Show)],
        played: Played::default(),
    };
    // A shell that has not shown its prompt yet would echo the first keys twice.
    player.wait(On::Line, None, None).map_err(|why| format!("{name}: the shell did not start: {why}"))?;
    for step in &tape.steps {
        player.step(step).map_err(|why| format!("{name}:{}: {why}", step.line))?;
    }
    player.pty.wait_quiet(Duration::from_millis(150));
    player.played.last = player.pty.screen();
    player.played.cast = Cast::new(size, &player.pty.film(), &player.cuts);
    Ok(player.played)
}

/// The environment of a tape counts from the start, wherever it stands.
fn prepared(name: &str, tape: &Tape, mut launch: Launch) -> Result<Launch, String> {
    for Step { line, command } in &tape.steps {
        if let Command::Env { name, value } = command {
            launch = launch.env(name, value);
        }
        if let Some(refused) = unplayable(command) {
            return Err(format!("{name}:{line}: {refused}"));
        }
    }
    Ok(launch)
}

/// Why this player cannot do what the tape asks for, if it cannot.
fn unplayable(command: &Command) -> Option<String> {
    if let Command::Set(Setting::Shell(shell)) = command
        && shell != "bash"
    {
        return Some(format!("only bash is played here, not {shell}"));
    }
    if let Command::Require(program) = command
        && !on_path(program)
    {
        return Some(format!("{program} is not on the PATH"));
    }
    if let Command::Source(path) = command {
        return Some(format!("{path}: tapes are played one by one here"));
    }
    None
}

fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let ours = binary().parent().map(Path::to_owned);
    ours.into_iter().chain(env::split_paths(&path)).any(|folder| folder.join(program).is_file())
}

struct Player {
    pty: Pty,
    typing: Duration,
    timeout: Duration,
    pattern: Regex,
    clipboard: String,
    pace: Pace,
    /// When the film stops and goes on.
    cuts: Vec<(Instant, Camera)>,
    played: Played,
}

impl Player {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match &step.command {
            Command::Output(_) | Command::Require(_) | Command::Env { .. } | Command::Source(_) | Command::Scroll => {}
            Command::Camera(camera) => self.cuts.push((now(), *camera)),
            Command::Screenshot(path) => {
                self.pty.wait_quiet(Duration::from_millis(150));
                self.played.pictures.push((path.clone(), self.pty.view()));
            }
            Command::Copy(text) => self.clipboard.clone_from(text),
            Command::Paste => self.pty.paste(&self.clipboard),
            Command::Sleep(time) => std::thread::sleep(match self.pace {
                Pace::Test => (*time).min(LONGEST_SLEEP),
                Pace::Film => *time,
            }),
            Command::Type { text, speed } => {
                for c in text.chars() {
                    self.press(Key::Char(c), *speed);
                }
            }
            Command::Press { key, speed, times } => {
                for _ in 0..*times {
                    self.press(*key, *speed);
                }
            }
            Command::Wait { on, timeout, pattern } => {
                let screen = self.wait(*on, *timeout, pattern.as_ref())?;
                self.played.waits.push((step.line, screen));
            }
            Command::Set(setting) => self.set(setting),
        }
        Ok(())
    }

    fn set(&mut self, setting: &Setting) {
        match setting {
            Setting::TypingSpeed(speed) => self.typing = *speed,
            Setting::WaitTimeout(timeout) => self.timeout = *timeout,
            Setting::WaitPattern(pattern) => self.pattern = pattern.clone(),
            Setting::Shell(_) | Setting::Picture => {}
        }
    }

    fn press(&self, key: Key, speed: Option<Duration>) {
        let (fastest, slowest) = TYPING;
        self.pty.press(key);
        let wanted = speed.unwrap_or(self.typing);
        std::thread::sleep(match self.pace {
            Pace::Test => wanted.clamp(fastest, slowest),
            Pace::Film => wanted.max(fastest),
        });
    }

    /// Waits; gives the screen on which it came true.
    fn wait(&mut self, on: On, timeout: Option<Duration>, pattern: Option<&Regex>) -> Result<String, String> {
        let pattern = pattern.unwrap_or(&self.pattern).clone();
        let looked_at = |view: &View| match on {
            On::Line => view.row(view.cursor.0),
            On::Screen => view.text(),
        };
        let timeout = timeout.unwrap_or(self.timeout).max(PATIENCE);
        self.pty
            .wait_until(timeout, |view| pattern.is_match(&looked_at(view)).then_some(()))
            .map_err(|why| format!("Wait+{on:?} /{pattern}/: {why}"))?;
        // Right after a match a frame may be half drawn.
        self.pty.wait_quiet(Duration::from_millis(80));
        Ok(self.pty.screen())
    }
}
