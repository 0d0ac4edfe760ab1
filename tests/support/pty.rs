//! A real pseudo-terminal with a real program in it, as a person at a keyboard meets it.
//!
//! `Launch::unstuck(&["demo"]).size(120, 32).start()` gives a [`Pty`]; send keys, wait for text,
//! look at cells and modes. A wait that fails says where it stands in the test and shows the screen.

use std::io::Write;
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use portable_pty::{Child, MasterPty, SlavePty, native_pty_system};
use regex::RegexBuilder;

use super::face::{Keyboard, Said, Shared, Size, framed, locked, pty_size, show};
use super::keys::Key;
use super::launch::Launch;
use super::view::View;
use super::{PATIENCE, now};

/// Between two keys: a person's pace, so that guards against bursts of keys stay asleep.
const PACE: Duration = Duration::from_millis(50);
/// After Escape: long enough that the next key is not read as Alt.
const AFTER_ESCAPE: Duration = Duration::from_millis(150);

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Code(u32),
    /// Name of the signal, in the system's words.
    Signal(String),
}

/// The line discipline of the terminal, as the program left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub canonical: bool,
    pub echo: bool,
    pub signals: bool,
}

impl Line {
    /// What a shell needs to be usable.
    pub const COOKED: Line = Line { canonical: true, echo: true, signals: true };
}

/// A program running in a pseudo-terminal.
pub struct Pty {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    // Held open: the terminal's state can still be read after the program has ended.
    _slave: Box<dyn SlavePty + Send>,
    shared: Arc<Shared>,
    keyboard: Keyboard,
}

impl Pty {
    #[track_caller]
    pub(super) fn start(launch: &Launch) -> Self {
        let pair =
            native_pty_system().openpty(pty_size(launch.cols, launch.rows)).expect("a pseudo-terminal can be opened");
        let child = pair.slave.spawn_command(launch.command()).expect("the program starts");
        let reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let writer = pair.master.take_writer().expect("the terminal can be written");
        let keyboard: Keyboard = Arc::new(Mutex::new(writer));
        let shared = Arc::new(Shared::new(launch.cols, launch.rows, &keyboard));
        let for_reader = Arc::clone(&shared);
        thread::spawn(move || show(reader, &for_reader));
        Pty { child, master: pair.master, _slave: pair.slave, shared, keyboard }
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn raw(&self, bytes: &[u8]) {
        let mut keyboard = locked(&self.keyboard);
        keyboard.write_all(bytes).and_then(|()| keyboard.flush()).expect("the program reads its terminal");
    }

    /// Presses one key.
    #[track_caller]
    pub fn press(&self, key: Key) {
        self.raw(&key.bytes(self.view().modes.cursor_keys()));
        thread::sleep(if key == Key::Escape { AFTER_ESCAPE } else { PACE });
    }

    /// Types a text, one key after the other at a person's pace.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        for c in text.chars() {
            self.press(Key::Char(c));
        }
    }

    /// Pastes a text the way a terminal does: in brackets if the program asked for them.
    #[track_caller]
    pub fn paste(&self, text: &str) {
        if self.view().modes.bracketed_paste() {
            self.raw(format!("\x1b[200~{text}\x1b[201~").as_bytes());
        } else {
            self.raw(text.replace('\n', "\r").as_bytes());
        }
    }

    /// Changes the size of the window.
    pub fn resize(&self, cols: u16, rows: u16) {
        locked(&self.shared.face).term.resize(Size { cols, rows });
        self.master.resize(pty_size(cols, rows)).expect("the terminal can be resized");
    }

    /// Sends a signal to the program itself.
    pub fn signal(&self, what: Signal) {
        let _ = signal::kill(self.pid(), what);
    }

    pub fn pid(&self) -> Pid {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok());
        Pid::from_raw(id.expect("a started program has an id"))
    }

    /// One consistent picture of the terminal.
    pub fn view(&self) -> View {
        View::of(&locked(&self.shared.face).term)
    }

    /// The text on the screen, rows right-trimmed.
    pub fn screen(&self) -> String {
        self.view().text()
    }

    /// How many bytes the program has written to the terminal so far.
    pub fn bytes_written(&self) -> usize {
        locked(&self.shared.face).raw.len()
    }

    /// Every byte the program has written so far.
    pub fn transcript(&self) -> Vec<u8> {
        locked(&self.shared.face).raw.clone()
    }

    /// The same in pieces, each with the moment it came.
    pub fn film(&self) -> Vec<(Instant, Vec<u8>)> {
        let face = locked(&self.shared.face);
        let mut from = 0;
        let piece = |&(at, to): &(Instant, usize)| {
            let bytes = face.raw[from..to].to_vec();
            from = to;
            (at, bytes)
        };
        face.pieces.iter().map(piece).collect()
    }

    pub fn said(&self) -> Said {
        locked(&self.shared.said).clone()
    }

    /// The line discipline right now: raw while the console runs, cooked before and after.
    pub fn line(&self) -> Line {
        let termios = self.master.get_termios().expect("a pseudo-terminal has termios");
        let local = termios.local_flags.bits();
        Line { canonical: local & libc::ICANON != 0, echo: local & libc::ECHO != 0, signals: local & libc::ISIG != 0 }
    }

    /// Waits until `pattern` (multi-line regex) is on the screen; gives the text it matched.
    #[track_caller]
    pub fn wait_for(&mut self, pattern: &str) -> String {
        self.wait_for_within(pattern, PATIENCE)
    }

    /// As [`Pty::wait_for`], with a time-out of its own.
    #[track_caller]
    pub fn wait_for_within(&mut self, pattern: &str, timeout: Duration) -> String {
        let regex = RegexBuilder::new(pattern).multi_line(true).build().expect("a valid pattern");
        let caller = Location::caller();
        let found = self.wait_until(timeout, |view| regex.find(&view.text()).map(|m| m.as_str().to_owned()));
        found.unwrap_or_else(|why| panic!("{caller}: waited for /{pattern}/: {why}"))
    }

    /// Waits until `pattern` is no longer on the screen.
    #[track_caller]
    pub fn wait_gone(&mut self, pattern: &str) {
        let regex = RegexBuilder::new(pattern).multi_line(true).build().expect("a valid pattern");
        let caller = Location::caller();
        let gone = self.wait_until(PATIENCE, |view| (!regex.is_match(&view.text())).then_some(()));
        gone.unwrap_or_else(|why| panic!("{caller}: waited for /{pattern}/ to go: {why}"));
    }

    /// Waits until `test` gives something, looking again after every output.
    ///
    /// # Errors
    /// In words, with the screen: the time is over, or the program ended without it.
    pub fn wait_until<T>(&mut self, timeout: Duration, test: impl Fn(&View) -> Option<T>) -> Result<T, String> {
        let deadline = now() + timeout;
        loop {
            // Asked before looking: what a program wrote before it ended is still found.
            let ended = self.ended();
            if ended.is_some() {
                self.wait_quiet(Duration::from_millis(200));
            }
            let view = self.view();
            if let Some(found) = test(&view) {
                return Ok(found);
            }
            let why = match ended {
                Some(ended) => format!("the program ended ({ended:?})"),
                None if now() >= deadline => format!("nothing in {timeout:?}"),
                None => {
                    self.wait_for_output(Duration::from_millis(50));
                    continue;
                }
            };
            return Err(format!("{why}. The screen:\n{}", framed(&view)));
        }
    }

    /// Waits until nothing has been written for `quiet`: a frame may be half drawn before. Gives up
    /// after a while, since a console with a running clock never rests for long.
    pub fn wait_quiet(&self, quiet: Duration) {
        let deadline = now() + quiet * 20 + Duration::from_secs(2);
        while now() < deadline {
            let silent_for = now().saturating_duration_since(locked(&self.shared.face).last_output);
            if silent_for >= quiet {
                return;
            }
            thread::sleep(quiet.saturating_sub(silent_for));
        }
    }

    fn wait_for_output(&self, at_most: Duration) {
        let face = locked(&self.shared.face);
        drop(self.shared.changed.wait_timeout(face, at_most));
    }

    /// How the program ended, if it has.
    pub fn ended(&mut self) -> Option<Ended> {
        let status = self.child.try_wait().expect("the program can be waited for")?;
        Some(match status.signal() {
            Some(name) => Ended::Signal(name.to_owned()),
            None => Ended::Code(status.exit_code()),
        })
    }

    /// Waits for the program to end, and for its last words.
    #[track_caller]
    pub fn wait_exit(&mut self) -> Ended {
        let deadline = now() + PATIENCE;
        loop {
            if let Some(ended) = self.ended() {
                self.wait_quiet(Duration::from_millis(200));
                return ended;
            }
            assert!(
                now() < deadline,
                "{}: the program still runs after {PATIENCE:?}. The screen:\n{}",
                Location::caller(),
                framed(&self.view())
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Pty {
    /// Hangs up, as a window that is closed does: a lab gets its time to clean up.
    fn drop(&mut self) {
        for (signal, grace) in [(Signal::SIGHUP, 15), (Signal::SIGKILL, 5)] {
            let deadline = now() + Duration::from_secs(grace);
            let foreground = self.master.process_group_leader().map(Pid::from_raw);
            if matches!(self.child.try_wait(), Ok(None)) {
                if let Some(group) = foreground {
                    let _ = signal::killpg(group, signal);
                }
                let _ = signal::kill(self.pid(), signal);
            }
            while matches!(self.child.try_wait(), Ok(None)) && now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
