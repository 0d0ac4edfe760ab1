//! No lease: a record whose worker died stays `processing` for ever.

use super::{Conduct, Flaw};

/// Who goes on with a record whose worker is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takeover {
    /// One request, or the recoverer, once the lease is over.
    AfterLease,
    /// Nobody: there is no lease, so nobody can know that the worker is gone.
    Never,
}

pub(super) static FLAW: Flaw = Flaw {
    name: "no-lease",
    does: "A record has no lease, and nobody may take it over.",
    harm: "When a worker dies the customer can never pay: every retry meets 409.",
    put_into: |conduct| Conduct { takeover: Takeover::Never, ..conduct },
};
