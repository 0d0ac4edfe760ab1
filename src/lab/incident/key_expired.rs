//! `key-expired`: a key's time is over before its client gives up.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "key-expired",
    sentence: "Keys are kept for less time than clients go on trying: a late retry is a new payment.",
    must_see: &[
        "I5: payments within the promised retention that lost their record",
        "I1: orders with two succeeded payments",
    ],
    should_do: &[
        "give the second charge back at the provider",
        "keep keys for longer than the last client retries, and as long as the provider does",
    ],
    must_not: &["raise the console's retention until it is quiet: the promise is what clients rely on"],
    ends_well: &[Ending::OneChargeEach],
    recoverer: Recoverer::On,
    flaws: &[&flaw::SHORT_TTL],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let cast = [
        Part::new(stage, 0, Shop::Europe, Truth::ChargedTwice),
        Part::new(stage, 1, Shop::Japan, Truth::ChargedTwice),
        // This client had its answer and does not ask again.
        Part::new(stage, 2, Shop::Europe, Truth::Charged),
    ];
    stage.event("config", "keys are kept for 5 seconds instead of 24 hours, to save space", "platform-team").await?;
    for part in &cast {
        stage.expect(0, part, 201).await?;
    }
    for part in &cast {
        stage.until_removed(part).await?;
    }
    // The provider's memory is no longer than ours.
    stage.provider.forget_keys();
    for part in cast.iter().filter(|part| part.truth == Truth::ChargedTwice) {
        stage.expect(1, part, 201).await?;
    }
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
