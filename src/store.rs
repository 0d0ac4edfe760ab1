//! PostgreSQL behind the query contract: profiles, the SQL gate, rows, polls, guarded functions.
//!
//! A text from a file reaches a server only as a [`gate::Checked`], and only through [`vouched`] and
//! [`explained`] below: the one place that tells sqlx to trust it. Everything else we send is a literal.

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};
use tokio::time::Instant;

pub mod beside;
pub mod contract;
pub mod gate;
pub mod install;
pub mod library;
pub mod options;
pub mod postgres;
pub mod profile;

mod act;
mod connect;
mod dossier;
mod error;
mod poll;
mod reading;
mod rows;

/// The text of a checked statement, for the server.
fn vouched(checked: &gate::Checked) -> SqlStr {
    AssertSqlSafe(checked.sql()).into_sql_str()
}

/// The same, asking for the plan only.
fn explained(checked: &gate::Checked) -> SqlStr {
    AssertSqlSafe(["EXPLAIN (FORMAT JSON) ", checked.sql()].concat()).into_sql_str()
}

/// The clock of this room: time-outs need one.
fn clock() -> Instant {
    Instant::now()
}

/// Short looks into what tasks share; a panic of another task does not make the data unusable.
fn locked<T>(shared: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
