//! What payment services do wrong does the harm it is said to do: each flaw alone, or with the one it needs.

use std::time::Duration;

use serde_json::json;
use unstuck::lab::service::flaw::{self, Claim, Flaw, LeaseLength};
use unstuck::lab::service::{Conduct, ServiceOptions};

use super::shop::{Shop, by_hand};

fn flaw(name: &str) -> &'static Flaw {
    flaw::ALL.iter().copied().find(|flaw| flaw.name == name).unwrap_or_else(|| panic!("there is no flaw {name}"))
}

/// A service with these flaws; it waits for its provider as long as the tests let it.
async fn shop(flaws: &[&str]) -> Shop {
    let flaws: Vec<&Flaw> = flaws.iter().map(|name| flaw(name)).collect();
    open("a flawed service", patient(Conduct::with(&flaws))).await
}

async fn open(name: &str, options: ServiceOptions) -> Shop {
    Shop::open(name, options).await
}

fn patient(conduct: Conduct) -> ServiceOptions {
    ServiceOptions { conduct, lease: Duration::from_mins(10), provider_timeout: Duration::from_mins(1), ..by_hand() }
}

const SUCCEEDED: &str = "SELECT count(*) FROM payments WHERE status = 'succeeded'";

#[tokio::test]
async fn without_a_fingerprint_another_amount_gets_the_old_answer() {
    let shop = shop(&["no-fingerprint"]).await;
    shop.pay(0, "K", "ord", 100).await.unwrap();
    let other = shop.pay(1, "K", "ord", 250).await.unwrap();
    assert_eq!((other.code, other.replayed, &other.body["amount"]), (201, true, &json!(100)));
}

#[tokio::test]
async fn a_fingerprint_over_the_time_refuses_an_honest_retry() {
    let shop = shop(&["tight-fingerprint"]).await;
    assert_eq!(shop.pay(0, "K", "ord", 100).await.unwrap().code, 201);
    assert_eq!(shop.pay(0, "K", "ord", 100).await.unwrap().code, 422);
    // So the client makes a new key, and nothing remembers the first.
    shop.desk().forget_keys();
    assert_eq!(shop.pay(0, "K2", "ord", 100).await.unwrap().code, 201);
    assert_eq!(shop.desk().charges_for_order("ord"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_lease_nobody_ever_goes_on() {
    let mut shop = shop(&["no-lease"]).await;
    shop.dies_after_the_charge("K", "ord", 100).await;
    shop.an_hour_passes().await;
    for _ in 0..3 {
        assert_eq!(shop.pay(0, "K", "ord", 100).await.unwrap().code, 409);
    }
    assert_eq!(shop.record("K").await.0, "processing");
    assert_eq!(shop.desk().charges_for_order("ord"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_lease_puts_two_workers_on_one_charge() {
    let conduct = Conduct { lease_length: LeaseLength::HalfTheTimeOut, ..Conduct::CORRECT };
    assert_eq!(conduct, Conduct::with(&[flaw("short-lease")]));
    let shop = shop(&["short-lease"]).await;
    shop.desk().hold("ord");
    let both = async {
        assert!(shop.desk().wait_for_held("ord", 1, Duration::from_mins(1)).await);
        shop.an_hour_passes().await;
        let second = shop.pay(1, "K", "ord", 100).await.unwrap();
        shop.desk().release("ord");
        second.code
    };
    let (first, second) = tokio::join!(shop.pay(0, "K", "ord", 100), both);
    // The provider key keeps it to one charge, and the attempt keeps the former owner from writing.
    assert_eq!((first.unwrap().code, second), (409, 503));
    assert_eq!(shop.desk().charges_for_order("ord"), 1);
    let short = "SELECT count(*) FROM payment_attempts WHERE lease_until - started_at < interval '1 minute'";
    assert_eq!(shop.count(short).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_provider_key_a_dead_pod_is_a_second_charge() {
    let mut shop = shop(&["no-provider-key"]).await;
    shop.dies_after_the_charge("K", "ord", 100).await;
    shop.an_hour_passes().await;
    assert_eq!(shop.pay(0, "K", "ord", 100).await.unwrap().code, 201);
    assert_eq!(shop.desk().charges_for_order("ord"), 2);
    assert_eq!(shop.count("SELECT count(*) FROM provider_calls WHERE provider_key IS NOT NULL").await, 0);
}

#[tokio::test]
async fn a_time_out_taken_for_a_failure_is_a_second_charge_under_a_new_key() {
    let conduct = Conduct::with(&[flaw("timeout-as-failed")]);
    let shop = open("timeout", ServiceOptions { conduct, ..by_hand() }).await;
    shop.desk().hold("ord");
    let first = shop.pay(0, "K", "ord", 100).await.unwrap();
    assert_eq!((first.code, &first.body["error"]["code"]), (402, &json!("provider_timeout")));
    assert!(shop.desk().wait_for_held("ord", 1, Duration::from_mins(1)).await);
    shop.desk().release("ord");
    assert_eq!(shop.pay_when_free(0, "K2", "ord", 100).await.code, 201);
    assert!(shop.desk().wait_for_charge("ord", Duration::from_mins(1)).await);
    assert_eq!(shop.desk().charges("ord").len(), 2, "the first was only slow");
    assert_eq!(shop.record("K").await.3, "failed");
}

#[tokio::test]
async fn a_global_key_answers_one_tenant_with_anothers_payment() {
    let shop = shop(&["global-key"]).await;
    let theirs = shop.pay_as("shop-jp", 0, "1001", "1001", 100).await.unwrap();
    let leaked = shop.pay_as("partner-fit", 1, "1001", "1001", 100).await.unwrap();
    assert_eq!((leaked.code, leaked.replayed, &leaked.body), (201, true, &theirs.body));
    let noted = "SELECT count(*) FROM api_requests WHERE answered_scope <> scope AND scope = 'partner-fit'";
    assert_eq!(shop.count(noted).await, 1);
}

#[tokio::test]
async fn a_record_that_expires_too_early_is_a_second_charge() {
    let shop = shop(&["short-ttl"]).await;
    shop.pay(0, "K", "ord", 100).await.unwrap();
    shop.an_hour_passes().await;
    shop.service.run_jobs().await.unwrap();
    // The provider's memory is no longer than ours.
    shop.desk().forget_keys();
    let late = shop.pay(0, "K", "ord", 100).await.unwrap();
    assert_eq!((late.code, late.replayed), (201, false));
    assert_eq!(shop.desk().charges_for_order("ord"), 2);
    assert_eq!(shop.count(SUCCEEDED).await, 2, "nothing refuses a second succeeded payment of the order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cron_that_deletes_charges_again_unless_the_provider_knows_the_key() {
    for (flaws, code, charges) in [
        (vec!["cron-deletes-keys", "no-provider-key"], 201, 2),
        // The same key with another payment's reference: the provider refuses, and the payment stays UNKNOWN.
        (vec!["cron-deletes-keys"], 503, 1),
    ] {
        let mut shop = shop(&flaws).await;
        shop.dies_after_the_charge("K", "ord", 100).await;
        shop.an_hour_passes().await;
        shop.service.run_jobs().await.unwrap();
        let cron = "SELECT count(*) FROM service_events WHERE kind = 'sweeper' AND what = 'removed 1 stuck keys'";
        assert_eq!(shop.count("SELECT count(*) FROM idempotency_keys").await, 0);
        assert_eq!(shop.count(cron).await, 1, "once, by whichever run came first");
        assert_eq!(shop.pay(0, "K", "ord", 100).await.unwrap().code, code, "{flaws:?}");
        assert_eq!(shop.desk().charges_for_order("ord"), charges, "{flaws:?}");
    }
}

#[tokio::test]
async fn a_key_per_attempt_is_a_second_charge_at_the_best_service() {
    let conduct = Conduct::with(&[flaw("key-per-attempt")]);
    let shop = open("client", ServiceOptions { conduct, ..by_hand() }).await;
    shop.desk().hold("ord");
    let first = conduct.client_key.key("7Q4K-91DM-X2PZ", 0);
    let retry = conduct.client_key.key("7Q4K-91DM-X2PZ", 1);
    assert_eq!(shop.pay(0, &first, "ord", 100).await.unwrap().code, 503);
    assert!(shop.desk().wait_for_held("ord", 1, Duration::from_mins(1)).await);
    shop.desk().release("ord");
    assert_eq!(shop.pay_when_free(1, &retry, "ord", 100).await.code, 201);
    assert!(shop.desk().wait_for_charge("ord", Duration::from_mins(1)).await);
    assert_eq!(shop.desk().charges("ord").len(), 2);
    // The service is the correct one: it holds the books to one payment, and the first stays for a person.
    assert_eq!(shop.count(SUCCEEDED).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_stored_after_the_charge_lets_everybody_charge() {
    let naive = Conduct::with(&[flaw("no-provider-key")]);
    let options = patient(Conduct { claim: Claim::StoredAfter, ..naive });
    options.meetings.call("ord", 2);
    let shop = open("stored after", options).await;
    let (one, two) = tokio::join!(shop.pay(0, "K", "ord", 100), shop.pay(1, "K", "ord", 100));
    assert_eq!((one.unwrap().code, two.unwrap().code), (201, 201));
    assert_eq!(shop.desk().charges_for_order("ord"), 2);
    assert_eq!(shop.count(SUCCEEDED).await, 2);
    assert_eq!(shop.count("SELECT count(*) FROM idempotency_keys").await, 1, "only one of them is remembered");
}
