//! The checkout saga: before the capture it goes back, from the capture on only forward, each step once.

use axum::http::Method;
use serde_json::{Value, json};
use unstuck::lab::provider::{Answer, Fate, Reach};
use unstuck::lab::service::StallPoint;
use unstuck::lab::service::job::CHECKOUT;

use super::town::{Told, Town};

async fn begin(town: &Town, order: &str, quantity: i32) -> Told {
    let body = json!({"order_id": order, "sku": "tea", "quantity": quantity, "amount": 500, "currency": "EUR", "customer_id": null});
    town.send(Method::PUT, &format!("/checkouts/co_{order}"), None, &body).await
}

async fn status(town: &Town, order: &str) -> Value {
    town.send(Method::GET, &format!("/checkouts/co_{order}"), None, &json!(null)).await.body["status"].clone()
}

async fn steps(town: &Town, order: &str) -> String {
    sqlx::query_scalar(
        "SELECT string_agg(step || ' ' || status, ', ' ORDER BY position) FROM saga_steps WHERE order_id = $1",
    )
    .bind(order)
    .fetch_one(&town.pool)
    .await
    .unwrap()
}

async fn stock(town: &Town) -> i64 {
    town.count("SELECT free::int8 FROM stock WHERE sku = 'tea'").await
}

const SHIPPED: &str = "reserve done, capture done, ship done";

#[tokio::test]
async fn a_checkout_reserves_captures_and_ships_once() {
    let town = Town::open("checkout").await;
    let first = begin(&town, "ord_1", 2).await;
    let again = begin(&town, "ord_1", 2).await;
    assert_eq!((first.code, again.code, &first.body), (202, 202, &again.body));
    assert_eq!(begin(&town, "ord_1", 1).await.code, 409, "another checkout under the same id");
    assert_eq!(begin(&town, "ord_0", 0).await.code, 422);
    assert_eq!(status(&town, "ord_1").await, "being prepared");
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, SHIPPED);
    assert_eq!(status(&town, "ord_1").await, "shipped");
    assert_eq!(town.run(CHECKOUT).await.seen, 0);
    assert_eq!(stock(&town).await, 1);
    assert_eq!(town.desk().charges("ord_1").len(), 1);
    assert_eq!(town.carrier.desk().parcels("ord_1").len(), 1);
    let saga = first.body["saga_id"].as_str().unwrap();
    let charge = town.desk().charges("ord_1")[0].clone();
    assert_eq!(charge.idempotency_key.unwrap(), format!("pay:shop-eu:{saga}:capture"));
    assert_eq!(town.count("SELECT count(*) FROM saga_steps WHERE pivot AND step = 'capture'").await, 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_declined_capture_puts_the_goods_back_once() {
    let town = Town::open("checkout declined").await;
    town.desk().destine("ord_1", Fate::declined("card_declined"));
    begin(&town, "ord_1", 2).await;
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, "reserve compensated, capture failed, ship pending");
    assert_eq!(status(&town, "ord_1").await, "cancelled");
    town.much_later().await;
    town.run(CHECKOUT).await;
    assert_eq!(stock(&town).await, 3);
    assert!(town.carrier.desk().parcels("ord_1").is_empty());
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn without_goods_nobody_is_charged() {
    let town = Town::open("checkout empty").await;
    begin(&town, "ord_1", 4).await;
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, "reserve failed, capture pending, ship pending");
    assert_eq!((status(&town, "ord_1").await, stock(&town).await), (json!("cancelled"), 3));
    assert!(town.desk().charges("ord_1").is_empty());
}

#[tokio::test]
async fn an_unknown_capture_undoes_nothing() {
    let town = Town::open("checkout unknown").await;
    town.desk().destine("ord_1", Fate { answer: Answer::Lost, ..Fate::default() });
    begin(&town, "ord_1", 1).await;
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, "reserve done, capture running, ship pending");
    assert_eq!(town.state("ord_1").await, ("unknown".to_owned(), "processing".to_owned()));
    town.much_later().await;
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, SHIPPED);
    assert_eq!(town.desk().charges("ord_1").len(), 1, "the one whose answer was lost");
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_carrier_that_is_down_for_hours_after_the_capture_gives_nothing_back() {
    let town = Town::open("carrier down").await;
    town.carrier.desk().set_reach(Reach::Unavailable);
    begin(&town, "ord_1", 1).await;
    for _ in 0..5 {
        town.run(CHECKOUT).await;
        town.much_later().await;
    }
    assert!(town.carrier.desk().asked() >= 5);
    assert_eq!(steps(&town, "ord_1").await, "reserve done, capture done, ship running");
    assert_eq!(status(&town, "ord_1").await, "being prepared");
    assert_eq!(town.desk().charges("ord_1")[0].refunded, 0);
    sqlx::query("UPDATE saga_steps SET updated_at = updated_at - interval '6 hours'")
        .execute(&town.pool)
        .await
        .unwrap();
    // Trying again and again is no movement: the console counts from the last one.
    town.run(CHECKOUT).await;
    let breaches = town.breaches().await;
    assert!(
        breaches.len() == 1 && breaches[0].contains("I13") && breaches[0].ends_with("waits at ship"),
        "{breaches:?}"
    );
    town.carrier.desk().set_reach(Reach::Up);
    town.much_later().await;
    town.run(CHECKOUT).await;
    assert_eq!(steps(&town, "ord_1").await, SHIPPED);
    assert_eq!((town.breaches().await, stock(&town).await), (Vec::<String>::new(), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orchestrator_that_dies_after_any_step_makes_no_step_twice() {
    let town = Town::open("checkout dies").await;
    let deaths =
        [("ord_1", StallPoint::AfterReserve), ("ord_2", StallPoint::AfterCapture), ("ord_3", StallPoint::AfterShip)];
    for (order, point) in deaths {
        begin(&town, order, 1).await;
        town.run_and_kill(CHECKOUT, order, point).await;
        assert_eq!(town.run(CHECKOUT).await.seen, 0, "whoever died holds it for as long as a lease");
        town.much_later().await;
        town.run(CHECKOUT).await;
        assert_eq!(steps(&town, order).await, SHIPPED, "{point:?}");
        assert_eq!(town.desk().charges(order).len(), 1, "{point:?}");
        assert_eq!(town.carrier.desk().parcels(order).len(), 1, "{point:?}");
    }
    assert_eq!(stock(&town).await, 0);
    assert_eq!(town.count("SELECT count(*) FROM shipments").await, 3);
    town.desk().destine("ord_4", Fate::declined("card_declined"));
    sqlx::query("UPDATE stock SET free = 1").execute(&town.pool).await.unwrap();
    begin(&town, "ord_4", 1).await;
    town.run_and_kill(CHECKOUT, "ord_4", StallPoint::BeforeUndone).await;
    assert_eq!(steps(&town, "ord_4").await, "reserve compensating, capture failed, ship pending");
    town.much_later().await;
    town.run(CHECKOUT).await;
    assert_eq!((status(&town, "ord_4").await, stock(&town).await), (json!("cancelled"), 1));
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_orchestrators_take_different_sagas() {
    let town = Town::open("orchestrators").await;
    sqlx::query("UPDATE stock SET free = 100").execute(&town.pool).await.unwrap();
    for n in 0..8 {
        begin(&town, &format!("ord_{n}"), 1).await;
    }
    let passes = futures_util::future::join_all((0..3).map(|_| town.run(CHECKOUT))).await;
    assert_eq!(passes.iter().map(|tally| tally.changed).sum::<usize>(), 8, "{passes:?}");
    assert_eq!(stock(&town).await, 92);
    assert_eq!(town.count("SELECT count(*) FROM checkouts WHERE state = 'shipped'").await, 8);
    assert_eq!(town.count("SELECT count(*) FROM payments WHERE status = 'succeeded'").await, 8);
}
