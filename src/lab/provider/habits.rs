//! What a provider can do at all. Real ones differ, and a service has to know which kind it talks to.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whether a key makes a second request harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// One key is one charge.
    #[default]
    Honoured,
    /// The header is not read: every request is a charge.
    Ignored,
}

/// How charges can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lookup {
    /// By its own id, by key, by our reference, by order.
    #[default]
    Full,
    /// Only by its own id, which a service that never got an answer does not have.
    OwnIdOnly,
}

/// When a settlement report is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Settles {
    /// By [`super::ProviderDesk::close_report`].
    #[default]
    WhenTold,
    /// When the reports are asked for, and the last one is this old.
    Every(Duration),
}

/// One kind of provider. The default is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Habits {
    /// Idempotency keys.
    pub keys: Keys,
    /// Look-ups.
    pub lookup: Lookup,
    /// Settlement.
    pub settles: Settles,
}

impl Habits {
    /// A provider that reads no keys.
    pub fn without_keys() -> Self {
        Self { keys: Keys::Ignored, ..Self::default() }
    }

    /// A provider that can only be asked by its own ids.
    pub fn without_lookup() -> Self {
        Self { lookup: Lookup::OwnIdOnly, ..Self::default() }
    }
}
