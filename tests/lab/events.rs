//! Outbox, relay and consumer: handed over at least once, booked exactly once, whoever dies when.

use axum::http::Method;
use serde_json::json;
use unstuck::lab::provider::Fate;
use unstuck::lab::service::StallPoint;
use unstuck::lab::service::job::RELAY;

use super::town::Town;

const BOOKED: &str = "SELECT count(*) FROM ledger_entries";
const WAITING: &str = "SELECT count(*) FROM outbox WHERE published_at IS NULL";

#[tokio::test]
async fn an_event_is_booked_once_and_pays_its_order() {
    let town = Town::open("events once").await;
    let order = json!({"amount": 500, "currency": "EUR"});
    assert_eq!(town.send(Method::PUT, "/orders/ord_1", None, &order).await.code, 201);
    town.desk().destine("ord_2", Fate::declined("card_declined"));
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 201);
    assert_eq!(town.pay("K-2", "ord_2", 500).await.code, 402);
    assert_eq!(town.count(WAITING).await, 2);
    assert_eq!(town.run(RELAY).await.changed, 2);
    assert_eq!(town.run(RELAY).await.seen, 0);
    assert_eq!(town.count(BOOKED).await, 2, "debit and credit of the one that succeeded");
    assert_eq!(town.count("SELECT sum(amount)::int8 FROM ledger_entries").await, 0);
    assert_eq!(town.count("SELECT count(*) FROM orders WHERE status = 'paid'").await, 1);
    assert_eq!(town.count("SELECT count(*) FROM processed_messages").await, 2);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_relay_that_dies_before_it_marks_hands_over_again() {
    let town = Town::open("relay dies").await;
    town.pay("K-1", "ord_1", 500).await;
    town.run_and_kill(RELAY, "ord_1", StallPoint::BeforePublished).await;
    assert_eq!(town.count(BOOKED).await, 2, "it was handed over");
    assert_eq!(town.count(WAITING).await, 1, "and the outbox does not know");
    assert_eq!(town.run(RELAY).await.changed, 1);
    assert_eq!(town.count(BOOKED).await, 2, "the second time changed nothing");
    assert_eq!(town.count(WAITING).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_that_dies_half_way_leaves_neither_id_nor_effect() {
    let town = Town::open("consumer dies").await;
    town.pay("K-1", "ord_1", 500).await;
    town.run_and_kill(RELAY, "ord_1", StallPoint::BeforeBooked).await;
    assert_eq!(town.count("SELECT count(*) FROM processed_messages").await, 0);
    assert_eq!(town.count(BOOKED).await, 0);
    assert_eq!(town.run(RELAY).await.changed, 1);
    assert_eq!(town.count(BOOKED).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_relays_do_not_collide() {
    let town = Town::open("relays").await;
    for n in 0..12 {
        assert_eq!(town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await.code, 201);
    }
    let passes = futures_util::future::join_all((0..4).map(|_| town.run(RELAY))).await;
    assert_eq!(passes.iter().map(|tally| tally.changed).sum::<usize>(), 12, "each by one of them: {passes:?}");
    assert_eq!(town.count(BOOKED).await, 24);
    assert_eq!(town.count(WAITING).await, 0);
}
