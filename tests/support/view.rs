//! One picture of the terminal: text, styles, cursor and modes, taken at one moment.

use alacritty_terminal::event::EventListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Term, TermMode};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

use super::keys::CursorKeys;

/// One cell: what stands in it and how it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glyph {
    /// The character with its combining marks; empty behind a wide character.
    pub text: String,
    /// Colours and modifiers in words: `red bold`, `default on blue reverse`.
    pub look: String,
}

/// What the program switched on in the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes(TermMode);

impl Modes {
    pub fn alternate_screen(self) -> bool {
        self.0.contains(TermMode::ALT_SCREEN)
    }

    pub fn cursor_visible(self) -> bool {
        self.0.contains(TermMode::SHOW_CURSOR)
    }

    pub fn bracketed_paste(self) -> bool {
        self.0.contains(TermMode::BRACKETED_PASTE)
    }

    pub fn focus_reports(self) -> bool {
        self.0.contains(TermMode::FOCUS_IN_OUT)
    }

    pub fn mouse(self) -> bool {
        self.0.intersects(TermMode::MOUSE_MODE)
    }

    /// How arrows have to be sent right now.
    pub fn cursor_keys(self) -> CursorKeys {
        if self.0.contains(TermMode::APP_CURSOR) { CursorKeys::Application } else { CursorKeys::Normal }
    }

    /// Nothing of a full-screen program is left: main screen, cursor shown, no paste, focus or
    /// mouse reports, no keyboard protocol.
    pub fn restored(self) -> bool {
        self.cursor_visible()
            && !self.alternate_screen()
            && !self.bracketed_paste()
            && !self.focus_reports()
            && !self.mouse()
            && !self.0.intersects(TermMode::KITTY_KEYBOARD_PROTOCOL)
    }
}

/// One picture of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub rows: Vec<Vec<Glyph>>,
    /// Row and column of the cursor, from 0.
    pub cursor: (usize, usize),
    pub modes: Modes,
}

impl View {
    pub fn of<T: EventListener>(term: &Term<T>) -> Self {
        let grid = term.grid();
        let lines = (0..).map(Line).take(term.screen_lines());
        let rows = lines.map(|line| (0..term.columns()).map(|c| glyph(&grid[line][Column(c)])).collect()).collect();
        let point = grid.cursor.point;
        View { rows, cursor: (usize::try_from(point.line.0).unwrap_or(0), point.column.0), modes: Modes(*term.mode()) }
    }

    /// All rows, right-trimmed, joined by newlines.
    pub fn text(&self) -> String {
        let rows: Vec<String> = (0..self.rows.len()).map(|row| self.row(row)).collect();
        rows.join("\n")
    }

    /// One row, right-trimmed.
    pub fn row(&self, row: usize) -> String {
        let glyphs = self.rows.get(row).map_or(&[][..], Vec::as_slice);
        let text: String = glyphs.iter().map(|g| g.text.as_str()).collect();
        text.trim_end().to_owned()
    }

    /// Row and column of the first cell of `text`, which stands in one row.
    pub fn find(&self, text: &str) -> Option<(usize, usize)> {
        (0..self.rows.len()).find_map(|row| {
            let before = self.row(row).find(text)?;
            let mut bytes = 0;
            let column = self.rows[row].iter().position(|g| {
                let here = bytes == before;
                bytes += g.text.len();
                here
            })?;
            Some((row, column))
        })
    }

    /// How the first cell of `text` looks, in words.
    #[track_caller]
    pub fn look_of(&self, text: &str) -> &str {
        let Some((row, column)) = self.find(text) else {
            panic!("{text:?} is not on the screen\n{}", self.text());
        };
        &self.rows[row][column].look
    }
}

fn glyph(cell: &Cell) -> Glyph {
    let spacer = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    let mut text = String::new();
    if !cell.flags.intersects(spacer) {
        text.push(cell.c);
        text.extend(cell.zerowidth().into_iter().flatten());
    }
    Glyph { text, look: look(cell) }
}

fn look(cell: &Cell) -> String {
    let mut words = vec![colour(cell.fg)];
    if cell.bg != Color::Named(NamedColor::Background) {
        words.push(format!("on {}", colour(cell.bg)));
    }
    let modifiers = [
        (Flags::BOLD, "bold"),
        (Flags::DIM, "dim"),
        (Flags::ITALIC, "italic"),
        (Flags::ALL_UNDERLINES, "underline"),
        (Flags::INVERSE, "reverse"),
        (Flags::HIDDEN, "hidden"),
        (Flags::STRIKEOUT, "crossed out"),
    ];
    words.extend(modifiers.iter().filter(|(flag, _)| cell.flags.intersects(*flag)).map(|(_, word)| (*word).to_owned()));
    words.join(" ")
}

fn colour(colour: Color) -> String {
    match colour {
        Color::Named(NamedColor::Foreground | NamedColor::Background) => "default".to_owned(),
        Color::Named(name) => format!("{name:?}").to_lowercase(),
        Color::Indexed(index) => format!("indexed {index}"),
        Color::Spec(rgb) => format!("#{:02x}{:02x}{:02x}", rgb.r, rgb.g, rgb.b),
    }
}
