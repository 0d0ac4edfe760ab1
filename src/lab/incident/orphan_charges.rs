//! `orphan-charges`: the provider was paid, and no order knows.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer};
use crate::lab::system::System;

pub(super) static INCIDENT: Incident = Incident {
    name: "orphan-charges",
    sentence: "The settlement lists charges that no payment of ours accounts for: money was taken, and no order knows.",
    must_see: &[
        "I12: charges in the settlement without a payment, with their refs and amounts",
        "nothing stuck: the service never heard of them",
    ],
    should_do: &[
        "find the customer by the ref at the provider",
        "give the money back, or find the order it was meant for; hand over",
    ],
    must_not: &["invent a payment for a charge", "take the report for complete: the next one may list more"],
    ends_well: &[Ending::NoOrphan],
    recoverer: Recoverer::On,
    flaws: &[],
    systems: &[System::Settlement],
    orphans: Orphans::Report,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "the old checkout was switched off, but for one shop's terminals", "platform-team").await?;
    let paid = Part::new(stage, 0, Shop::Europe, Truth::Charged);
    stage.expect(0, &paid, 201).await?;
    let orphans = [
        Part::new(stage, 1, Shop::Europe, Truth::Charged),
        Part::new(stage, 2, Shop::Europe, Truth::Charged),
        Part::new(stage, 3, Shop::Japan, Truth::Charged),
    ];
    for part in &orphans {
        stage.provider.charge_unasked(part.order(), part.purchase.amount, part.purchase.currency);
    }
    stage.provider.close_report();
    for part in &orphans {
        for charge in stage.provider.charges(part.order()) {
            stage.until_settled(&charge.id).await?;
        }
    }
    Ok(Story { records: orphans.iter().map(Part::record).collect() })
}
