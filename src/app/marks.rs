//! Marks: records a person chose, each at the version that was seen. They outlive polls, sorting and filters.
//!
//! A mark is never moved to another version or another row: one whose record changed or left is said to be so,
//! and stays until a person takes it away.

use super::picture::Picture;
use crate::domain::ids::{RecordId, Target};
use crate::domain::money::{Money, Totals};
use crate::domain::record::Record;

/// The most marks: as many as can be looked up in one go.
pub const MOST: usize = 25;

/// One mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The record at the version that was marked.
    pub target: Target,
    /// Its amount, when it was marked.
    pub money: Option<Money>,
}

/// How a mark stands against the picture on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The record is as it was marked.
    Same,
    /// The record has another version.
    Changed,
    /// The record is on neither list any more.
    Gone,
    /// A list could not be read.
    NotKnown,
}

/// What became of a wish to mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toggled {
    /// It is marked.
    Marked,
    /// It is no longer marked.
    Unmarked,
    /// It is no longer marked, and had changed since it was.
    UnmarkedChanged,
    /// There are as many marks as there may be.
    Full,
}

/// All marks, in the order they were made.
#[derive(Debug, Default)]
pub struct Marks(Vec<Mark>);

impl Marks {
    /// Marks a record as it is, or takes its mark away.
    pub fn toggle(&mut self, record: &Record) -> Toggled {
        if let Some(mark) = self.of(&record.id) {
            let changed = mark.target.version != record.version;
            self.remove(&record.id);
            return if changed { Toggled::UnmarkedChanged } else { Toggled::Unmarked };
        }
        if self.0.len() >= MOST {
            return Toggled::Full;
        }
        self.0.push(Mark { target: record.target(), money: record.money.clone() });
        Toggled::Marked
    }

    /// The mark of a record.
    pub fn of(&self, id: &RecordId) -> Option<&Mark> {
        self.0.iter().find(|mark| mark.target.id == *id)
    }

    /// Takes one mark away.
    pub fn remove(&mut self, id: &RecordId) {
        self.0.retain(|mark| mark.target.id != *id);
    }

    /// Takes all marks away; how many there were.
    pub fn clear(&mut self) -> usize {
        std::mem::take(&mut self.0).len()
    }

    /// Every mark.
    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sums of the amounts, currency by currency.
    pub fn totals(&self) -> Totals {
        self.0.iter().filter_map(|mark| mark.money.clone()).collect()
    }

    /// How many have an amount that is not known.
    pub fn unpriced(&self) -> usize {
        self.0.iter().filter(|mark| mark.money.is_none()).count()
    }

    /// How many marks stand so.
    pub fn count(&self, standing: Standing, picture: &Picture) -> usize {
        self.0.iter().filter(|mark| mark.standing(picture) == standing).count()
    }
}

impl Mark {
    /// How it stands against the picture.
    pub fn standing(&self, picture: &Picture) -> Standing {
        match picture.record(&self.target.id) {
            Some(record) if record.version == self.target.version => Standing::Same,
            Some(_) => Standing::Changed,
            None => {
                let read = picture.snapshot().is_some_and(|s| s.stuck.value().is_some() && s.unknown.value().is_some());
                if read { Standing::Gone } else { Standing::NotKnown }
            }
        }
    }
}
