//! Text made safe to show: escape, never strip.
//!
//! Owns the rule for what may reach a terminal cell or a plain output line. A key, a name or a
//! provider's answer may carry escape sequences, direction overrides or invisible characters;
//! a person must see that they are there, because a hidden character can disguise the target of
//! a confirmation. Must not know widths, styles or screens ([`super::wide`] measures).
//!
//! ```
//! use unstuck::ui::text::safe_text;
//! assert_eq!(safe_text("ord\u{202e}1\n"), "ord<202E>1⏎");
//! ```

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::glyphs::Charset;

/// The longest single value shown anywhere, in characters. The rest is counted, not shown.
pub const LONGEST_VALUE: usize = 2_000;

/// Combining marks one character may carry; further ones are written out.
const MARKS_PER_CHARACTER: usize = 4;

/// Makes hidden and active characters visible. Safe to apply twice.
pub fn safe_text(raw: &str) -> Cow<'_, str> {
    safe_text_in(raw, Charset::Unicode)
}

/// [`safe_text`] for a value of unknown length: after [`LONGEST_VALUE`] characters the rest is
/// counted instead of shown.
pub fn safe_value(raw: &str) -> Cow<'_, str> {
    match raw.char_indices().nth(LONGEST_VALUE) {
        None => safe_text(raw),
        Some((at, _)) => {
            let (head, rest) = raw.split_at(at);
            Cow::Owned(format!("{}<+{} more>", safe_text(head), rest.chars().count()))
        }
    }
}

/// [`safe_text`] for a given character set: in ASCII, every other character is written out too.
pub fn safe_text_in(raw: &str, charset: Charset) -> Cow<'_, str> {
    if raw.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut marks = 0;
    let mut has_base = false;
    for c in raw.chars() {
        if !c.is_control() && c.width() == Some(0) && !hidden(c) {
            marks += 1;
            if has_base && marks <= MARKS_PER_CHARACTER && charset == Charset::Unicode {
                out.push(c);
            } else {
                escape(&mut out, c);
            }
            continue;
        }
        marks = 0;
        has_base = push_visible(&mut out, c, charset);
    }
    Cow::Owned(out)
}

/// Writes one non-combining character; true when a mark may follow it.
fn push_visible(out: &mut String, c: char, charset: Charset) -> bool {
    match (c, charset) {
        ('\u{1b}', Charset::Unicode) => out.push('␛'),
        ('\u{1b}', Charset::Ascii) => out.push_str("<ESC>"),
        ('\n', Charset::Unicode) => out.push('⏎'),
        ('\n', Charset::Ascii) => out.push_str("<NL>"),
        ('\u{0}'..='\u{1f}', Charset::Unicode) => {
            // The Unicode pictures of the C0 controls lie in the same order.
            out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'));
        }
        ('\u{7f}', Charset::Unicode) => out.push('␡'),
        _ if c.is_control() || hidden(c) => {
            escape(out, c);
            return false;
        }
        _ if charset == Charset::Ascii && !c.is_ascii() => {
            match super::glyphs::ascii_of(c) {
                Some(plain) => out.push(plain),
                None => escape(out, c),
            }
            return false;
        }
        _ => {
            out.push(c);
            return true;
        }
    }
    false
}

fn escape(out: &mut String, c: char) {
    let _ = write!(out, "<{:04X}>", u32::from(c));
}

/// Characters that change how others look, or look like nothing: direction controls, format and
/// zero-width characters, variation selectors, tags, fillers, odd spaces and line separators,
/// private use and non-characters.
fn hidden(c: char) -> bool {
    matches!(u32::from(c),
        0x00A0 | 0x00AD | 0x034F | 0x0600..=0x0605 | 0x061C | 0x06DD | 0x070F | 0x0890 | 0x0891
        | 0x08E2 | 0x115F | 0x1160 | 0x1680 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x2000..=0x200F | 0x2028..=0x202F | 0x205F..=0x206F | 0x2800 | 0x3000 | 0x3164
        | 0xD800..=0xF8FF | 0xFDD0..=0xFDEF | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB
        | 0xFFFE | 0xFFFF | 0x110BD | 0x110CD | 0x13430..=0x1345F | 0x1BCA0..=0x1BCA3
        | 0x1D173..=0x1D17A | 0x1F1E6..=0x1F1FF | 0x1F3FB..=0x1F3FF | 0xE0000..=0x10_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_what_hides() {
        assert_eq!(safe_text("pay\u{1b}]52;c;x\u{7}"), "pay␛]52;c;x␇");
        assert_eq!(safe_text("a\u{202e}b\u{200b}c\u{e0041}d\u{2028}"), "a<202E>b<200B>c<E0041>d<2028>");
        assert_eq!(safe_text("\u{9b}31m\u{7f}\t"), "<009B>31m␡␉");
        assert_eq!(safe_text("plain key-91"), "plain key-91");
        // Flags and skin tones: terminals do not agree how wide they are, and the rest of the row would shift.
        assert_eq!(safe_text("\u{1f1e9}\u{1f1ea}"), "<1F1E9><1F1EA>");
        assert_eq!(safe_text("Nguyễn Văn"), "Nguyễn Văn");
    }

    #[test]
    fn limits_combining_marks_and_gives_none_to_a_neighbour() {
        let stacked: String = std::iter::once('a').chain(std::iter::repeat_n('\u{301}', 6)).collect();
        assert_eq!(safe_text(&stacked), "a\u{301}\u{301}\u{301}\u{301}<0301><0301>");
        assert_eq!(safe_text("\u{301}x"), "<0301>x");
    }

    #[test]
    fn caps_what_is_too_long_and_says_so() {
        let long = "x".repeat(LONGEST_VALUE + 7);
        assert!(safe_value(&long).ends_with("x<+7 more>"));
        assert_eq!(safe_value("short\u{7}"), "short␇");
    }

    #[test]
    fn ascii_writes_out_the_rest() {
        assert_eq!(safe_text_in("ü·\u{1b}\n", Charset::Ascii), "<00FC>-<ESC><NL>");
    }

    proptest! {
        #[test]
        fn nothing_active_or_invisible_survives(raw in "\\PC{0,40}|.{0,40}|[\\x00-\\x1f\\x7f-\\x9f\\u{200b}-\\u{202e}\\u{300}-\\u{310}a]{0,60}") {
            for charset in [Charset::Unicode, Charset::Ascii] {
                let safe = safe_text_in(&raw, charset);
                let mut run = 0;
                for c in safe.chars() {
                    prop_assert!(!c.is_control(), "{c:?}");
                    prop_assert!(!hidden(c), "{c:?}");
                    prop_assert!(charset == Charset::Unicode || c.is_ascii());
                    run = if c.width() == Some(0) { run + 1 } else { 0 };
                    prop_assert!(run <= MARKS_PER_CHARACTER);
                }
                let twice = safe_text_in(&safe, charset);
                prop_assert_eq!(twice.as_ref(), safe.as_ref(), "a second pass changes nothing");
            }
        }

        #[test]
        fn visible_ascii_is_left_alone(raw in "[ -~]{0,200}") {
            let safe = safe_text(&raw);
            prop_assert_eq!(safe.as_ref(), raw.as_str());
        }
    }
}
