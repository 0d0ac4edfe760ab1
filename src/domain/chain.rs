//! The hash chain of the action log: what one row says, and how a whole log is walked.
//!
//! Owns the writing that is hashed, and what counts as a break. It trusts no verdict of the database: the
//! text is made here from the columns, hashed here, and compared with what was stored. Knows no SQL.

mod walk;

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::ids::{LogId, RecordId};
use super::time::Instant;
pub use walk::{Broken, Fault, Noted, Open, Walk, Walked};

/// The hash of a log's last row: noted somewhere else, it finds a tail that was cut off later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head(String);

/// What is wrong with a typed head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a head is 64 hexadecimal digits, as `unstuck audit verify` prints it")]
pub struct NoHead;

impl Head {
    /// Reads what a person noted.
    ///
    /// # Errors
    /// Anything but 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, NoHead> {
        let text = text.trim().to_ascii_lowercase();
        let fits = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if fits { Ok(Self(text)) } else { Err(NoHead) }
    }

    /// Where every log begins: the hash of nothing.
    pub fn start() -> Self {
        Self(hex(&Sha256::digest(b"")))
    }

    /// 64 hexadecimal digits, lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// One row of the log, every column of it. A column that must not be absent may be: somebody may have
/// taken the constraint away, and then the row has to be named, not the reading to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainRow {
    /// Its number; gapless.
    pub id: LogId,
    /// The database's clock; `None` when what stands there is no instant.
    pub at: Option<Instant>,
    /// `intent`, `outcome` or `event`.
    pub entry: Option<String>,
    /// The action's word.
    pub action: Option<String>,
    /// The record's scope.
    pub scope: Option<String>,
    /// The record's key.
    pub key: Option<String>,
    /// Who, as the console named them.
    pub operator: Option<String>,
    /// Who, as the database knows them.
    pub session_user: Option<String>,
    /// What the connection called itself.
    pub application: Option<String>,
    /// Where.
    pub environment: Option<String>,
    /// The plan that was shown.
    pub plan_hash: Option<String>,
    /// The reason given.
    pub reason: Option<String>,
    /// The incident or ticket.
    pub ticket: Option<String>,
    /// What came of it.
    pub result: Option<String>,
    /// In words.
    pub detail: Option<String>,
    /// The intent an outcome answers.
    pub intent: Option<LogId>,
    /// The evidence it rests on.
    pub evidence: Option<i64>,
    /// More of it, as the database writes the document: the hash is over this very writing.
    pub data: Option<String>,
    /// The hash of the row before, in hexadecimal.
    pub prev_hash: Option<String>,
    /// Its own hash, in hexadecimal.
    pub hash: Option<String>,
}

impl ChainRow {
    /// The text that is hashed: the same writing as `unstuck.log_text` in the database.
    pub fn text(&self) -> String {
        let text = |value: &Option<String>| value.as_ref().map_or_else(null, |text| quoted(text));
        let number = |value: Option<i64>| value.map_or_else(null, |number| number.to_string());
        let parts = [
            self.id.0.to_string(),
            text(&self.at_text()),
            text(&self.entry),
            text(&self.action),
            text(&self.scope),
            text(&self.key),
            text(&self.operator),
            text(&self.session_user),
            text(&self.application),
            text(&self.environment),
            text(&self.plan_hash),
            text(&self.reason),
            text(&self.ticket),
            text(&self.result),
            text(&self.detail),
            number(self.intent.map(|intent| intent.0)),
            number(self.evidence),
            self.data.clone().unwrap_or_else(null),
        ];
        format!("[{}]", parts.join(", "))
    }

    /// SHA-256 over the hash before and the text, in hexadecimal; `None` when the hash before is none.
    pub fn computed(&self) -> Option<String> {
        let before = bytes(self.prev_hash.as_deref()?)?;
        Some(hex(&Sha256::new().chain_update(before).chain_update(self.text()).finalize()))
    }

    /// The record it is about, when it is about one.
    pub fn target(&self) -> Option<RecordId> {
        let (scope, key) = self.scope.as_ref().zip(self.key.as_ref())?;
        Some(RecordId::new(scope.as_str(), key.as_str()))
    }

    /// When it was written, as it is hashed: in UTC, to the microsecond.
    pub fn at_text(&self) -> Option<String> {
        self.at.map(|at| at.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
    }

    /// Whether it is an intent, which an outcome has to follow.
    pub fn is_intent(&self) -> bool {
        self.entry.as_deref() == Some("intent")
    }
}

fn null() -> String {
    "null".to_owned()
}

/// A JSON string. PostgreSQL and this writer escape the same characters in the same way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        hex.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    Some(pairs.map(|pair| pair.iter().fold(0, |byte: u8, digit| byte.wrapping_mul(16).wrapping_add(*digit))).collect())
}

#[cfg(test)]
mod tests;
