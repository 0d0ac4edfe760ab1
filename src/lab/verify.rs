//! The seeds' measured table, run again: the same clients against a naive service and against the correct one.
//!
//! One file per row, one list. A row is one script; which service it meets is the only difference between its
//! two columns. Nothing in it is left to timing: a charge is held at the provider until the script lets it go,
//! requests meet where a race is, and a lease is over because it was set to be. What is counted is what the
//! provider counts.

mod deleted_record;
mod killed_pod;
mod no_key;
mod other_payload;
mod slow_provider;
mod stand;
mod told;
mod twenty_at_once;
mod two_pods;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::{ConnectOptions, Connection};

use super::LabError;
use super::cluster::{Cluster, LabDatabase};
use super::service::{Conduct, Service};

pub use stand::Stand;
pub use told::Told;

/// Every row, in the table's order.
pub const ALL: &[&Row] = &[
    &no_key::ROW,
    &twenty_at_once::ROW,
    &other_payload::ROW,
    &slow_provider::ROW,
    &deleted_record::ROW,
    &two_pods::ROW,
    &killed_pod::ROW,
];

/// Nothing a script waits for takes this long, however slow the machine.
const LIMIT: Duration = Duration::from_mins(2);

/// One row of the table.
pub struct Row {
    /// What it is called in the table.
    pub name: &'static str,
    /// What the clients do, in a sentence.
    pub what: &'static str,
    /// How long a pod waits for the provider.
    pub provider_timeout: Duration,
    /// The naive column; `None` where the table has none.
    pub naive: Option<Side>,
    /// The correct column.
    pub correct: Option<Side>,
    /// What the clients do, and what is seen.
    pub script: for<'a> fn(&'a mut Stand) -> BoxFuture<'a, Result<Seen, LabError>>,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Row").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Row {
    /// One of its columns.
    pub fn side(&self, which: Which) -> Option<&Side> {
        match which {
            Which::Naive => self.naive.as_ref(),
            Which::Correct => self.correct.as_ref(),
        }
    }
}

/// One cell of the table.
#[derive(Debug)]
pub struct Side {
    /// The service it is run against.
    pub conduct: fn() -> Conduct,
    /// What must be seen, as [`Seen`] says it.
    pub expected: &'static [&'static str],
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The service most teams write first.
    Naive,
    /// The service that keeps DOMAIN's rules.
    Correct,
}

/// What came of a script: answers, rows and charges, each in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen(pub Vec<String>);

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The table has no such cell.
    NotInTable,
    /// What was seen is what was expected.
    AsExpected(Seen),
    /// It is not.
    Differs(Seen),
    /// It could not be run to its end.
    NotRun(String),
}

/// What all rows are run on: two databases on one throw-away server.
#[derive(Debug)]
pub struct Bench {
    /// With the unique index on succeeded payments.
    correct: LabDatabase,
    /// Without it.
    flawed: LabDatabase,
    runs: AtomicU32,
}

impl Bench {
    /// Makes the databases.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn open(cluster: &Cluster) -> Result<Self, LabError> {
        let correct = cluster.create_database("lab verify, the correct service").await?;
        let flawed = cluster.create_database("lab verify, the naive service").await?;
        Service::create_schema_for(&correct.admin_options(), Conduct::CORRECT).await?;
        Service::create_schema_for(&flawed.admin_options(), Conduct::naive()).await?;
        Ok(Self { correct, flawed, runs: AtomicU32::new(1) })
    }

    /// Runs one cell.
    pub async fn run(&self, row: &Row, which: Which) -> Ended {
        let Some(side) = row.side(which) else { return Ended::NotInTable };
        match self.see(row, (side.conduct)()).await {
            Ok(seen) if seen.0.iter().eq(side.expected) => Ended::AsExpected(seen),
            Ok(seen) => Ended::Differs(seen),
            Err(error) => Ended::NotRun(error.to_string()),
        }
    }

    /// Runs a row's script against a service of that conduct, whatever the table says of it.
    ///
    /// # Errors
    /// When it could not be run to its end.
    pub async fn see(&self, row: &Row, conduct: Conduct) -> Result<Seen, LabError> {
        let database = if conduct == Conduct::CORRECT { &self.correct } else { &self.flawed };
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        let mut stand = Stand::open(&database.admin_options(), row, conduct, run).await?;
        (row.script)(&mut stand).await
    }

    /// Whether the server still answers.
    ///
    /// # Errors
    /// [`LabError::Database`] when it does not.
    pub async fn reach(&self) -> Result<(), LabError> {
        Ok(self.correct.admin_options().connect().await?.close().await?)
    }

    /// Removes the databases.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn close(self) -> Result<(), LabError> {
        self.correct.remove().await?;
        Ok(self.flawed.remove().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_seeds_table() {
        let cells = |which| ALL.iter().map(|row| row.side(which).is_some()).collect::<Vec<_>>();
        assert_eq!(cells(Which::Naive), [true, true, true, true, true, false, false]);
        assert_eq!(cells(Which::Correct), [false, true, true, true, true, true, true]);
        let charges = |which, wanted: &str| {
            ALL.iter().filter_map(|row| row.side(which)).filter(|side| side.expected.contains(&wanted)).count()
        };
        assert_eq!((charges(Which::Naive, "2 charges"), charges(Which::Naive, "1 charge")), (2, 3));
        assert_eq!((charges(Which::Correct, "2 charges"), charges(Which::Correct, "1 charge")), (0, 6));
    }
}
