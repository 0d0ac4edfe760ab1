//! `key-per-attempt`: a client makes a new key for every attempt.

use futures_util::FutureExt;

use super::stage::{LIMIT, Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::{Answer, Fate};
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "key-per-attempt",
    sentence: "A client makes a new key for every attempt: after lost answers its retries charge again.",
    must_see: &[
        "I9: orders that gathered several keys within seconds",
        "UNKNOWN payments of orders that another payment paid",
    ],
    should_do: &[
        "look up each UNKNOWN payment: the order has two charges",
        "give the second charge back at the provider, then finish its record as reversed",
        "tell the client's team: one key per intent, kept on every retry",
    ],
    must_not: &[
        "adopt the second charge of an order that is paid",
        "call the UNKNOWN payment failed: its charge is there",
    ],
    ends_well: &[Ending::NothingStuck, Ending::OneChargeEach, Ending::BooksAgree, Ending::RecordsKept],
    recoverer: Recoverer::On,
    flaws: &[&flaw::KEY_PER_ATTEMPT],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "mobile app 9.2: the key is made in the retry loop", "app-team").await?;
    let parts: Vec<Part> = [Shop::Europe, Shop::Japan, Shop::Europe, Shop::Kuwait]
        .into_iter()
        .zip(0..)
        .map(|(shop, nth)| Part::new(stage, nth, shop, Truth::ChargedTwice))
        .collect();
    for part in &parts {
        stage.destine(part, Fate { answer: Answer::Lost, ..Fate::default() });
    }
    let first = parts.iter().map(|part| stage.expect(0, part, 503));
    futures_util::future::try_join_all(first).await?;
    for part in &parts {
        if !stage.provider.wait_for_charge(part.order(), LIMIT).await {
            return Err(LabError::Story(format!("{} was never charged", part.order())));
        }
        stage.destine(part, Fate::default());
        // What this client's retry carries.
        let again = part.keyed(stage.clients.key(&part.purchase.key, 1));
        stage.expect(1, &again, 201).await?;
    }
    stage.until_stuck(&parts).await?;
    Ok(Story { records: parts.iter().map(Part::record).collect() })
}
