//! The one gate to the screen: every word drawn passes here and is made safe.
//!
//! Owns clipping, styles by role and the overlay of old data. ratatui lets direction overrides,
//! zero-width characters and (through `set_symbol`) whole escape sequences into a cell; nothing
//! outside this file writes to the buffer. Must not know screens.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::line::Line;
use super::text::safe_text_in;
use super::theme::Role;
use super::{Charset, Look};

/// A place to draw, with a look.
pub struct Canvas<'a> {
    buffer: &'a mut Buffer,
    look: &'a Look,
    over: Option<Role>,
}

impl<'a> Canvas<'a> {
    /// Draws on a frame's buffer.
    pub fn new(buffer: &'a mut Buffer, look: &'a Look) -> Self {
        Self { buffer, look, over: None }
    }

    /// The whole area.
    pub fn area(&self) -> Rect {
        self.buffer.area
    }

    /// The look it draws with.
    pub fn look(&self) -> &'a Look {
        self.look
    }

    /// Which characters it may use.
    pub fn charset(&self) -> Charset {
        self.look.charset()
    }

    /// Lays a role over everything drawn from here on (data that is old), or none.
    pub fn lay_over(&mut self, over: Option<Role>) {
        self.over = over;
    }

    fn style(&self, role: Role) -> Style {
        let style = self.look.theme.style(role);
        match self.over {
            Some(over) => style.patch(self.look.theme.style(over)),
            None => style,
        }
    }

    /// One row of words at the top of `area`; what does not fit is cut.
    pub fn line(&mut self, area: Rect, line: &Line) {
        let area = area.intersection(self.buffer.area);
        if area.is_empty() {
            return;
        }
        let mut x = area.x;
        for span in &line.0 {
            x = self.words(Rect { x, width: area.right().saturating_sub(x), ..area }, &span.text, span.role);
        }
    }

    fn words(&mut self, area: Rect, text: &str, role: Role) -> u16 {
        let style = self.style(role);
        let safe = safe_text_in(text, self.charset());
        let mut x = area.x;
        for grapheme in safe.graphemes(true) {
            let width = u16::try_from(grapheme.width()).unwrap_or(u16::MAX);
            if width == 0 {
                continue;
            }
            if x.saturating_add(width) > area.right() {
                break;
            }
            if let Some(cell) = self.buffer.cell_mut((x, area.y)) {
                cell.set_symbol(grapheme).set_style(style);
            }
            for hidden in x.saturating_add(1)..x.saturating_add(width) {
                if let Some(cell) = self.buffer.cell_mut((hidden, area.y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
            x = x.saturating_add(width);
        }
        x
    }

    /// Rows from the top of `area`; returns how many were drawn.
    pub fn lines(&mut self, area: Rect, lines: &[Line]) -> u16 {
        let mut used = 0;
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.line(Rect { y, height: 1, ..area }, line);
            used += 1;
        }
        used
    }

    /// A row of words that ends at the right edge.
    pub fn line_right(&mut self, area: Rect, line: &Line) {
        let width = u16::try_from(line.width(self.charset())).unwrap_or(u16::MAX).min(area.width);
        self.line(Rect { x: area.right().saturating_sub(width), width, ..area }, line);
    }

    /// Gives an area a role without changing its words (a selected row, a band).
    pub fn tint(&mut self, area: Rect, role: Role) {
        let style = self.look.theme.style(role);
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Empties an area, in a role.
    pub fn clear(&mut self, area: Rect, role: Role) {
        let area = area.intersection(self.buffer.area);
        let style = self.look.theme.style(role);
        for position in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
                cell.set_style(style);
            }
        }
    }

    /// A box with a title; returns its inside.
    pub fn frame(&mut self, area: Rect, title: &Line, role: Role) -> Rect {
        let area = area.intersection(self.buffer.area);
        if area.width < 4 || area.height < 2 {
            return area;
        }
        let glyphs = self.look.glyphs;
        let across = glyphs.line.0.repeat(usize::from(area.width).saturating_sub(2));
        let (tl, tr, bl, br) = glyphs.corners;
        let top = Rect { height: 1, ..area };
        self.line(top, &Line::of(role, format!("{tl}{across}{tr}")));
        let bottom = Rect { y: area.bottom().saturating_sub(1), ..top };
        self.line(bottom, &Line::of(role, format!("{bl}{across}{br}")));
        for y in area.y.saturating_add(1)..area.bottom().saturating_sub(1) {
            let side = Line::of(role, glyphs.line.1);
            self.line(Rect { y, width: 1, height: 1, ..area }, &side);
            self.line(Rect { x: area.right().saturating_sub(1), y, width: 1, height: 1 }, &side);
        }
        if !title.0.is_empty() {
            let title = Line::of(role, format!("{} ", glyphs.line.0)).join(title.clone()).and(role, " ");
            let room = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(2), ..top };
            self.line(room, &title);
        }
        Rect {
            x: area.x.saturating_add(2),
            y: area.y.saturating_add(1),
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        }
    }
}
