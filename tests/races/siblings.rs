//! One charge pays for one payment: another payment's charge is never adopted, whatever is asked or claimed.

use serde_json::{Value, json};
use unstuck::domain::action::Request;
use unstuck::lab::provider::{Answer, Fate};

use super::is_done;
use crate::support::scene::{Scene, Stuck, by_hand, call, intended};

/// One order, two keys: the first was charged and its answer lost, the second never reached the provider.
async fn double_order(scene: &Scene) -> (Stuck, Stuck) {
    let lost = Fate { answer: Answer::Lost, ..Fate::default() };
    let never = Fate { answer: Answer::NeverArrived, ..Fate::default() };
    let charged = scene.stuck_as([("FIRST-AAAA".to_owned(), "ord_1".to_owned(), lost)].into_iter()).await.remove(0);
    let other = scene.stuck_as([("OTHER-BBBB".to_owned(), "ord_1".to_owned(), never)].into_iter()).await.remove(0);
    (charged, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_charge_of_the_orders_other_payment_is_never_adopted() {
    let mut scene = Scene::open("siblings", by_hand()).await;
    let (charged, other) = double_order(&scene).await;
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    // The provider lists the charge by order: it is shown, and decides nothing.
    kim.look_up(&other).await;
    let dossier = kim.read(&other).await;
    let seen = serde_json::to_value(&dossier.evidence[0]).unwrap().to_string();
    let charge = scene.desk().charges("ord_1")[0].id.clone();
    assert!(seen.contains(&charge), "{seen}");
    let refused = kim.plan(Request::Resume, &other).await.unwrap_err().to_string();
    assert!(refused.contains("none carries this record's key, payment or reference"), "{refused}");
    // Its own record adopts it.
    assert!(is_done(&kim.resume(&charged).await));
    assert_eq!(scene.payments("ord_1").await, format!("succeeded {charge}, unknown -"));
    // And still not the other one, which now has a paid sibling.
    kim.look_up(&other).await;
    let refused = kim.plan(Request::Resume, &other).await.unwrap_err().to_string();
    assert!(refused.contains("none carries this record's") || refused.contains("already paid"), "{refused}");
    assert_eq!(scene.desk().charges("ord_1").len(), 1);
    assert!(scene.asked_by_consoles() >= 3);
    scene.close().await;
}

/// Everything an order for the other record has to say, with the charge of the first.
async fn forged_order(scene: &Scene, kim: &crate::support::scene::Console, other: &Stuck, evidence: &Value) -> Value {
    let dossier = kim.read(other).await;
    let record = &dossier.detail.record;
    json!({
        "action": "adopt", "environment": "demo", "operator": "kim", "scope": other.id.scope, "key": other.id.key,
        "version": record.version, "attempt": record.attempt, "plan_hash": "forged", "reason": "forged", "ticket": "INC-1",
        "evidence_id": evidence, "max_evidence_age_s": 300,
        "expect": {
            "payment_id": record.payment, "provider_ref": scene.desk().charges("ord_1")[0].id,
            "amount": other.amount, "currency": "EUR",
        },
    })
}

/// Evidence for the other record, sent straight to the function, that lists the charge under these names.
fn forged_evidence(scene: &Scene, other: &Stuck, reference: &Value, key: &Value) -> Value {
    let charge = scene.desk().charges("ord_1").remove(0);
    json!({
        "environment": "demo", "operator": "kim", "scope": other.id.scope, "key": other.id.key,
        "evidence": {
            "provider": "labpay", "started_at": "now",
            "outcome": "found", "definitive": false, "steps": [],
            "observed": [{
                "ref": charge.id, "reference": reference, "provider_key": key, "order": "ord_1", "class": "succeeded", "raw": "succeeded",
                "amount": charge.amount, "captured": charge.captured, "refunded": 0, "currency": "EUR", "live": false,
            }],
        },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_sent_straight_to_the_function_does_not_adopt_it_either() {
    let mut scene = Scene::open("forged", by_hand()).await;
    let (charged, other) = double_order(&scene).await;
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    let mut raw = scene.raw(&login).await;
    let payment = kim.read(&other).await.detail.record.payment;
    // What the provider really said: the charge carries the first payment's names.
    kim.look_up(&other).await;
    let honest = json!(kim.read(&other).await.evidence[0].id);
    let order = forged_order(&scene, &kim, &other, &honest).await;
    let order = intended(&mut raw, order).await;
    let answered = call(&mut raw, "do_adopt", &order).await;
    assert_eq!(answered.outcome, "refused", "{answered:?}");
    assert!(answered.why.contains("carries this record's provider key, payment id"), "{answered:?}");
    // The first payment gets what is its own.
    assert!(is_done(&kim.resume(&charged).await));
    // Now even evidence that lies about whose charge it is does not help: the charge is somebody's.
    let lies = [(json!(payment), Value::Null), (Value::Null, json!("pay:shop-eu:OTHER-BBBB"))];
    for (reference, key) in lies {
        let evidence = call(&mut raw, "do_evidence", &forged_evidence(&scene, &other, &reference, &key)).await;
        assert_eq!(evidence.outcome, "done", "{evidence:?}");
        let order = forged_order(&scene, &kim, &other, &evidence.read_back["evidence_id"]).await;
        let order = intended(&mut raw, order).await;
        let answered = call(&mut raw, "do_adopt", &order).await;
        assert_eq!(answered.outcome, "refused", "{answered:?}");
        assert!(answered.why.contains("already belongs to payment"), "{answered:?}");
    }
    let charge = scene.desk().charges("ord_1")[0].id.clone();
    assert_eq!(scene.payments("ord_1").await, format!("succeeded {charge}, unknown -"));
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_that_only_a_record_remembers_is_somebodys_too() {
    let mut scene = Scene::open("remembered", by_hand()).await;
    let (charged, other) = double_order(&scene).await;
    let login = scene.login("kim").await;
    let kim = scene.console("kim", &login).await;
    let mut raw = scene.raw(&login).await;
    // The worker of the first got as far as `charged`: the record knows the charge, the payment does not yet.
    let charge = scene.desk().charges("ord_1")[0].id.clone();
    scene
        .run(&format!(
            "UPDATE idempotency_keys SET recovery_point = 'charged', provider_ref = '{charge}' WHERE key = '{}'",
            charged.id.key
        ))
        .await;
    let payment = json!(kim.read(&other).await.detail.record.payment);
    let evidence = call(&mut raw, "do_evidence", &forged_evidence(&scene, &other, &payment, &Value::Null)).await;
    let order = forged_order(&scene, &kim, &other, &evidence.read_back["evidence_id"]).await;
    let order = intended(&mut raw, order).await;
    let answered = call(&mut raw, "do_adopt", &order).await;
    assert_eq!(answered.outcome, "refused", "{answered:?}");
    assert!(answered.why.contains("is stored with record shop-eu FIRST-AAAA"), "{answered:?}");
    assert_eq!(scene.payments("ord_1").await, "unknown -, unknown -");
    scene.close().await;
}
