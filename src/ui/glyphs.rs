//! The marks the console draws with: boxes, bars, signs; once in Unicode, once in ASCII.
//!
//! Owns the two sets and the one-to-one map between them, so that a picture keeps its columns
//! in both. Must not know colours or screens. No emoji, no variation selectors: terminals
//! disagree about their width.

/// Which characters the terminal is trusted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charset {
    /// Everything of width one or two.
    Unicode,
    /// `--ascii`, or a locale that is not UTF-8.
    Ascii,
}

/// One set of marks. Every one is one column wide.
#[derive(Debug)]
pub struct Glyphs {
    /// Which set this is.
    pub charset: Charset,
    /// Left and right end of the environment band.
    pub band: (&'static str, &'static str),
    /// Horizontal and vertical line.
    pub line: (&'static str, &'static str),
    /// Corners: top left, top right, bottom left, bottom right.
    pub corners: (&'static str, &'static str, &'static str, &'static str),
    /// Bar heights from nothing to full.
    pub levels: &'static [&'static str],
    /// What stands for text that was cut.
    pub cut: &'static str,
    /// Marks of a timeline: happened, failed, not reached.
    pub steps: (&'static str, &'static str, &'static str),
    /// Sort order: down, up.
    pub order: (&'static str, &'static str),
}

static UNICODE: Glyphs = Glyphs {
    charset: Charset::Unicode,
    band: ("▌", "▐"),
    line: ("─", "│"),
    corners: ("┌", "┐", "└", "┘"),
    levels: &["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    cut: "…",
    steps: ("●", "x", "○"),
    order: ("↓", "↑"),
};

static ASCII: Glyphs = Glyphs {
    charset: Charset::Ascii,
    band: ("[", "]"),
    line: ("-", "|"),
    corners: ("+", "+", "+", "+"),
    levels: &["_", "_", ".", ".", "-", "=", "*", "#"],
    cut: "~",
    steps: ("*", "x", "o"),
    order: ("v", "^"),
};

impl Glyphs {
    /// The set for a charset.
    pub fn of(charset: Charset) -> &'static Self {
        match charset {
            Charset::Unicode => &UNICODE,
            Charset::Ascii => &ASCII,
        }
    }
}

/// The ASCII stand-in of a mark of ours, one column for one column.
pub fn ascii_of(mark: char) -> Option<char> {
    Some(match mark {
        '·' | '–' | '─' | '▅' => '-',
        '…' => '~',
        '│' => '|',
        '┌' | '┐' | '└' | '┘' => '+',
        '▌' => '[',
        '▐' => ']',
        '▁' | '▂' => '_',
        '▃' | '▄' => '.',
        '▆' => '=',
        '▇' | '●' => '*',
        '█' => '#',
        '○' => 'o',
        '↓' => 'v',
        '↑' => '^',
        '→' => '>',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn every_mark_is_one_column_and_has_an_ascii_twin() {
        for set in [&UNICODE, &ASCII] {
            let (a, b, c, d) = set.corners;
            let mut marks = vec![set.band.0, set.band.1, set.line.0, set.line.1, a, b, c, d, set.cut];
            marks.extend([set.steps.0, set.steps.1, set.steps.2, set.order.0, set.order.1]);
            marks.extend(set.levels);
            for mark in marks {
                assert_eq!(mark.width(), 1, "{mark}");
                let c = mark.chars().next().expect("a mark");
                assert!(c.is_ascii() || ascii_of(c).is_some(), "{mark}");
                assert!(set.charset == Charset::Unicode || mark.is_ascii());
            }
            assert_eq!(set.levels.len(), 8);
        }
    }
}
