//! What a changed client could try next: old look-ups, look-ups that only seem to agree, a request that was used up,
//! a hold near the end of a key. Real logins, the server alone decides.

use serde_json::{Value, json};

use crate::support::people::{Person, charge, with};
use crate::support::store::{Ground, Tables};

const OPERATOR: &[&str] = &["unstuck_operator"];
const APPROVER: &[&str] = &["unstuck_approver"];
const PAYMENT: &str = "SELECT status || ' ' || coalesce(provider_ref, '-') FROM payments WHERE id = 'P-102'";

async fn ask(asker: &mut Person, order: &Value) -> Value {
    let request = asker.go("ask", "do_ask", order).await.done()["request_id"].as_i64().unwrap();
    with(order, "approval", request)
}

async fn approve(approver: &mut Person, order: &Value, own: i64) -> crate::support::people::Said {
    let answer = with(&with(order, "request", order["approval"].clone()), "verdict", "approved");
    approver.go("approve", "do_decide", &with(&answer, "evidence_id", own)).await
}

#[tokio::test]
async fn a_look_up_from_before_the_last_call_is_no_ground_to_act_on() {
    let mut ground = Ground::new(Tables::Installed).await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    for (action, function, class) in [("fail", "do_fail", "failed"), ("adopt", "do_adopt", "succeeded")] {
        for again in [
            "INSERT INTO provider_calls (at, scope, key, payment_id, provider, purpose, provider_key, timeout_ms, pod) \
             VALUES (clock_timestamp(), 'acme', 'k-102', 'P-102', 'lab', 'charge', 'pay:acme:k-102', 2000, 'pod-b')",
            "INSERT INTO payment_attempts (scope, key, attempt, worker, lease_until, started_at) \
             VALUES ('acme', 'k-102', 1, 'pod-b', clock_timestamp(), clock_timestamp())",
        ] {
            let evidence = kim.look_up("found", charge(class)).await;
            ground.run(again).await;
            let order = with(&ground.plan("kim", action, evidence).await, "failure_reason", "card_declined");
            kim.go(action, function, &order).await.is("refused", "called again after look-up");
        }
    }
    assert_eq!(ground.text(PAYMENT).await, "unknown -");
    // A person's own hold in between sends nothing.
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let hold = ground.plan("kim", "hold", evidence).await;
    kim.go("hold", "do_hold", &hold).await.done();
    let order = ground.plan("kim", "adopt", evidence).await;
    kim.go("adopt", "do_adopt", &order).await.done();
}

#[tokio::test]
async fn look_ups_that_differ_in_what_was_given_back_or_whose_it_is_do_not_agree() {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.run("SELECT unstuck.set_environment('demo', 'production')").await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let mut lee = Person::new(&mut ground, "lee", APPROVER).await;
    let changed = |field: &str, value: Value| {
        let mut charges = charge("succeeded");
        charges[0][field] = value;
        charges
    };
    let mut captured = changed("refunded", Value::Null);
    captured[0]["captured"] = json!(4200);
    let mut given_back = changed("captured", Value::Null);
    given_back[0]["refunded"] = json!(4200);
    let cases = [
        (captured, given_back),
        (charge("succeeded"), changed("provider_key", json!("pay:acme:k-999"))),
        (charge("succeeded"), changed("reference", json!("P-999"))),
        (charge("succeeded"), changed("live", json!(false))),
    ];
    for (asked, seen) in cases {
        let evidence = kim.look_up("found", asked).await;
        let order = ground.plan("kim", "adopt", evidence).await;
        let order = ask(&mut kim, &order).await;
        let own = lee.look_up("found", seen.clone()).await;
        approve(&mut lee, &order, own).await.is("conflict", "do not say the same");
        let withdraw = with(&order, "request", order["approval"].clone());
        kim.go("withdraw", "do_withdraw", &withdraw).await.done();
    }
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.approval_decision WHERE verdict = 'approved'").await, 0);
}

#[tokio::test]
async fn a_charge_that_vanished_from_the_look_up_refuses_to_end_the_payment() {
    let mut ground = Ground::new(Tables::Installed).await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let mut other = charge("succeeded");
    other[0]["ref"] = json!("ch_9");
    kim.look_up("found", other).await;
    let evidence = kim.look_up("found", charge("failed")).await;
    let order = with(&ground.plan("kim", "fail", evidence).await, "failure_reason", "card_declined");
    kim.go("fail", "do_fail", &order).await.is("refused", "does not show it");
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    kim.go("adopt", "do_adopt", &order).await.is("refused", "does not show it");
    assert_eq!(ground.text(PAYMENT).await, "unknown -");
}

#[tokio::test]
async fn an_approval_is_acted_on_with_a_look_up_made_after_it() {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.run("SELECT unstuck.set_environment('demo', 'production')").await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let mut lee = Person::new(&mut ground, "lee", APPROVER).await;
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    let order = ask(&mut kim, &order).await;
    let own = lee.look_up("found", charge("succeeded")).await;
    approve(&mut lee, &order, own).await.done();
    kim.go("adopt", "do_adopt", &order).await.is("refused", "Look the payment up again, then act");
    let again = kim.look_up("found", charge("succeeded")).await;
    kim.go("adopt", "do_adopt", &with(&order, "evidence_id", again)).await.done();
}

#[tokio::test]
async fn a_request_that_was_used_or_is_over_is_not_taken_back() {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.run("SELECT unstuck.set_environment('demo', 'production')").await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    ground.limit("approval_wait_s", 1).await;
    let over = ask(&mut kim, &order).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let withdraw = |order: &Value| with(order, "request", order["approval"].clone());
    kim.go("withdraw", "do_withdraw", &withdraw(&over)).await.is("refused", "is over");
    ground.limit("approval_wait_s", 1_800).await;
    ground.limit("break_glass_after_s", 1).await;
    let order = ask(&mut kim, &order).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    kim.go("adopt", "do_adopt", &with(&order, "incident", "INC-2291")).await.done();
    kim.go("withdraw", "do_withdraw", &withdraw(&order)).await.is("conflict", "acted on without waiting");
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.approval_decision").await, 0);
}

#[tokio::test]
async fn a_hold_ends_before_the_provider_may_forget_the_key() {
    let mut ground = Ground::new(Tables::Installed).await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "hold", evidence).await;
    // First used eleven minutes ago; an hour is the margin.
    for (field, value) in [("key_retention_s", 4_300), ("key_retention_s", 700), ("key_margin_s", 86_000)] {
        kim.go("hold", "do_hold", &with(&order, field, value)).await.is("refused", "may forget the key");
    }
    ground.limit("max_key_retention_s", 4_300).await;
    let silent = with(&order, "key_retention_s", Value::Null);
    kim.go("hold", "do_hold", &silent).await.is("refused", "may forget the key");
    kim.go("hold", "do_hold", &with(&order, "key_retention_s", 9_000_000)).await.is("refused", "may forget the key");
    // A short one that ends in time, or one after the end, is fine.
    ground.limit("max_key_retention_s", 86_400).await;
    kim.go("hold", "do_hold", &with(&order, "key_retention_s", 60)).await.done();
}

#[tokio::test]
async fn an_order_that_cannot_be_read_is_refused_and_closes_its_intent() {
    let mut ground = Ground::new(Tables::Installed).await;
    let mut kim = Person::new(&mut ground, "kim", OPERATOR).await;
    let evidence = kim.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    for (field, value) in [
        ("evidence_id", json!("soon")),
        ("evidence_id", json!(1.5)),
        ("evidence_id", json!("99999999999999999999999")),
        ("attempt", json!({"a": 1})),
        ("approval", json!("all")),
        ("scope", json!(7)),
    ] {
        let said = kim.go("adopt", "do_adopt", &with(&order, field, value.clone())).await;
        // An approval is not looked at where none is needed.
        let fine = if field == "approval" { "done" } else { "refused" };
        assert!(said.outcome == fine || said.outcome == "conflict", "{field} {value}: {said:?}");
    }
    assert_eq!(ground.text(PAYMENT).await, "succeeded ch_102");
    let unread = json!({"intent": "abc", "environment": "demo", "operator": "kim"});
    for function in ["do_adopt", "do_fail", "do_hold", "do_release", "do_close", "do_ask", "do_withdraw", "do_note"] {
        kim.call(function, &unread).await.is("refused", "no such intent");
    }
    let late = json!({"environment": "demo", "operator": "kim", "scope": "acme", "key": "k-102",
        "evidence": {"provider": "lab", "started_at": "tomorrow-ish", "outcome": "not_found"}});
    kim.call("do_evidence", &late).await.is("refused", "cannot be read");
    // A record nobody can take once more: the number of takes is at its end.
    ground.run("UPDATE idempotency_keys SET attempt = 2147483647 WHERE key = 'k-106'").await;
    let version = ground.text("SELECT unstuck.service_version('acme', 'k-106')").await;
    let hold = json!({"environment": "demo", "scope": "acme", "key": "k-106", "version": version, "attempt": 2_147_483_647_i64,
        "plan_hash": "p", "reason": "held"});
    kim.go("hold", "do_hold", &hold).await.is("refused", "out of range");
    let open = "SELECT count(*) FROM unstuck.action_log i WHERE i.entry = 'intent' \
        AND NOT EXISTS (SELECT 1 FROM unstuck.action_log e WHERE e.intent_id = i.id)";
    assert_eq!(ground.number(open).await, 0, "no intent stays open");
}
