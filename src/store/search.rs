//! The searches of support: what a customer gave, and who else has it for the same cause.

use std::collections::BTreeMap;

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Given, Reading};
use super::rows;
use crate::domain::clue::{Clue, Paid};
use crate::domain::port::{Candidate, MOST_CANDIDATES, MOST_OTHERS, Matched, Other, StoreError};
use crate::domain::time::Instant;
use crate::domain::triage::Cause;

/// How many payments of one amount are read for one day.
const PAID: i64 = 200;

/// Finds records by any id a person may have, or by an amount and a day.
pub(super) async fn find(store: &PgStore, clue: &Clue) -> Result<Vec<Candidate>, StoreError> {
    match clue {
        Clue::Id(text) => {
            let given = [Given::Text(text.trim().replace('\0', "")), Given::Int(limit(MOST_CANDIDATES))];
            ask(store, "the search", Question::Find, &given, rows::candidate).await
        }
        Clue::Paid(paid) => by_amount(store, paid).await,
    }
}

async fn by_amount(store: &PgStore, paid: &Paid) -> Result<Vec<Candidate>, StoreError> {
    let amounts = serde_json::to_value(&paid.amounts)
        .map_err(|why| StoreError::CannotAnswer { why: format!("the amounts cannot be asked about: {why}") })?;
    let mut all: Vec<Candidate> = Vec::new();
    for span in &paid.spans {
        let given =
            [Given::Json(amounts.clone()), Given::At(Some(span.from)), Given::At(Some(span.to)), Given::Int(PAID)];
        let found = ask(store, "the search", Question::FindPaid, &given, rows::candidate).await?;
        let meant = |one: &Candidate| one.money.as_ref().is_some_and(|money| paid.means(money));
        let new: Vec<Candidate> = found
            .into_iter()
            .filter(|one| meant(one) && !all.iter().any(|known| known.payment == one.payment))
            .collect();
        all.extend(new.into_iter().map(|one| Candidate { matched: Matched::Amount, ..one }));
    }
    Ok(all)
}

/// Lists what has the same cause since then, the latest first.
pub(super) async fn others(store: &PgStore, cause: Cause, since: Instant) -> Result<Vec<Other>, StoreError> {
    let kept = store.options.policy.rules.retention_s.and_then(|s| i64::try_from(s).ok());
    let kept = match (cause, kept) {
        (Cause::Unknown, _) => {
            return Err(StoreError::CannotAnswer { why: "nothing can be looked for without a cause".to_owned() });
        }
        (Cause::KeyExpired | Cause::RecordDeleted, None) => {
            return Err(StoreError::CannotAnswer {
                why: "how long keys are kept is not set: retention in [policy.rules]".to_owned(),
            });
        }
        (
            Cause::KeyExpired
            | Cause::RecordDeleted
            | Cause::TimeoutMarkedFailed
            | Cause::LeaseTooShort
            | Cause::UnstableProviderKey
            | Cause::NoProviderKey
            | Cause::NewKeyPerAttempt
            | Cause::ChargeWithoutPayment
            | Cause::GlobalKey,
            kept,
        ) => kept.unwrap_or_default(),
    };
    let given = [Given::At(Some(since)), Given::Int(limit(MOST_OTHERS)), Given::Int(kept)];
    ask(store, "the search for others", Question::Others(cause), &given, rows::other).await
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

async fn ask<T>(
    store: &PgStore,
    what: &str,
    question: Question,
    given: &[Given],
    read: fn(&str, &sqlx::postgres::PgRow) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let bound = store.bound().await?;
    store
        .at_desk(what, async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            asking.ask(question, given, each(read)).await
        })
        .await
}
