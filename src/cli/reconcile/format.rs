//! The forms of settlement reports, in one list. Columns are found by their names, never by their places.

use csv::StringRecord;

use super::line::Item;

mod adyen;
mod generic;
mod paypal;
mod stripe;

/// How a provider writes its reports.
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// The columns without which it is another report.
    pub columns: &'static [&'static str],
    /// Whether a record names the columns.
    pub is_head: fn(&StringRecord) -> Head,
    /// Reads a record below the head.
    pub read: fn(&Row<'_>) -> Result<Item, String>,
}

/// What a record is before the columns are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// It names the columns.
    Yes,
    /// It stands above them.
    NotYet,
}

/// Every form.
pub const FORMATS: &[Format] = &[stripe::FORMAT, adyen::FORMAT, paypal::FORMAT, generic::FORMAT];

/// A record and the names of its columns.
pub struct Row<'r> {
    /// The names, as the head has them.
    pub names: &'r [String],
    /// The record.
    pub record: &'r StringRecord,
}

impl Row<'_> {
    /// A field by the name of its column; empty when the report has no such column.
    pub fn get(&self, name: &str) -> &str {
        let place = self.names.iter().position(|known| known.eq_ignore_ascii_case(name));
        place.and_then(|place| self.record.get(place)).unwrap_or("").trim()
    }

    /// A field that may be empty.
    pub fn maybe(&self, name: &str) -> Option<String> {
        Some(self.get(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

/// Most reports name their columns in their first record that is not empty.
fn first_record(record: &StringRecord) -> Head {
    if record.iter().any(|field| !field.trim().is_empty()) { Head::Yes } else { Head::NotYet }
}
