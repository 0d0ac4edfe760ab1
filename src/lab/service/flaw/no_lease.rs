//! No lease: a record whose worker died stays `processing` for ever.

use super::{Conduct, Flaw};

/// Who goes on with a record whose worker is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// One request, or the recoverer, once the lease is over.
    AfterLease,
    /// Nobody. When the lease would be over means nothing to this service; it only says since when a record is stuck.
    Never,
}

pub(super) static FLAW: Flaw = Flaw {
    name: "no-lease",
    does: "Nobody may take a record over, however long its worker has been gone.",
    harm: "When a worker dies the customer can never pay: every retry meets 409.",
    put_into: |conduct| Conduct { takeover: Takeover::Never, ..conduct },
};
