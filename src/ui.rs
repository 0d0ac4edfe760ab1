//! How things look: theme, safe text, layout, widgets over plain data.
//!
//! Owns every colour ([`theme`]), every box and bar ([`glyphs`]) and the one gate through which
//! text reaches a cell ([`canvas`]). Must not know screens, keys, messages, databases or clocks:
//! widgets are given plain data and draw it.

pub mod canvas;
pub mod glyphs;
pub mod lanes;
pub mod layout;
pub mod line;
pub mod markdown;
pub mod text;
pub mod theme;
pub mod wide;
pub mod widgets;

pub use canvas::Canvas;
pub use glyphs::{Charset, Glyphs};
pub use line::{Line, Span};
pub use theme::{Role, Theme};

/// How this console looks today: the theme and the characters it may use. Chosen once, at start.
#[derive(Debug, Clone)]
pub struct Look {
    /// Roles and their styles.
    pub theme: Theme,
    /// Boxes, bars and marks.
    pub glyphs: &'static Glyphs,
}

impl Look {
    /// A look from its two halves.
    pub fn new(theme: Theme, charset: Charset) -> Self {
        Self { theme, glyphs: Glyphs::of(charset) }
    }

    /// Which characters may be drawn.
    pub fn charset(&self) -> Charset {
        self.glyphs.charset
    }
}
