//! One table of a declared file: typed values with their places, and the keys nobody knows.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::domain::time::Seconds;

use super::{Placed, Reading, is_near, length};

/// One table of a file. Every key has to be asked for; [`Section::close`] reports those that were not.
#[derive(Debug)]
pub struct Section<'r> {
    reading: &'r Reading<'r>,
    path: String,
    place: Range<usize>,
    entries: BTreeMap<String, (Range<usize>, Spanned<DeValue<'r>>)>,
    asked: Vec<&'static str>,
}

impl<'r> Section<'r> {
    pub(super) fn new(reading: &'r Reading<'r>, path: String, place: Range<usize>, table: DeTable<'r>) -> Self {
        let entries = table
            .into_iter()
            .map(|(key, value)| {
                let at = key.span();
                (key.into_inner().into_owned(), (at, value))
            })
            .collect();
        Self { reading, path, place, entries, asked: Vec::new() }
    }

    /// Where the section stands.
    pub fn place(&self) -> Range<usize> {
        self.place.clone()
    }

    /// Notes a mistake at a place of this file.
    pub fn wrong(&self, at: &Range<usize>, what: impl Into<String>) {
        self.reading.wrong(at, what);
    }

    fn full(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'r>>> {
        self.asked.push(key);
        self.entries.remove(key).map(|(_, value)| value)
    }

    /// A value that must be of a kind; `read` returns `None` when it is not.
    fn typed<T>(
        &mut self,
        key: &'static str,
        kind: &str,
        read: impl FnOnce(&DeValue<'r>) -> Option<T>,
    ) -> Option<Placed<T>> {
        let value = self.take(key)?;
        let read = read(value.get_ref());
        if read.is_none() {
            let what = format!("`{}` must be {kind}, not {}", self.full(key), value.get_ref().type_str());
            self.wrong(&value.span(), what);
        }
        read.map(|read| Spanned::new(value.span(), read))
    }

    /// A text.
    pub fn text(&mut self, key: &'static str) -> Option<Placed<String>> {
        self.typed(key, "a text in quotes", |value| value.as_str().map(str::to_owned))
    }

    /// Notes a mistake when a key is not there.
    pub fn require(&self, key: &str) {
        if !self.entries.contains_key(key) {
            let what = format!("`{}` is missing", self.full(key));
            self.wrong(&self.place(), what);
        }
    }

    /// A text that must be there.
    pub fn required(&mut self, key: &'static str) -> Option<Placed<String>> {
        self.require(key);
        self.text(key)
    }

    /// A text that `parse` understands; its error says what would be right.
    pub fn parsed<T>(&mut self, key: &'static str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<Placed<T>> {
        let text = self.text(key)?;
        match parse(text.get_ref()) {
            Ok(value) => Some(Spanned::new(text.span(), value)),
            Err(why) => {
                let what = format!("`{}`: {why}", self.full(key));
                self.wrong(&text.span(), what);
                None
            }
        }
    }

    /// A length of time in words, such as "5m": whole seconds.
    pub fn length(&mut self, key: &'static str) -> Option<Placed<Seconds>> {
        self.parsed(key, length)
    }

    /// A whole number, not negative.
    pub fn number(&mut self, key: &'static str) -> Option<Placed<u64>> {
        self.typed(key, "a whole number, not negative", |value| {
            let number = value.as_integer()?;
            u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        })
    }

    /// Several texts.
    pub fn texts(&mut self, key: &'static str) -> Option<Placed<Vec<String>>> {
        self.typed(key, "a list of texts", |value| {
            value.as_array()?.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        })
    }

    /// A table below this one.
    pub fn section(&mut self, key: &'static str) -> Option<Section<'r>> {
        let value = self.take(key)?;
        self.below(key, value)
    }

    fn below(&self, key: &str, value: Spanned<DeValue<'r>>) -> Option<Section<'r>> {
        let place = value.span();
        let path = self.full(key);
        if let DeValue::Table(table) = value.into_inner() {
            Some(Section::new(self.reading, path, place, table))
        } else {
            self.wrong(&place, format!("`{path}` must be a table: [{path}]"));
            None
        }
    }

    /// A list of tables: `[[key]]`.
    pub fn sections(&mut self, key: &'static str) -> Vec<Section<'r>> {
        let Some(value) = self.take(key) else {
            return Vec::new();
        };
        let place = value.span();
        let path = self.full(key);
        if let DeValue::Array(items) = value.into_inner() {
            items.into_iter().filter_map(|item| self.below(key, item)).collect()
        } else {
            self.wrong(&place, format!("`{path}` must be a list of tables: [[{path}]]"));
            Vec::new()
        }
    }

    /// Every table below this one, by its own name: for sections whose keys are names people choose.
    pub fn named_sections(mut self) -> Vec<(Placed<String>, Section<'r>)> {
        let entries = std::mem::take(&mut self.entries);
        entries
            .into_iter()
            .filter_map(|(key, (at, value))| {
                let section = self.below(&key, value)?;
                Some((Spanned::new(at, key), section))
            })
            .collect()
    }

    /// Every key of this section that is left, for sections whose keys are checked by the caller.
    pub fn rest_numbers(&mut self) -> Vec<(Placed<String>, u64)> {
        let entries = std::mem::take(&mut self.entries);
        let mut numbers = Vec::new();
        for (key, (at, value)) in entries {
            let number = value
                .get_ref()
                .as_integer()
                .and_then(|number| u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok());
            if let Some(number) = number {
                numbers.push((Spanned::new(at, key), number));
            } else {
                let what = format!("`{}` must be a whole number, not negative", self.full(&key));
                self.wrong(&value.span(), what);
            }
        }
        numbers
    }

    /// Reports the keys nobody asked for.
    pub fn close(self) {
        for (key, (at, _)) in &self.entries {
            let near = self.asked.iter().find(|asked| is_near(asked, key)).map_or_else(
                || format!("known here: {}", self.asked.join(", ")),
                |asked| format!("did you mean `{asked}`?"),
            );
            let place =
                if self.path.is_empty() { "at the top of the file".to_owned() } else { format!("in [{}]", self.path) };
            self.wrong(at, format!("unknown key `{key}` {place}; {near}"));
        }
    }
}
