//! The throw-away PostgreSQL: it starts, it is only ever ours, and it goes away on every way out.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use unstuck::lab::cluster::{Cluster, ClusterError, ClusterOptions, ServerSource, SystemPrograms, is_bundled};

use crate::support::cluster::{fresh_database, options, own, shared};
use crate::support::{PATIENCE, now};

async fn number(options: &sqlx::postgres::PgConnectOptions) -> i32 {
    let mut connection = options.connect().await.expect("connect");
    let number = sqlx::query_scalar("SELECT 41 + 1").fetch_one(&mut connection).await.expect("a query");
    connection.close().await.expect("close");
    number
}

fn server_runs_on(directory: &Path) -> bool {
    let data = directory.join("data").display().to_string();
    std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).any(|entry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(&data))
    })
}

#[tokio::test]
async fn a_database_is_fresh_marked_and_logged() {
    let database = fresh_database("logged").await;
    assert!(database.name().starts_with("unstuck_lab_"));
    let mut inside = database.admin_options().application_name("the-test").connect().await.unwrap();
    database.verify(&mut inside).await.unwrap();
    sqlx::query("SELECT 'written down'").execute(&mut inside).await.unwrap();
    if let Ok(log) = shared().await.statement_log() {
        let text = std::fs::read_to_string(log).unwrap();
        let line = text.lines().find(|line| line.contains("SELECT 'written down'")).unwrap();
        assert!(line.contains("app=the-test") && line.contains("user=postgres") && line.contains("pid="), "{line}");
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
    assert!(matches!(ours.verify(&mut unmarked).await, Err(ClusterError::ForeignDatabase(_))));
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
    tokio::task::spawn_blocking(|| cluster.abandon()).await.unwrap().unwrap();
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
    sqlx::query("CREATE TABLE kept (id int)").execute(&mut before).await.unwrap();
    cluster.kill9().unwrap();
    let begun = now();
    while sqlx::query("SELECT 1").execute(&mut before).await.is_ok() {
        // The process behind this connection notices the end of its server a moment later.
        assert!(begun.elapsed() < PATIENCE, "a connection outlives the server");
    }
    cluster.restart().await.unwrap();
    let mut after = database.admin_options().connect().await.unwrap();
    sqlx::query("SELECT id FROM kept").execute(&mut after).await.unwrap();
    cluster.pause().await.unwrap();
    let frozen = sqlx::query("SELECT 1").execute(&mut after);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(200), frozen).await.is_err());
    cluster.resume().unwrap();
    assert_eq!(number(&database.admin_options()).await, 42);
}

#[tokio::test]
async fn with_the_systems_programs_hidden_the_bundled_server_runs_and_says_so() {
    if !is_bundled() {
        return;
    }
    let hidden = ClusterOptions { programs: SystemPrograms::Hidden, server_url: None, ..options() };
    let cluster = Cluster::start(hidden).await.unwrap();
    assert_eq!(number(&cluster.create_database("bundled").await.unwrap().admin_options()).await, 42);
    assert!(matches!(cluster.source(), ServerSource::Bundled { .. }));
    assert!(cluster.source().to_string().ends_with("(bundled, no server time-outs)"));
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
    let guest = Cluster::start(ClusterOptions { server_url: Some(url), ..ClusterOptions::default() }).await.unwrap();
    assert!(matches!(guest.source(), ServerSource::Server { .. }));
    assert!(matches!(guest.kill9(), Err(ClusterError::NotOurs)));
    let mut database = guest.create_database("guest").await.unwrap();
    let login = database.create_login("guest", &["pg_read_all_data"]).await.unwrap();
    assert_eq!(number(&database.login_options(&login)).await, 42);
    let mut watcher = host.admin_options().connect().await.unwrap();
    let left = "SELECT count(*) FROM (SELECT datname::text AS name FROM pg_database UNION ALL SELECT rolname::text FROM pg_roles) AS all_names WHERE name LIKE 'unstuck_lab_%' OR name LIKE 'guest_%'";
    assert_eq!(sqlx::query_scalar::<_, i64>(left).fetch_one(&mut watcher).await.unwrap(), 2);
    drop(database);
    assert_eq!(sqlx::query_scalar::<_, i64>(left).fetch_one(&mut watcher).await.unwrap(), 0);
}

/// Set for a copy of this test binary that is to hold a cluster open until it is killed.
const HOLD: &str = "UNSTUCK_TEST_HOLD";

#[tokio::test]
async fn a_cluster_is_held_open_when_another_test_asks() {
    if std::env::var_os(HOLD).is_none() {
        return;
    }
    let cluster = own().await;
    let directory = cluster.directory().unwrap_or_default();
    println!("\nheld at {}", directory.display());
    tokio::time::sleep(Duration::from_mins(10)).await;
}

/// A process of its own with a cluster, and the cluster's directory.
fn holder() -> (Child, PathBuf) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "cluster::a_cluster_is_held_open_when_another_test_asks"])
        .env(HOLD, "1")
        .env_remove("UNSTUCK_LAB_SERVER_URL")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let directory =
        lines.map_while(Result::ok).find_map(|line| line.strip_prefix("held at ").map(PathBuf::from)).unwrap();
    (child, directory)
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), wait).await.is_ok(), "{what}");
}

#[tokio::test]
async fn kill_9_of_the_process_leaves_nothing_behind() {
    let (mut child, directory) = holder();
    assert!(directory.is_dir() && server_runs_on(&directory));
    child.kill().unwrap();
    child.wait().unwrap();
    until("the directory goes", || !directory.exists()).await;
    until("the server goes", || !server_runs_on(&directory)).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_next_start_sweeps_what_a_killed_supervisor_could_not() {
    let (mut child, directory) = holder();
    let supervisors: Vec<i32> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).into_owned();
            let watches = line.contains("unstuck-lab-supervisor") && line.contains(&directory.display().to_string());
            watches.then(|| entry.file_name().to_str()?.parse().ok())?
        })
        .collect();
    assert_eq!(supervisors.len(), 1);
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(supervisors[0]), nix::sys::signal::Signal::SIGKILL).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(own().await);
    // Another test's start may be the one that sweeps.
    until("the directory goes", || !directory.exists()).await;
    until("the server goes", || !server_runs_on(&directory)).await;
}

#[tokio::test]
async fn the_consoles_database_url_is_never_touched() {
    let canary = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    canary.set_nonblocking(true).unwrap();
    let port = canary.local_addr().unwrap().port().to_string();
    let tests =
        ["cluster::a_database_is_fresh_marked_and_logged", "lab::worlds::the_consoles_login_may_read_and_not_write"];
    let status = Command::new(std::env::current_exe().unwrap())
        .arg("--exact")
        .args(tests)
        .env("UNSTUCK_DATABASE_URL", format!("postgres://somebody@127.0.0.1:{port}/production"))
        .env("DATABASE_URL", format!("postgres://somebody@127.0.0.1:{port}/production"))
        .envs([
            ("PGHOST", "127.0.0.1"),
            ("PGUSER", "somebody"),
            ("PGDATABASE", "production"),
            ("PGPORT", port.as_str()),
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(canary.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "somebody connected");
}
