//! `slow-provider`: the provider takes longer than the service waits.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::{Answer, ChargeStatus, Fate, Mood};
use crate::lab::service::{Orphans, Recoverer};

pub(super) static INCIDENT: Incident = Incident {
    name: "slow-provider",
    sentence: "The provider answers more slowly than the service waits; payments turn UNKNOWN and retries meet 409.",
    must_see: &[
        "time-outs of the provider, and its p95 above the service's time-out",
        "UNKNOWN payments that come and go, and seven that stay",
        "a wave of 409 and 503, hardly any failure",
    ],
    should_do: &[
        "look up the records whose clients gave up, and adopt what succeeded",
        "wait for what the provider has not decided, and look again",
        "ask why the time-out was lowered, and have the recoverer started again: until then nobody answers a hand back",
    ],
    must_not: &[
        "take a time-out for a failure",
        "conclude anything from one look-up that found nothing",
        "resume while a lease is live",
    ],
    ends_well: &[Ending::NothingStuck, Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::Down { why: "stopped, its look-ups added to the provider's load" },
    flaws: &[],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// Above the service's time-out of two seconds, below its lease of ten.
const SLOW: Duration = Duration::from_millis(3500);

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let late = |status| Fate { status, latency: Some(SLOW), ..Fate::default() };
    let cast = [
        (Part::new(stage, 0, Shop::Europe, Truth::Charged), late(ChargeStatus::Succeeded)),
        (Part::new(stage, 1, Shop::Japan, Truth::Charged), late(ChargeStatus::Succeeded)),
        (
            Part::new(stage, 2, Shop::Europe, Truth::Declined),
            Fate { latency: Some(SLOW), ..Fate::declined("card_declined") },
        ),
        (Part::new(stage, 3, Shop::Europe, Truth::Open), late(ChargeStatus::Pending)),
        (Part::new(stage, 4, Shop::Kuwait, Truth::Charged), late(ChargeStatus::Succeeded)),
        (Part::new(stage, 5, Shop::Europe, Truth::Open), late(ChargeStatus::Authorised)),
        (Part::new(stage, 6, Shop::Europe, Truth::Absent), Fate { answer: Answer::NeverArrived, ..Fate::default() }),
    ];
    stage.event("config", "provider time-out 30 s → 2 s", "platform-team").await?;
    stage.provider.set_mood(Mood { latency: SLOW, ..Mood::default() });
    let mut told = Vec::new();
    for (nth, (part, fate)) in cast.iter().enumerate() {
        stage.destine(part, fate.clone());
        told.push(stage.send(nth, part));
        // One after the other, so that their order is the same every time.
        stage.until_claimed(part).await?;
    }
    for (answer, (part, _)) in join_all(told).await.into_iter().zip(&cast) {
        if !answer.as_ref().is_ok_and(|told| told.code() == Some(503)) {
            return Err(LabError::Story(format!("{} was answered {answer:?}, not 503", part.order())));
        }
        stage.expect(0, part, 409).await?;
    }
    let parts: Vec<Part> = cast.into_iter().map(|(part, _)| part).collect();
    for part in parts.iter().filter(|part| part.truth != Truth::Absent) {
        if !stage.provider.wait_for_charge(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} was never charged", part.order())));
        }
    }
    stage.until_stuck(&parts).await?;
    Ok(Story { records: parts.iter().map(Part::record).collect() })
}
