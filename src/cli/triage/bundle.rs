//! Evidence bundles: a whole case in one file, TOML or JSON. They come from anywhere, so they may hold anything.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde_json::{Number, Value};

use crate::domain::case::file::{self, FromFile, NoCase};
use strict::Strict;

mod strict;

/// The largest bundle that is read, in bytes. Ten thousand rows of a kind need less than a tenth of it.
pub const LARGEST: u64 = 64 * 1024 * 1024;

/// How many values, rows and lists a bundle may have, in all. Counted before it is read into memory: a million empty
/// rows are few bytes in a file and very many in memory.
pub const MOST_PIECES: usize = 1_000_000;

/// The longest explanation of a mistake, in characters: a parser likes to show the whole line.
const LONGEST_WHY: usize = 600;

/// Why a bundle was not judged.
#[derive(Debug, thiserror::Error)]
pub enum NoBundle {
    /// It cannot be opened or read.
    #[error("{file} cannot be read: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        why: std::io::Error,
    },
    /// A folder, a pipe, a device.
    #[error("{0} is not a file. To read from a pipe: unstuck triage --from -")]
    NoFile(String),
    /// It is larger than any case.
    #[error("the bundle is larger than {} MiB: cut it to the rows of one question", LARGEST / 1024 / 1024)]
    TooLarge,
    /// It is not UTF-8.
    #[error("the bundle is not text: byte {0} is not UTF-8")]
    NoText(usize),
    /// It is neither TOML nor JSON.
    #[error("the bundle is not a case: {0}")]
    NoDocument(String),
    /// A field holds something else than its name says, or there is too much of something.
    #[error(transparent)]
    NoCase(#[from] NoCase),
    /// There is more in it than in any case.
    #[error("the bundle has more than {MOST_PIECES} values: cut it to the rows of one question")]
    TooMuch,
}

/// Reads a bundle from a file, or from standard input when it is called `-`.
pub fn read(file: &Path) -> Result<FromFile, NoBundle> {
    let name = || file.display().to_string();
    let unreadable = |why| NoBundle::Unreadable { file: name(), why };
    let bytes = if file == Path::new("-") {
        limited(std::io::stdin().lock()).map_err(unreadable)?
    } else {
        let about = fs::metadata(file).map_err(unreadable)?;
        // Opening a pipe that nobody writes to would wait for ever.
        if !about.is_file() {
            return Err(NoBundle::NoFile(name()));
        }
        if about.len() > LARGEST {
            return Err(NoBundle::TooLarge);
        }
        limited(File::open(file).map_err(unreadable)?).map_err(unreadable)?
    };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LARGEST {
        return Err(NoBundle::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|error| NoBundle::NoText(error.utf8_error().valid_up_to()))?;
    parse(&text)
}

fn limited(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a case from its text: JSON when it begins like JSON, else TOML.
pub fn parse(text: &str) -> Result<FromFile, NoBundle> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if pieces(text) > MOST_PIECES {
        return Err(NoBundle::TooMuch);
    }
    let document = match Form::of(text) {
        Form::Json => serde_json::from_str(text).map(|Strict(document)| document).map_err(|why| not(&why))?,
        Form::Toml => {
            let table: toml::Table = toml::from_str(text).map_err(|why| not(&why))?;
            from_toml(toml::Value::Table(table)).map_err(|why| not(&why))?
        }
    };
    Ok(file::from_value(document)?)
}

fn not(why: &dyn std::fmt::Display) -> NoBundle {
    let why = why.to_string();
    let mut short: String = why.trim_end().chars().take(LONGEST_WHY).collect();
    if short.len() < why.trim_end().len() {
        short.push('…');
    }
    NoBundle::NoDocument(short)
}

/// At least as many as there are values: every one but the first follows one of these.
fn pieces(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'{' | b'[' | b',' | b'=')).count()
}

enum Form {
    Json,
    Toml,
}

impl Form {
    /// A TOML bundle never begins with a brace; it may begin with `[[request]]`, which no JSON does.
    fn of(text: &str) -> Self {
        let start = text.trim_start();
        let list = start.strip_prefix('[').map(str::trim_start);
        let json_list = list.is_some_and(|rest| rest.starts_with(['{', ']', '"', '-']));
        if start.starts_with('{') || json_list { Self::Json } else { Self::Toml }
    }
}

/// The same document; times may stand without quotes in TOML, and lose nothing by getting them.
fn from_toml(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => {
            Number::from_f64(number).map(Value::Number).ok_or_else(|| format!("{number} is not a number"))?
        }
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(at) => Value::String(at.to_string()),
        toml::Value::Array(all) => Value::Array(all.into_iter().map(from_toml).collect::<Result<_, _>>()?),
        toml::Value::Table(all) => Value::Object(
            all.into_iter().map(|(name, value)| Ok((name, from_toml(value)?))).collect::<Result<_, String>>()?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::case::Case;

    fn case(text: &str) -> Case {
        parse(text).expect("a case").case
    }

    #[test]
    fn both_forms_and_both_ways_to_write_a_time_are_read() {
        let toml = "now = 2026-03-02T10:00:00Z\n[[charge]]\nref = \"ch_1\"\ncreated_at = 2026-03-02 11:00:12+02:00\n";
        let quoted = "\u{feff}now = \"2026-03-02T10:00:00Z\"\n[[charge]]\nref = \"ch_1\"\ncreated_at = \"2026-03-02T09:00:12Z\"\n";
        let json =
            r#" {"now": "2026-03-02T10:00:00Z", "charge": [{"ref": "ch_1", "created_at": "2026-03-02T09:00:12Z"}]}"#;
        let [toml, quoted, json] = [toml, quoted, json].map(case);
        assert_eq!(toml, quoted);
        assert_eq!(toml, json);
        assert_eq!(case(&file::to_json(&json).expect("json")), json);
        assert!(parse("[[request]]\nkey = \"k\"\n").is_ok());
        assert!(parse("[ [ request ] ]\n").is_err() && parse("charge = []\n").is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text: &str| parse(text).expect_err("no case").to_string();
        assert!(said("").contains("empty"));
        assert!(said("about = \"x\"").contains("empty"));
        let wrong = said("[[charge]]\nref = \"a\"\namount = \"many\"\n");
        assert!(wrong.contains("[[charge]] row 1, field amount"), "{wrong}");
        assert!(said("now = 2026-03-02T10:00:00\n[[charge]]\n").contains("a time with its zone"));
        assert!(said("now = 2026-03-02\n[[charge]]\n").contains("a time with its zone"));
        for nan in ["nan", "-nan", "inf", "-inf"] {
            assert!(said(&format!("[[charge]]\namount = {nan}\n")).contains("is not a number"), "{nan}");
        }
        assert!(said(r#"{"charge": [{"amount": NaN}]}"#).contains("not a case"));
        assert!(said("[{}]").contains("found a list"));
        assert!(said("{}").contains("empty"));
        assert!(said(r#"{"charge": [{"ref": "a"}], "charge": []}"#).contains("\"charge\" stands twice"));
        assert!(said("charge = []\n[[charge]]\n").contains("not a case"));
        let deep = "[".repeat(100_000);
        for start in ["", "{\"charge\": ", "charge = ", "{\"unknown\": "] {
            assert!(said(&format!("{start}{deep}")).contains("not a case"), "{start}");
        }
        assert!(said("[[charge]]\namount = 99999999999999999999\n").contains("not a case"));
        let many = "[[charge]]\n".repeat(file::MOST_ROWS + 1);
        assert!(said(&many).contains("10001 rows of [[charge]]"));
        assert!(said(&"[[charge]]\n".repeat(MOST_PIECES)).contains("more than 1000000 values"));
        let line = format!("about = {}", "x".repeat(1_000_000));
        assert!(said(&line).len() < 4_000, "a mistake is shown in short");
    }

    #[test]
    fn dates_at_both_ends_of_time_are_read() {
        let text = "[[charge]]\nref = \"a\"\ncreated_at = \"9999-12-31T23:59:59Z\"\n[[charge]]\nref = \"b\"\ncreated_at = \"-9999-01-01T00:00:00Z\"\n";
        let case = case(text);
        let _ = crate::domain::triage::judge(&case);
        let _ = crate::ui::lanes::svg::svg(&crate::domain::lanes::Lanes::of(&case), "t", "s");
    }

    proptest! {
        #[test]
        fn no_text_is_a_crash(text in ".{0,400}") {
            let _ = parse(&text);
        }

        #[test]
        fn no_damage_to_a_bundle_is_a_crash(at in 0_usize..2_000, with in any::<char>()) {
            let whole = include_str!("../../../tests/fixtures/triage/own/leak-without-a-charge.toml");
            let damaged: String = whole.chars().enumerate().map(|(nth, c)| if nth == at { with } else { c }).collect();
            if let Ok(read) = parse(&damaged) {
                let _ = crate::domain::triage::judge(&read.case);
            }
        }
    }
}
