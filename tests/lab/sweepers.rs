//! Several sweepers share the work: each record is looked at by one of them, and nobody waits for a lock.

use std::collections::BTreeMap;
use std::time::Duration;

use unstuck::lab::provider::{Answer, Fate, Habits};
use unstuck::lab::service::{Recoverer, ServiceOptions};

use super::town::{Town, by_hand};

/// Leases end when the test says so, all at once.
fn swept() -> ServiceOptions {
    ServiceOptions { lease: Duration::from_hours(1), recoverer: Recoverer::On, sweepers: 3, ..by_hand() }
}

async fn lost(town: &Town, orders: usize) {
    for n in 0..orders {
        let order = format!("ord_{n}");
        town.desk().destine(&order, Fate { answer: Answer::Lost, ..Fate::default() });
    }
    let sent = (0..orders).map(|n| async move { town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await.code });
    assert!(futures_util::future::join_all(sent).await.iter().all(|code| *code == 503));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_sweepers_share_the_work_and_never_meet() {
    let town = Town::open_with("three sweepers", Habits::default(), swept()).await;
    lost(&town, 24).await;
    town.much_later().await;
    town.until("SELECT count(*) FROM idempotency_keys WHERE status = 'done'", 24).await;
    assert_eq!(town.count("SELECT count(*) FROM idempotency_keys WHERE attempt <> 2").await, 0, "one take each");
    assert_eq!(town.count("SELECT count(*) FROM provider_calls WHERE purpose = 'lookup'").await, 24, "one look each");
    let turns: Vec<(String, i64)> = sqlx::query_as("SELECT sweeper, count(*) FROM sweep_turns GROUP BY sweeper")
        .fetch_all(&town.pool)
        .await
        .unwrap();
    let turns: BTreeMap<String, i64> = turns.into_iter().collect();
    assert!(turns.len() > 1, "more than one of them had something to do: {turns:?}");
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_is_locked_is_passed_by_and_the_turns_of_a_dead_sweeper_go_to_others() {
    let town = Town::open_with("dead sweeper", Habits::default(), ServiceOptions { sweepers: 1, ..swept() }).await;
    lost(&town, 4).await;
    sqlx::query(
        "INSERT INTO sweep_turns (scope, key, sweeper, until)
         SELECT scope, key, 'gone', clock_timestamp() + interval '1 hour' FROM idempotency_keys WHERE key IN ('K-0', 'K-1')",
    )
    .execute(&town.pool)
    .await
    .unwrap();
    town.much_later().await;
    town.until("SELECT count(*) FROM idempotency_keys WHERE status = 'done'", 2).await;
    assert_eq!(town.state("ord_0").await.1, "processing", "somebody else's turn");
    // The other is gone, and a client or a person has one of the two locked: the sweeper goes round it.
    let mut tx = town.pool.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM idempotency_keys WHERE key = 'K-0' FOR UPDATE").execute(&mut *tx).await.unwrap();
    sqlx::query("UPDATE sweep_turns SET until = clock_timestamp() WHERE sweeper = 'gone'")
        .execute(&town.pool)
        .await
        .unwrap();
    town.until("SELECT count(*) FROM idempotency_keys WHERE status = 'done'", 3).await;
    assert_eq!(town.count("SELECT count(*) FROM sweep_turns WHERE key = 'K-0' AND sweeper = 'gone'").await, 1);
    tx.rollback().await.unwrap();
    town.until("SELECT count(*) FROM idempotency_keys WHERE status = 'done'", 4).await;
    assert_eq!(town.desk().charges("ord_0").len(), 1);
}
