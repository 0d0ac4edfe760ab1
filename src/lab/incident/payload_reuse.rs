//! `payload-reuse`: a client uses one key for different things.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer};

pub(super) static INCIDENT: Incident = Incident {
    name: "payload-reuse",
    sentence: "A client uses one key for a whole session: every basket after the first is refused with 422.",
    must_see: &[
        "a wave of 422, nearly all of one client and few keys",
        "nothing stuck and nothing unknown",
        "no invariant broken: the service refused as it should",
    ],
    should_do: &["look in 4 which client and which keys", "tell the client's team: one key per intent"],
    must_not: &["let the second content pass under the first key", "resume anything: nothing is stuck"],
    ends_well: &[Ending::OneChargeEach, Ending::BooksAgree, Ending::NothingDone],
    recoverer: Recoverer::On,
    flaws: &[],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// Shoppers, and how many baskets each of them fills after the first.
const SESSIONS: u64 = 3;
const BASKETS: u64 = 8;

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "partner-fit checkout 5.0: the session id is the key", "partner-fit").await?;
    let mut paid = Vec::new();
    for session in 0..SESSIONS {
        let first = Part::new(stage, session * (BASKETS + 1), Shop::Partner, Truth::Charged);
        stage.expect(0, &first, 201).await?;
        for basket in 1..=BASKETS {
            let mut next = Part::new(stage, session * (BASKETS + 1) + basket, Shop::Partner, Truth::Absent);
            next.purchase.key.clone_from(&first.purchase.key);
            stage.expect(1, &next, 422).await?;
        }
        paid.push(first.record());
    }
    Ok(Story { records: paid })
}
