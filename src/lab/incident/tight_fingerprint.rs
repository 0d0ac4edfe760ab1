//! `tight-fingerprint`: the fingerprint covers something that changes.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "tight-fingerprint",
    sentence: "The fingerprint covers the time of the request: honest retries get 422, and clients pay again under new keys.",
    must_see: &[
        "I15: retries refused though order, amount and currency are the same",
        "I1 and I9: the same orders, paid again under a new key",
        "422 for every client, in 4",
    ],
    should_do: &[
        "have the fingerprint cover method, path, account and body, and nothing that changes",
        "give the second charge back at the provider",
    ],
    must_not: &[
        "switch the comparison off: another content would get the first answer",
        "tell the clients it is their bug",
    ],
    ends_well: &[Ending::OneChargeEach],
    recoverer: Recoverer::On,
    flaws: &[&flaw::TIGHT_FINGERPRINT],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// How often a client tries before it makes a new key.
const TRIES: usize = 4;

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "payments 2.17.0: the fingerprint covers the whole request", "deploy-bot").await?;
    let cast = [
        Part::new(stage, 0, Shop::Europe, Truth::ChargedTwice),
        Part::new(stage, 1, Shop::Japan, Truth::ChargedTwice),
        Part::new(stage, 2, Shop::Partner, Truth::Charged),
    ];
    for (part, nth) in cast.iter().zip(0_u64..) {
        // The answer gets lost on the way to the client, so it asks again.
        stage.expect(0, part, 201).await?;
        for _ in 0..TRIES {
            stage.expect(1, part, 422).await?;
        }
        if part.truth == Truth::ChargedTwice {
            let again = part.keyed(Part::new(stage, 20 + nth, Shop::Europe, part.truth).purchase.key);
            stage.expect(0, &again, 201).await?;
        }
    }
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
