//! `timeout-as-failed`: the service takes a time-out for a failure.

use std::time::Duration;

use futures_util::FutureExt;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::Fate;
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "timeout-as-failed",
    sentence: "The service marks a payment failed when the provider is slow; customers pay again, and both charges stand.",
    must_see: &[
        "I14: payments that are failed though the provider never answered",
        "I9: the same orders, paid again under a new key",
        "time-outs of the provider",
    ],
    should_do: &[
        "look up every payment that I14 names",
        "give one of the two charges back where the customer paid again",
        "have the service treat a time-out as unknown",
    ],
    must_not: &["believe FAILED: the money was taken", "resume a record that says done"],
    ends_well: &[Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::On,
    flaws: &[&flaw::TIMEOUT_AS_FAILED],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// Above the time-out of two seconds.
const SLOW: Duration = Duration::from_millis(3500);

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let cast = [
        (Part::new(stage, 0, Shop::Europe, Truth::ChargedTwice)),
        (Part::new(stage, 1, Shop::Japan, Truth::ChargedTwice)),
        (Part::new(stage, 2, Shop::Europe, Truth::ChargedTwice)),
        // This customer went away: charged, and told that it failed.
        (Part::new(stage, 3, Shop::Kuwait, Truth::Charged)),
    ];
    stage
        .event("deploy", "payments 2.15.0: a time-out is a failure, tickets ask for clear answers", "deploy-bot")
        .await?;
    for part in &cast {
        stage.destine(part, Fate { latency: Some(SLOW), ..Fate::default() });
    }
    futures_util::future::try_join_all(cast.iter().map(|part| stage.expect(0, part, 402))).await?;
    for (part, nth) in cast.iter().zip(0_u64..) {
        if !stage.provider.wait_for_charge(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} was never charged", part.order())));
        }
        stage.destine(part, Fate::default());
        if part.truth == Truth::ChargedTwice {
            // The customer presses "pay" once more: another intent, another key.
            let again = part.keyed(Part::new(stage, 20 + nth, Shop::Europe, part.truth).purchase.key);
            stage.expect(1, &again, 201).await?;
        }
    }
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
