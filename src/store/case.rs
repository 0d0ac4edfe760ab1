//! The case of a support question: everything our books and the stored evidence know about one order.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::postgres::PgRow;

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Given, Reading};
use super::rows::{self, Reader};
use crate::domain::case::Case;
use crate::domain::ids::RecordId;
use crate::domain::port::StoreError;
use crate::domain::time::Instant;

/// How many rows of one source are read. What has more is said to be cut.
const ROWS: i64 = 500;

/// How many keys' evidence is read: an order with more has other troubles, and is said to be cut.
const KEYS: usize = 25;

/// How many look-ups of one key are read.
const EVIDENCE: i64 = 20;

/// Reads the case in one transaction. `None`: our books know nothing of this record.
pub(super) async fn case(store: &PgStore, id: &RecordId) -> Result<Option<Box<Case>>, StoreError> {
    let bound = store.bound().await?;
    let retention = store.options.policy.rules.retention_s;
    store
        .at_desk("the case", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            let mut case = read(&mut asking, id).await?;
            case.now = Some(asking.reading.now());
            // What the service really does goes before what it promises.
            case.retention_s = case.retention_s.or(retention);
            asking.reading.lost()?;
            let known = case.payments.as_ref().is_some_and(|rows| !rows.is_empty())
                || case.records.as_ref().is_some_and(|rows| !rows.is_empty())
                || case.requests.as_ref().is_some_and(|rows| !rows.is_empty());
            Ok(known.then(|| Box::new(case)))
        })
        .await
}

async fn read(asking: &mut Asking<'_, '_>, id: &RecordId) -> Result<Case, StoreError> {
    let given = [Given::Text(id.scope.as_str().to_owned()), Given::Text(id.key.as_str().to_owned()), Given::Int(ROWS)];
    let rows = asking.ask(Question::Case, &given, each(row)).await?;
    let mut case = sorted(rows);
    let keys: Vec<RecordId> = case.keys().into_iter().filter(|key| key.scope == id.scope).collect();
    case.not_asked.clone_from(&keys);
    if keys.len() > KEYS {
        case.cut.push(format!("the evidence of {} of {} keys was read", KEYS, keys.len()));
    }
    for key in keys.iter().take(KEYS) {
        let of = [
            Given::Text(key.scope.as_str().to_owned()),
            Given::Text(key.key.as_str().to_owned()),
            Given::Int(EVIDENCE),
        ];
        let evidence = match asking.ask(Question::Evidence, &of, each(rows::evidence)).await {
            // Without schema `unstuck` nobody stored any: the provider was not asked.
            Err(StoreError::CannotAnswer { .. }) => break,
            other => other?,
        };
        for one in evidence.iter().rev() {
            case.heard(key, one);
        }
    }
    Ok(case)
}

/// A row of a source; without one, that the source is there.
type Told = (String, Option<Value>);

fn row(file: &str, row: &PgRow) -> Result<Told, StoreError> {
    let reader = Reader::new(file, row);
    Ok((reader.text("source")?, reader.json_maybe("data")?))
}

fn sorted(rows: Vec<Told>) -> Case {
    let mut sources: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (source, data) in rows {
        let all = sources.entry(source).or_default();
        all.extend(data);
    }
    let mut case = Case::default();
    let mut cut = Vec::new();
    let mut take = |source: &str| sources.remove(source).map(|rows| (source.to_owned(), rows));
    case.requests = whole(take("request"), &mut cut);
    case.records = whole(take("record"), &mut cut);
    case.payments = whole(take("payment"), &mut cut);
    case.transitions = whole(take("transition"), &mut cut);
    case.webhooks = whole(take("webhook"), &mut cut);
    case.settlements = whole(take("settlement"), &mut cut);
    case.cut = cut;
    let kept = sources.remove("retention").unwrap_or_default();
    case.retention_s = kept.first().and_then(|row| row.get("s")).and_then(Value::as_u64);
    case
}

/// The rows of one source. One that cannot be read is not left out in silence.
fn whole<T: DeserializeOwned>(source: Option<(String, Vec<Value>)>, cut: &mut Vec<String>) -> Option<Vec<T>> {
    let (source, rows) = source?;
    if rows.len() >= usize::try_from(ROWS).unwrap_or(usize::MAX) {
        cut.push(format!("of {source} only the latest {ROWS} rows were read"));
    }
    let mut read = Vec::with_capacity(rows.len());
    for mut row in rows {
        forget_impossible_times(&mut row);
        match serde_json::from_value(row) {
            Ok(row) => read.push(row),
            Err(why) => cut.push(format!("a row of {source} cannot be read: {why}")),
        }
    }
    Some(read)
}

/// A database knows times that no calendar does, such as infinity: then the time is not known.
fn forget_impossible_times(row: &mut Value) {
    let Some(fields) = row.as_object_mut() else { return };
    for name in ["at", "created_at", "updated_at", "locked_until", "applied_at"] {
        let Some(value) = fields.get_mut(name) else { continue };
        if !value.is_null() && serde_json::from_value::<Instant>(value.clone()).is_err() {
            *value = Value::Null;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_without_rows_is_there_and_one_that_is_not_told_of_is_not() {
        let case = sorted(vec![("payment".to_owned(), None), ("record".to_owned(), Some(json!({"key": "k"})))]);
        assert_eq!(case.payments, Some(Vec::new()));
        assert_eq!(case.records.as_ref().map(Vec::len), Some(1));
        assert_eq!(case.requests, None);
    }

    #[test]
    fn what_cannot_be_read_is_said_and_an_impossible_time_is_not_known() {
        let case = sorted(vec![
            ("record".to_owned(), Some(json!({"key": "k", "created_at": "infinity", "attempt": 2}))),
            ("record".to_owned(), Some(json!({"key": "k", "attempt": -1}))),
        ]);
        let records = case.records.expect("the source");
        assert_eq!((records.len(), records[0].created_at, records[0].attempt), (1, None, Some(2)));
        assert!(case.cut[0].contains("a row of record cannot be read"), "{:?}", case.cut);
    }
}
