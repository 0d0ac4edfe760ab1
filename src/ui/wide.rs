//! Widths: cut, pad and wrap by terminal columns, never by bytes or characters.
//!
//! Owns measuring. Everything here makes its text safe first, so that what was measured is what
//! is drawn. Must not know styles.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::glyphs::{Charset, Glyphs};
use super::text::{LONGEST_VALUE, safe_text_in};

/// Which end of a value matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Words: the beginning.
    Start,
    /// Keys and refs: the end, where they differ.
    End,
}

/// Where a value stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers and money.
    Right,
}

/// Columns a text takes once it is safe.
pub fn columns(text: &str, charset: Charset) -> usize {
    safe_text_in(text, charset).width()
}

/// Cuts to at most `width` columns; a mark stands where something was cut.
pub fn cut(text: &str, width: usize, keep: Keep, charset: Charset) -> String {
    let safe = safe_text_in(near(text, keep), charset);
    if safe.width() <= width {
        return safe.into_owned();
    }
    let mark = Glyphs::of(charset).cut;
    let room = width.saturating_sub(1);
    match (width, keep) {
        (0, Keep::Start | Keep::End) => String::new(),
        (_, Keep::Start) => format!("{}{mark}", take(safe.graphemes(true), room).concat()),
        (_, Keep::End) => {
            let mut kept = take(safe.graphemes(true).rev(), room);
            kept.reverse();
            format!("{mark}{}", kept.concat())
        }
    }
}

/// The end that is kept of a text far longer than any screen: the rest need not be looked at for every frame.
fn near(text: &str, keep: Keep) -> &str {
    if text.len() <= 4 * LONGEST_VALUE {
        return text;
    }
    match keep {
        Keep::Start => text.char_indices().nth(LONGEST_VALUE).map_or(text, |(at, _)| text.split_at(at).0),
        Keep::End => text.char_indices().nth_back(LONGEST_VALUE).map_or(text, |(at, _)| text.split_at(at).1),
    }
}

fn take<'a>(graphemes: impl Iterator<Item = &'a str>, room: usize) -> Vec<&'a str> {
    let mut used = 0;
    graphemes
        .take_while(|g| {
            used += g.width();
            used <= room
        })
        .collect()
}

/// Cuts and pads to exactly `width` columns.
pub fn fit(text: &str, width: usize, align: Align, keep: Keep, charset: Charset) -> String {
    let text = cut(text, width, keep, charset);
    let gap = " ".repeat(width.saturating_sub(text.width()));
    match align {
        Align::Left => format!("{text}{gap}"),
        Align::Right => format!("{gap}{text}"),
    }
}

/// A grapheme whole, or its characters one by one when it is wider than a line.
fn parts(grapheme: &str, width: usize) -> Vec<&str> {
    if grapheme.width() <= width {
        return vec![grapheme];
    }
    grapheme.split_inclusive(|_| true).collect()
}

/// Breaks at spaces into lines of at most `width` columns; a longer word is broken inside.
pub fn wrap(text: &str, width: usize, charset: Charset) -> Vec<String> {
    let width = width.max(1);
    let safe = safe_text_in(text, charset);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in safe.split(' ') {
        let gap = usize::from(!line.is_empty());
        if line.width() + gap + word.width() <= width {
            if gap == 1 {
                line.push(' ');
            }
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        // A letter and its signs stay together, unless they alone are wider than a line.
        for part in word.graphemes(true).flat_map(|grapheme| parts(grapheme, width)) {
            if line.width() + part.width() > width && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(part);
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keeps_the_end_that_matters() {
        assert_eq!(cut("ord-2026-7Q4K-91", 9, Keep::End, Charset::Unicode), "…7Q4K-91".replace('…', "…-"));
        assert_eq!(cut("provider answered late", 10, Keep::Start, Charset::Ascii), "provider ~");
        assert_eq!(fit("4", 3, Align::Right, Keep::Start, Charset::Unicode), "  4");
        assert_eq!(fit("漢字漢", 4, Align::Left, Keep::Start, Charset::Unicode), "漢… ");
    }

    #[test]
    fn wraps_at_spaces_and_breaks_long_words() {
        assert_eq!(wrap("one two three", 7, Charset::Unicode), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4, Charset::Unicode), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4, Charset::Unicode), [""]);
        assert_eq!(wrap("\u{20000}\u{abe3}", 2, Charset::Unicode), ["\u{20000}", "\u{abe3}"], "wider than a line");
    }

    proptest! {
        #[test]
        fn never_wider_than_asked(raw in ".{0,60}", width in 0usize..40) {
            for charset in [Charset::Unicode, Charset::Ascii] {
                for keep in [Keep::Start, Keep::End] {
                    prop_assert!(cut(&raw, width, keep, charset).width() <= width);
                    prop_assert_eq!(fit(&raw, width, Align::Left, keep, charset).width(), width);
                }
                for line in wrap(&raw, width.max(2), charset) {
                    prop_assert!(line.width() <= width.max(2), "{line:?}");
                }
            }
        }
    }
}
