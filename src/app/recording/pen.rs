//! Writing: an event becomes a line. Text that must not be kept is masked, and a picture is written as what
//! changed since the one before.

use serde_json::{Value, json};

use super::{Event, Header, LONGEST_LINE, LONGEST_PICTURE, patch};
use crate::domain::mask::Masks;
use crate::domain::time::{Instant, Now};

/// A whole picture again after this many changes of one.
const WHOLE_AGAIN: u32 = 300;

/// What a writer remembers from line to line.
#[derive(Debug)]
pub struct Pen {
    started_at: Instant,
    last: i64,
    masks: Masks,
    picture: Option<Value>,
    patches: u32,
    patched: usize,
}

impl Pen {
    /// The pen of one recording, and its first line.
    pub fn new(header: &Header) -> (Self, String) {
        let pen = Self {
            started_at: header.started_at,
            last: 0,
            masks: Masks::default(),
            picture: None,
            patches: 0,
            patched: 0,
        };
        // A header is plain data: it can always be written.
        (pen, serde_json::to_string(header).unwrap_or_default())
    }

    /// The line of an event, without its end.
    pub fn line(&mut self, event: &Event, now: Now) -> String {
        // A clock that is set back does not turn a recording round.
        self.last = now.0.signed_duration_since(self.started_at).num_milliseconds().max(self.last);
        let mut value = serde_json::to_value(event).unwrap_or_default();
        self.mask(&mut value);
        let Some(picture) = value.pointer_mut("/polled/result/Ok") else {
            let line = json!({ "ms": self.last, "event": value }).to_string();
            return if line.len() > LONGEST_LINE { self.left("an answer", line.len()) } else { line };
        };
        let whole = picture.take();
        let often = self.patches < WHOLE_AGAIN && self.patched < LONGEST_PICTURE;
        let patch = self.picture.as_ref().filter(|_| often).map(|before| patch::between(before, &whole));
        let against = if patch.is_some() { "last" } else { "nothing" };
        *picture = match patch {
            Some(changed) => changed.unwrap_or_else(|| json!({})),
            None => whole.clone(),
        };
        let line = json!({ "ms": self.last, "against": against, "event": value }).to_string();
        if line.len() > LONGEST_PICTURE {
            return self.left("a picture", line.len());
        }
        self.patches = if against == "last" { self.patches.saturating_add(1) } else { 0 };
        self.patched = if against == "last" { self.patched.saturating_add(line.len()) } else { 0 };
        self.picture = Some(whole);
        line
    }

    fn left(&self, what: &str, bytes: usize) -> String {
        json!({ "ms": self.last, "event": Event::Left(what.to_owned(), bytes) }).to_string()
    }

    fn mask(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let std::borrow::Cow::Owned(hidden) = self.masks.hide(text) {
                    *text = hidden;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.mask(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
