//! `lost-webhook`: the provider told us, and nobody heard it.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::{ChargeStatus, Fate, Notice};
use crate::lab::service::{Orphans, Recoverer};
use crate::lab::system::System;

pub(super) static INCIDENT: Incident = Incident {
    name: "lost-webhook",
    sentence: "The provider decided later and its webhooks were lost; payments stay UNKNOWN though the money has moved.",
    must_see: &[
        "UNKNOWN payments whose lease is over, and records that are stuck",
        "no webhook on their timeline, and none that waits to be applied",
    ],
    should_do: &[
        "look each record up: the provider has decided",
        "adopt what succeeded, finish as failed what it refused",
        "ask the provider to send the lost events again",
    ],
    must_not: &["wait for webhooks that were lost", "call them failed because nothing came"],
    ends_well: &[Ending::NothingStuck, Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::Off { why: "webhooks tell us everything" },
    flaws: &[],
    systems: &[System::Webhooks],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let cast = [
        Part::new(stage, 0, Shop::Europe, Truth::Charged),
        Part::new(stage, 1, Shop::Europe, Truth::Charged),
        Part::new(stage, 2, Shop::Japan, Truth::Declined),
        Part::new(stage, 3, Shop::Kuwait, Truth::Charged),
    ];
    stage
        .event("config", "the load balancer refuses /webhooks from the provider's new network", "network-team")
        .await?;
    for part in &cast {
        let fate = Fate { status: ChargeStatus::Pending, notice: Some(Notice::Lost), ..Fate::default() };
        stage.destine(part, fate);
        stage.expect(0, part, 503).await?;
    }
    for part in &cast {
        let decided = if part.truth == Truth::Declined { ChargeStatus::Failed } else { ChargeStatus::Succeeded };
        stage.provider.decide(part.order(), decided);
    }
    stage.until_stuck(&cast).await?;
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
