//! Declared files (TOML), read so that every mistake is found in one go, each with its line.
//!
//! Owns: finding a value, its type and its place; unknown keys. Adapters and the command line's
//! configuration are read through it, so both speak of mistakes in the same words. Must not know
//! what any key means, and never repeats a value in a message: a value may be a secret put in the
//! wrong place.

mod section;

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use crate::domain::time::Seconds;

pub use section::Section;

/// One thing that is wrong in a declared file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The line it stands on, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// A value and where it stands, for the checks that follow.
pub type Placed<T> = Spanned<T>;

/// One file being read: collects what is wrong with it.
#[derive(Debug)]
pub struct Reading<'t> {
    text: &'t str,
    mistakes: RefCell<Vec<Mistake>>,
}

impl<'t> Reading<'t> {
    /// Starts on the text of a file.
    pub fn new(text: &'t str) -> Self {
        Self { text, mistakes: RefCell::default() }
    }

    /// The file's top level. What cannot be parsed is a mistake; the rest is still read.
    pub fn top(&self) -> Section<'_> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            // The parser's own message names what it expected, never a value.
            self.wrong(&error.span().unwrap_or(0..0), error.message());
        }
        Section::new(self, String::new(), table.span(), table.into_inner())
    }

    /// Notes a mistake at a place.
    pub fn wrong(&self, at: &Range<usize>, what: impl Into<String>) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count().saturating_add(1);
        self.mistakes.borrow_mut().push(Mistake { line, what: what.into() });
    }

    /// Everything that was wrong, in the order of the file.
    pub fn mistakes(self) -> Vec<Mistake> {
        let mut mistakes = self.mistakes.into_inner();
        mistakes.sort();
        mistakes.dedup();
        mistakes
    }
}

/// One letter wrong, missing, added or swapped with its neighbour.
fn is_near(known: &str, typed: &str) -> bool {
    let (known, typed): (Vec<char>, Vec<char>) =
        (known.chars().collect(), typed.to_lowercase().replace('-', "_").chars().collect());
    let head = known.iter().zip(&typed).take_while(|(left, right)| left == right).count();
    let tail = |from_known: usize, from_typed: usize| {
        known.get(head.saturating_add(from_known)..) == typed.get(head.saturating_add(from_typed)..)
    };
    let swapped =
        known.get(head) == typed.get(head.saturating_add(1)) && known.get(head.saturating_add(1)) == typed.get(head);
    tail(0, 0) || tail(1, 1) || tail(1, 0) || tail(0, 1) || (swapped && tail(2, 2))
}

/// Reads "5m", "1h 30m", "24h" as whole seconds.
pub fn length(text: &str) -> Result<Seconds, String> {
    let hint = "a length of time such as \"90s\", \"5m\" or \"24h\"";
    let length = humantime::parse_duration(text).map_err(|_| format!("must be {hint}"))?;
    if length.subsec_nanos() == 0 {
        Ok(Seconds(length.as_secs()))
    } else {
        Err(format!("must be {hint}, in whole seconds"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_found_with_its_line() {
        let text = "name = 5\ntime = \"soon\"\nnmae = \"x\"\n\n[below]\nodd = true\nmany = [1]\n";
        let reading = Reading::new(text);
        let mut top = reading.top();
        assert!(top.required("name").is_none());
        assert!(top.length("time").is_none());
        assert!(top.required("other").is_none());
        let mut below = top.section("below").unwrap();
        assert!(below.texts("many").is_none());
        below.close();
        top.close();
        let said: Vec<String> = reading.mistakes().iter().map(Mistake::to_string).collect();
        assert_eq!(
            said,
            [
                "line 1: `name` must be a text in quotes, not integer",
                "line 1: `other` is missing",
                "line 2: `time`: must be a length of time such as \"90s\", \"5m\" or \"24h\"",
                "line 3: unknown key `nmae` at the top of the file; did you mean `name`?",
                "line 6: unknown key `odd` in [below]; known here: many",
                "line 7: `below.many` must be a list of texts, not array",
            ]
        );
    }

    #[test]
    fn a_file_that_does_not_parse_still_reports_the_rest() {
        let reading = Reading::new("a = \nb = 3\n[c\nd = 1\n");
        let mut top = reading.top();
        assert!(top.text("b").is_none());
        top.close();
        let lines: Vec<usize> = reading.mistakes().iter().map(|m| m.line).collect();
        assert!(lines.contains(&1) && lines.contains(&2) && lines.contains(&3), "{lines:?}");
    }

    #[test]
    fn lengths_are_whole_seconds() {
        assert_eq!(length("1h 30m"), Ok(Seconds(5_400)));
        assert!(length("10ms").is_err());
        assert!(length("5").is_err());
    }
}
