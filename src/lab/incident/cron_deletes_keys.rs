//! `cron-deletes-keys`: a cron removes stuck keys.

use futures_util::FutureExt;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer, StallPoint, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "cron-deletes-keys",
    sentence: "A cron removes stuck keys so that clients can start again; their retries charge a second time.",
    must_see: &[
        "I5: payments that lost their record, some made again by a retry",
        "PENDING payments that no record belongs to",
        "what changed: the cron, and how many keys it removed",
    ],
    should_do: &[
        "stop the cron first",
        "look up each payment that I5 names, and count the order's charges",
        "give the second charge back at the provider",
    ],
    must_not: &[
        "remove a record, ever: it was the only thing that knew of the first call",
        "tell the customers to try again",
    ],
    ends_well: &[Ending::OneChargeEach, Ending::RecordsKept],
    recoverer: Recoverer::Off { why: "the cron takes care of stuck keys" },
    flaws: &[&flaw::CRON_DELETES_KEYS, &flaw::NO_PROVIDER_KEY],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// The pod that dies, and the one that is left.
const DOOMED: usize = 1;
const LEFT: usize = 0;

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let cast = [
        Part::new(stage, 0, Shop::Europe, Truth::ChargedTwice),
        Part::new(stage, 1, Shop::Europe, Truth::ChargedTwice),
        Part::new(stage, 2, Shop::Japan, Truth::ChargedTwice),
        // This customer does not come back: charged, and nothing remembers it.
        Part::new(stage, 3, Shop::Europe, Truth::Charged),
    ];
    stage.event("config", "cron: remove keys that are stuck, support asked for it", "support-team").await?;
    let mut waiting = Vec::new();
    for part in &cast {
        stage.stalls.hang(part.order(), StallPoint::BeforeSaving);
        waiting.push(stage.send(DOOMED, part));
        if !stage.stalls.wait(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} did not hang", part.order())));
        }
    }
    stage.service.lock().await.kill_pod(DOOMED);
    stage.event("deploy", "pod-b was killed: out of memory (exit code 137)", "kubelet").await?;
    for (part, client) in cast.iter().zip(waiting) {
        client.abort();
        stage.stalls.release(part.order());
        stage.until_removed(part).await?;
    }
    stage.service.lock().await.revive_pod(DOOMED).await?;
    for part in cast.iter().filter(|part| part.truth == Truth::ChargedTwice) {
        stage.expect(LEFT, part, 201).await?;
    }
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
