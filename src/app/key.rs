//! A key press as the console understands it, without any terminal library.
//!
//! Owns the name of a key and how it is printed. The shell translates what the terminal sends
//! (presses only; repeats of movement keys; never releases) into a [`Chord`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// A character, as typed: shift is in the character.
    Char(char),
    /// Return.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Deletes text before the cursor, in fields only.
    Backspace,
    /// Delete. Opens the card that says why nothing can be deleted.
    Delete,
    /// Insert. Bound to nothing.
    Insert,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// First.
    Home,
    /// Last.
    End,
    /// A page back.
    PageUp,
    /// A page on.
    PageDown,
    /// A function key. Never the only way to anything.
    F(u8),
}

/// What is held down with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Nothing, or shift.
    Nothing,
    /// Control.
    Ctrl,
    /// Alt, alone or with others. Bound to nothing.
    Alt,
}

/// A key with what is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// What is held.
    pub held: Held,
}

impl Chord {
    /// A key alone.
    pub const fn plain(key: Key) -> Self {
        Self { key, held: Held::Nothing }
    }

    /// A character alone.
    pub const fn char(c: char) -> Self {
        Self::plain(Key::Char(c))
    }

    /// A character with control.
    pub const fn ctrl(c: char) -> Self {
        Self { key: Key::Char(c), held: Held::Ctrl }
    }

    /// The character it would type into a field.
    pub fn typed(self) -> Option<char> {
        match (self.key, self.held) {
            (Key::Char(c), Held::Nothing) => Some(c),
            _ => None,
        }
    }
}

impl From<Key> for Chord {
    fn from(key: Key) -> Self {
        Self::plain(key)
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.held {
            Held::Nothing => {}
            Held::Ctrl => f.write_str("Ctrl-")?,
            Held::Alt => f.write_str("Alt-")?,
        }
        match self.key {
            Key::Char(' ') => f.write_str("Space"),
            Key::Char(c) => write!(f, "{c}"),
            Key::F(n) => write!(f, "F{n}"),
            Key::BackTab => f.write_str("Shift-Tab"),
            Key::Delete => f.write_str("Del"),
            Key::PageUp => f.write_str("PgUp"),
            Key::PageDown => f.write_str("PgDn"),
            Key::Enter
            | Key::Esc
            | Key::Tab
            | Key::Backspace
            | Key::Insert
            | Key::Up
            | Key::Down
            | Key::Left
            | Key::Right
            | Key::Home
            | Key::End => write!(f, "{:?}", self.key),
        }
    }
}

/// Every key worth trying in a test: letters, digits, signs, and the named ones, with and without control.
pub fn every_key() -> Vec<Chord> {
    let named = [
        Key::Enter,
        Key::Esc,
        Key::Tab,
        Key::BackTab,
        Key::Backspace,
        Key::Delete,
        Key::Insert,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::Home,
        Key::End,
        Key::PageUp,
        Key::PageDown,
        Key::F(1),
        Key::F(8),
    ];
    let typed = (' '..='~').map(Chord::char);
    let ctrl = ('a'..='z').map(Chord::ctrl);
    typed.chain(ctrl).chain(named.map(Chord::plain)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        let labels: Vec<_> =
            [Chord::char('a'), Chord::ctrl('k'), Key::Delete.into(), Key::BackTab.into(), Chord::char(' ')]
                .iter()
                .map(Chord::to_string)
                .collect();
        assert_eq!(labels, ["a", "Ctrl-k", "Del", "Shift-Tab", "Space"]);
    }
}
