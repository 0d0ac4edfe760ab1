//! The second person, hand back and the two endings, as the database enforces them: every call here is one
//! that a changed client could make, with real logins.

use serde_json::{Value, json};
use sqlx::Row;
use unstuck::domain::action::{Change, Request};
use unstuck::domain::approval::{self, ApprovalState, ResumeState};
use unstuck::domain::evidence::{Absence, Evidence, LookupOutcome};
use unstuck::domain::guard::{Armed, Context, Plan, Words, draw};
use unstuck::domain::ids::{Operator, ProviderName, RecordId};
use unstuck::domain::log::Outcome;
use unstuck::domain::policy::{Policy, ProviderTerms};
use unstuck::domain::port::{Dossier, Store};
use unstuck::domain::promise::{Promise, Said};
use unstuck::domain::time::{Now, Seconds};
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;

use crate::support::people::{Person, charge, with};
use crate::support::store::{Ground, Tables, demo, policy, shipped};

const OPERATOR: &[&str] = &["unstuck_operator"];
const APPROVER: &[&str] = &["unstuck_approver"];
const BOTH: &[&str] = &["unstuck_operator", "unstuck_approver"];
const PAYMENT: &str = "SELECT status || ' ' || coalesce(provider_ref, '-') FROM payments WHERE id = 'P-102'";
const RECORD: &str = "SELECT status || ' ' || attempt || ' ' || coalesce(response_code::text, '-') FROM idempotency_keys WHERE key = 'k-102'";

/// A world with an asker, an approver, and a gap of one second between two look-ups.
async fn world() -> (Ground, Person, Person) {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.limit("settle_s", 0).await;
    let asker = Person::new(&mut ground, "kim", BOTH).await;
    let approver = Person::new(&mut ground, "lee", APPROVER).await;
    (ground, asker, approver)
}

/// kim's plan to hand k-102 back, asked for; the order and the request's number.
async fn asked(ground: &mut Ground, asker: &mut Person) -> (Value, i64) {
    let proof = ground.nothing_found(400).await;
    let evidence = asker.look_up("not_found", json!([])).await;
    let order = with(&ground.plan("kim", "hand_back", evidence).await, "proof_id", proof);
    let back = asker.go("ask", "do_ask", &order).await.done();
    let request = back["request_id"].as_i64().unwrap();
    (with(&order, "approval", request), request)
}

/// What an approver sends.
fn decision(order: &Value, request: i64, verdict: &str, evidence: Option<i64>) -> Value {
    let order = with(&with(order, "request", request), "verdict", verdict);
    with(&order, "evidence_id", evidence.map_or(Value::Null, Value::from))
}

async fn approve(approver: &mut Person, order: &Value, request: i64, outcome: &str, observed: Value) {
    let own = approver.look_up(outcome, observed).await;
    approver.go("approve", "do_decide", &decision(order, request, "approved", Some(own))).await.done();
}

/// The order with a look-up made just now: an approval is acted on with one made after it.
async fn again(asker: &mut Person, order: &Value, outcome: &str, observed: Value) -> Value {
    let own = asker.look_up(outcome, observed).await;
    with(order, "evidence_id", own)
}

#[tokio::test]
async fn without_a_second_person_nothing_is_handed_back() {
    let (mut ground, mut asker, mut approver) = world().await;
    let (order, request) = asked(&mut ground, &mut asker).await;
    let none = with(&order, "approval", Value::Null);
    asker.go("hand_back", "do_hand_back", &none).await.is("refused", "needs approval");
    asker.go("hand_back", "do_hand_back", &with(&order, "approval", 999)).await.is("refused", "no such request");
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "Nobody has decided");
    asker.go("hand_back", "do_hand_back", &with(&order, "incident", "INC-9")).await.is("refused", "Nobody has decided");
    asker.go("ask", "do_ask", &order).await.is("refused", "waits for approval already");
    approve(&mut approver, &order, request, "not_found", json!([])).await;
    // Approved is this plan, by this person, for this record, and nothing else.
    let forged = with(&order, "plan_hash", "f".repeat(64));
    asker.go("hand_back", "do_hand_back", &forged).await.is("refused", "another plan");
    asker.go("not_charged", "do_not_charged", &order).await.is("refused", "");
    let mut dearer = order.clone();
    dearer["expect"]["amount"] = json!(9_999_999);
    asker.go("hand_back", "do_hand_back", &dearer).await.is("refused", "another amount");
    let mut thief = Person::new(&mut ground, "pat", OPERATOR).await;
    let own = thief.look_up("not_found", json!([])).await;
    thief.go("hand_back", "do_hand_back", &with(&order, "evidence_id", own)).await.is("refused", "only who asked");
    // The thief's look-up agreed; the asker's own, made after the approval, is still needed.
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "Look the payment up again");
    let order = again(&mut asker, &order, "not_found", json!([])).await;
    asker.go("hand_back", "do_hand_back", &order).await.done();
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "handed back already");
    assert_eq!(ground.text(PAYMENT).await, "unknown -");
    assert_eq!(ground.text(RECORD).await, "processing 1 -", "a hand back takes no lease");
}

#[tokio::test]
async fn nobody_approves_their_own_plan_and_only_an_approver_decides() {
    let (mut ground, mut asker, mut approver) = world().await;
    let (order, request) = asked(&mut ground, &mut asker).await;
    let own = asker.look_up("not_found", json!([])).await;
    let yes = |evidence: i64| decision(&order, request, "approved", Some(evidence));
    asker.go("approve", "do_decide", &yes(own)).await.is("refused", "this very login");
    asker.go("refuse", "do_decide", &decision(&order, request, "refused", None)).await.is("refused", "this very login");
    // The same person with a second login, and the same login under a second name.
    let mut second = Person::new(&mut ground, "KIM ", APPROVER).await;
    let seconds = second.look_up("not_found", json!([])).await;
    second.go("approve", "do_decide", &yes(seconds)).await.is("refused", "Nobody decides about their own plan");
    asker.name = "lee";
    let lent = asker.look_up("not_found", json!([])).await;
    asker.go("approve", "do_decide", &yes(lent)).await.is("refused", "this very login");
    asker.name = "kim";
    // An operator who is no approver, and an approver who is no operator.
    let mut operator = Person::new(&mut ground, "pat", OPERATOR).await;
    let pats = operator.look_up("not_found", json!([])).await;
    operator.go("approve", "do_decide", &yes(pats)).await.is("denied", "permission denied");
    approver.go("adopt", "do_adopt", &order).await.is("refused", "not one of the operators");
    approver.call("do_hand_back", &order).await.is("denied", "permission denied");
    approver.call("do_ask", &order).await.is("denied", "permission denied");
    // No look-up, somebody else's, a wrong hash, a word that is no answer.
    approver
        .go("approve", "do_decide", &decision(&order, request, "approved", None))
        .await
        .is("refused", "No stored look-up");
    approver.go("approve", "do_decide", &yes(pats)).await.is("refused", "Look the payment up yourself");
    let theirs = approver.look_up("not_found", json!([])).await;
    approver
        .go("approve", "do_decide", &with(&yes(theirs), "plan_hash", "0".repeat(64)))
        .await
        .is("refused", "another plan");
    approver
        .go("refuse", "do_decide", &with(&yes(theirs), "verdict", "perhaps"))
        .await
        .is("refused", "approved or refused");
    approver.go("approve", "do_decide", &yes(theirs)).await.done();
    let mut late = Person::new(&mut ground, "ann", APPROVER).await;
    late.go("refuse", "do_decide", &decision(&order, request, "refused", None))
        .await
        .is("conflict", "approved by lee already");
}

#[tokio::test]
async fn an_approver_whose_look_up_says_something_else_cannot_approve() {
    let (mut ground, mut asker, mut approver) = world().await;
    let (order, request) = asked(&mut ground, &mut asker).await;
    let other = approver.look_up("found", charge("succeeded")).await;
    approver
        .go("approve", "do_decide", &decision(&order, request, "approved", Some(other)))
        .await
        .is("conflict", "do not say the same");
    // Nor can the next one, although theirs agrees: one look-up since then did not.
    let mut next = Person::new(&mut ground, "ann", APPROVER).await;
    let own = next.look_up("not_found", json!([])).await;
    next.go("approve", "do_decide", &decision(&order, request, "approved", Some(own)))
        .await
        .is("conflict", "something else");
    next.go("refuse", "do_decide", &decision(&order, request, "refused", None)).await.done();
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "found a charge");
    assert_eq!(ground.text("SELECT verdict FROM unstuck.approval_decision").await, "refused");
}

#[tokio::test]
async fn a_plan_that_is_over_forged_or_stale_is_not_approved() {
    let (mut ground, mut asker, mut approver) = world().await;
    ground.limit("approval_wait_s", 2).await;
    let proof = ground.nothing_found(400).await;
    let evidence = asker.look_up("not_found", json!([])).await;
    let order = with(&ground.plan("kim", "hand_back", evidence).await, "proof_id", proof);
    // A hash that is not the plan's, and a plan that is not the order's.
    let mut forged = order.clone();
    forged["plan"]["hashed"][7] = json!("another change");
    asker.go("ask", "do_ask", &forged).await.is("refused", "does not fit its hash");
    let elsewhere = ground.plan("pat", "hand_back", evidence).await;
    asker.go("ask", "do_ask", &elsewhere).await.is("refused", "something else than the order");
    asker.go("ask", "do_ask", &with(&order, "for_action", "hold")).await.is("refused", "Nothing called hold");
    asker.go("ask", "do_ask", &with(&order, "version", "0".repeat(64))).await.is("conflict", "changed");
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    let own = approver.look_up("not_found", json!([])).await;
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    approver
        .go("approve", "do_decide", &decision(&order, request, "approved", Some(own)))
        .await
        .is("refused", "is over");
    // Asked again, and then the record moves.
    ground.limit("approval_wait_s", 1800).await;
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    ground.run("UPDATE payments SET failure_reason = 'touched' WHERE id = 'P-102'").await;
    approver
        .go("approve", "do_decide", &decision(&order, request, "approved", Some(own)))
        .await
        .is("conflict", "changed");
    // Withdrawn by the asker only, and then nobody decides.
    let withdraw = with(&order, "request", request);
    let mut pat = Person::new(&mut ground, "pat", OPERATOR).await;
    pat.go("withdraw", "do_withdraw", &withdraw).await.is("refused", "Only kim");
    asker.go("withdraw", "do_withdraw", &withdraw).await.done();
    approver
        .go("approve", "do_decide", &decision(&order, request, "approved", Some(own)))
        .await
        .is("conflict", "withdrawn by kim");
}

#[tokio::test]
async fn an_approval_is_for_two_minutes_and_once() {
    let (mut ground, mut asker, mut approver) = world().await;
    let (order, request) = asked(&mut ground, &mut asker).await;
    ground.limit("act_window_s", 1).await;
    approve(&mut approver, &order, request, "not_found", json!([])).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "is over. Ask again");
    ground.limit("act_window_s", 120).await;
    let evidence = asker.look_up("found", charge("failed")).await;
    asker.go("hand_back", "do_hand_back", &with(&order, "evidence_id", evidence)).await.is("refused", "no proof");
    let states = "SELECT count(*) FROM unstuck.approval_use";
    assert_eq!(ground.number(states).await, 0);
}

/// kim hands k-102 back with lee's approval; the number of the request to the recoverer.
async fn handed_back(ground: &mut Ground, asker: &mut Person, approver: &mut Person) -> (Value, i64) {
    let (order, request) = asked(ground, asker).await;
    approve(approver, &order, request, "not_found", json!([])).await;
    let order = again(asker, &order, "not_found", json!([])).await;
    let back = asker.go("hand_back", "do_hand_back", &order).await.done();
    (order, back["resume_id"].as_i64().unwrap())
}

async fn take(recoverer: &mut Person, id: i64) -> (String, String) {
    let sql = "SELECT outcome, coalesce(why, '') FROM unstuck.recoverer_take($1, $2)";
    let row = sqlx::query(sql).bind(id).bind(recoverer.name).fetch_one(&mut recoverer.line).await.unwrap();
    (row.get(0), row.get(1))
}

async fn close(recoverer: &mut Person, id: i64, outcome: &str) -> (String, String) {
    let sql = "SELECT outcome, coalesce(why, '') FROM unstuck.recoverer_close($1, $2, $3, 'charged ch_1')";
    let asking = sqlx::query(sql).bind(id).bind(recoverer.name).bind(outcome);
    let row = asking.fetch_one(&mut recoverer.line).await.unwrap();
    (row.get(0), row.get(1))
}

const STATE: &str = "SELECT string_agg(event || ' ' || worker, ', ' ORDER BY id) FROM unstuck.resume_event";

#[tokio::test]
async fn a_record_is_handed_back_taken_once_and_closed_by_who_took_it() {
    let (mut ground, mut asker, mut approver) = world().await;
    let mut recoverer = Person::new(&mut ground, "recoverer-1", &["unstuck_recoverer"]).await;
    let mut other = Person::new(&mut ground, "recoverer-2", &["unstuck_recoverer"]).await;
    let mut listener = sqlx::postgres::PgListener::connect_with(
        &sqlx::PgPool::connect_with(ground.database.admin_options()).await.unwrap(),
    )
    .await
    .unwrap();
    listener.listen("unstuck_resume").await.unwrap();
    let (_, id) = handed_back(&mut ground, &mut asker, &mut approver).await;
    let told = tokio::time::timeout(std::time::Duration::from_secs(5), listener.recv()).await.unwrap().unwrap();
    assert_eq!(told.payload(), id.to_string());
    let waiting: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM unstuck.recoverer_waiting()").fetch_all(&mut recoverer.line).await.unwrap();
    assert_eq!(waiting, [id]);
    assert_eq!(close(&mut recoverer, id, "finished").await.0, "refused", "not taken yet");
    assert_eq!(take(&mut recoverer, id).await.0, "taken");
    assert_eq!(take(&mut other, id).await, ("refused".to_owned(), format!("Hand back {id} was taken by recoverer-1.")));
    assert_eq!(take(&mut recoverer, id).await.0, "refused", "taken is taken, also for who took it");
    assert_eq!(close(&mut other, id, "finished").await.0, "refused");
    assert_eq!(close(&mut recoverer, id, "finished").await.0, "done");
    assert_eq!(close(&mut recoverer, id, "refused").await.0, "conflict");
    assert_eq!(ground.text(STATE).await, "taken recoverer-1, finished recoverer-1");
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.log_check WHERE NOT intact OR NOT follows").await, 0);
    // The recoverer's role reads and changes nothing else.
    for statement in
        ["SELECT 1 FROM unstuck.resume_request", "SELECT 1 FROM payments", "UPDATE payments SET status = 'failed'"]
    {
        let tried = sqlx::query(statement).execute(&mut recoverer.line).await.unwrap_err();
        assert!(tried.to_string().contains("permission denied"), "{tried}");
    }
    recoverer.call("do_hand_back", &json!({})).await.is("denied", "permission denied");
}

#[tokio::test]
async fn a_hand_back_that_was_withdrawn_is_late_or_moved_on_is_not_taken() {
    let (mut ground, mut asker, mut approver) = world().await;
    let mut recoverer = Person::new(&mut ground, "recoverer-1", &["unstuck_recoverer"]).await;
    let (order, first) = handed_back(&mut ground, &mut asker, &mut approver).await;
    // Anybody may withdraw: it can only prevent a charge.
    let mut pat = Person::new(&mut ground, "pat", OPERATOR).await;
    let withdraw = with(&with(&order, "resume", first), "request", Value::Null);
    pat.go("withdraw", "do_withdraw", &withdraw).await.done();
    assert!(take(&mut recoverer, first).await.1.contains("withdrawn by operator:pat"));
    asker.go("hand_back", "do_hand_back", &order).await.is("refused", "used already");
    // Late.
    ground.limit("resume_life_s", 1).await;
    let (_, late) = handed_back(&mut ground, &mut asker, &mut approver).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert!(take(&mut recoverer, late).await.1.contains("was to be taken up until"));
    ground.limit("resume_life_s", 900).await;
    // Another attempt.
    let (order, moved) = handed_back(&mut ground, &mut asker, &mut approver).await;
    ground.run("UPDATE idempotency_keys SET attempt = 2, locked_until = now() WHERE key = 'k-102'").await;
    assert!(take(&mut recoverer, moved).await.1.contains("not what was handed back"));
    assert_eq!(close(&mut recoverer, moved, "refused").await.0, "done");
    let withdraw = with(&with(&order, "resume", moved), "request", Value::Null);
    asker.go("withdraw", "do_withdraw", &withdraw).await.is("conflict", "refused by recoverer-1");
}

#[tokio::test]
async fn absence_is_proven_by_two_look_ups_apart_and_the_key_must_last() {
    let (mut ground, mut asker, mut approver) = world().await;
    let (order, request) = asked(&mut ground, &mut asker).await;
    approve(&mut approver, &order, request, "not_found", json!([])).await;
    let order = again(&mut asker, &order, "not_found", json!([])).await;
    let back = async |asker: &mut Person, order: Value| asker.go("hand_back", "do_hand_back", &order).await;
    back(&mut asker, with(&order, "proof_id", Value::Null)).await.is("refused", "A second one has to agree");
    back(&mut asker, with(&order, "proof_id", order["evidence_id"].clone()))
        .await
        .is("refused", "A second one has to agree");
    let near = ground.nothing_found(60).await;
    back(&mut asker, with(&order, "proof_id", near)).await.is("refused", "less than 290 s apart");
    let before = ground.nothing_found(620).await;
    back(&mut asker, with(&order, "proof_id", before)).await.is("refused", "A charge may have been sent until");
    back(&mut asker, with(&order, "settle_s", 300)).await.is("refused", "A charge may have been sent until");
    back(&mut asker, with(&order, "key_retention_s", Value::Null)).await.is("refused", "is not known");
    back(&mut asker, with(&order, "key_retention_s", 3_600)).await.is("refused", "may forget the key");
    back(&mut asker, with(&order, "key_margin_s", 86_400)).await.is("refused", "may forget the key");
    // The margin and the retention in the database bind, whatever the order says.
    ground.limit("max_key_retention_s", 3_700).await;
    back(&mut asker, with(&order, "key_retention_s", 864_000)).await.is("refused", "may forget the key");
    ground.limit("max_key_retention_s", 86_400).await;
    ground.run("INSERT INTO payments (id, order_id, scope, key, provider, status, amount, currency) VALUES ('P-x', 'O-102', 'acme', 'k-x', 'lab', 'succeeded', 4200, 'EUR')").await;
    back(&mut asker, order).await.is("refused", "already paid by payment P-x");
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.resume_request").await, 0);
}

#[tokio::test]
async fn a_charge_that_was_given_back_ends_as_failed_with_its_ref() {
    let (mut ground, mut asker, mut approver) = world().await;
    let evidence = asker.look_up("found", charge("reversed")).await;
    let order = ground.plan("kim", "reverse", evidence).await;
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    let order = with(&order, "approval", request);
    approve(&mut approver, &order, request, "found", charge("reversed")).await;
    asker.go("reverse", "do_reverse", &order).await.is("refused", "No other payment paid order O-102");
    ground.run("INSERT INTO payments (id, order_id, scope, key, provider, status, amount, currency) VALUES ('P-x', 'O-102', 'acme', 'k-x', 'lab', 'succeeded', 4200, 'EUR')").await;
    asker.go("reverse", "do_reverse", &with(&order, "approval", Value::Null)).await.is("refused", "needs approval");
    asker.go("fail", "do_fail", &with(&order, "failure_reason", "x")).await.is("refused", "Not every charge");
    let order = again(&mut asker, &order, "found", charge("reversed")).await;
    asker.go("reverse", "do_reverse", &order).await.done();
    assert_eq!(ground.text(PAYMENT).await, "failed ch_102");
    assert_eq!(ground.text(RECORD).await, "done 2 402");
}

#[tokio::test]
async fn not_charged_waits_for_the_end_of_the_key_and_keeps_its_proof() {
    let (mut ground, mut asker, mut approver) = world().await;
    let proof = ground.nothing_found(400).await;
    let evidence = asker.look_up("not_found", json!([])).await;
    let order = with(&ground.plan("kim", "not_charged", evidence).await, "proof_id", proof);
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    let order = with(&order, "approval", request);
    approve(&mut approver, &order, request, "not_found", json!([])).await;
    let short = with(&order, "key_retention_s", 60);
    asker.go("not_charged", "do_not_charged", &short).await.is("refused", "The provider may know the key until");
    ground.limit("max_key_retention_s", 300).await;
    asker.go("not_charged", "do_not_charged", &order).await.is("refused", "The provider may know the key until");
    let short = again(&mut asker, &short, "not_found", json!([])).await;
    let evidence = &short["evidence_id"];
    asker.go("not_charged", "do_not_charged", &short).await.done();
    assert_eq!(ground.text(PAYMENT).await, "failed -");
    assert_eq!(ground.text(RECORD).await, "done 2 402");
    let kept =
        "SELECT (data -> 'proof')::text FROM unstuck.action_log WHERE action = 'not_charged' AND result = 'done'";
    assert_eq!(ground.text(kept).await, format!("[{proof}, {evidence}]"));
}

#[tokio::test]
async fn in_production_large_amounts_need_approval_and_breaking_the_glass_is_logged() {
    let (mut ground, mut asker, mut approver) = world().await;
    ground.run("SELECT unstuck.set_environment('demo', 'production')").await;
    let evidence = asker.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    asker.go("adopt", "do_adopt", &order).await.is("refused", "needs approval");
    ground.run("SELECT unstuck.set_approval_limit('EUR', 4200)").await;
    asker.go("adopt", "do_adopt", &order).await.is("refused", "needs approval");
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    let order = with(&order, "approval", request);
    let glass = with(&order, "incident", "INC-2291");
    asker.go("adopt", "do_adopt", &glass).await.is("refused", "break-glass opens at");
    ground.limit("break_glass_after_s", 1).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    asker.go("adopt", "do_adopt", &order).await.is("refused", "Nobody has decided");
    asker.go("adopt", "do_adopt", &glass).await.done();
    assert_eq!(ground.text(PAYMENT).await, "succeeded ch_102");
    let logged = ground.text("SELECT detail FROM unstuck.action_log WHERE action = 'adopt' AND result = 'done'").await;
    assert!(logged.starts_with("BREAK GLASS, incident INC-2291"), "{logged}");
    let no = decision(&order, request, "refused", None);
    approver.go("refuse", "do_decide", &no).await.is("conflict", "acted on without waiting");
}

#[tokio::test]
async fn below_the_limit_one_person_is_enough_and_a_refusal_binds() {
    let (mut ground, mut asker, mut approver) = world().await;
    ground.run("SELECT unstuck.set_environment('demo', 'production')").await;
    let evidence = asker.look_up("found", charge("succeeded")).await;
    let order = ground.plan("kim", "adopt", evidence).await;
    let request = asker.go("ask", "do_ask", &order).await.done()["request_id"].as_i64().unwrap();
    approver.go("refuse", "do_decide", &decision(&order, request, "refused", None)).await.done();
    ground.limit("break_glass_after_s", 1).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let glass = with(&with(&order, "approval", request), "incident", "INC-2291");
    asker.go("adopt", "do_adopt", &glass).await.is("refused", "was refused by lee");
    ground.run("SELECT unstuck.set_approval_limit('EUR', 4201)").await;
    asker.go("adopt", "do_adopt", &order).await.done();
}

#[tokio::test]
async fn what_was_asked_and_decided_only_grows_and_nobody_sets_the_limits() {
    let (mut ground, mut asker, mut approver) = world().await;
    handed_back(&mut ground, &mut asker, &mut approver).await;
    for table in ["approval_request", "approval_decision", "approval_use", "resume_request", "resume_event"] {
        for statement in [
            format!("UPDATE unstuck.{table} SET at = at"),
            format!("DELETE FROM unstuck.{table}"),
            format!("TRUNCATE unstuck.{table} CASCADE"),
            format!("INSERT INTO unstuck.{table} DEFAULT VALUES"),
        ] {
            for person in [&mut asker, &mut approver] {
                let tried =
                    sqlx::query(sqlx::AssertSqlSafe(statement.clone())).execute(&mut person.line).await.unwrap_err();
                assert!(tried.to_string().contains("permission denied"), "{statement}: {tried}");
            }
            if !statement.starts_with("INSERT") {
                let tried =
                    sqlx::query(sqlx::AssertSqlSafe(statement.clone())).execute(&mut ground.admin).await.unwrap_err();
                assert!(tried.to_string().contains("only grows"), "{statement}: {tried}");
            }
        }
    }
    for call in [
        "SELECT unstuck.set_limit('act_window_s', 3600)",
        "SELECT unstuck.set_approval_limit('EUR', 999999999)",
        "UPDATE unstuck.limits SET act_window_s = 3600",
    ] {
        for person in [&mut asker, &mut approver] {
            let tried = sqlx::query(call).execute(&mut person.line).await.unwrap_err();
            assert!(tried.to_string().contains("permission denied"), "{call}: {tried}");
        }
    }
}

/// A console of its own: its login, and who sits at it.
struct Desk {
    store: PgStore,
    context: Context,
}

impl Desk {
    async fn new(ground: &mut Ground, name: &str, groups: &[&str]) -> Self {
        let login = ground.database.create_login(name, groups).await.unwrap();
        let mut options = StoreOptions::new(ground.database.login_options(&login), shipped());
        options.environment = Some(demo());
        let terms = ProviderTerms { key_retention: Some(Seconds(86_400)), settle: Seconds(0) };
        let context = Context {
            environment: demo(),
            operator: Operator::new(name),
            role: login.name.clone(),
            policy: Policy { skew: Seconds(0), ..policy() },
            terms: [(ProviderName::new("lab"), terms)].into(),
        };
        options.policy = context.policy.clone();
        Self { store: PgStore::new(options), context }
    }

    async fn read(&self) -> Dossier {
        self.store.dossier(&RecordId::new("acme", "k-102")).await.unwrap().unwrap()
    }

    /// Looks up, finds nothing, stores that.
    async fn look_up(&self) -> Dossier {
        let before = self.read().await;
        let armed = self.arm(self.plan(Request::LookUp, &before), &before);
        let intent = self.store.begin_lookup(&armed).await.unwrap();
        let evidence = Evidence {
            id: None,
            operator: self.context.operator.clone(),
            provider: ProviderName::new("lab"),
            started_at: before.at,
            outcome: LookupOutcome::NotFound { absence: Absence::Consistent, why: "no such charge".to_owned() },
            steps: vec![],
        };
        let kept = self.store.keep(armed, intent, &evidence).await;
        assert!(matches!(kept, Outcome::Done { .. }), "{kept:?}");
        self.read().await
    }

    fn plan(&self, request: Request, facts: &Dossier) -> Plan {
        draw(request, facts, &self.context, Now(facts.at)).unwrap_or_else(|refused| panic!("{refused}"))
    }

    fn words(plan: &Plan) -> Words {
        Words {
            reason: "two look-ups found nothing".to_owned(),
            ticket: "INC-2291".to_owned(),
            phrase: plan.phrase().shown().to_owned(),
            ..Words::default()
        }
    }

    fn arm(&self, plan: Plan, facts: &Dossier) -> Armed {
        let words = Self::words(&plan);
        plan.arm(facts, &words, &self.context, Now(facts.at)).unwrap_or_else(|refused| panic!("{refused}"))
    }
}

#[tokio::test]
async fn a_plan_is_asked_for_approved_and_handed_back_from_two_consoles() {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.limit("settle_s", 0).await;
    ground.nothing_found(400).await;
    let kim = Desk::new(&mut ground, "kim", OPERATOR).await;
    let lee = Desk::new(&mut ground, "lee", APPROVER).await;
    let facts = kim.look_up().await;
    let plan = kim.plan(Request::Resume, &facts);
    assert!(matches!(plan.change(), Change::HandBack { .. }), "{:?}", plan.change());
    let words = Desk::words(&plan);
    let asked = plan.ask(&facts, &words, &kim.context, Now(facts.at)).unwrap_or_else(|refused| panic!("{refused}"));
    let outcome = kim.store.consent(asked).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");

    // lee's console lists it, reads the same plan, and looks up on its own.
    let listed = lee.store.poll().await.unwrap().approvals;
    let request = listed.value().unwrap()[0].clone();
    assert_eq!(request.state, ApprovalState::Waiting);
    assert_eq!(request.plan, Some(kim.plan(Request::Resume, &facts).stored()));
    let refused = approval::approvable(&request, &lee.read().await, &lee.context).unwrap_err();
    assert!(refused.why.contains("kim's"), "{refused}");
    let own = lee.look_up().await;
    let phrase = approval::approvable(&request, &own, &lee.context).unwrap_or_else(|refused| panic!("{refused}"));
    let typed = Words { phrase: phrase.shown().to_owned(), ..Words::default() };
    let yes = approval::approve(&request, &own, &typed, &lee.context).unwrap_or_else(|refused| panic!("{refused}"));
    let outcome = lee.store.consent(yes).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");

    // kim looks up again: the same plan, approved now.
    let facts = kim.look_up().await;
    let plan = kim.plan(Request::Resume, &facts);
    assert_eq!(plan.hash(), &request.plan_hash);
    let promise = plan.promises().iter().find(|promise| matches!(promise, Promise::HandedBack { .. })).unwrap().clone();
    let outcome = kim.store.act(kim.arm(plan, &facts)).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    let after = kim.read().await;
    assert_eq!((after.resumes.len(), after.resumes[0].state), (1, ResumeState::Waiting));
    assert_eq!(after.approvals[0].state, ApprovalState::Used);
    assert!(matches!(promise.read_back(&after), Said::Yes(_)), "{:?}", promise.read_back(&after));

    // Nobody takes it up; kim takes it back.
    ground.limit("resume_answer_s", 1).await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    let resume = kim.read().await.resumes[0].clone();
    assert_eq!(resume.state, ResumeState::Unanswered);
    let back = approval::withdraw_hand_back(&resume, "", &kim.context).unwrap_or_else(|refused| panic!("{refused}"));
    let outcome = kim.store.consent(back).await;
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    assert_eq!(kim.read().await.resumes[0].state, ResumeState::Withdrawn);
    assert_eq!(ground.text(RECORD).await, "processing 1 -");
}
