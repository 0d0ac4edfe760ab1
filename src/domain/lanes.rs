//! The timeline of a case in lanes: client, API, record, provider, webhook, settlement.

use super::case::Case;
use super::time::Instant;

/// Whose lane an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The client sent something.
    Client,
    /// The API, or a pod of it, did something.
    Api,
    /// The record or payment changed.
    Record,
    /// The provider did something.
    Provider,
    /// A webhook arrived or was applied.
    Webhook,
    /// The settlement report names it.
    Settlement,
}

/// One entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When; absent for what has no time, which stands at the end.
    pub at: Option<Instant>,
    /// In which lane.
    pub lane: Lane,
    /// What happened, short.
    pub what: String,
    /// An id that goes with it.
    pub reference: Option<String>,
}

/// Why a lane is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// We have the source and it says nothing.
    NotReached,
    /// We do not have this source.
    NoSource,
}

/// The timeline of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// In time order.
    pub entries: Vec<Entry>,
    /// The lanes without an entry, and why.
    pub gaps: Vec<(Lane, Gap)>,
}

impl Lanes {
    /// The timeline of a case.
    pub fn of(case: &Case) -> Self {
        let _ = case;
        Self { entries: Vec::new(), gaps: Vec::new() }
    }
}
