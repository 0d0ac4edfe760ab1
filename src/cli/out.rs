//! How commands speak: plain lines made safe, one exit code, and no crash when the reader has left.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::ui::text::safe_text;

/// What a command ends with. Monitoring reads these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// `check`: ok. Others: done.
    Ok,
    /// `check`: warning. Others: a finding or a refusal.
    Finding,
    /// `check`: critical.
    Critical,
    /// It could not be told, or the command line was wrong.
    NotKnown,
}

impl ExitCode {
    /// The number.
    pub fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Finding => 1,
            Self::Critical => 2,
            Self::NotKnown => 3,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

/// Whether what was said still arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// As far as we know.
    Listens,
    /// The reader has seen enough and left.
    Left,
    /// It could not be written: the disk is full, perhaps.
    Failed(io::ErrorKind),
}

/// Where a command writes. A reader that has left (`| head`) ends the output, not the command.
pub struct Out<'w> {
    plain: &'w mut (dyn Write + Send),
    errors: &'w mut (dyn Write + Send),
    hearing: Hearing,
}

impl<'w> Out<'w> {
    /// Writes answers to one and complaints to the other.
    pub fn new(plain: &'w mut (dyn Write + Send), errors: &'w mut (dyn Write + Send)) -> Self {
        Self { plain, errors, hearing: Hearing::Listens }
    }

    /// Whether answers still arrive; a long one asks in between.
    pub fn hearing(&self) -> Hearing {
        self.hearing
    }

    /// One line of the answer. Line ends and hidden characters inside it are made visible.
    pub fn line(&mut self, text: &str) {
        self.answer(&safe_text(text));
    }

    /// Text of ours that has its own lines: help, a script.
    pub fn block(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    /// A JSON value, with hidden characters written as escapes.
    pub fn json(&mut self, value: &serde_json::Value) {
        self.answer(&safe_json(&value.to_string()));
    }

    /// A complaint, line by line. One that cannot be written has no better place to be told.
    pub fn complain(&mut self, text: &str) {
        for line in text.lines() {
            let _: io::Result<()> = put(self.errors, &safe_text(line));
        }
    }

    /// The exit code, once everything is said. A reader that left has seen enough; an answer that could not be
    /// written was not given.
    pub fn heard(&mut self, code: ExitCode) -> ExitCode {
        match self.hearing {
            Hearing::Listens | Hearing::Left => code,
            Hearing::Failed(why) => {
                self.complain(&format!("the answer could not be written whole: {why}"));
                ExitCode::NotKnown
            }
        }
    }

    fn answer(&mut self, line: &str) {
        match put(self.plain, line).map_err(|error| error.kind()) {
            Ok(()) => {}
            Err(io::ErrorKind::BrokenPipe) => self.hearing = Hearing::Left,
            Err(kind) => self.hearing = Hearing::Failed(kind),
        }
    }
}

/// Writes one line.
fn put(to: &mut (dyn Write + Send), line: &str) -> io::Result<()> {
    writeln!(to, "{line}").and_then(|()| to.flush())
}

/// JSON leaves DEL, C1 controls and direction overrides raw; they can only stand inside its strings,
/// where an escape means the same.
fn safe_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        let mut one = [0; 4];
        let as_text: &str = c.encode_utf8(&mut one);
        if c.is_ascii() && c != '\u{7f}' || safe_text(as_text) == as_text {
            safe.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_means_the_same_and_hides_nothing() {
        let hostile = "a\u{1b}[2J\u{7f}\u{9b}31m\u{202e}x\u{e0041}\u{200b}ü\n";
        let value = serde_json::json!({ "key": hostile });
        let safe = safe_json(&value.to_string());
        assert_eq!(safe_text(&safe), safe, "nothing hidden is left");
        let back: serde_json::Value = serde_json::from_str(&safe).unwrap();
        assert_eq!(back["key"], hostile);
        assert!(safe.contains('ü'));
    }

    #[test]
    fn a_reader_that_left_is_no_crash() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let (mut plain, mut errors) = (Gone, Gone);
        let mut out = Out::new(&mut plain, &mut errors);
        out.line("x");
        out.complain("y");
        assert_eq!(out.hearing(), Hearing::Left);
    }

    #[test]
    fn one_line_stays_one_line() {
        let (mut plain, mut errors) = (Vec::new(), Vec::new());
        Out::new(&mut plain, &mut errors).line("a\nOK: nothing stuck\u{1b}[2J");
        assert_eq!(String::from_utf8(plain).unwrap(), "a⏎OK: nothing stuck␛[2J\n");
    }
}
