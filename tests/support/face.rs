//! The terminal's side of the pseudo-terminal: draws what the program writes, answers its questions.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use portable_pty::PtySize;

use super::now;
use super::view::View;

/// What the program said to the terminal besides text.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Said {
    pub bells: usize,
    /// What it put on the clipboard (OSC 52), oldest first.
    pub copied: Vec<String>,
    /// How often it asked for a colour of the terminal (OSC 4, 10, 11).
    pub colour_questions: usize,
    /// Other questions the terminal answered: device attributes, cursor position, modes.
    pub questions: usize,
}

/// The way to the program's standard input.
pub type Keyboard = Arc<Mutex<Box<dyn Write + Send>>>;

pub struct Shared {
    pub face: Mutex<Face>,
    pub changed: Condvar,
    pub said: Arc<Mutex<Said>>,
}

/// The terminal as it looks right now, and all that was written to it.
pub struct Face {
    pub term: Term<Answers>,
    parser: Processor,
    pub raw: Vec<u8>,
    /// When each piece of `raw` came: the moment, and where the piece ends.
    pub pieces: Vec<(Instant, usize)>,
    pub last_output: Instant,
}

impl Shared {
    pub fn new(cols: u16, rows: u16, keyboard: &Keyboard) -> Self {
        let said = Arc::new(Mutex::new(Said::default()));
        let answers = Answers { keyboard: Arc::clone(keyboard), said: Arc::clone(&said) };
        let face = Face {
            term: Term::new(Config::default(), &Size { cols, rows }, answers),
            parser: Processor::new(),
            raw: Vec::new(),
            pieces: Vec::new(),
            last_output: now(),
        };
        Shared { face: Mutex::new(face), changed: Condvar::new(), said }
    }
}

/// Answers the terminal gives on its own: device attributes, cursor position.
#[derive(Clone)]
pub struct Answers {
    keyboard: Keyboard,
    said: Arc<Mutex<Said>>,
}

impl EventListener for Answers {
    fn send_event(&self, event: Event) {
        let mut said = locked(&self.said);
        match event {
            Event::PtyWrite(answer) => {
                said.questions += 1;
                // The program may have ended since it asked.
                let _ = locked(&self.keyboard).write_all(answer.as_bytes());
            }
            Event::Bell => said.bells += 1,
            Event::ClipboardStore(_, text) => said.copied.push(text),
            Event::ColorRequest(..) => said.colour_questions += 1,
            Event::MouseCursorDirty
            | Event::Title(_)
            | Event::ResetTitle
            | Event::ClipboardLoad(..)
            | Event::TextAreaSizeRequest(_)
            | Event::CursorBlinkingChange
            | Event::Wakeup
            | Event::Exit
            | Event::ChildExit(_) => {}
        }
    }
}

pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.cols)
    }
}

/// The lock, also after a test thread has failed with it.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub fn pty_size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// The screen with a frame, so that blank rows can be seen in a failure.
pub fn framed(view: &View) -> String {
    let rows: Vec<String> = view.text().lines().map(|row| format!("  | {row}")).collect();
    rows.join("\n")
}

/// Feeds what the program writes into the terminal until both ends are closed.
pub fn show(mut reader: Box<dyn Read + Send>, shared: &Shared) {
    let mut buffer = [0_u8; 8192];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        let bytes = &buffer[..count];
        let mut face = locked(&shared.face);
        let Face { term, parser, .. } = &mut *face;
        parser.advance(term, bytes);
        face.raw.extend_from_slice(bytes);
        face.last_output = now();
        let piece = (face.last_output, face.raw.len());
        face.pieces.push(piece);
        shared.changed.notify_all();
    }
}
