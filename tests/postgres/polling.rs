//! Polls: what they show, and what is left when something is in the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::Executor;
use unstuck::domain::clue::Clue;
use unstuck::domain::port::Beside;
use unstuck::domain::port::{Store, StoreError};
use unstuck::domain::rule::RuleState;
use unstuck::domain::snapshot::{Signal, Snapshot};
use unstuck::lab::cluster::{Cluster, ClusterOptions, SystemPrograms};
use unstuck::store::library::Library;
use unstuck::store::options::Pooling;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile;

use crate::support::cluster;
use crate::support::store::{Ground, Tables, server_timers};

fn count(snapshot: &Snapshot, signal: Signal) -> Option<u64> {
    snapshot.pulse_of(signal).map(|pulse| pulse.count)
}

/// Does everything that is due beside the polls.
async fn all_beside(store: &PgStore) {
    while store.work_beside().await.unwrap() == Beside::Worked {}
}

fn state<'s>(snapshot: &'s Snapshot, id: &str) -> &'s RuleState {
    &snapshot.rules.iter().find(|report| report.rule.id == id).unwrap().state
}

const OURS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unstuck'";
const CUT: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unstuck'";

#[tokio::test]
async fn a_poll_shows_the_clean_books_and_everything_is_known() {
    let ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    let snapshot = store.poll().await.unwrap();
    assert_eq!(count(&snapshot, Signal::Stuck), Some(2), "{:?}", snapshot.pulse);
    assert_eq!(count(&snapshot, Signal::Unknown), Some(1));
    let keys: Vec<&str> = snapshot.stuck.value().unwrap().iter().map(|record| record.id.key.as_str()).collect();
    assert_eq!(keys, ["k-102", "k-106"]);
    assert_eq!(snapshot.rates.why_not(), None);
    assert_eq!(snapshot.providers.why_not(), None);
    assert_eq!(snapshot.recoverer.why_not(), None);
    assert_eq!(snapshot.offenders.why_not(), None);
    assert_eq!(snapshot.changes.why_not(), None);
    assert_eq!(snapshot.log.why_not(), None);
    assert_eq!(snapshot.handed_over.why_not(), None);
    assert_eq!(snapshot.rules.len(), 15);
    all_beside(&store).await;
    let snapshot = store.poll().await.unwrap();
    for report in &snapshot.rules {
        let audited = matches!(report.state, RuleState::Holds { audited_at: Some(_), .. });
        assert!(audited, "{}: {:?}", report.rule.id, report.state);
    }
    assert!(snapshot.cost.queries > 3);
}

#[tokio::test]
async fn a_fresh_breach_is_seen_by_the_window_of_a_poll_and_an_old_one_by_the_audit() {
    let mut ground = Ground::new(Tables::Plain).await;
    ground.run(include_str!("../fixtures/violations/i01.sql")).await;
    let store = ground.store();
    let fresh = store.poll().await.unwrap();
    let RuleState::Violated { breaches, .. } = state(&fresh, "I1") else { panic!("{:?}", state(&fresh, "I1")) };
    assert_eq!(breaches.len(), 1);
    ground.run("UPDATE payments SET updated_at = now() - interval '50 minutes' WHERE id = 'P-900'").await;
    let late = ground.store();
    let before = late.poll().await.unwrap();
    assert!(matches!(state(&before, "I1"), RuleState::Holds { audited_at: None, .. }), "{:?}", state(&before, "I1"));
    all_beside(&late).await;
    let after = late.poll().await.unwrap();
    let violated = |snapshot: &Snapshot| {
        let broken = snapshot.rules.iter().filter(|report| matches!(report.state, RuleState::Violated { .. }));
        broken.map(|report| report.rule.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(violated(&after), ["I1"]);
}

#[tokio::test]
async fn a_pooler_that_changes_servers_between_transactions_is_served_too() {
    let ground = Ground::new(Tables::Installed).await;
    let mut options = ground.options();
    options.pooling = Pooling::Transaction;
    let store = PgStore::new(options);
    for _ in 0..3 {
        let snapshot = store.poll().await.unwrap();
        assert_eq!(count(&snapshot, Signal::Stuck), Some(2));
    }
    assert_eq!(store.facts().unwrap().off, Vec::new());
    if let Ok(log) = cluster::shared().await.statement_log() {
        let log = std::fs::read_to_string(log).unwrap();
        let database = format!("db={} app=unstuck", ground.database.name());
        let ours: Vec<&str> =
            log.lines().filter(|line| line.contains(&database) && line.contains("console_")).collect();
        let pid = |line: &str| line.split("pid=").nth(1)?.split(' ').next().map(str::to_owned);
        let named: BTreeSet<String> =
            ours.iter().filter(|line| line.contains("execute sqlx_s_")).filter_map(|line| pid(line)).collect();
        let forgot: BTreeSet<String> =
            ours.iter().filter(|line| line.contains("DEALLOCATE ALL")).filter_map(|line| pid(line)).collect();
        assert!(!ours.is_empty() && named.is_subset(&forgot), "names outlive their transaction: {named:?} {forgot:?}");
    }
}

#[tokio::test]
async fn a_statement_the_server_does_not_stop_is_cancelled_from_beside() {
    // Only the bundled server has no time-outs of its own: there our own deadline has to do it.
    let bundled = ClusterOptions { programs: SystemPrograms::Hidden, server_url: None, ..cluster::options() };
    let Ok(cluster) = Cluster::start(bundled).await else {
        println!("skipped: no bundled server in this build");
        return;
    };
    let mut ground = Ground::on(&cluster, Tables::Plain).await;
    let slow = "-- slow\nSELECT a.attname::text AS scope, '' AS key, '' AS order_id, '' AS payment_id, '' AS why, \
        0::bigint AS amount, '' AS currency, now() AS at \
        FROM pg_attribute a, pg_attribute b, pg_attribute c WHERE length($1::text) > $2::bigint \
        ORDER BY length(a.attname || b.attname || c.attname), 1 LIMIT 5";
    let files = Library::shipped().of_profile("reference");
    let mut files: BTreeMap<String, String> =
        files.into_iter().map(|(name, source)| (format!("reference/{name}"), source.text)).collect();
    files.insert("reference/get_find.sql".to_owned(), slow.to_owned());
    let library = Library::of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let mut options = ground.options().with_profiles(Arc::new(profile::load(&library).unwrap()));
    options.read_within = Duration::from_millis(300);
    let store = PgStore::new(options);
    store.connect().await.unwrap();
    let long = Clue::Id("x".repeat(100));
    let found = store.find(&long).await;
    assert!(matches!(found, Err(StoreError::TimedOut { .. })), "{found:?}");
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'unstuck' AND state = 'active'";
    while ground.number(busy).await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_hour_of_requests_is_counted_once() {
    let mut ground = Ground::new(Tables::Plain).await;
    ground
        .run(
            "INSERT INTO api_requests (at, scope, method, route, status)
             SELECT now() - interval '59 minutes' + interval '1 second' * n, 'acme', 'POST', '/payments', 201
             FROM generate_series(1, 3500) AS n ORDER BY n",
        )
        .await;
    let store = ground.store();
    for _ in 0..3 {
        store.poll().await.unwrap();
        all_beside(&store).await;
    }
    let rates = store.poll().await.unwrap().rates;
    let rates = rates.value().unwrap();
    let since = rates.known_since.unwrap();
    let shown: u64 = rates.iter().filter(|(minute, _)| *minute >= since).map(|(_, counts)| counts.requests).sum();
    let query =
        "SELECT count(*) FROM api_requests WHERE date_trunc('minute', at) >= $1 AND at < now() - interval '10 seconds'";
    let settled: i64 = sqlx::query_scalar(query).bind(since).fetch_one(&mut ground.admin).await.unwrap();
    let all: i64 = sqlx::query_scalar("SELECT count(*) FROM api_requests WHERE date_trunc('minute', at) >= $1")
        .bind(since)
        .fetch_one(&mut ground.admin)
        .await
        .unwrap();
    let shown = i64::try_from(shown).unwrap();
    assert!(settled > 3000 && (settled..=all).contains(&shown), "{settled} <= {shown} <= {all}");
}

#[tokio::test]
async fn a_locked_table_makes_its_panels_not_known_and_leaves_the_others() {
    if !server_timers("a locked table").await {
        return;
    }
    let ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    store.poll().await.unwrap();
    let mut locker = ground.other().await;
    locker.execute("BEGIN; LOCK TABLE payments IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let snapshot = store.poll().await.unwrap();
    let why = snapshot.stuck.why_not().unwrap();
    assert!(why.contains("somebody holds a lock on the table"), "{why}");
    assert!(snapshot.pulse.why_not().is_some() && snapshot.unknown.why_not().is_some());
    assert_eq!(snapshot.rates.why_not(), None, "api_requests is not locked");
    locker.execute("ROLLBACK").await.unwrap();
    let snapshot = store.poll().await.unwrap();
    assert_eq!(count(&snapshot, Signal::Stuck), Some(2));
}

#[tokio::test]
async fn a_store_that_connects_while_a_table_is_locked_looks_again() {
    if !server_timers("connecting to a locked table").await {
        return;
    }
    let ground = Ground::new(Tables::Installed).await;
    let mut locker = ground.other().await;
    locker.execute("BEGIN; LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let store = ground.store();
    let off = store.connect().await.unwrap().off;
    assert!(off.iter().any(|panel| panel.question == "get_pulse"), "{off:?}");
    assert!(off.iter().all(|panel| panel.why.contains("lock")), "{off:?}");
    locker.execute("ROLLBACK").await.unwrap();
    assert_eq!(store.connect().await.unwrap().off, Vec::new());
}

#[tokio::test]
async fn an_audit_that_does_not_finish_is_not_known() {
    if !server_timers("an unfinished audit").await {
        return;
    }
    let ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    store.poll().await.unwrap();
    let mut locker = ground.other().await;
    locker.execute("BEGIN; LOCK TABLE saga_steps IN ACCESS EXCLUSIVE MODE").await.unwrap();
    all_beside(&store).await;
    locker.execute("ROLLBACK").await.unwrap();
    let snapshot = store.poll().await.unwrap();
    let RuleState::NotKnown { why } = state(&snapshot, "I13") else { panic!("{:?}", state(&snapshot, "I13")) };
    assert!(why.contains("the full audit of I13 did not finish"), "{why}");
    assert!(matches!(state(&snapshot, "I1"), RuleState::Holds { .. }));
}

#[tokio::test]
async fn cut_connections_come_back_by_themselves() {
    let mut ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    store.poll().await.unwrap();
    assert!(ground.number(OURS).await > 0);
    assert!(ground.number(CUT).await > 0);
    let lost = store.poll().await;
    assert!(matches!(lost, Err(StoreError::Unreachable { .. })), "{lost:?}");
    let back = store.poll().await.unwrap();
    assert_eq!(count(&back, Signal::Stuck), Some(2));
}

#[tokio::test]
async fn connections_cut_in_the_middle_of_polls_never_show_half_a_picture() {
    let mut ground = Ground::new(Tables::Installed).await;
    let store = Arc::new(ground.store());
    store.poll().await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let polling = {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        tokio::spawn(async move {
            let (mut good, mut lost) = (0, 0);
            while !stop.load(Ordering::Relaxed) {
                match store.poll().await {
                    Ok(snapshot) => {
                        assert!(snapshot.stuck.value().is_some(), "{:?}", snapshot.stuck);
                        good += 1;
                    }
                    Err(StoreError::Unreachable { .. }) => lost += 1,
                    Err(other) => panic!("{other:?}"),
                }
            }
            (good, lost)
        })
    };
    for _ in 0..25 {
        ground.number(CUT).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.store(true, Ordering::Relaxed);
    let (good, lost) = polling.await.unwrap();
    assert!(lost > 0, "{good} good polls, none was hit");
    assert_eq!(count(&store.poll().await.or(store.poll().await).unwrap(), Signal::Stuck), Some(2));
}

#[tokio::test]
async fn a_frozen_server_costs_a_poll_its_time_and_no_more() {
    let cluster = cluster::own().await;
    let ground = Ground::on(&cluster, Tables::Plain).await;
    let mut options = ground.options();
    options.poll_within = Duration::from_millis(500);
    options.connect_within = Duration::from_secs(2);
    let store = PgStore::new(options);
    for _ in 0..20 {
        if store.poll().await.is_ok() {
            break;
        }
    }
    cluster.pause().await.unwrap();
    let frozen = store.poll().await;
    assert!(matches!(frozen, Err(StoreError::TimedOut { .. })), "{frozen:?}");
    let still = store.poll().await;
    assert!(matches!(still, Err(StoreError::Unreachable { .. })), "{still:?}");
    cluster.resume().unwrap();
    let mut back = store.poll().await;
    for _ in 0..20 {
        if back.is_ok() {
            break;
        }
        back = store.poll().await;
    }
    assert_eq!(count(&back.unwrap(), Signal::Stuck), Some(2));
}

#[tokio::test]
async fn a_server_killed_and_restarted_is_found_again() {
    let cluster = cluster::own().await;
    let ground = Ground::on(&cluster, Tables::Plain).await;
    let store = ground.store();
    store.poll().await.unwrap();
    cluster.kill9().unwrap();
    assert!(matches!(store.poll().await, Err(StoreError::Unreachable { .. })));
    assert!(matches!(store.poll().await, Err(StoreError::Unreachable { .. })));
    cluster.restart().await.unwrap();
    assert_eq!(count(&store.poll().await.unwrap(), Signal::Stuck), Some(2));
}

#[tokio::test]
async fn absurd_values_hide_nothing_else_and_never_panic() {
    let mut ground = Ground::new(Tables::Plain).await;
    let store = ground.store();
    ground.run("UPDATE idempotency_keys SET created_at = 'infinity' WHERE key = 'k-102'").await;
    for odd in ["infinity", "290000-01-01", "4713-01-01 BC", "-infinity"] {
        ground
            .run(&format!(
                "UPDATE idempotency_keys SET created_at = '{odd}', locked_until = '-infinity' WHERE key = 'k-102'"
            ))
            .await;
        let snapshot = store.poll().await.unwrap();
        assert_eq!(snapshot.stuck.why_not(), None, "{odd}");
        assert_eq!(count(&snapshot, Signal::Stuck), Some(2), "{odd}");
    }
    ground
        .run(
            "ALTER TABLE payments DROP CONSTRAINT payments_status_check;
             ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_recovery_point_check;
             UPDATE payments SET status = 'settling', currency = E'\\u202eRUE', amount = 9223372036854775807 WHERE key = 'k-102';
             INSERT INTO payments (id, order_id, scope, key, provider, status, amount, currency)
               SELECT 'p-huge-' || n, 'o-huge', 's', 'k-huge', 'lab', 'unknown', 9223372036854775807, 'EUR' FROM generate_series(1, 2) n;
             UPDATE idempotency_keys SET recovery_point = 'half way', locked_by = E'pod\\n\\u001b[2J' WHERE key = 'k-102'",
        )
        .await;
    let snapshot = store.poll().await.unwrap();
    assert!(count(&snapshot, Signal::Unknown).is_some_and(|n| n >= 2), "a sum beyond any money hides no count");
    let stuck = snapshot.stuck;
    let record = stuck.value().unwrap().iter().find(|record| record.id.key.as_str() == "k-102").unwrap();
    assert_eq!(record.recovery_point.as_ref().unwrap().to_string(), "half way");
    assert_eq!(record.payment_status.as_ref().unwrap().to_string(), "settling");
}

#[tokio::test]
async fn a_right_that_was_taken_away_is_named_and_only_its_panels_are_off() {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.run("REVOKE SELECT ON outbox FROM unstuck_reader").await;
    let store = ground.store();
    let facts = store.connect().await.unwrap();
    let pulse = facts.off.iter().find(|panel| panel.question == "get_pulse").unwrap();
    assert!(pulse.why.contains("permission denied for table outbox"), "{pulse:?}");
    let snapshot = store.poll().await.unwrap();
    assert!(snapshot.pulse.why_not().is_some());
    assert!(snapshot.stuck.value().is_some());
}

#[tokio::test]
async fn a_column_that_goes_while_the_console_runs_is_named_and_its_return_is_seen() {
    let mut ground = Ground::new(Tables::Installed).await;
    let mut options = ground.options();
    options.look_again = Duration::ZERO;
    let store = PgStore::new(options);
    assert!(store.poll().await.unwrap().changes.value().is_some());
    ground.run("ALTER TABLE webhook_events RENAME COLUMN received_at TO came_at").await;
    store.poll().await.unwrap();
    let snapshot = store.poll().await.unwrap();
    let why = snapshot.pulse.why_not().unwrap_or_default();
    assert!(why.contains("get_pulse"), "{why}");
    assert!(snapshot.stuck.value().is_some(), "only its own panel is off");
    ground.run("ALTER TABLE webhook_events RENAME COLUMN came_at TO received_at").await;
    all_beside(&store).await;
    assert!(store.poll().await.unwrap().pulse.value().is_some());
}
