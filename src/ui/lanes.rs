//! A case on one page: the timeline in lanes, as a picture and as text to paste.
//!
//! Everything in a case may be hostile: what leaves here is escaped for where it goes.

pub mod markdown;
pub mod svg;

use crate::domain::lanes::{Entry, Lanes};

/// How many entries a page shows; the others are counted.
pub const SHOWN: usize = 200;

/// The time of an entry: `09:00:11.240Z`, or what stands for a time nobody knows.
pub fn time(entry: &Entry) -> String {
    match entry.at {
        Some(at) if at.format("%Y").to_string().len() > 4 => "far away".to_owned(),
        Some(at) => at.format("%H:%M:%S%.3fZ").to_string(),
        None => "no time".to_owned(),
    }
}

/// On which days a timeline lies: `2026-03-02`, or the first and the last.
pub fn days(lanes: &Lanes) -> Option<String> {
    let day = |entry: &Entry| entry.at.map(|at| at.format("%Y-%m-%d").to_string());
    let first = lanes.entries.iter().find_map(day)?;
    let last = lanes.entries.iter().rev().find_map(day)?;
    Some(if first == last { first } else { format!("{first} to {last}") })
}
