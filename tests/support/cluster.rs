//! One throw-away cluster for the whole test binary, a fresh marked database per test.
//!
//! `cargo test` runs all tests in one process: one server, started by the first test that asks. Under
//! `cargo nextest` every test is a process and starts its own (1.5 s each): correct, but slower, which
//! is why the README's test command is plain `cargo test`.
//! The static is never dropped; the cluster's supervising child takes the server away when we exit.

use tokio::sync::OnceCell;
use unstuck::lab::cluster::{Cluster, ClusterOptions, LabDatabase, StatementLog, SynchronousCommit};

static SHARED: OnceCell<Cluster> = OnceCell::const_new();

/// The cluster all tests share: every statement logged, acknowledged commits survive `kill -9`.
/// Tests that kill, freeze or stop a server start their own with [`own`].
pub async fn shared() -> &'static Cluster {
    SHARED.get_or_init(own).await
}

/// A cluster for one test alone.
pub async fn own() -> Cluster {
    Cluster::start(options()).await.expect("a throw-away PostgreSQL")
}

/// What the tests ask of a cluster.
pub fn options() -> ClusterOptions {
    ClusterOptions {
        log_statements: StatementLog::All,
        synchronous_commit: SynchronousCommit::On,
        settings: vec![
            ("max_connections".to_owned(), "300".to_owned()),
            // Says where one session ends and the next of the same process number begins.
            ("log_connections".to_owned(), "on".to_owned()),
        ],
        ..ClusterOptions::from_env()
    }
}

/// An empty database of this test's own, removed when dropped.
pub async fn fresh_database(test: &str) -> LabDatabase {
    shared().await.create_database(test).await.expect("a database of our own")
}
