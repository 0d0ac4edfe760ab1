//! The webhook inbox: believed only when signed, applied once, only over legal edges, whatever the order.

use std::time::Duration;

use serde_json::json;
use unstuck::lab::provider::{Answer, ChargeStatus, Fate, Notice, Sequence};
use unstuck::lab::service::StallPoint;
use unstuck::lab::service::job::INBOX;

use super::town::{LIMIT, Town};

fn done(payment: &str) -> (String, String) {
    (payment.to_owned(), "done".to_owned())
}

fn open(payment: &str) -> (String, String) {
    (payment.to_owned(), "processing".to_owned())
}

/// Waits until the provider has delivered so many webhooks of an order.
async fn delivered(town: &Town, order: &str, wanted: usize) {
    let look = async {
        while town.desk().deliveries().iter().filter(|delivery| delivery.order == order).count() < wanted {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(LIMIT, look).await.is_ok(), "{:?}", town.desk().deliveries());
}

/// A payment whose answer was lost, so that only the provider's word can end it.
async fn lost(town: &Town, order: &str, fate: Fate) {
    town.desk().destine(order, Fate { answer: Answer::Lost, notice: Some(Notice::Kept), ..fate });
    assert_eq!(town.pay(order, order, 500).await.code, 503);
    assert_eq!(town.state(order).await, open("unknown"));
}

#[tokio::test]
async fn a_webhook_ends_what_nobody_could_tell() {
    let town = Town::open("webhook ends").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    lost(&town, "ord_2", Fate::declined("card_declined")).await;
    town.much_later().await;
    assert_eq!(town.desk().send_kept("ord_1", Sequence::AsHappened), 1);
    assert_eq!(town.desk().send_kept("ord_2", Sequence::AsHappened), 1);
    town.until("SELECT count(*) FROM webhook_events WHERE applied_at IS NOT NULL", 2).await;
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(town.state("ord_2").await, done("failed"));
    let replayed = town.pay("ord_1", "ord_1", 500).await;
    assert_eq!((replayed.code, replayed.replayed), (201, true));
    assert_eq!(town.desk().charges("ord_1").len(), 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_webhook_waits_for_whoever_is_at_work() {
    let town = Town::open("webhook waits").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    // The lease is put far away: a pod is at work, or a person holds the record.
    sqlx::query(
        "UPDATE idempotency_keys SET locked_until = clock_timestamp() + interval '1 hour', locked_by = 'operator:kim'",
    )
    .execute(&town.pool)
    .await
    .unwrap();
    town.desk().send_kept("ord_1", Sequence::AsHappened);
    delivered(&town, "ord_1", 1).await;
    assert_eq!(town.desk().deliveries()[0].answer, Some(200), "kept, not sent back");
    town.until("SELECT count(*) FROM webhook_events WHERE applied_at IS NULL", 1).await;
    assert_eq!(town.run(INBOX).await.changed, 0);
    assert_eq!(town.state("ord_1").await, open("unknown"));
    town.much_later().await;
    assert_eq!(town.run(INBOX).await.changed, 1);
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(town.run(INBOX).await.seen, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_comes_often_is_applied_once() {
    let town = Town::open("webhook twice").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    town.much_later().await;
    for _ in 0..5 {
        town.desk().resend("ord_1");
    }
    delivered(&town, "ord_1", 5).await;
    town.run(INBOX).await;
    town.until("SELECT count(*) FROM webhook_events", 5).await;
    assert_eq!(town.count("SELECT count(DISTINCT event_id) FROM webhook_events").await, 1);
    assert_eq!(town.count("SELECT count(*) FROM webhook_events WHERE applied_at IS NOT NULL").await, 1);
    assert_eq!(town.count("SELECT count(*) FROM payment_transitions WHERE to_status = 'succeeded'").await, 1);
    assert_eq!(town.count("SELECT count(*) FROM outbox").await, 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn out_of_order_only_legal_edges_are_taken() {
    let town = Town::open("webhook order").await;
    town.subscribe();
    lost(&town, "ord_1", Fate { status: ChargeStatus::Pending, ..Fate::default() }).await;
    town.desk().decide("ord_1", ChargeStatus::Succeeded);
    town.much_later().await;
    assert_eq!(town.desk().send_kept("ord_1", Sequence::Backwards), 2);
    delivered(&town, "ord_1", 2).await;
    town.until("SELECT count(*) FROM webhook_events WHERE applied_at IS NULL", 0).await;
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    // A paid order, and the provider says the opposite: nothing changes, and it stays to be seen.
    let payment = town.count("SELECT count(*) FROM payment_transitions").await;
    let body = json!({"id": "evt_opposite", "type": "charge.failed", "data": {"object": {
        "id": town.desk().charges("ord_1")[0].id, "reference": null, "status": "failed", "amount": 500, "currency": "EUR",
        "failure_code": "stolen_card"}}});
    assert_eq!(forge(&town, &body, Forgery::None).await, 200);
    town.run(INBOX).await;
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(town.count("SELECT count(*) FROM payment_transitions").await, payment);
    assert_eq!(town.count("SELECT count(*) FROM webhook_events WHERE applied_at IS NULL AND signature_ok").await, 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn an_event_of_an_unknown_payment_is_kept_until_there_is_one() {
    let town = Town::open("webhook early").await;
    let payment = payment_id(&town).await;
    let event = |id: &str, amount: i64| {
        json!({"id": id, "type": "charge.failed", "data": {"object": {
            "id": "ch_early", "reference": payment, "status": "failed", "amount": amount, "currency": "EUR",
            "failure_code": "card_declined"}}})
    };
    assert_eq!(forge(&town, &event("evt_early", 500), Forgery::None).await, 200);
    assert_eq!(forge(&town, &event("evt_other_amount", 501), Forgery::None).await, 200);
    assert_eq!(town.run(INBOX).await, unstuck::lab::service::Tally { seen: 2, changed: 0 });
    town.desk().destine("ord_1", Fate { answer: Answer::NeverArrived, ..Fate::default() });
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
    town.much_later().await;
    assert_eq!(town.run(INBOX).await, unstuck::lab::service::Tally { seen: 2, changed: 1 });
    assert_eq!(town.state("ord_1").await, done("failed"));
}

/// The id the payment of key K-1 will have: made elsewhere by the same service.
async fn payment_id(town: &Town) -> String {
    let twin = Town::open("webhook twin").await;
    twin.pay("K-1", "ord_1", 500).await;
    let id = sqlx::query_scalar("SELECT id FROM payments").fetch_one(&twin.pool).await.unwrap();
    assert_eq!(town.count("SELECT count(*) FROM payments").await, 0);
    id
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Forgery {
    None,
    NoSignature,
    OtherBody,
    Old,
}

/// Delivers an event by hand, as the provider would sign it, or as somebody else would.
async fn forge(town: &Town, event: &serde_json::Value, forgery: Forgery) -> u16 {
    let body = event.to_string();
    let signed = match forgery {
        Forgery::None => Some(unstuck::lab::provider::signature(0, body.as_bytes())),
        Forgery::NoSignature => None,
        Forgery::OtherBody => Some(unstuck::lab::provider::signature(0, b"{}")),
        Forgery::Old => Some(unstuck::lab::provider::signature(86_400, body.as_bytes())),
    };
    let mut request = town.client.post(&town.service.webhook_urls()[0]).body(body);
    if let Some(signature) = signed {
        request = request.header("lab-signature", signature);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn nobody_else_can_speak_for_the_provider() {
    let town = Town::open("webhook forged").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    town.much_later().await;
    let charge = town.desk().charges("ord_1")[0].clone();
    let event = json!({"id": "evt_forged", "type": "charge.succeeded", "data": {"object": charge}});
    for forgery in [Forgery::NoSignature, Forgery::OtherBody, Forgery::Old] {
        assert_eq!(forge(&town, &event, forgery).await, 400, "{forgery:?}");
    }
    let rubbish = json!({"id": "\u{202e}\u{0000}x".repeat(100), "type": "x", "data": {"object": charge}});
    assert_eq!(forge(&town, &rubbish, Forgery::NoSignature).await, 400);
    assert_eq!(forge(&town, &json!([1]), Forgery::NoSignature).await, 400);
    assert_eq!(forge(&town, &json!([1]), Forgery::None).await, 400);
    assert_eq!(forge(&town, &json!("x".repeat(100_000)), Forgery::None).await, 413);
    assert_eq!(town.state("ord_1").await, open("unknown"));
    assert_eq!(
        town.count("SELECT count(*) FROM webhook_events WHERE NOT signature_ok AND applied_at IS NULL").await,
        5
    );
    assert_eq!(town.run(INBOX).await.seen, 0, "noise is not retried");
    // Noise under the name of a real event that waits does not hide it from the console.
    let early = json!({"id": "evt_real", "type": "charge.succeeded", "data": {"object": {
        "id": "ch_nobody", "reference": "pay_nobody", "status": "succeeded", "amount": 500, "currency": "EUR"}}});
    assert_eq!(forge(&town, &early, Forgery::NoSignature).await, 400);
    assert_eq!(forge(&town, &early, Forgery::None).await, 200);
    assert_eq!(town.waiting_webhooks().await, 1);
}

#[tokio::test]
async fn a_lost_webhook_is_lost_and_a_late_one_is_late() {
    let town = Town::open("webhook lost").await;
    town.subscribe();
    town.desk().destine("ord_1", Fate { notice: Some(Notice::Lost), ..Fate::default() });
    town.desk().destine("ord_2", Fate { notice: Some(Notice::Late(Duration::from_millis(300))), ..Fate::default() });
    town.desk().destine("ord_3", Fate { notice: Some(Notice::Twice), ..Fate::default() });
    for order in ["ord_1", "ord_2", "ord_3"] {
        assert_eq!(town.pay(order, order, 500).await.code, 201);
    }
    delivered(&town, "ord_2", 1).await;
    delivered(&town, "ord_3", 2).await;
    assert!(town.desk().deliveries().iter().all(|delivery| delivery.order != "ord_1"));
    assert_eq!(town.desk().resend("ord_1"), 1);
    delivered(&town, "ord_1", 1).await;
    town.run(INBOX).await;
    assert_eq!(town.count("SELECT count(DISTINCT event_id) FROM webhook_events WHERE applied_at IS NOT NULL").await, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_is_down_gets_it_from_the_next_one() {
    let mut town = Town::open("webhook pods").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    town.much_later().await;
    town.service.kill_pod(0);
    town.desk().send_kept("ord_1", Sequence::AsHappened);
    town.until("SELECT count(*) FROM webhook_events WHERE applied_at IS NOT NULL", 1).await;
    let tries = town.desk().deliveries();
    assert_eq!((tries[0].answer, tries.last().unwrap().answer), (None, Some(200)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_dies_while_it_applies_leaves_it_to_the_next() {
    let mut town = Town::open("webhook dies").await;
    town.subscribe();
    lost(&town, "ord_1", Fate::default()).await;
    town.much_later().await;
    town.stalls.hang("ord_1", StallPoint::BeforeFinish);
    town.desk().send_kept("ord_1", Sequence::AsHappened);
    assert!(town.stalls.wait("ord_1", LIMIT).await);
    town.service.kill_pod(0);
    town.stalls.release("ord_1");
    delivered(&town, "ord_1", 2).await;
    assert_eq!(town.count("SELECT count(*) FROM webhook_events WHERE applied_at IS NOT NULL").await, 0);
    assert_eq!(town.state("ord_1").await, open("unknown"));
    town.much_later().await;
    assert_eq!(town.run(INBOX).await.changed, 1);
    assert_eq!(town.state("ord_1").await, done("succeeded"));
    assert_eq!(town.count("SELECT count(*) FROM outbox").await, 1);
    assert_eq!(town.desk().charges("ord_1").len(), 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}
