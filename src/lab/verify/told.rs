//! What a client of the table was told, in the table's words.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// One answer, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// An answer of the service.
    Answer {
        /// The HTTP status.
        code: u16,
        /// The body; null when there was none, or nothing in it.
        body: Value,
    },
    /// The client had waited long enough and left.
    GaveUp,
    /// The connection broke.
    Nothing,
}

impl Told {
    /// The provider's id of the charge the answer speaks of.
    pub fn charge(&self) -> Option<&str> {
        self.field("charge_id").or_else(|| self.field("id")).and_then(Value::as_str)
    }

    /// The answer, and the amount it speaks of.
    pub(super) fn with_amount(&self) -> String {
        match self.field("amount") {
            Some(amount) => format!("{self} with amount {amount}"),
            None => self.to_string(),
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Answer { body, .. } => body.get(name),
            Self::GaveUp | Self::Nothing => None,
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { code, body: Value::Null } => write!(formatter, "{code} with an empty body"),
            Self::Answer { code, .. } => write!(formatter, "{code}"),
            Self::GaveUp => write!(formatter, "time-out"),
            Self::Nothing => write!(formatter, "no answer"),
        }
    }
}

/// What a client was told, one after the other.
pub(super) fn in_turn(told: &[String]) -> String {
    told.join(", then ")
}

/// Which answers there were. How often each depends on who came first.
pub(super) fn among(told: &[Told]) -> String {
    told.iter().map(Told::to_string).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// How many charges the provider counts.
pub(super) fn charges(many: usize) -> String {
    if many == 1 { "1 charge".to_owned() } else { format!("{many} charges") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_said_in_the_words_of_the_table() {
        let answer = |code, body| Told::Answer { code, body };
        let all = [answer(409, json!({})), answer(200, Value::Null), answer(200, json!({"amount": 100})), Told::GaveUp];
        assert_eq!(among(&all), "200, 200 with an empty body, 409, time-out");
        assert_eq!(all[2].with_amount(), "200 with amount 100");
        assert_eq!(all[0].with_amount(), "409");
        assert_eq!(in_turn(&[all[1].to_string(), all[3].to_string()]), "200 with an empty body, then time-out");
        assert_eq!((charges(0).as_str(), charges(1).as_str()), ("0 charges", "1 charge"));
    }
}
