//! The service's side: a pod is ended in the middle of a payment, the pod that recovers it is ended too, and the
//! client, who only comes again, gets the one answer for one charge.

use std::time::Duration;

use serde_json::json;
use unstuck::lab::service::{ServiceOptions, StallPoint};

use crate::support::PATIENCE;
use crate::support::scene::{Scene, Stuck, by_hand};

/// Where the first pod is ended, and where the one that recovers.
const ENDS: &[(StallPoint, StallPoint)] = &[
    // Nothing was sent: the recovery looks, and charges with the same key.
    (StallPoint::BeforeCall, StallPoint::BeforeLookUp),
    (StallPoint::BeforeCall, StallPoint::BeforeCall),
    (StallPoint::BeforeCall, StallPoint::BeforeSaving),
    (StallPoint::BeforeCall, StallPoint::BeforeFinish),
    // Charged, and nothing of it written: the recovery finds the charge.
    (StallPoint::BeforeSaving, StallPoint::BeforeLookUp),
    (StallPoint::BeforeSaving, StallPoint::BeforeFinish),
    // Charged, and the ref written: the recovery verifies it.
    (StallPoint::BeforeFinish, StallPoint::BeforeLookUp),
    (StallPoint::BeforeFinish, StallPoint::BeforeFinish),
];

/// Every record is paid for at this pod, and hangs at its point; then the pod is ended.
async fn ended(scene: &mut Scene, pod: usize, records: &[(Stuck, StallPoint)]) {
    let stalls = scene.service.stalls();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("{}/payments", scene.service.pod(pod).expect("a pod").url());
    for (record, point) in records {
        stalls.hang(&record.order, *point);
        let body =
            json!({"order_id": record.order, "amount": record.amount, "currency": "EUR", "customer_id": "cus_1"});
        let request = client
            .post(&url)
            .header("idempotency-key", record.id.key.as_str())
            .header("x-scope", record.id.scope.as_str())
            .json(&body);
        // Nobody answers it: the pod is ended first.
        tokio::spawn(request.send());
    }
    for (record, point) in records {
        assert!(stalls.wait(&record.order, PATIENCE).await, "{} comes to {point:?}", record.order);
    }
    scene.service.kill_pod(pod);
    for (record, _) in records {
        stalls.release(&record.order);
        scene.until_expired(&record.id).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_and_the_pod_that_recovers_are_ended_and_one_charge_is_made() {
    let mut scene = Scene::open("pods ended", ServiceOptions { lease: Duration::from_secs(4), ..by_hand() }).await;
    let records = |which: fn(&(StallPoint, StallPoint)) -> StallPoint| -> Vec<(Stuck, StallPoint)> {
        let record = |nth: usize| Stuck {
            id: unstuck::domain::ids::RecordId::new("shop-eu", format!("POD{nth}-ABCD")),
            order: format!("ord_pod_{nth}"),
            amount: 4_250,
        };
        ENDS.iter().enumerate().map(|(nth, ends)| (record(nth), which(ends))).collect()
    };
    ended(&mut scene, 0, &records(|ends| ends.0)).await;
    ended(&mut scene, 1, &records(|ends| ends.1)).await;
    scene.service.revive_pod(1).await.expect("the pod comes back");
    for ((record, _), ends) in records(|ends| ends.0).iter().zip(ENDS) {
        let insisting = async {
            while scene.pay(1, record).await != Some(201) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, insisting).await.unwrap_or_else(|_| panic!("{ends:?}: no final answer"));
        let charges = scene.desk().charges(&record.order);
        assert_eq!(charges.len(), 1, "{ends:?}: {charges:?}");
        assert_eq!(scene.payments(&record.order).await, format!("succeeded {}", charges[0].id), "{ends:?}");
        let taken =
            format!("SELECT attempt::bigint FROM idempotency_keys WHERE key = '{}' AND status = 'done'", record.id.key);
        assert_eq!(scene.number(&taken).await, 3, "{ends:?}: taken by each of the two, and by the one that finished");
    }
    println!("{} records, two pods ended on each: one charge each", ENDS.len());
    scene.close().await;
}
