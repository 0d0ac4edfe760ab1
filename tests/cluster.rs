//! The throw-away PostgreSQL: it starts, it is only ever ours, and it goes away on every way out.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};
use unstuck::lab::cluster::{
    Cluster, ClusterError, ClusterOptions, ServerSource, SystemPrograms, is_bundled,
};

use crate::support::cluster::{fresh_database, options, own, shared};

async fn number(options: &sqlx::postgres::PgConnectOptions) -> i32 {
    let mut connection = options.connect().await.expect("connect");
    let number = sqlx::query_scalar("SELECT 41 + 1")
        .fetch_one(&mut connection)
        .await
        .expect("a query");
    connection.close().await.expect("close");
    number
}

fn server_runs_on(directory: &Path) -> bool {
    let data = directory.join("data").display().to_string();
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .any(|entry| {
            std::fs::read(entry.path().join("cmdline"))
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&data))
        })
}

#[tokio::test]
async fn a_database_is_fresh_marked_and_logged() {
    let database = fresh_database("logged").await;
    assert!(database.name().starts_with("unstuck_lab_"));
    let mut inside = database
        .admin_options()
        .application_name("the-test")
        .connect()
        .await
        .unwrap();
    database.verify(&mut inside).await.unwrap();
    sqlx::query("SELECT 'written down'")
        .execute(&mut inside)
        .await
        .unwrap();
    if let Ok(log) = shared().await.statement_log() {
        let text = std::fs::read_to_string(log).unwrap();
        let line = text
            .lines()
            .find(|line| line.contains("SELECT 'written down'"))
            .unwrap();
        assert!(
            line.contains("app=the-test")
                && line.contains("user=postgres")
                && line.contains("pid="),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_database_we_did_not_make_is_refused() {
    let ours = fresh_database("ours").await;
    let other = fresh_database("other").await;
    let mut wrong = other.admin_options().connect().await.unwrap();
    let refused = ours.verify(&mut wrong).await.unwrap_err();
    assert!(matches!(refused, ClusterError::ForeignDatabase(name) if name == other.name()));
    let mut unmarked = shared().await.admin_options().connect().await.unwrap();
    assert!(matches!(
        ours.verify(&mut unmarked).await,
        Err(ClusterError::ForeignDatabase(_))
    ));
}

#[tokio::test]
async fn dropping_it_stops_the_server_and_removes_the_directory() {
    let cluster = own().await;
    let Some(directory) = cluster.directory() else {
        return;
    };
    assert_eq!(number(&cluster.admin_options()).await, 42);
    assert!(server_runs_on(&directory));
    drop(cluster);
    assert!(!directory.exists());
    assert!(!server_runs_on(&directory));
}

#[tokio::test]
async fn a_dead_parent_is_cleaned_up_after_by_the_supervisor() {
    let cluster = own().await;
    let Some(directory) = cluster.directory() else {
        return;
    };
    cluster.pause().await.unwrap(); // a frozen server must go, too
    tokio::task::spawn_blocking(|| cluster.abandon())
        .await
        .unwrap()
        .unwrap();
    assert!(!directory.exists());
    assert!(!server_runs_on(&directory));
}

#[tokio::test]
async fn it_comes_back_after_a_kill_with_what_was_acknowledged() {
    let cluster = own().await;
    if cluster.directory().is_none() {
        return;
    }
    let database = cluster.create_database("killed").await.unwrap();
    let mut before = database.admin_options().connect().await.unwrap();
    sqlx::query("CREATE TABLE kept (id int)")
        .execute(&mut before)
        .await
        .unwrap();
    cluster.kill9().unwrap();
    assert!(sqlx::query("SELECT 1").execute(&mut before).await.is_err());
    cluster.restart().await.unwrap();
    let mut after = database.admin_options().connect().await.unwrap();
    sqlx::query("SELECT id FROM kept")
        .execute(&mut after)
        .await
        .unwrap();
    cluster.pause().await.unwrap();
    let frozen = sqlx::query("SELECT 1").execute(&mut after);
    assert!(
        tokio::time::timeout(std::time::Duration::from_millis(200), frozen)
            .await
            .is_err()
    );
    cluster.resume().unwrap();
    assert_eq!(number(&database.admin_options()).await, 42);
}

#[tokio::test]
async fn with_the_systems_programs_hidden_the_bundled_server_runs_and_says_so() {
    if !is_bundled() {
        return;
    }
    let hidden = ClusterOptions {
        programs: SystemPrograms::Hidden,
        server_url: None,
        ..options()
    };
    let cluster = Cluster::start(hidden).await.unwrap();
    assert_eq!(
        number(
            &cluster
                .create_database("bundled")
                .await
                .unwrap()
                .admin_options()
        )
        .await,
        42
    );
    assert!(matches!(cluster.source(), ServerSource::Bundled { .. }));
    assert!(
        cluster
            .source()
            .to_string()
            .ends_with("(bundled, no server time-outs)")
    );
    assert!(!cluster.source().has_server_timeouts());
}

#[tokio::test]
async fn the_loopback_port_wants_the_password() {
    let cluster = shared().await;
    let Some((port, password)) = cluster.loopback() else {
        return;
    };
    let over_tcp = sqlx::postgres::PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .username("postgres")
        .database("postgres")
        .ssl_mode(sqlx::postgres::PgSslMode::Disable);
    assert!(over_tcp.clone().password("guess").connect().await.is_err());
    assert_eq!(number(&over_tcp.password(&password)).await, 42);
}

#[tokio::test]
async fn a_server_of_somebody_is_worked_on_only_in_databases_of_our_own() {
    let host = own().await;
    let Some((port, password)) = host.loopback() else {
        return;
    };
    let url = format!("postgres://postgres:{password}@127.0.0.1:{port}/postgres?sslmode=disable");
    let guest = Cluster::start(ClusterOptions {
        server_url: Some(url),
        ..ClusterOptions::default()
    })
    .await
    .unwrap();
    assert!(matches!(guest.source(), ServerSource::Server { .. }));
    assert!(matches!(guest.kill9(), Err(ClusterError::NotOurs)));
    let mut database = guest.create_database("guest").await.unwrap();
    let login = database
        .create_login("guest", &["pg_read_all_data"])
        .await
        .unwrap();
    assert_eq!(number(&database.login_options(&login)).await, 42);
    let mut watcher = host.admin_options().connect().await.unwrap();
    let left = "SELECT count(*) FROM (SELECT datname::text AS name FROM pg_database UNION ALL SELECT rolname::text FROM pg_roles) AS all_names WHERE name LIKE 'unstuck_lab_%' OR name LIKE 'guest_%'";
    assert_eq!(
        sqlx::query_scalar::<_, i64>(left)
            .fetch_one(&mut watcher)
            .await
            .unwrap(),
        2
    );
    drop(database);
    assert_eq!(
        sqlx::query_scalar::<_, i64>(left)
            .fetch_one(&mut watcher)
            .await
            .unwrap(),
        0
    );
}
