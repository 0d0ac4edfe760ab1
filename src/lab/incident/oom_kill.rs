//! `oom-kill`: a pod is killed for its memory while payments are in its hands.

use std::time::Duration;

use futures_util::FutureExt;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::{Answer, Fate};
use crate::lab::service::{Orphans, Recoverer, StallPoint};

pub(super) static INCIDENT: Incident = Incident {
    name: "oom-kill",
    sentence: "pod-b was killed for its memory after the provider had charged; its records stay processing and nobody recovers them.",
    must_see: &[
        "six stuck records in three currencies, most at provider_called, one at charged",
        "payments PENDING and one UNKNOWN, none of them failed",
        "a short wave of 409 from clients that retried with the same key",
        "the recoverer is switched off",
    ],
    should_do: &[
        "look up each record at the provider and adopt the charge it reports",
        "finish as failed the one the provider declined for good",
        "leave the one the provider does not know, and look again",
    ],
    must_not: &[
        "free a record by removing it: the retry would charge again",
        "call a PENDING or UNKNOWN payment failed without the provider's word",
        "send a new key",
    ],
    ends_well: &[Ending::NothingStuck, Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::Off { why: "paused for the migration of the ledger" },
    flaws: &[],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

/// The pod that dies, and the one that is left.
const DOOMED: usize = 1;
const LEFT: usize = 0;
/// How often each client retries before it gives up.
const RETRIES: usize = 2;

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let first = Part::new(stage, 0, Shop::Europe, Truth::Charged);
    let cast = [
        (Part::new(stage, 1, Shop::Europe, Truth::Charged), StallPoint::BeforeSaving),
        (Part::new(stage, 2, Shop::Japan, Truth::Charged), StallPoint::BeforeSaving),
        (Part::new(stage, 3, Shop::Europe, Truth::Charged), StallPoint::BeforeFinish),
        (Part::new(stage, 4, Shop::Europe, Truth::Declined), StallPoint::BeforeSaving),
        (Part::new(stage, 5, Shop::Kuwait, Truth::Absent), StallPoint::BeforeCall),
    ];
    stage.event("deploy", "payments 2.14.0, memory limit 512 → 256 MiB", "deploy-bot").await?;
    // The first sign: an answer is lost, the pod is already swapping.
    stage.destine(&first, Fate { answer: Answer::Lost, ..Fate::default() });
    stage.expect(DOOMED, &first, 503).await?;
    let mut waiting = Vec::new();
    for (part, point) in &cast {
        if part.truth == Truth::Declined {
            stage.destine(part, Fate::declined("insufficient_funds"));
        }
        stage.stalls.hang(part.order(), *point);
        waiting.push(stage.send(DOOMED, part));
        if !stage.stalls.wait(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} did not hang", part.order())));
        }
    }
    stage.service.lock().await.kill_pod(DOOMED);
    stage.event("deploy", "pod-b was killed: out of memory (exit code 137)", "kubelet").await?;
    let parts: Vec<Part> = std::iter::once(first).chain(cast.into_iter().map(|(part, _)| part)).collect();
    for _ in 0..RETRIES {
        for part in &parts {
            stage.expect(LEFT, part, 409).await?;
        }
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    for (part, client) in parts.iter().skip(1).zip(waiting) {
        client.abort();
        stage.stalls.release(part.order());
    }
    stage.service.lock().await.revive_pod(DOOMED).await?;
    stage.event("deploy", "pod-b started again", "kubelet").await?;
    stage.until_stuck(&parts).await?;
    Ok(Story { records: parts.iter().map(Part::record).collect() })
}
