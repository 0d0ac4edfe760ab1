//! One record re-read whole.

use std::collections::BTreeMap;

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Given, Reading};
use super::rows::{self, Reader};
use crate::domain::answer::Answer;
use crate::domain::ids::RecordId;
use crate::domain::port::{Dossier, StoreError};

/// How many look-ups of one record are read: enough for two that must agree, and their history.
const EVIDENCE: i64 = 50;

/// How many lines of a timeline are read, the latest.
const TIMELINE: i64 = 500;

/// How many requests for approval and hand backs are read, the latest of all records: more than half an hour of them.
const APPROVALS: i64 = 200;

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
    // Without the table nobody has approved anything, and what needs approval is refused.
    let some_of = Given::Int(APPROVALS);
    let approvals = known(asking.ask(Question::Approvals, std::slice::from_ref(&some_of), each(rows::approval)).await)?;
    let resumes = known(asking.ask(Question::Requests, &[some_of], each(rows::resume)).await)?;
    let at = asking.reading.now();
    let timeline = match asking.ask(Question::Timeline, &some(TIMELINE), each(rows::timeline)).await {
        Ok(lines) => Answer::known(lines, at),
        Err(why) => Answer::not_known(why.to_string()),
    };
    asking.reading.lost()?;
    let approvals = approvals.into_iter().filter(|request| request.id == *id).collect();
    let resumes = resumes.into_iter().filter(|resume| resume.id == *id).collect();
    Ok(Some(Dossier { detail, evidence, timeline, approvals, resumes, environment, at }))
}

/// A question this database has no answer for is an empty list; any other failure stays one.
fn known<T>(asked: Result<Vec<T>, StoreError>) -> Result<Vec<T>, StoreError> {
    match asked {
        Err(StoreError::CannotAnswer { .. } | StoreError::Contract { .. }) => Ok(Vec::new()),
        other => other,
    }
}
