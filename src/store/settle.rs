//! Loading a settlement report into the console's own tables: staged row by row, visible only once it is whole.
//!
//! One guarded function does all of it (`do_settle`): it begins a load, takes rows, and finishes, which compares the
//! report with the books in one transaction. A load that never ends leaves rows that nothing reads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::act::call::{Answered, Failed, Word, call};
use super::postgres::PgStore;
use super::reading::Line;
use crate::domain::ids::{Operator, ProviderName};
use crate::domain::money::Totals;
use crate::domain::port::StoreError;
use crate::domain::recon::Report;

/// A load of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load(i64);

/// How a load began.
#[derive(Debug)]
pub enum Begun {
    /// Rows are awaited.
    Loading(Load),
    /// The same file was loaded before: what it came to.
    LoadedBefore(Box<Settled>),
}

/// What a report came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The report.
    pub report: Report,
    /// How many breaks of each kind.
    pub breaks: BTreeMap<String, u64>,
}

/// Why a report was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum NotSettled {
    /// The database was not there, or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It said no, and why.
    #[error("{0}")]
    Refused(String),
}

/// A connection on which a report is loaded.
pub struct Settling<'s> {
    store: &'s PgStore,
    line: Line,
    environment: String,
    operator: Operator,
}

impl<'s> Settling<'s> {
    /// Connects, when anything may be written here at all.
    pub async fn open(store: &'s PgStore, operator: Operator) -> Result<Self, StoreError> {
        let bound = store.bound().await?;
        let place = bound.facts.environment.as_ref();
        let environment = place.map(|place| place.name.clone()).ok_or_else(|| StoreError::CannotAnswer {
            why: "the database has no schema unstuck, or no name: unstuck install".to_owned(),
        })?;
        Ok(Self { store, line: Line::open(&store.options).await?, environment, operator })
    }

    /// Begins a load. The same file, by its hash, is loaded once.
    pub async fn begin(&mut self, provider: &ProviderName, name: &str, hash: &str) -> Result<Begun, NotSettled> {
        let order = json!({"step": "begin", "provider": provider, "name": name, "hash": hash});
        let said = self.send(order).await?;
        match said.get("number").and_then(Value::as_i64) {
            Some(load) => Ok(Begun::Loading(Load(load))),
            None => Ok(Begun::LoadedBefore(Box::new(settled(&said)?))),
        }
    }

    /// Stages rows.
    pub async fn rows(&mut self, load: Load, rows: Vec<Value>) -> Result<(), NotSettled> {
        self.send(json!({"step": "rows", "number": load.0, "rows": rows})).await.map(|_| ())
    }

    /// Compares the whole report with the books and makes it visible.
    pub async fn finish(&mut self, load: Load, lines: u64, stated: Option<&Totals>) -> Result<Settled, NotSettled> {
        let said = self.send(json!({"step": "finish", "number": load.0, "lines": lines, "stated": stated})).await?;
        settled(&said)
    }

    /// Says goodbye.
    pub async fn close(self) {
        self.line.close().await;
    }

    async fn send(&mut self, mut order: Value) -> Result<Value, NotSettled> {
        if let Value::Object(order) = &mut order {
            order.insert("environment".to_owned(), json!(self.environment));
            order.insert("operator".to_owned(), json!(self.operator));
        }
        match call(self.store, &mut self.line, "do_settle", order).await {
            Ok(Answered { word: Word::Done, read_back, .. }) => Ok(read_back.unwrap_or(Value::Null)),
            Ok(Answered { why, .. }) => Err(NotSettled::Refused(why.unwrap_or_else(|| "it was refused".to_owned()))),
            Err(Failed::Nothing(why) | Failed::Conflict(why)) => Err(NotSettled::Refused(why)),
            // What was staged stays unseen; the file can be loaded again.
            Err(Failed::Lost(why)) => Err(StoreError::Unreachable { why }.into()),
        }
    }
}

fn settled(said: &Value) -> Result<Settled, NotSettled> {
    let read = |part: &str| said.get(part).cloned().unwrap_or(Value::Null);
    let wrong = |why: serde_json::Error| NotSettled::Refused(format!("the database's answer cannot be read: {why}"));
    Ok(Settled {
        report: serde_json::from_value(read("report")).map_err(wrong)?,
        breaks: serde_json::from_value(read("breaks")).map_err(wrong)?,
    })
}
