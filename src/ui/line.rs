//! A line of text with roles: what a screen hands to the canvas.
//!
//! Owns the pair (role, words) and wrapping across roles. Must not know colours: a role is a
//! meaning, the theme decides how it looks.

use unicode_width::UnicodeWidthStr as _;

use super::glyphs::Charset;
use super::text::{LONGEST_VALUE, safe_text_in};
use super::theme::Role;
use super::wide;

/// Words with one meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What the words mean.
    pub role: Role,
    /// The words.
    pub text: String,
}

/// One row of words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line(pub Vec<Span>);

impl Line {
    /// A row in the ordinary role.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::of(Role::Normal, text)
    }

    /// A row in one role.
    pub fn of(role: Role, text: impl Into<String>) -> Self {
        Self::default().and(role, text)
    }

    /// Nothing.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds words in a role.
    #[must_use]
    pub fn and(mut self, role: Role, text: impl Into<String>) -> Self {
        self.push(role, text);
        self
    }

    /// Adds ordinary words.
    #[must_use]
    pub fn then(self, text: impl Into<String>) -> Self {
        self.and(Role::Normal, text)
    }

    /// Adds words in a role.
    pub fn push(&mut self, role: Role, text: impl Into<String>) {
        let text = capped(text.into());
        if !text.is_empty() {
            self.0.push(Span { role, text });
        }
    }

    /// Columns it takes.
    pub fn width(&self, charset: Charset) -> usize {
        self.0.iter().map(|s| safe_text_in(&s.text, charset).width()).sum()
    }

    /// The words alone.
    pub fn words(&self) -> String {
        self.0.iter().map(|s| s.text.as_str()).collect()
    }

    /// Breaks at spaces into rows of at most `width` columns; rows after the first start with
    /// `indent` spaces. Roles are kept.
    pub fn wrap(&self, width: usize, indent: usize, charset: Charset) -> Vec<Self> {
        if self.width(charset) <= width {
            return vec![self.clone()];
        }
        let room = width.saturating_sub(indent).max(1);
        let mut rows = Vec::new();
        let mut row = Self::empty();
        let mut used = 0;
        for span in &self.0 {
            let safe = safe_text_in(&span.text, charset);
            for piece in safe.split_inclusive(' ') {
                let wide = piece.trim_end_matches(' ').width();
                let limit = if rows.is_empty() { width } else { room };
                if used > 0 && used + wide > limit {
                    rows.push(std::mem::take(&mut row));
                    used = 0;
                }
                let limit = if rows.is_empty() { width } else { room };
                if wide > limit {
                    let parts = wide::wrap(piece, limit, charset);
                    let last = parts.len().saturating_sub(1);
                    for (index, part) in parts.into_iter().enumerate() {
                        used = part.width();
                        row.push(span.role, part);
                        if index < last {
                            rows.push(std::mem::take(&mut row));
                        }
                    }
                } else {
                    used += piece.width();
                    row.push(span.role, piece);
                }
            }
        }
        rows.push(row);
        let pad = " ".repeat(indent);
        rows.into_iter()
            .enumerate()
            .map(|(i, row)| if i == 0 || indent == 0 { row } else { Self::plain(pad.clone()).join(row) })
            .collect()
    }

    /// One row after the other, on the same row.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// No span is longer than any screen: a name of a megabyte must not be wrapped anew for every frame.
fn capped(text: String) -> String {
    if text.len() <= LONGEST_VALUE {
        return text;
    }
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text,
        Some((at, _)) => {
            let (head, rest) = text.split_at(at);
            format!("{head}<+{} more>", rest.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_across_roles_and_keeps_them() {
        let line = Line::of(Role::Critical, "!! CRITICAL ").then("12 payments may have taken money");
        let rows = line.wrap(20, 3, Charset::Unicode);
        let words: Vec<_> = rows.iter().map(Line::words).collect();
        assert_eq!(words, ["!! CRITICAL 12 ", "   payments may have ", "   taken money"]);
        assert_eq!(rows[0].0[0].role, Role::Critical);
    }
}
