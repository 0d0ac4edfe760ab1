//! The state of a payment, and which steps between states exist.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a payment stands. `UNKNOWN` is the third outcome of a call, neither success nor failure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PaymentStatus {
    /// Written down; the provider has not been called.
    Created,
    /// The provider is being asked.
    Pending,
    /// The provider took the money. Final.
    Succeeded,
    /// The provider said no for good. Final.
    Failed,
    /// The provider was asked and gave no final answer.
    Unknown,
    /// A word this console does not know: shown as it is, and nothing is done about it.
    Unrecognised(String),
}

impl PaymentStatus {
    /// Reads a contract word.
    pub fn from_word(word: &str) -> Self {
        match word {
            "created" => Self::Created,
            "pending" => Self::Pending,
            "succeeded" => Self::Succeeded,
            "failed" => Self::Failed,
            "unknown" => Self::Unknown,
            other => Self::Unrecognised(other.to_owned()),
        }
    }

    /// Whether no edge leaves this state.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

impl fmt::Display for PaymentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Created => "CREATED",
            Self::Pending => "PENDING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Unknown => "UNKNOWN",
            Self::Unrecognised(word) => word,
        })
    }
}
