//! The last line: keys, most useful first, as many as fit.

use ratatui::layout::Rect;

use crate::ui::{Canvas, Line, Role};

/// One key and what it does, in a word or two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The key's label.
    pub key: String,
    /// What it does.
    pub does: &'static str,
}

/// Draws as many hints as fit, whole.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, hints: &[Hint]) {
    let mut line = Line::plain(" ");
    for hint in hints {
        let next = line.clone().and(Role::Key, hint.key.clone()).then(format!(" {}  ", hint.does));
        if next.width(canvas.charset()) > usize::from(area.width).saturating_add(2) {
            break;
        }
        line = next;
    }
    canvas.line(area, &line);
}
