//! One row, read column by column.

use chrono::DateTime;
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{Column, Decode, Row, Type as SqlType, TypeInfo, ValueRef};

use crate::domain::ids::RecordId;
use crate::domain::money::Money;
use crate::domain::port::StoreError;
use crate::domain::time::Instant;

/// 2000-01-01, where PostgreSQL counts from, in microseconds after 1970.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// A row and the file it answers for.
pub(in crate::store) struct Reader<'r> {
    file: &'r str,
    row: &'r PgRow,
}

impl<'r> Reader<'r> {
    pub(in crate::store) fn new(file: &'r str, row: &'r PgRow) -> Self {
        Self { file, row }
    }

    /// An error that names this file and `column`.
    pub(in crate::store) fn wrong(&self, column: &str, expected: &str, found: impl Into<String>) -> StoreError {
        StoreError::Contract {
            file: self.file.to_owned(),
            column: column.to_owned(),
            expected: expected.to_owned(),
            found: found.into(),
        }
    }

    /// What the server says the column is.
    fn found(&self, column: &str) -> String {
        let kind = self.row.columns().iter().find(|c| c.name() == column).map(|c| c.type_info().name());
        kind.map_or_else(|| "absent".to_owned(), str::to_ascii_lowercase)
    }

    fn maybe<T>(&self, column: &str, expected: &str) -> Result<Option<T>, StoreError>
    where
        T: Decode<'r, Postgres> + SqlType<Postgres>,
    {
        self.row.try_get::<Option<T>, _>(column).map_err(|error| {
            tracing::warn!(file = self.file, column, error = %error, "a column could not be read");
            let found = self.found(column);
            let found = if found == expected { format!("a {found} that cannot be read") } else { found };
            self.wrong(column, expected, found)
        })
    }

    fn must<T>(&self, column: &str, expected: &str, value: Option<T>) -> Result<T, StoreError> {
        value.ok_or_else(|| self.wrong(column, expected, "NULL"))
    }

    /// A text that may be absent.
    pub(in crate::store) fn text_maybe(&self, column: &str) -> Result<Option<String>, StoreError> {
        self.maybe(column, "text")
    }

    /// A text.
    pub(in crate::store) fn text(&self, column: &str) -> Result<String, StoreError> {
        self.must(column, "text", self.text_maybe(column)?)
    }

    /// A text as an id that may be absent.
    pub(in crate::store) fn id_maybe<T>(&self, column: &str, make: fn(String) -> T) -> Result<Option<T>, StoreError> {
        Ok(self.text_maybe(column)?.map(make))
    }

    /// A whole number that may be absent.
    pub(in crate::store) fn int_maybe(&self, column: &str) -> Result<Option<i64>, StoreError> {
        self.maybe(column, "int8")
    }

    /// A whole number.
    pub(in crate::store) fn int(&self, column: &str) -> Result<i64, StoreError> {
        self.must(column, "int8", self.int_maybe(column)?)
    }

    /// A small whole number that may be absent.
    pub(in crate::store) fn small_maybe(&self, column: &str) -> Result<Option<i32>, StoreError> {
        self.maybe(column, "int4")
    }

    /// A number of things: never negative.
    pub(in crate::store) fn count(&self, column: &str) -> Result<u64, StoreError> {
        let value = self.int(column)?;
        u64::try_from(value).map_err(|_| self.wrong(column, "a count", value.to_string()))
    }

    /// Yes or no.
    pub(in crate::store) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        self.must(column, "bool", self.maybe(column, "bool")?)
    }

    /// Milliseconds that may be absent, rounded down.
    pub(in crate::store) fn millis_maybe(&self, column: &str) -> Result<Option<u64>, StoreError> {
        let Some(value) = self.maybe::<f64>(column, "float8")? else {
            return Ok(None);
        };
        let length = std::time::Duration::try_from_secs_f64(value / 1000.0).ok();
        match length.and_then(|length| u64::try_from(length.as_millis()).ok()) {
            Some(millis) => Ok(Some(millis)),
            None => Err(self.wrong(column, "milliseconds", value.to_string())),
        }
    }

    /// A document that may be absent.
    pub(in crate::store) fn json_maybe(&self, column: &str) -> Result<Option<serde_json::Value>, StoreError> {
        self.maybe(column, "jsonb")
    }

    /// A document.
    pub(in crate::store) fn json(&self, column: &str) -> Result<serde_json::Value, StoreError> {
        self.must(column, "jsonb", self.json_maybe(column)?)
    }

    /// An instant that may be absent. PostgreSQL's range is wider than ours and has infinities, which
    /// the usual decoding panics at: so the microseconds are read as they are.
    pub(in crate::store) fn instant_maybe(&self, column: &str) -> Result<Option<Instant>, StoreError> {
        const EXPECTED: &str = "timestamptz";
        let value = self.row.try_get_raw(column).map_err(|_| self.wrong(column, EXPECTED, "absent"))?;
        if value.is_null() {
            return Ok(None);
        }
        if !value.type_info().name().eq_ignore_ascii_case(EXPECTED) {
            return Err(self.wrong(column, EXPECTED, self.found(column)));
        }
        let bytes = value.as_bytes().ok().and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
        let micros = bytes.map(i64::from_be_bytes);
        match micros {
            Some(micros) => Ok(Some(instant_of(micros))),
            None => Err(self.wrong(column, EXPECTED, "a time that cannot be read")),
        }
    }

    /// An instant.
    pub(in crate::store) fn instant(&self, column: &str) -> Result<Instant, StoreError> {
        self.must(column, "timestamptz", self.instant_maybe(column)?)
    }

    /// Money, when both amount and currency are there. An amount without a currency is not money.
    pub(in crate::store) fn money(&self) -> Result<Option<Money>, StoreError> {
        let (amount, currency) = (self.int_maybe("amount")?, self.text_maybe("currency")?);
        Ok(amount.zip(currency).map(|(minor, currency)| Money::new(minor, currency)))
    }

    /// Scope and key, both there.
    pub(in crate::store) fn record_id(&self) -> Result<RecordId, StoreError> {
        Ok(RecordId::new(self.text("scope")?, self.text("key")?))
    }
}

/// A server's microseconds since 2000 as an instant. `infinity` and years beyond ours are later, or earlier, than
/// everything, and are taken as just that: one odd row must not hide a whole list.
fn instant_of(micros: i64) -> Instant {
    let ends = if micros > 0 { Instant::MAX_UTC } else { Instant::MIN_UTC };
    match micros {
        i64::MAX | i64::MIN => ends,
        micros => micros.checked_add(EPOCH_MICROS).and_then(DateTime::from_timestamp_micros).unwrap_or(ends),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_is_the_end_of_time_and_no_error() {
        assert_eq!(instant_of(i64::MAX), Instant::MAX_UTC);
        assert_eq!(instant_of(i64::MIN), Instant::MIN_UTC);
        assert_eq!(instant_of(i64::MAX - 1), Instant::MAX_UTC);
        assert_eq!(instant_of(0).to_rfc3339(), "2000-01-01T00:00:00+00:00");
    }
}
