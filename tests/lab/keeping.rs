//! What is kept, for how long, and what needs no keeping: large answers, retention, natural idempotency.

use axum::http::Method;
use serde_json::{Value, json};
use unstuck::lab::provider::Fate;
use unstuck::lab::service::ServiceOptions;
use unstuck::lab::service::job::{RELAY, RETENTION};

use super::town::{Town, by_hand};

fn receipt(lines: usize) -> Value {
    let lines: Vec<Value> =
        (0..lines).map(|n| json!({"text": format!("line {n} of a long list"), "amount": n})).collect();
    json!({"order_id": "ord_1", "amount": 500, "currency": "EUR", "lines": lines})
}

async fn kept(town: &Town) -> Value {
    sqlx::query_scalar("SELECT response_body FROM idempotency_keys").fetch_one(&town.pool).await.unwrap()
}

#[tokio::test]
async fn a_large_answer_is_kept_by_reference_and_replayed_whole() {
    let town = Town::open("large").await;
    let first = town.send(Method::POST, "/payments", Some("K-1"), &receipt(1_000)).await;
    assert_eq!((first.code, first.body["lines"].as_array().unwrap().len()), (201, 1_000));
    let kept = kept(&town).await;
    assert!(kept.to_string().len() < 300, "{kept}");
    assert_eq!(kept["stored_by_reference"]["payment"], first.body["payment_id"]);
    let again = town.send(Method::POST, "/payments", Some("K-1"), &receipt(1_000)).await;
    assert_eq!((again.code, again.replayed), (201, true));
    assert_eq!(again.body, first.body);
    assert_eq!(town.run(RELAY).await.changed, 1, "its event travels by reference, too");
    assert_eq!(town.count("SELECT count(*) FROM ledger_entries").await, 2);
    assert_eq!(town.breaches().await, Vec::<String>::new());
    let shorter = town.send(Method::POST, "/payments", Some("K-1"), &receipt(999)).await;
    assert_eq!(shorter.code, 422, "the lines are part of the request");
    // Order and amount are the same: whether the lines should count is for a person to say.
    assert!(town.breaches().await.iter().all(|breach| breach.starts_with("I15")));
}

#[tokio::test]
async fn a_small_answer_is_kept_whole() {
    let town = Town::open("small").await;
    let first = town.send(Method::POST, "/payments", Some("K-1"), &receipt(3)).await;
    assert_eq!(kept(&town).await, first.body);
}

#[tokio::test]
async fn a_large_answer_that_cannot_be_built_again_is_an_error_and_never_empty() {
    let town = Town::open("large lost").await;
    town.send(Method::POST, "/payments", Some("K-1"), &receipt(1_000)).await;
    sqlx::query("UPDATE receipts SET lines = '[]'").execute(&town.pool).await.unwrap();
    let again = town.send(Method::POST, "/payments", Some("K-1"), &receipt(1_000)).await;
    assert_eq!((again.code, &again.body["error"]["code"]), (500, &json!("internal")));
    assert_eq!(town.desk().charges("ord_1").len(), 1);
}

#[tokio::test]
async fn only_what_is_done_and_old_makes_room_and_nobody_is_charged_again() {
    let town = Town::open("retention").await;
    town.desk().destine("ord_2", Fate::declined("card_declined"));
    town.desk().destine("ord_3", Fate { answer: unstuck::lab::provider::Answer::Lost, ..Fate::default() });
    for n in 1..=3 {
        town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await;
    }
    assert_eq!(town.run(RETENTION).await.changed, 0, "all is young");
    sqlx::query("UPDATE idempotency_keys SET created_at = created_at - interval '2 days', updated_at = updated_at - interval '2 days'")
        .execute(&town.pool)
        .await
        .unwrap();
    sqlx::query("UPDATE payments SET created_at = created_at - interval '2 days'").execute(&town.pool).await.unwrap();
    assert_eq!(town.pay("K-4", "ord_4", 500).await.code, 201);
    assert_eq!(town.run(RETENTION).await.changed, 2);
    assert_eq!(town.run(RETENTION).await.changed, 0);
    let left: Vec<String> =
        sqlx::query_scalar("SELECT key FROM idempotency_keys ORDER BY key").fetch_all(&town.pool).await.unwrap();
    assert_eq!(left, ["K-3", "K-4"], "still processing, however old; and young");
    assert_eq!(town.count("SELECT count(*) FROM expired_keys").await, 2);
    let late = town.pay("K-1", "ord_1", 500).await;
    assert_eq!((late.code, &late.body["error"]["code"]), (410, &json!("key_expired")));
    assert_eq!(town.pay("K-2", "ord_2", 500).await.code, 410);
    assert_eq!(town.desk().charges("ord_1").len(), 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_retention_jobs_move_each_record_once_and_pass_by_what_is_locked() {
    let town = Town::open_with(
        "retentions",
        unstuck::lab::provider::Habits::default(),
        ServiceOptions { retention: std::time::Duration::ZERO, ..by_hand() },
    )
    .await;
    for n in 0..10 {
        town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await;
    }
    let mut tx = town.pool.begin().await.unwrap();
    sqlx::query("SELECT 1 FROM idempotency_keys WHERE key = 'K-4' FOR UPDATE").execute(&mut *tx).await.unwrap();
    let passes = futures_util::future::join_all((0..4).map(|_| town.run(RETENTION))).await;
    assert_eq!(passes.iter().map(|tally| tally.changed).sum::<usize>(), 9, "{passes:?}");
    tx.rollback().await.unwrap();
    assert_eq!(town.run(RETENTION).await.changed, 1);
    assert_eq!(town.count("SELECT count(*) FROM expired_keys").await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_idempotent_by_nature() {
    let town = Town::open("orders").await;
    let order = json!({"amount": 500, "currency": "EUR"});
    let many = (0..8).map(|_| town.send(Method::PUT, "/orders/ord_1", None, &order));
    let mut codes: Vec<u16> = futures_util::future::join_all(many).await.into_iter().map(|told| told.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [200, 200, 200, 200, 200, 200, 200, 201]);
    let other = json!({"amount": 900, "currency": "EUR"});
    assert_eq!(town.send(Method::PUT, "/orders/ord_1", None, &other).await.code, 409);
    assert_eq!(town.send_as("shop-jp", Method::PUT, "/orders/ord_1", None, &other).await.code, 201, "another scope's");
    let cancel = |order: &str| format!("/orders/{order}/cancel");
    for _ in 0..3 {
        let told = town.send(Method::POST, &cancel("ord_1"), None, &json!({})).await;
        assert_eq!((told.code, &told.body["status"]), (200, &json!("cancelled")));
    }
    assert_eq!(town.count("SELECT count(*) FROM orders WHERE status = 'cancelled'").await, 1);
    assert_eq!(town.send(Method::POST, &cancel("ord_9"), None, &json!({})).await.code, 404);
    town.send(Method::PUT, "/orders/ord_2", None, &order).await;
    town.pay("K-2", "ord_2", 500).await;
    town.run(RELAY).await;
    assert_eq!(town.send(Method::POST, &cancel("ord_2"), None, &json!({})).await.code, 409, "paid");
    assert_eq!(town.count("SELECT count(*) FROM idempotency_keys WHERE order_id = 'ord_1'").await, 0, "no record kept");
    assert_eq!(town.count("SELECT count(*) FROM api_requests WHERE route = '/orders'").await, 11);
}
