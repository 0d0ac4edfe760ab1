//! Evidence bundles: a whole case in one file, TOML or JSON. They come from anywhere, so they may hold anything.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::Deserialize as _;

use crate::domain::case::Case;

/// The largest bundle that is read, in bytes. Ten thousand rows of each kind need less than a tenth of it.
pub const LARGEST: u64 = 64 * 1024 * 1024;

/// How many rows of one kind are judged: five hundred is a customer nobody has seen yet.
pub const MOST_ROWS: usize = 10_000;

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
    /// It says nothing.
    #[error("the bundle is empty: it has not one row of evidence")]
    Empty,
    /// It is neither TOML nor JSON, or a field holds something else than its name says.
    #[error("the bundle is not a case: {0}")]
    NoCase(String),
    /// There are too many rows of a kind.
    #[error("the bundle has {rows} rows of [[{table}]], and at most {MOST_ROWS} are judged: cut it to one question")]
    TooMany {
        /// The table.
        table: &'static str,
        /// How many rows it has.
        rows: usize,
    },
}

/// Reads a bundle from a file, or from standard input when it is called `-`.
pub fn read(file: &Path) -> Result<Case, NoBundle> {
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

/// Reads a case from its text.
pub fn parse(text: &str) -> Result<Case, NoBundle> {
    let text = text.trim_start_matches('\u{feff}');
    let case: Case = if text.trim_start().starts_with(['{', '[']) && serde_looks_like_json(text) {
        serde_json::from_str(text).map_err(|error| NoBundle::NoCase(error.to_string()))?
    } else {
        from_toml(text)?
    };
    bounded(case)
}

/// A TOML bundle may begin with `[[request]]`, which JSON never does.
fn serde_looks_like_json(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('{') || !start.starts_with("[[") && !start.get(1..).unwrap_or("").starts_with(char::is_alphabetic)
}

fn from_toml(text: &str) -> Result<Case, NoBundle> {
    let direct = match toml::from_str::<Case>(text) {
        Ok(case) => return Ok(case),
        Err(error) => error,
    };
    // Times may also stand without quotes.
    let quoted = toml::from_str::<toml::Table>(text).map(|mut table| {
        table.iter_mut().for_each(|(_, value)| quote_times(value));
        Case::deserialize(table)
    });
    match quoted {
        Ok(Ok(case)) => Ok(case),
        Ok(Err(_)) | Err(_) => Err(NoBundle::NoCase(direct.to_string().trim_end().to_owned())),
    }
}

fn quote_times(value: &mut toml::Value) {
    match value {
        toml::Value::Datetime(at) => *value = toml::Value::String(at.to_string()),
        toml::Value::Array(all) => all.iter_mut().for_each(quote_times),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| quote_times(value)),
        toml::Value::String(_) | toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {}
    }
}

fn bounded(case: Case) -> Result<Case, NoBundle> {
    let tables = [
        ("request", case.requests.as_ref().map(Vec::len)),
        ("record", case.records.as_ref().map(Vec::len)),
        ("payment", case.payments.as_ref().map(Vec::len)),
        ("transition", case.transitions.as_ref().map(Vec::len)),
        ("charge", case.charges.as_ref().map(Vec::len)),
        ("webhook", case.webhooks.as_ref().map(Vec::len)),
        ("settlement", case.settlements.as_ref().map(Vec::len)),
    ];
    if tables.iter().all(|(_, rows)| rows.is_none()) {
        return Err(NoBundle::Empty);
    }
    for (table, rows) in tables {
        let rows = rows.unwrap_or(0);
        if rows > MOST_ROWS {
            return Err(NoBundle::TooMany { table, rows });
        }
    }
    Ok(case)
}

/// The text of a bundle, customers masked. The same case gives the same text.
pub fn write(case: &Case) -> String {
    let masked = case.clone().masked();
    serde_json::to_string_pretty(&masked).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_and_both_ways_to_write_a_time_are_read() {
        let toml = "now = 2026-03-02T10:00:00Z\n[[charge]]\nref = \"ch_1\"\ncreated_at = 2026-03-02T09:00:12Z\n";
        let quoted = "\u{feff}now = \"2026-03-02T10:00:00Z\"\n[[charge]]\nref = \"ch_1\"\ncreated_at = \"2026-03-02T09:00:12Z\"\n";
        let json =
            r#" {"now": "2026-03-02T10:00:00Z", "charge": [{"ref": "ch_1", "created_at": "2026-03-02T09:00:12Z"}]}"#;
        let [toml, quoted, json] = [toml, quoted, json].map(|text| parse(text).expect("a case"));
        assert_eq!(toml, quoted);
        assert_eq!(toml, json);
        assert_eq!(parse(&write(&json)).expect("a case"), json);
        assert!(parse("[[request]]\nkey = \"k\"\n").is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |text: &str| parse(text).expect_err("no case").to_string();
        assert!(said("").contains("empty"));
        assert!(said("about = \"x\"").contains("empty"));
        let wrong = said("[[charge]]\nref = \"a\"\namount = \"many\"\n");
        assert!(wrong.contains("line 3") && wrong.contains("amount") && wrong.contains("i64"), "{wrong}");
        assert!(said(r#"{"charge": [{"amount": 1.5}]}"#).contains("1.5"));
        assert!(said(r#"{"charge": 7}"#).contains("line 1"));
        assert!(said(&"[".repeat(100_000)).contains("not a case"));
        assert!(said(&format!("{{\"charge\": {}", "[".repeat(100_000))).contains("not a case"));
        assert!(said("[[charge]]\namount = 99999999999999999999\n").contains("not a case"));
        assert!(said("now = \"the day after\"\n[[charge]]\n").contains("not a case"));
        let many = "[[charge]]\n".repeat(MOST_ROWS + 1);
        assert!(said(&many).contains("10001 rows of [[charge]]"));
    }

    #[test]
    fn dates_at_both_ends_of_time_are_read() {
        let text = "[[charge]]\nref = \"a\"\ncreated_at = \"9999-12-31T23:59:59Z\"\n[[charge]]\nref = \"b\"\ncreated_at = \"-9999-01-01T00:00:00Z\"\n";
        let case = parse(text).expect("a case");
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
            if let Ok(case) = parse(&damaged) {
                let _ = crate::domain::triage::judge(&case);
            }
        }
    }
}
