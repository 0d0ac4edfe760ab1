//! One read-only transaction with one deadline: how everything is read.
//!
//! `BEGIN … READ ONLY` is in the text, not in start-up options, so that it holds behind a pooler too.
//! Our own statement runs first: after it the transaction can no longer be made writing. Before each
//! question the server is told how much time is left. A question that fails is undone to its savepoint,
//! and only that question is not known.

use std::time::Duration;

use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{Connection, Executor, PgConnection, Row};
use tokio::time::Instant;

use super::error::{does_not_fit, is_lost, meaning};
use super::gate::Checked;
use super::options::{Pooling, StoreOptions};
use super::rows::Reader;
use super::{clock, explained, vouched};
use crate::domain::fault::step;
use crate::domain::port::StoreError;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Always the first statement. The settings last as long as the transaction.
const FIRST: &str = "SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.now() AS now, \
    pg_catalog.set_config('statement_timeout', $1, true), \
    pg_catalog.set_config('idle_in_transaction_session_timeout', '10s', true), \
    pg_catalog.set_config('lock_timeout', '100ms', true), \
    pg_catalog.set_config('jit', 'off', true)";

const TIME_LEFT: &str = "SELECT pg_catalog.set_config('statement_timeout', $1, true)";

const CANCEL: &str = "SELECT pg_catalog.pg_cancel_backend($1)";

/// What a question is given.
#[derive(Debug, Clone)]
pub(super) enum Given {
    Int(i64),
    Text(String),
    At(Option<crate::domain::time::Instant>),
    Json(serde_json::Value),
}

/// Whether the statements still fit the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Nothing was said against it.
    Fine,
    /// The server refused one for what it names.
    InDoubt,
}

/// A connection and what is known about it.
pub(super) struct Line {
    connection: PgConnection,
    pooling: Pooling,
    fit: Fit,
    /// The server process behind the running transaction; a pooler changes it.
    pid: Option<i32>,
}

impl Line {
    /// Connects.
    pub(super) async fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        let connecting = PgConnection::connect_with(&options.server);
        match step("connect", "", tokio::time::timeout(options.connect_within, connecting)).await {
            Ok(Ok(connection)) => Ok(Self { connection, pooling: options.pooling, fit: Fit::Fine, pid: None }),
            Ok(Err(error)) => Err(meaning(&error, "connecting")),
            Err(_) => Err(StoreError::Unreachable { why: "the server did not answer in time".to_owned() }),
        }
    }

    /// The connection, for what is not a question: preparing, guarded calls.
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Whether the statements sent on it still fit the tables.
    pub(super) fn fit(&self) -> Fit {
        self.fit
    }

    /// The doubt was noted; a new look around is not due yet.
    pub(super) fn doubt_is_known(&mut self) {
        self.fit = Fit::Fine;
    }

    /// Whether the server still answers on it.
    pub(super) async fn is_alive(&mut self) -> bool {
        let asking = self.connection.execute("SELECT 1");
        matches!(step("alive", "", tokio::time::timeout(Duration::from_secs(1), asking)).await, Ok(Ok(_)))
    }

    /// Says goodbye. Whether the server hears it does not matter.
    pub(super) async fn close(self) {
        step("close", "", tokio::time::timeout(Duration::from_secs(1), self.connection.close())).await.ok();
    }

    /// Stops what the server still does for us, from a second connection, then gives this one up.
    async fn stop(self, options: &StoreOptions) {
        let Some(pid) = self.pid else { return };
        let cancelling = async {
            let mut other = PgConnection::connect_with(&options.server).await?;
            sqlx::query(CANCEL).persistent(false).bind(pid).execute(&mut other).await?;
            other.close().await
        };
        match step("cancel", "", tokio::time::timeout(Duration::from_secs(2), cancelling)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(pid, error = %error, "our statement could not be cancelled");
            }
            Err(_) => tracing::warn!(pid, "cancelling our statement took too long"),
        }
    }
}

/// Whether a line can be used again, and what was read.
pub(super) struct Read<T> {
    /// The line, when it is still good.
    pub(super) line: Option<Line>,
    /// What was read, or why nothing was.
    pub(super) result: Result<T, StoreError>,
}

/// Runs `work` in one read-only transaction within `time`. When the server stops answering, its
/// statement is cancelled beside and the line is given up.
pub(super) async fn read<T>(
    options: &StoreOptions,
    mut line: Line,
    time: Duration,
    what: &str,
    work: impl AsyncFnOnce(&mut Reading<'_>) -> Result<T, StoreError>,
) -> Read<T> {
    let deadline = clock() + time;
    // The server's own limit comes first; ours is for a server that does not answer at all.
    let patience = deadline + Duration::from_millis(500);
    let working = async {
        let mut reading = Reading::begin(&mut line, deadline).await.map_err(|error| meaning(&error, what))?;
        let result = work(&mut reading).await;
        let lost = reading.is_lost();
        if !lost {
            reading.end().await.map_err(|error| meaning(&error, what))?;
        }
        Ok::<_, StoreError>((lost, result))
    };
    match tokio::time::timeout_at(patience, working).await {
        Ok(Ok((false, result))) => Read { line: Some(line), result },
        Ok(Ok((true, result))) => Read { line: None, result },
        Ok(Err(error)) => Read { line: None, result: Err(error) },
        Err(_) => {
            line.stop(options).await;
            Read {
                line: None,
                result: Err(StoreError::TimedOut { what: format!("{what}: the server does not answer") }),
            }
        }
    }
}

/// A running read-only transaction.
pub(super) struct Reading<'l> {
    line: &'l mut Line,
    deadline: Instant,
    now: crate::domain::time::Instant,
    asked: u32,
    lost: Option<StoreError>,
}

impl<'l> Reading<'l> {
    async fn begin(line: &'l mut Line, deadline: Instant) -> Result<Self, sqlx::Error> {
        line.pid = None;
        step("begin", "reading", line.connection.execute(BEGIN)).await?;
        let persistent = line.pooling == Pooling::Session;
        let first = sqlx::query(FIRST).persistent(persistent).bind(millis_left(deadline).max(1).to_string());
        let row = step("first", "reading", first.fetch_one(&mut line.connection)).await?;
        line.pid = Some(row.try_get("pid")?);
        let now = Reader::new("the first statement", &row)
            .instant("now")
            .map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
        Ok(Self { line, deadline, now, asked: 1, lost: None })
    }

    /// The database's clock when the transaction began.
    pub(super) fn now(&self) -> crate::domain::time::Instant {
        self.now
    }

    /// How many statements were sent.
    pub(super) fn asked(&self) -> u32 {
        self.asked
    }

    /// Whether the connection went away: nothing more can be asked.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// An error when the connection went away.
    pub(super) fn lost(&self) -> Result<(), StoreError> {
        self.lost.clone().map_or(Ok(()), Err)
    }

    /// Asks one question. A failure concerns this question only, unless the connection went away.
    pub(super) async fn ask(&mut self, checked: &Checked, given: &[Given]) -> Result<Vec<PgRow>, StoreError> {
        let persistent = self.line.pooling == Pooling::Session;
        let given = given.get(..usize::from(checked.parameters()).min(given.len())).unwrap_or(&[]);
        let query = bind(sqlx::query(vouched(checked)).persistent(persistent), given);
        self.guarded(checked.file(), query).await
    }

    /// Asks one of our own statements.
    pub(super) async fn ask_own(
        &mut self,
        what: &str,
        query: Query<'static, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, StoreError> {
        self.guarded(what, query.persistent(false)).await
    }

    /// The server's plan of a question.
    pub(super) async fn plan(&mut self, checked: &Checked, given: &[Given]) -> Result<serde_json::Value, StoreError> {
        let given = given.get(..usize::from(checked.parameters()).min(given.len())).unwrap_or(&[]);
        let query = bind(sqlx::query(explained(checked)).persistent(false), given);
        let rows = self.guarded(checked.file(), query).await?;
        let plan = rows.first().and_then(|row| row.try_get::<serde_json::Value, _>(0).ok());
        Ok(plan.unwrap_or(serde_json::Value::Null))
    }

    /// What the server says about a question when it prepares it.
    pub(super) async fn describe(&mut self, checked: &Checked) -> Result<super::contract::Described, StoreError> {
        self.savepoint(checked.file()).await?;
        match step("prepare", checked.file(), self.line.connection.prepare(vouched(checked))).await {
            Ok(statement) => Ok(described(&statement)),
            Err(error) => Err(self.undo(&error, checked.file()).await),
        }
    }

    /// Takes back the names that [`Reading::describe`] gave to statements.
    pub(super) async fn forget_statements(&mut self) -> Result<(), StoreError> {
        let forgetting = step("forget", "reading", self.line.connection.execute("DEALLOCATE ALL"));
        forgetting.await.map(drop).map_err(|error| meaning(&error, "preparing"))
    }

    async fn guarded(&mut self, what: &str, query: Query<'_, Postgres, PgArguments>) -> Result<Vec<PgRow>, StoreError> {
        self.savepoint(what).await?;
        self.asked = self.asked.saturating_add(1);
        match step("ask", what, query.fetch_all(&mut self.line.connection)).await {
            Ok(rows) => Ok(rows),
            Err(error) => Err(self.undo(&error, what).await),
        }
    }

    /// Tells the server how much time is left, and marks the place to come back to.
    async fn savepoint(&mut self, what: &str) -> Result<(), StoreError> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let left = millis_left(self.deadline);
        if left == 0 {
            return Err(StoreError::TimedOut { what: format!("{what}: the time was used up before it was asked") });
        }
        let persistent = self.line.pooling == Pooling::Session;
        let time = sqlx::query(TIME_LEFT).persistent(persistent).bind(left.to_string());
        let told = step("time", what, time.execute(&mut self.line.connection)).await;
        let marked = match told {
            Ok(_) => step("mark", what, self.line.connection.execute("SAVEPOINT question")).await,
            Err(error) => Err(error),
        };
        match marked {
            Ok(_) => Ok(()),
            Err(error) => {
                // Without a place to come back to, the transaction is of no more use.
                let error = meaning(&error, what);
                self.lost = Some(error.clone());
                Err(error)
            }
        }
    }

    async fn undo(&mut self, error: &sqlx::Error, what: &str) -> StoreError {
        let said = meaning(error, what);
        if does_not_fit(error) {
            self.line.fit = Fit::InDoubt;
        }
        if is_lost(error) {
            self.lost = Some(said.clone());
        } else if let Err(error) =
            step("undo", what, self.line.connection.execute("ROLLBACK TO SAVEPOINT question")).await
        {
            self.lost = Some(meaning(&error, what));
        }
        said
    }

    async fn end(self) -> Result<(), sqlx::Error> {
        step("end", "reading", self.line.connection.execute("COMMIT")).await.map(drop)
    }
}

fn bind<'q>(mut query: Query<'q, Postgres, PgArguments>, given: &[Given]) -> Query<'q, Postgres, PgArguments> {
    for value in given {
        query = match value {
            Given::Int(number) => query.bind(*number),
            Given::Text(text) => query.bind(text.clone()),
            Given::At(instant) => query.bind(*instant),
            Given::Json(document) => query.bind(document.clone()),
        };
    }
    query
}

fn described(statement: &sqlx::postgres::PgStatement) -> super::contract::Described {
    use sqlx::{Column, Either, Statement, TypeInfo};
    let word = |kind: &sqlx::postgres::PgTypeInfo| kind.name().to_ascii_lowercase();
    let parameters = match statement.parameters() {
        Some(Either::Left(kinds)) => kinds.iter().map(word).collect(),
        Some(Either::Right(_)) | None => Vec::new(),
    };
    let columns = statement.columns().iter().map(|c| (c.name().to_owned(), word(c.type_info()))).collect();
    super::contract::Described { parameters, columns }
}

fn millis_left(deadline: Instant) -> u64 {
    u64::try_from(deadline.saturating_duration_since(clock()).as_millis()).unwrap_or(0)
}
