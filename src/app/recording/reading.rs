//! Reading: a line becomes an event. A file is whatever somebody put there: nothing in it is trusted, and
//! what cannot be read ends the recording with a sentence.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Event, FORMAT, Header, LONGEST_PICTURE, VERSION, patch};
use crate::domain::time::Instant;

/// Most bytes of changes between two whole pictures.
const PATCHED: usize = LONGEST_PICTURE * 4;

/// What the first line came to.
#[derive(Debug)]
pub enum Head {
    /// A recording that can be played.
    Ours(Box<Header>),
    /// Not a recording.
    Other,
    /// A recording of a later version of the format, by that version of `unstuck`.
    Newer(u32, String),
    /// A recording whose first line is damaged.
    Damaged(String),
}

/// Reads the first line.
pub fn head(line: &[u8]) -> Head {
    #[derive(Deserialize)]
    struct Any {
        format: String,
        version: u32,
        #[serde(default)]
        tool: String,
    }
    match serde_json::from_slice::<Any>(line) {
        Ok(any) if any.format != FORMAT => Head::Other,
        Ok(any) if any.version > VERSION => Head::Newer(any.version, any.tool),
        Ok(_) => match serde_json::from_slice(line) {
            Ok(header) => Head::Ours(Box::new(header)),
            Err(error) => Head::Damaged(error.to_string()),
        },
        Err(_) => Head::Other,
    }
}

/// What can be told of a line without reading it whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stub {
    /// Milliseconds since the start.
    pub ms: u64,
    /// Whether it is the mark that nothing is missing.
    pub is_end: bool,
}

/// Reads as much of a line as is needed to count it; `None` when it is no line of a recording.
pub fn stub(line: &[u8]) -> Option<Stub> {
    #[derive(Deserialize)]
    struct Line<'l> {
        ms: u64,
        #[serde(borrow)]
        event: &'l RawValue,
    }
    let line: Line<'_> = serde_json::from_slice(line).ok()?;
    Some(Stub { ms: line.ms, is_end: line.event.get() == "\"end\"" })
}

/// What a reader remembers from line to line.
#[derive(Debug, Default)]
pub struct Reading {
    picture: Option<Value>,
    patched: usize,
}

#[derive(Deserialize)]
struct Line {
    ms: u64,
    #[serde(default)]
    against: Against,
    event: Value,
}

#[derive(Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Against {
    #[default]
    Nothing,
    Last,
}

impl Reading {
    /// The event of a line, and its milliseconds since the start.
    ///
    /// # Errors
    /// In a few words: what is wrong with the line.
    pub fn line(&mut self, line: &[u8]) -> Result<(u64, Event), String> {
        let Line { ms, against, mut event } = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if let Some(picture) = event.pointer_mut("/polled/result/Ok") {
            match against {
                Against::Nothing => {
                    self.patched = 0;
                    self.picture = Some(picture.clone());
                }
                Against::Last => {
                    self.patched = self.patched.saturating_add(line.len());
                    if self.patched > PATCHED {
                        return Err("more changes of one picture than any console writes".to_owned());
                    }
                    let base = self.picture.as_mut().ok_or("a change of a picture that is not there")?;
                    patch::merge(base, picture.take());
                    *picture = base.clone();
                }
            }
        }
        let event = serde_json::from_value(event).map_err(|error| error.to_string())?;
        Ok((ms, event))
    }
}

/// The moment so many milliseconds after the start; stays at the end of time when it would pass it.
pub fn moment(started_at: Instant, ms: u64) -> Instant {
    let delta = i64::try_from(ms).ok().and_then(chrono::TimeDelta::try_milliseconds);
    delta.and_then(|delta| started_at.checked_add_signed(delta)).unwrap_or(Instant::MAX_UTC)
}
