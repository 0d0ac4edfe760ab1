//! A case on one page: the timeline in lanes, as a picture and as text to paste.
//!
//! Everything in a case may be hostile: what leaves here is escaped for where it goes.

pub mod markdown;
pub mod svg;

use crate::domain::case::Case;
use crate::domain::lanes::{Entry, Lanes};
use crate::domain::triage::{Triage, Verdict};

/// How many entries a page shows; the others are counted.
pub const SHOWN: usize = 200;

/// What stands for a time no clock shows.
const FAR: &str = "far away";

/// The time of an entry: `09:00:11.240Z`, or what stands for a time nobody knows.
pub fn time(entry: &Entry) -> String {
    match entry.at {
        Some(at) if at.format("%Y").to_string().len() > 4 => FAR.to_owned(),
        Some(at) => at.format("%H:%M:%S%.3fZ").to_string(),
        None => "no time".to_owned(),
    }
}

/// The time of an entry, with its day where the timeline has several: `2026-03-02 09:00:11.240Z`.
pub fn stamp(lanes: &Lanes, entry: &Entry) -> String {
    match (ends(lanes), day(entry)) {
        (Some((first, last)), Some(day)) if first != last => format!("{day} {}", time(entry)),
        (Some(_) | None, Some(_) | None) => time(entry),
    }
}

/// On which days a timeline lies: `2026-03-02`, or the first and the last.
pub fn days(lanes: &Lanes) -> Option<String> {
    let (first, last) = ends(lanes)?;
    Some(if first == last { first } else { format!("{first} to {last}") })
}

/// The charges that stand, and "not known" where nobody told us of any: that is not "none".
pub fn standing(case: &Case, triage: &Triage) -> Vec<String> {
    let nobody_told = case.charges.is_none() && case.settlements.is_none();
    let sure = triage.verdict != Verdict::NotKnown && !nobody_told;
    match triage.charges.as_slice() {
        [] if sure => vec!["none".to_owned()],
        [] => vec!["not known".to_owned()],
        charges => charges.iter().map(ToString::to_string).collect(),
    }
}

fn ends(lanes: &Lanes) -> Option<(String, String)> {
    Some((lanes.entries.iter().find_map(day)?, lanes.entries.iter().rev().find_map(day)?))
}

/// The day of an entry; the end of time has none.
fn day(entry: &Entry) -> Option<String> {
    entry.at.filter(|_| time(entry) != FAR).map(|at| at.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests;
