//! A text field: one line, a cursor, a limit. Takes typing; whether it takes a paste is its owner's choice.

use tui_input::{Input, InputRequest};

use super::key::{Chord, Held, Key};

/// One line of text being written.
#[derive(Debug, Clone, Default)]
pub struct Field {
    input: Input,
    limit: usize,
}

impl Field {
    /// An empty field of at most `limit` characters.
    pub fn new(limit: usize) -> Self {
        Self { input: Input::default(), limit }
    }

    /// A field with text in it.
    pub fn with(limit: usize, text: &str) -> Self {
        let text: String = text.chars().take(limit).collect();
        Self { input: Input::new(text), limit }
    }

    /// What was written.
    pub fn text(&self) -> &str {
        self.input.value()
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.input.reset();
    }

    /// Takes a key; true when it was one for a field.
    pub fn key(&mut self, chord: Chord) -> bool {
        let request = match (chord.key, chord.held) {
            (Key::Char(c), Held::Nothing) if self.text().chars().count() < self.limit => InputRequest::InsertChar(c),
            (Key::Char(_), Held::Nothing) => return true,
            (Key::Backspace, Held::Nothing) => InputRequest::DeletePrevChar,
            (Key::Delete, Held::Nothing) => InputRequest::DeleteNextChar,
            (Key::Left, Held::Nothing) => InputRequest::GoToPrevChar,
            (Key::Right, Held::Nothing) => InputRequest::GoToNextChar,
            (Key::Home, Held::Nothing) => InputRequest::GoToStart,
            (Key::End, Held::Nothing) => InputRequest::GoToEnd,
            (Key::Char('u'), Held::Ctrl) => InputRequest::DeleteLine,
            _ => return false,
        };
        self.input.handle(request);
        true
    }

    /// Inserts pasted text, as far as it fits; controls become spaces.
    pub fn paste(&mut self, text: &str) {
        let room = self.limit.saturating_sub(self.text().chars().count());
        for c in text.chars().take(room) {
            let c = if c.is_control() { ' ' } else { c };
            self.input.handle(InputRequest::InsertChar(c));
        }
    }

    /// The text with a cursor mark in it, for drawing.
    pub fn shown(&self) -> String {
        let at = self.input.cursor();
        let before: String = self.text().chars().take(at).collect();
        let after: String = self.text().chars().skip(at).collect();
        format!("{before}_{after}")
    }
}
