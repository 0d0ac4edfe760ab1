//! `short-lease`: two workers are on one charge.

use futures_util::FutureExt;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "short-lease",
    sentence: "The lease is shorter than the provider's time-out: a second pod takes a record whose owner still waits.",
    must_see: &[
        "I7: leases shorter than the time-out in force, and by whom",
        "records with two attempts, UNKNOWN payments",
    ],
    should_do: &["raise the lease above the time-out first", "look up each record, and adopt the one charge"],
    must_not: &[
        "resume before the lease is raised: the next retry is at work again",
        "count attempts as charges: the provider key kept them to one",
    ],
    ends_well: &[Ending::NothingStuck, Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::Off { why: "it would be a third worker on the same charge" },
    flaws: &[&flaw::SHORT_LEASE],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("config", "lease 10 s → 1 s, so that retries wait less", "platform-team").await?;
    let cast = [
        Part::new(stage, 0, Shop::Europe, Truth::Charged),
        Part::new(stage, 1, Shop::Europe, Truth::Charged),
        Part::new(stage, 2, Shop::Japan, Truth::Charged),
    ];
    for part in &cast {
        stage.provider.hold(part.order());
        let owner = stage.send(0, part);
        if !stage.provider.wait_for_held(part.order(), 1, LIMIT).await {
            return Err(LabError::Story(format!("{} never reached the provider", part.order())));
        }
        stage.until_stuck(std::slice::from_ref(part)).await?;
        // A second worker on a charge that is on its way.
        stage.expect(1, part, 503).await?;
        stage.provider.release(part.order());
        owner.await.ok();
        if !stage.provider.wait_for_charge(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} was never charged", part.order())));
        }
    }
    stage.until_stuck(&cast).await?;
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
