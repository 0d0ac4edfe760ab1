//! A case as a document: which tables and fields there are, what each holds, and what is wrong with one that does not.
//!
//! Documents come from anywhere. A field that holds something else is an error that names its table, row and field;
//! a name nobody knows is passed over and told, because a source that is misspelt would count as one we do not have.

use std::fmt;

use serde_json::{Map, Value};

use super::Case;
use crate::domain::time::Instant;

/// How many rows of one table are judged: five hundred is a customer nobody has seen yet.
pub const MOST_ROWS: usize = 10_000;

/// How long one text may be, in bytes. Ids, words and sentences are far below it.
pub const LONGEST_TEXT: usize = 16 * 1024;

/// How many unknown names are told one by one.
const TOLD: usize = 20;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Time,
    Amount,
    Count,
    Code,
    Truth,
}

impl Kind {
    fn expected(self) -> &'static str {
        match self {
            Self::Text => "text in quotes",
            Self::Time => "a time with its zone, as 2026-03-02T09:00:00Z",
            Self::Amount => "a whole number of minor units",
            Self::Count => "a whole number, not negative",
            Self::Code => "an HTTP status, as 201",
            Self::Truth => "true or false",
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Time => value.as_str().is_some_and(|text| text.parse::<Instant>().is_ok()),
            Self::Amount => value.is_i64(),
            Self::Count => value.as_u64().is_some_and(|count| u32::try_from(count).is_ok()),
            Self::Code => value.as_u64().is_some_and(|code| u16::try_from(code).is_ok()),
            Self::Truth => value.is_boolean(),
        }
    }
}

type Fields = &'static [(&'static str, Kind)];

/// What stands outside the tables.
const HEAD: Fields = &[
    ("about", Kind::Text),
    ("asked", Kind::Text),
    ("now", Kind::Time),
    ("retention_hours", Kind::Count),
    ("retention_s", Kind::Count),
];

/// What an export of the console says about itself. It is no evidence.
const OPEN: (&str, Fields) = ("not_asked", &[("scope", Kind::Text), ("key", Kind::Text)]);

/// The list of sources that were cut.
const CUT: &str = "cut";

/// The tables, each with its fields.
const TABLES: &[(&str, Fields)] = &[
    (
        "request",
        &[
            ("at", Kind::Time),
            ("scope", Kind::Text),
            ("key", Kind::Text),
            ("method", Kind::Text),
            ("path", Kind::Text),
            ("order", Kind::Text),
            ("amount", Kind::Amount),
            ("currency", Kind::Text),
            ("fingerprint", Kind::Text),
            ("status", Kind::Code),
            ("replayed", Kind::Truth),
            ("answered_scope", Kind::Text),
            ("answered_payment", Kind::Text),
        ],
    ),
    (
        "record",
        &[
            ("scope", Kind::Text),
            ("key", Kind::Text),
            ("fingerprint", Kind::Text),
            ("status", Kind::Text),
            ("recovery_point", Kind::Text),
            ("locked_until", Kind::Time),
            ("attempt", Kind::Count),
            ("response_code", Kind::Code),
            ("provider_ref", Kind::Text),
            ("created_at", Kind::Time),
        ],
    ),
    (
        "payment",
        &[
            ("id", Kind::Text),
            ("order", Kind::Text),
            ("scope", Kind::Text),
            ("key", Kind::Text),
            ("customer", Kind::Text),
            ("status", Kind::Text),
            ("amount", Kind::Amount),
            ("currency", Kind::Text),
            ("provider", Kind::Text),
            ("provider_ref", Kind::Text),
            ("created_at", Kind::Time),
            ("updated_at", Kind::Time),
        ],
    ),
    (
        "transition",
        &[("payment", Kind::Text), ("from", Kind::Text), ("to", Kind::Text), ("at", Kind::Time), ("by", Kind::Text)],
    ),
    (
        "charge",
        &[
            ("ref", Kind::Text),
            ("reference", Kind::Text),
            ("provider_key", Kind::Text),
            ("class", Kind::Text),
            ("amount", Kind::Amount),
            ("captured", Kind::Amount),
            ("refunded", Kind::Amount),
            ("currency", Kind::Text),
            ("created_at", Kind::Time),
        ],
    ),
    (
        "webhook",
        &[
            ("event", Kind::Text),
            ("type", Kind::Text),
            ("ref", Kind::Text),
            ("at", Kind::Time),
            ("applied_at", Kind::Time),
            ("times_applied", Kind::Count),
        ],
    ),
    (
        "settlement",
        &[
            ("ref", Kind::Text),
            ("type", Kind::Text),
            ("amount", Kind::Amount),
            ("currency", Kind::Text),
            ("at", Kind::Time),
        ],
    ),
];

/// A case, and which names of its document nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromFile {
    /// The case.
    pub case: Case,
    /// What was passed over, in sentences.
    pub passed_over: Vec<String>,
}

/// Why a document is no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCase {
    /// It has not one table of evidence.
    #[error(
        "the bundle is empty: it has not one table of evidence ([[request]], [[payment]], [[charge]], …){0}",
        hint(.passed_over)
    )]
    Empty {
        /// What was passed over: a misspelt table, perhaps.
        passed_over: Vec<String>,
    },
    /// Something holds something else than its name says.
    #[error("{place}: expected {expected}, found {found}")]
    Wrong {
        /// Table, row (counted from 1) and field.
        place: Place,
        /// What belongs there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A text is longer than any id or sentence.
    #[error("{place}: the text is {bytes} bytes long, and at most {LONGEST_TEXT} are read")]
    TooLong {
        /// Table, row (counted from 1) and field.
        place: Place,
        /// How long it is.
        bytes: usize,
    },
    /// There are too many rows of a kind.
    #[error("the bundle has {rows} rows of [[{table}]], and at most {MOST_ROWS} are judged: cut it to one question")]
    TooMany {
        /// The table.
        table: &'static str,
        /// How many rows it has.
        rows: usize,
    },
}

fn hint(passed_over: &[String]) -> String {
    passed_over.first().map(|said| format!(". {said}")).unwrap_or_default()
}

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    table: Option<&'static str>,
    row: Option<usize>,
    field: Option<&'static str>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.table, self.row, self.field) {
            (Some(table), Some(row), Some(field)) => write!(f, "[[{table}]] row {row}, field {field}"),
            (Some(table), Some(row), None) => write!(f, "[[{table}]] row {row}"),
            (Some(table), None, _) => write!(f, "[[{table}]]"),
            (None, _, Some(field)) => write!(f, "field {field}"),
            (None, _, None) => f.write_str("the whole document"),
        }
    }
}

/// Reads a case from a document.
pub fn from_value(document: Value) -> Result<FromFile, NoCase> {
    let mut passed = Passed::default();
    let Value::Object(mut left) = document else {
        return Err(wrong(Place::default(), "tables by name", &document));
    };
    let mut checked = Map::new();
    for (name, kind) in HEAD {
        if let Some(value) = left.remove(*name) {
            let place = Place { field: Some(name), ..Place::default() };
            checked.insert((*name).to_owned(), field(value, *kind, place)?);
        }
    }
    let mut tables = 0_usize;
    for (table, fields) in TABLES {
        match left.remove(*table) {
            None | Some(Value::Null) => {}
            Some(rows) => {
                tables = tables.saturating_add(1);
                checked.insert((*table).to_owned(), rows_of(rows, table, fields, &mut passed)?);
            }
        }
    }
    let (open, fields) = OPEN;
    if let Some(rows) = left.remove(open).filter(|rows| !rows.is_null()) {
        let rows = rows_of(rows, open, fields, &mut passed)?;
        let half = |row: &Value| fields.iter().any(|(name, _)| !row[name].is_string());
        if let Some(nth) = rows.as_array().and_then(|rows| rows.iter().position(half)) {
            let place = Place { table: Some(open), row: nth.checked_add(1), field: None };
            return Err(NoCase::Wrong { place, expected: "scope and key", found: "one of them".to_owned() });
        }
        checked.insert(open.to_owned(), rows);
    }
    if let Some(said) = left.remove(CUT).filter(|said| !said.is_null()) {
        let place = Place { field: Some(CUT), ..Place::default() };
        let Value::Array(said) = said else { return Err(wrong(place, "a list of texts", &said)) };
        let said: Result<Vec<Value>, NoCase> = said
            .into_iter()
            .take(MOST_ROWS)
            .map(|one| if one.is_string() { field(one, Kind::Text, place) } else { Err(wrong(place, "texts", &one)) })
            .collect();
        checked.insert(CUT.to_owned(), Value::Array(said?));
    }
    // The right answer of a test: not evidence.
    left.remove("expect");
    left.keys().for_each(|name| passed.over(Place::default(), name));
    let passed_over = passed.said();
    if tables == 0 {
        return Err(NoCase::Empty { passed_over });
    }
    let document = Value::Object(checked);
    let case = serde_json::from_value(document).map_err(|error| NoCase::Wrong {
        place: Place::default(),
        expected: "a case",
        found: error.to_string(),
    })?;
    Ok(FromFile { case, passed_over })
}

fn rows_of(rows: Value, table: &'static str, fields: Fields, passed: &mut Passed) -> Result<Value, NoCase> {
    let place = Place { table: Some(table), ..Place::default() };
    let Value::Array(rows) = rows else { return Err(wrong(place, "a list of rows", &rows)) };
    if rows.len() > MOST_ROWS {
        return Err(NoCase::TooMany { table, rows: rows.len() });
    }
    let mut checked = Vec::with_capacity(rows.len());
    for (nth, row) in (1_usize..).zip(rows) {
        let place = Place { row: Some(nth), ..place };
        let Value::Object(mut left) = row else { return Err(wrong(place, "a row of named fields", &row)) };
        let mut kept = Map::new();
        for (name, kind) in fields {
            if let Some(value) = left.remove(*name) {
                kept.insert((*name).to_owned(), field(value, *kind, Place { field: Some(name), ..place })?);
            }
        }
        left.keys().for_each(|name| passed.over(place, name));
        checked.push(Value::Object(kept));
    }
    Ok(Value::Array(checked))
}

fn field(value: Value, kind: Kind, place: Place) -> Result<Value, NoCase> {
    if let Some(text) = value.as_str()
        && text.len() > LONGEST_TEXT
    {
        return Err(NoCase::TooLong { place, bytes: text.len() });
    }
    if value.is_null() || kind.fits(&value) { Ok(value) } else { Err(wrong(place, kind.expected(), &value)) }
}

fn wrong(place: Place, expected: &'static str, found: &Value) -> NoCase {
    let found = match found {
        Value::Null => "nothing".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text \"{}\"", short(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    };
    NoCase::Wrong { place, expected, found }
}

/// The beginning of a text: whole documents do not belong into a sentence.
fn short(text: &str) -> String {
    let mut start: String = text.chars().take(40).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// Names that nobody knows.
#[derive(Default)]
struct Passed {
    told: Vec<String>,
    more: usize,
}

impl Passed {
    fn over(&mut self, place: Place, name: &str) {
        if self.told.len() < TOLD {
            self.told.push(format!("Passed over: {place} has {}, which no case has.", short(name)));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn said(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("Passed over: {} more names.", self.more));
        }
        self.told
    }
}

/// The case as JSON, customers masked. The same case gives the same text, and it ends with a line end.
pub fn to_json(case: &Case) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&case.clone().masked()).map(|text| text + "\n")
}

#[cfg(test)]
mod tests;
