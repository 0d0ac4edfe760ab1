//! The terminal: taken over once, given back on every way out.
//!
//! Every mode that is switched on is listed in [`Screen::enter`] and undone in [`restore`]: raw mode, alternate
//! screen, bracketed paste, focus reports, cursor. `restore` runs at most once per `enter`, ignores its
//! own errors (there is nobody left to tell) and is called by the guard's drop, the panic hook and suspend.

use std::io::{self, BufWriter, Stdout, Write as _};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};

/// Whether the terminal is ours now.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// The largest text that is put on the clipboard: terminals cut or ignore longer ones without a word.
const COPY_LIMIT: usize = 8 * 1024;

/// The terminal while the console owns it. Dropping it gives it back.
pub struct Screen {
    inner: ratatui::Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl Screen {
    /// Takes the terminal over.
    pub fn enter() -> io::Result<Self> {
        // Our own themes handle NO_COLOR; crossterm would also drop bold and reverse.
        crossterm::style::force_color_output(true);
        enter()?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        let inner = match ratatui::Terminal::new(backend) {
            Ok(terminal) => terminal,
            Err(error) => {
                restore();
                return Err(error);
            }
        };
        Ok(Self { inner })
    }

    /// Draws one frame as one update, so that no half frame is shown over a slow line.
    pub fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.inner.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.inner.draw(view).map(|_| ());
        execute!(self.inner.backend_mut(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Forgets what is on the terminal: the next frame is drawn whole.
    ///
    /// Not by `Terminal::clear`: that asks the terminal where its cursor is, and the answer would have to
    /// be read beside the stream of events that owns the input.
    pub fn clear(&mut self) -> io::Result<()> {
        let whole = Rect::from((Position::ORIGIN, self.inner.size()?));
        self.inner.resize(whole)
    }

    /// Columns and rows.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        self.inner.size().map(|size| (size.width, size.height))
    }

    /// Asks the terminal to put `text` on the clipboard (OSC 52). The terminal must allow it and does not answer.
    pub fn copy(&mut self, text: &str) -> io::Result<Copied> {
        if text.len() > COPY_LIMIT {
            return Ok(Copied::TooLong);
        }
        execute!(self.inner.backend_mut(), CopyToClipboard::to_clipboard_from(text))?;
        Ok(Copied::Asked)
    }

    /// Gives the terminal back and takes it again around `pause` (ctrl-z).
    pub fn pause(&mut self, pause: impl FnOnce()) -> io::Result<()> {
        restore();
        pause();
        enter()?;
        self.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// What came of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// The terminal was asked.
    Asked,
    /// The text is longer than terminals take.
    TooLong,
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    ENTERED.store(true, Ordering::SeqCst);
    let entered = execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, cursor::Hide);
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back, if it is ours.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Makes a panic on the calling thread (the one that draws) give the terminal back before it is reported.
/// A panic in a background task only goes to the log: the running console says so and goes on.
/// Must come after any other hook is installed, so that the terminal is restored first.
pub fn install_panic_hook() {
    let drawing = thread::current().id();
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == drawing || !ENTERED.load(Ordering::SeqCst) {
            restore();
            report(info);
        } else {
            tracing::error!(%info, "a background task panicked");
        }
    }));
}
