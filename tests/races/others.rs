//! Holds, and plans that somebody overtook.

use serde_json::json;
use unstuck::domain::action::Request;
use unstuck::domain::guard::{Words, draw};
use unstuck::domain::log::Outcome;
use unstuck::shell::clock;

use super::{is_done, paid_once};
use crate::support::scene::{Scene, by_hand, call, intended};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ones_own_hold_goes_on_and_anothers_refuses() {
    let mut scene = Scene::open("holds", by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    let (kims, lees) = (scene.login("kim").await, scene.login("lee").await);
    let mut kim = scene.console("kim", &kims).await;
    let mut lee = scene.console("lee", &lees).await;
    let armed = kim.armed(Request::Hold, &stuck).await.unwrap();
    assert!(is_done(&kim.act(armed).await.outcome));
    assert_eq!(scene.pay(1, &stuck).await, Some(409), "no retry takes a held record");
    // Another person sees who holds it, and the function says the same to whoever asks it straight.
    lee.look_up(&stuck).await;
    let refused = lee.plan(Request::Resume, &stuck).await.unwrap_err().to_string();
    assert!(refused.contains("operator:kim holds the lease until"), "{refused}");
    assert!(lee.plan(Request::Hold, &stuck).await.is_err());
    let dossier = lee.read(&stuck).await;
    let mut raw = scene.raw(&lees).await;
    let order = |operator: &str, evidence: &unstuck::domain::ids::EvidenceId| {
        json!({
            "action": "adopt", "environment": "demo", "operator": operator, "scope": stuck.id.scope, "key": stuck.id.key,
            "version": dossier.detail.record.version, "attempt": dossier.detail.record.attempt, "plan_hash": "by hand",
            "reason": "by hand", "ticket": "INC-1", "evidence_id": evidence,
            "expect": {
                "payment_id": dossier.detail.record.payment, "provider_ref": scene.desk().charges(&stuck.order)[0].id,
                "amount": stuck.amount, "currency": "EUR",
            },
        })
    };
    let evidence = dossier.evidence[0].id.unwrap();
    // Also to one who borrows the holder's name: the hold is the login's.
    for operator in ["lee", "kim"] {
        let order = intended(&mut raw, order(operator, &evidence)).await;
        let answered = call(&mut raw, "do_adopt", &order).await;
        assert_eq!(answered.outcome, "refused", "{answered:?}");
        assert!(answered.why.contains("operator:kim holds the lease until"), "{answered:?}");
    }
    assert_eq!(scene.payments(&stuck.order).await, "unknown -");
    // The holder goes on.
    assert!(is_done(&kim.resume(&stuck).await));
    paid_once(&scene, &stuck).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anybody_may_end_a_hold_and_the_log_says_who() {
    let mut scene = Scene::open("released", by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    let (kims, lees) = (scene.login("kim").await, scene.login("lee").await);
    let mut kim = scene.console("kim", &kims).await;
    let mut lee = scene.console("lee", &lees).await;
    let armed = kim.armed(Request::Hold, &stuck).await.unwrap();
    assert!(is_done(&kim.act(armed).await.outcome));
    let armed = lee.armed(Request::Release, &stuck).await.unwrap();
    assert!(is_done(&lee.act(armed).await.outcome));
    assert!(is_done(&lee.resume(&stuck).await));
    let who = "SELECT string_agg(concat_ws(' ', action, operator), ', ' ORDER BY id) FROM unstuck.action_log WHERE entry = 'outcome' AND result = 'done'";
    assert_eq!(scene.text(who).await, "hold kim, release lee, adopt lee");
    paid_once(&scene, &stuck).await;
    let seen = scene.close().await;
    for done in ["outcome hold done", "outcome release done", "outcome adopt done"] {
        assert_eq!(seen.transactions.get(done), Some(&1), "{:?}", seen.transactions);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_was_overtaken_is_refused_with_the_difference() {
    let mut scene = Scene::open("stale", by_hand()).await;
    let mut records = scene.stuck(3).await;
    let (kims, lees) = (scene.login("kim").await, scene.login("lee").await);
    let mut kim = scene.console("kim", &kims).await;
    let mut lee = scene.console("lee", &lees).await;
    // Between plan and phrase the client's retry finishes it.
    let stuck = records.remove(0);
    kim.look_up(&stuck).await;
    let plan = kim.plan(Request::Resume, &stuck).await.unwrap();
    assert_eq!(scene.pay(1, &stuck).await, Some(201));
    let refused = kim.arm(plan, &stuck).await.unwrap_err().to_string();
    for said in ["The record changed while you read", "record processing -> done", "attempt 1 -> 2", "Nothing was sent"]
    {
        assert!(refused.contains(said), "{said}: {refused}");
    }
    // Between the last reading and the call somebody else holds it: the function looks under lock.
    let stuck = records.remove(0);
    let armed = kim.ready(&stuck).await;
    let hold = lee.armed(Request::Hold, &stuck).await.unwrap();
    assert!(is_done(&lee.act(hold).await.outcome));
    let outcome = kim.act(armed).await.outcome;
    let Outcome::Conflict { why } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("changed since the plan was made"), "{why}");
    assert_eq!(scene.payments(&stuck.order).await, "unknown -");
    // A phrase that is not the plan's own arms nothing.
    let stuck = records.remove(0);
    kim.look_up(&stuck).await;
    let dossier = kim.read(&stuck).await;
    let plan = draw(Request::Resume, &dossier, &kim.context, clock::now()).unwrap();
    let words =
        Words { reason: "the worker died after the charge".to_owned(), ticket: "INC-1".to_owned(), ..Words::default() };
    let refused = plan.arm(&dossier, &words, &kim.context, clock::now()).unwrap_err().to_string();
    assert!(refused.contains("The phrase is not the same"), "{refused}");
    scene.close().await;
}
