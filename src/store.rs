//! PostgreSQL behind the query contract: profiles, the SQL gate, rows, polls, guarded functions.
//!
//! A text from a file reaches a server only as a [`gate::Checked`], and only through `vouched`,
//! `explained` and `scripted` below: the one place that tells sqlx to trust it. Everything else we send is a literal.

use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};
use tokio::time::Instant;

pub mod beside;
pub mod chain;
pub mod contract;
pub mod gate;
pub mod install;
pub mod library;
pub mod options;
pub mod postgres;
pub mod profile;
pub mod settle;

mod act;
mod case;
mod connect;
mod dossier;
mod error;
mod poll;
mod reading;
mod rows;
mod search;

/// The text of a checked statement, for the server.
fn vouched(checked: &gate::Checked) -> SqlStr {
    trusted(checked.sql().to_owned())
}

/// The same, asking for the plan only.
fn explained(checked: &gate::Checked) -> SqlStr {
    trusted(["EXPLAIN (FORMAT JSON) ", checked.sql()].concat())
}

/// A checked install script, whole. Never on a console connection.
fn scripted(script: &gate::Script) -> SqlStr {
    trusted(script.text().to_owned())
}

/// The choke point: only the three functions above call it, and each takes what passed the gate.
fn trusted(text: String) -> SqlStr {
    AssertSqlSafe(text).into_sql_str()
}

/// The clock of this room: time-outs need one.
fn clock() -> Instant {
    Instant::now()
}

/// Short looks into what tasks share; a panic of another task does not make the data unusable.
fn locked<T>(shared: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
