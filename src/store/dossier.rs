//! One record re-read whole, and the search for any id.

use std::collections::BTreeMap;

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Given, Reading};
use super::rows::{self, Reader};
use crate::domain::answer::Answer;
use crate::domain::ids::RecordId;
use crate::domain::port::{Candidate, Dossier, StoreError};

/// How many look-ups of one record are read: enough for two that must agree, and their history.
const EVIDENCE: i64 = 50;

/// How many lines of a timeline are read, the latest.
const TIMELINE: i64 = 500;

/// How many candidates a search shows.
const CANDIDATES: i64 = 50;

/// Re-reads one record with its evidence and timeline in one transaction.
pub(super) async fn dossier(store: &PgStore, id: &RecordId) -> Result<Option<Dossier>, StoreError> {
    let bound = store.bound().await?;
    store
        .at_desk("the record", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            read(&mut asking, id).await
        })
        .await
}

async fn read(asking: &mut Asking<'_, '_>, id: &RecordId) -> Result<Option<Dossier>, StoreError> {
    let record = [Given::Text(id.scope.as_str().to_owned()), Given::Text(id.key.as_str().to_owned())];
    let details = asking.ask(Question::Record, &record, each(rows::record_detail)).await?;
    let Some(detail) = details.into_iter().next() else {
        return Ok(None);
    };
    let [scope, key] = record;
    let some = |limit: i64| [scope.clone(), key.clone(), Given::Int(limit)];
    // Evidence that cannot be read is not "no evidence": that would let a plan go on without it.
    let evidence = match asking.ask(Question::Evidence, &some(EVIDENCE), each(rows::evidence)).await {
        Err(StoreError::CannotAnswer { .. }) => Vec::new(),
        other => other?,
    };
    let environment = asking
        .ask(Question::Environment, &[], |file, rows| {
            rows.first().map(|row| Reader::new(file, row).text("name")).transpose()
        })
        .await;
    let environment = match environment {
        Err(StoreError::CannotAnswer { .. }) => None,
        other => other?,
    };
    let at = asking.reading.now();
    let timeline = match asking.ask(Question::Timeline, &some(TIMELINE), each(rows::timeline)).await {
        Ok(lines) => Answer::known(lines, at),
        Err(why) => Answer::not_known(why.to_string()),
    };
    asking.reading.lost()?;
    Ok(Some(Dossier { detail, evidence, timeline, environment, at }))
}

/// Finds records by any id a person may have.
pub(super) async fn find(store: &PgStore, text: &str) -> Result<Vec<Candidate>, StoreError> {
    let bound = store.bound().await?;
    let given = [Given::Text(text.trim().replace('\0', "")), Given::Int(CANDIDATES)];
    store
        .at_desk("the search", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            asking.ask(Question::Find, &given, each(rows::candidate)).await
        })
        .await
}
