//! One guarded call on the wire: when it counts as sent, and what its failure means.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{Executor, PgConnection};

use super::super::error::{is_lost, meaning, sqlstate};
use super::super::gate::Checked;
use super::super::options::Pooling;
use super::super::postgres::PgStore;
use super::super::reading::Line;
use super::super::rows::Reader;
use super::super::vouched;
use crate::domain::fault::step;
use crate::domain::ids::LogId;
use crate::domain::port::StoreError;

/// The outcome word of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Word {
    Done,
    Refused,
    Conflict,
}

/// What a function answered.
#[derive(Debug)]
pub(in crate::store) struct Answered {
    pub(in crate::store) word: Word,
    pub(in crate::store) why: Option<String>,
    pub(in crate::store) log: Option<LogId>,
    pub(in crate::store) read_back: Option<Value>,
}

/// Why there is no answer. Sentences.
#[derive(Debug)]
pub(in crate::store) enum Failed {
    /// The server reported an error, or the call was not sent: nothing changed.
    Nothing(String),
    /// Somebody else was first, or in the way: nothing changed.
    Conflict(String),
    /// It was sent, and the connection went away: nobody knows.
    Lost(String),
}

/// Calls one guarded function.
pub(in crate::store) async fn call(
    store: &PgStore,
    line: &mut Line,
    function: &str,
    order: Value,
) -> Result<Answered, Failed> {
    let bound = store.bound().await.map_err(|why| Failed::Nothing(format!("{why}.")))?;
    let checked = bound.call(function).map_err(Failed::Nothing)?;
    let pooling = store.options.pooling;
    let sending = send(line.connection(), checked, order, pooling);
    let rows = match tokio::time::timeout(store.options.act_within, sending).await {
        Ok(Ok(rows)) => rows,
        Ok(Err((Sent::No, error))) => return Err(Failed::Nothing(said(&error, function))),
        Ok(Err((Sent::Yes, error))) => return Err(failure(&error, function)),
        Err(_) => {
            return Err(Failed::Lost(format!("The database did not answer {function} in time.")));
        }
    };
    // An answer that cannot be read was still an answer of a call that ran.
    let row = rows.first().ok_or_else(|| Failed::Lost(format!("{function} gave no row.")))?;
    answered(checked.file(), row).map_err(|why| Failed::Lost(format!("{why}.")))
}

/// Whether the call had left when something failed.
enum Sent {
    No,
    Yes,
}

async fn send(
    connection: &mut PgConnection,
    checked: &Checked,
    order: Value,
    pooling: Pooling,
) -> Result<Vec<PgRow>, (Sent, sqlx::Error)> {
    match pooling {
        // Prepared first: a failure up to here is certain to have changed nothing. Then one message, one
        // implicit transaction; reading to the end of it means its commit was confirmed.
        Pooling::Session => {
            let preparing = step("prepare", checked.file(), connection.prepare(vouched(checked)));
            preparing.await.map_err(|error| (Sent::No, error))?;
            let query = sqlx::query(vouched(checked)).bind(order);
            step("call", checked.file(), query.fetch_all(connection)).await.map_err(|error| (Sent::Yes, error))
        }
        // A pooler may change the server between two messages, unless a transaction holds it.
        Pooling::Transaction => {
            step("begin", checked.file(), connection.execute("BEGIN")).await.map_err(|error| (Sent::No, error))?;
            let query = sqlx::query(vouched(checked)).persistent(false).bind(order);
            let rows = step("call", checked.file(), query.fetch_all(&mut *connection)).await;
            let end = if rows.is_ok() { "COMMIT" } else { "ROLLBACK" };
            let ended = step("end", checked.file(), connection.execute(end)).await;
            let rows = rows.map_err(|error| (Sent::Yes, error))?;
            ended.map_err(|error| (Sent::Yes, error))?;
            Ok(rows)
        }
    }
}

fn failure(error: &sqlx::Error, function: &str) -> Failed {
    match sqlstate(error).as_deref() {
        Some("40001" | "40P01") => {
            Failed::Conflict("Somebody else changed the same record at the same moment.".to_owned())
        }
        Some("55P03") => Failed::Conflict("Somebody else holds a lock on the record.".to_owned()),
        Some(_) if !is_lost(error) => Failed::Nothing(said(error, function)),
        Some(_) | None => Failed::Lost(said(error, function)),
    }
}

fn said(error: &sqlx::Error, function: &str) -> String {
    format!("{}.", meaning(error, function))
}

fn answered(file: &str, row: &PgRow) -> Result<Answered, StoreError> {
    let reader = Reader::new(file, row);
    let word = match reader.text("outcome")?.as_str() {
        "done" => Word::Done,
        "refused" => Word::Refused,
        "conflict" => Word::Conflict,
        other => return Err(reader.wrong("outcome", "done, refused or conflict", other)),
    };
    Ok(Answered {
        word,
        why: reader.text_maybe("why")?,
        log: reader.int_maybe("log_id")?.map(LogId),
        read_back: reader.json_maybe("read_back")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_lost_after_sending_is_not_a_failure() {
        let error = sqlx::Error::Io(std::io::Error::other("reset"));
        assert!(matches!(failure(&error, "do_adopt"), Failed::Lost(_)));
    }
}
