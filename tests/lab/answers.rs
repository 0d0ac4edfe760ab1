//! DOMAIN's answer table, over real HTTP on a real server.

use std::time::Duration;

use serde_json::json;
use unstuck::lab::provider::{Answer, Fate, Mood, Reach};
use unstuck::lab::service::{Recoverer, ServiceOptions};

use super::shop::{Shop, by_hand, state};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_at_once_make_one_charge() {
    let shop = Shop::open("twenty", ServiceOptions { connections: 20, ..by_hand() }).await;
    let all = futures_util::future::join_all((0..20).map(|_| shop.pay(0, "K-20", "ord_20", 100))).await;
    let mut codes: Vec<u16> = all.into_iter().map(|told| told.unwrap().code).collect();
    codes.sort_unstable();
    assert_eq!(codes.first(), Some(&201));
    assert!(codes.iter().all(|code| [201, 409].contains(code)), "{codes:?}");
    assert_eq!(shop.desk().charges_for_order("ord_20"), 1);
    assert_eq!(shop.record("K-20").await, state("done", "done", 1, "succeeded"));
    assert_eq!(shop.count("SELECT count(*) FROM api_requests").await, 20);
}

#[tokio::test]
async fn a_done_record_is_replayed_and_a_changed_request_is_refused() {
    let shop = Shop::open("replay", by_hand()).await;
    let first = shop.pay(0, "K-1", "ord_1", 100).await.unwrap();
    let again = shop.pay(1, "K-1", "ord_1", 100).await.unwrap();
    let other = shop.pay(1, "K-1", "ord_1", 250).await.unwrap();
    assert_eq!((first.code, first.replayed), (201, false));
    assert_eq!((again.code, again.replayed), (201, true));
    assert_eq!(again.body, first.body);
    assert_eq!(other.code, 422);
    assert_eq!(shop.desk().charges_for_order("ord_1"), 1);
    assert_eq!(
        shop.count("SELECT count(*) FROM api_requests WHERE replayed AND answered_payment IS NOT NULL").await,
        1
    );
}

#[tokio::test]
async fn a_definite_no_is_stored_and_replayed() {
    let shop = Shop::open("declined", by_hand()).await;
    shop.desk().destine("ord_2", Fate::declined("card_declined"));
    let first = shop.pay(0, "K-2", "ord_2", 100).await.unwrap();
    let again = shop.pay(0, "K-2", "ord_2", 100).await.unwrap();
    assert_eq!((first.code, again.code, again.replayed), (402, 402, true));
    assert_eq!(again.body, first.body);
    assert_eq!(shop.record("K-2").await, state("done", "done", 1, "failed"));
    assert_eq!(shop.desk().charges_for_order("ord_2"), 0);
}

#[tokio::test]
async fn a_slow_provider_is_unknown_first_and_recovered_later() {
    let shop = Shop::open("slow", by_hand()).await;
    shop.desk().destine("ord_3", Fate { latency: Some(Duration::from_millis(900)), ..Fate::default() });
    let first = shop.pay(0, "K-3", "ord_3", 100).await.unwrap();
    assert_eq!(first.code, 503);
    assert!(first.retry_after.is_some());
    assert_eq!(shop.record("K-3").await, state("processing", "provider_called", 1, "unknown"));
    assert!(shop.desk().wait_for_charge("ord_3", Duration::from_mins(1)).await);
    let later = shop.pay_when_free(0, "K-3", "ord_3", 100).await;
    assert_eq!(later.code, 201);
    assert_eq!(shop.record("K-3").await, state("done", "done", 2, "succeeded"));
    assert_eq!(shop.desk().charges("ord_3").len(), 1);
    assert_eq!(later.body["charge_id"], json!(shop.desk().charges("ord_3")[0].id));
}

#[tokio::test]
async fn while_nothing_is_certain_nothing_is_concluded() {
    let shop = Shop::open("uncertain", by_hand()).await;
    shop.desk().set_mood(Mood { charging: Reach::Unavailable, reading: Reach::Unavailable, ..Mood::default() });
    assert_eq!(shop.pay(0, "K-4", "ord_4", 100).await.unwrap().code, 503);
    assert_eq!(shop.pay_when_free(1, "K-4", "ord_4", 100).await.code, 503);
    assert_eq!(shop.record("K-4").await, state("processing", "provider_called", 2, "unknown"));
    shop.desk().set_mood(Mood::default());
    assert_eq!(shop.pay_when_free(1, "K-4", "ord_4", 100).await.code, 201);
    assert_eq!(shop.desk().charges("ord_4").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_pods_five_milliseconds_apart_make_one_charge() {
    // Slow enough that the second always meets the first at work.
    let patient =
        ServiceOptions { lease: Duration::from_secs(30), provider_timeout: Duration::from_secs(20), ..by_hand() };
    let shop = Shop::open("two pods", patient).await;
    shop.desk().destine("ord_5", Fate { latency: Some(Duration::from_secs(1)), ..Fate::default() });
    let late = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        shop.pay(1, "K-5", "ord_5", 100).await.unwrap()
    };
    let (first, second) = tokio::join!(shop.pay(0, "K-5", "ord_5", 100), late);
    let mut codes = [first.unwrap().code, second.code];
    codes.sort_unstable();
    assert_eq!(codes, [201, 409]);
    assert_eq!(shop.desk().charges_for_order("ord_5"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_killed_after_the_charge_is_recovered_by_the_other() {
    let mut shop = Shop::open("killed", by_hand()).await;
    shop.desk().destine("ord_6", Fate { answer: Answer::Lost, ..Fate::default() });
    let url = shop.service.pod(1).unwrap().url();
    let doomed =
        shop.client.post(format!("{url}/payments")).header("idempotency-key", "K-6").header("x-scope", "shop-eu");
    let doomed = doomed.json(&json!({"order_id": "ord_6", "amount": 100, "currency": "EUR", "customer_id": "cus_1"}));
    let asking = tokio::spawn(doomed.send());
    assert!(shop.desk().wait_for_charge("ord_6", Duration::from_mins(1)).await);
    shop.service.kill_pod(1);
    assert!(asking.await.unwrap().is_err(), "a killed pod answers nothing");
    assert_eq!(shop.pay(0, "K-6", "ord_6", 100).await.unwrap().code, 409);
    let told = shop.pay_when_free(0, "K-6", "ord_6", 100).await;
    assert_eq!(told.code, 201);
    let charges = shop.desk().charges("ord_6");
    assert_eq!(charges.len(), 1);
    assert_eq!(told.body["charge_id"], json!(charges[0].id));
    shop.service.revive_pod(1).await.unwrap();
    let replayed = shop.pay(1, "K-6", "ord_6", 100).await.unwrap();
    assert_eq!((replayed.code, replayed.replayed), (201, true));
}

#[tokio::test]
async fn the_recoverer_finishes_what_clients_gave_up_on() {
    let shop = Shop::open("recoverer", ServiceOptions { recoverer: Recoverer::On, ..by_hand() }).await;
    shop.desk().destine("ord_7", Fate { latency: Some(Duration::from_millis(900)), ..Fate::default() });
    assert_eq!(shop.pay(0, "K-7", "ord_7", 100).await.unwrap().code, 503);
    let done = async {
        while shop.record("K-7").await.0 != "done" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), done).await.unwrap();
    assert_eq!(shop.desk().charges("ord_7").len(), 1);
    assert_eq!(shop.pay(0, "K-7", "ord_7", 100).await.unwrap().code, 201);
}

#[tokio::test]
async fn what_is_written_satisfies_the_invariants() {
    let shop = Shop::open("rows", by_hand()).await;
    shop.desk().destine("ord_b", Fate::declined("insufficient_funds"));
    for (key, order) in [("K-a", "ord_a"), ("K-b", "ord_b"), ("K-c", "ord_a")] {
        shop.pay(0, key, order, 100).await.unwrap();
    }
    // The third asks to pay a paid order under a new key: refused before anything is charged.
    assert_eq!(shop.record("K-c").await, state("done", "done", 1, "failed"));
    assert_eq!(shop.desk().charges("ord_a").len(), 1);
    let edges = "SELECT count(*) FROM payment_transitions WHERE (coalesce(from_status, '-'), to_status) NOT IN
                 (('-', 'created'), ('created', 'pending'), ('pending', 'succeeded'), ('pending', 'failed'), ('pending', 'unknown'))";
    assert_eq!(shop.count(edges).await, 0);
    assert_eq!(shop.count("SELECT count(*) FROM outbox WHERE type = 'payment.succeeded'").await, 1);
    assert_eq!(
        shop.count("SELECT count(*) FROM provider_calls WHERE finished_at IS NULL OR provider_key IS NULL").await,
        0
    );
    assert_eq!(
        shop.count("SELECT count(*) FROM idempotency_keys WHERE status = 'done' AND response_body IS NULL").await,
        0
    );
    assert_eq!(shop.count("SELECT count(*) FROM payment_attempts WHERE outcome = 'done'").await, 3);
}
