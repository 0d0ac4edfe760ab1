//! Whoever else is at work at the same moment: one outcome, one charge, one payment, and the log has it all.

mod handed_back;
mod lost;
mod others;
mod siblings;
mod two_hundred;

use std::time::Duration;

use serde_json::json;
use sqlx::Connection;
use unstuck::domain::action::Request;
use unstuck::domain::log::Outcome;
use unstuck::lab::service::{Recoverer, ServiceOptions};

use crate::support::PATIENCE;
use crate::support::scene::{Console, Scene, Stuck, by_hand, call, intended};

fn is_done(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Done { .. })
}

/// Refused by value or beaten: certain that nothing changed.
fn is_no(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refused { .. } | Outcome::Conflict { .. })
}

/// One charge at the provider, one payment row with it, one announcement, one edge into SUCCEEDED.
pub async fn paid_once(scene: &Scene, stuck: &Stuck) {
    let charges = scene.desk().charges(&stuck.order);
    assert_eq!(charges.len(), 1, "{stuck:?}: {charges:?}");
    assert_eq!(scene.payments(&stuck.order).await, format!("succeeded {}", charges[0].id), "{stuck:?}");
    let of = format!("SELECT id FROM payments WHERE order_id = '{}'", stuck.order);
    let edges =
        format!("SELECT count(*) FROM payment_transitions WHERE to_status = 'succeeded' AND payment_id IN ({of})");
    let announced = format!("SELECT count(*) FROM outbox WHERE type = 'payment.succeeded' AND payment_id IN ({of})");
    assert_eq!((scene.number(&edges).await, scene.number(&announced).await), (1, 1), "{stuck:?}");
}

/// Every intent of the console has exactly one outcome.
async fn every_intent_ended(scene: &Scene) {
    let open = "SELECT count(*) FROM unstuck.action_log i WHERE i.entry = 'intent' AND 1 <> \
        (SELECT count(*) FROM unstuck.action_log o WHERE o.intent_id = i.id)";
    assert_eq!(scene.number(open).await, 0, "an intent without its one outcome");
}

/// Both act on the same record, with plans made for the same version.
async fn both_resume(first: &mut Console, second: &mut Console, stuck: &Stuck) -> (Outcome, Outcome) {
    let one = first.ready(stuck).await;
    let two = second.ready(stuck).await;
    let (one, two) = tokio::join!(first.act(one), second.act(two));
    (one.outcome, two.outcome)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_consoles_resume_the_same_record_and_one_is_done() {
    const ROUNDS: usize = 30;
    let mut scene = Scene::open("two consoles", by_hand()).await;
    let records = scene.stuck(ROUNDS).await;
    let (kims, lees) = (scene.login("kim").await, scene.login("lee").await);
    let mut kim = scene.console("kim", &kims).await;
    let mut lee = scene.console("lee", &lees).await;
    let mut kim_elsewhere = scene.console("kim", &kims).await;
    let mut first_won = 0;
    for (round, stuck) in records.iter().enumerate() {
        // Every third round the same person is at both.
        let second = if round % 3 == 2 { &mut kim_elsewhere } else { &mut lee };
        let (one, two) = both_resume(&mut kim, second, stuck).await;
        let done = [&one, &two].into_iter().filter(|outcome| is_done(outcome)).count();
        let no = [&one, &two].into_iter().filter(|outcome| is_no(outcome)).count();
        assert_eq!((done, no), (1, 1), "round {round}: {one:?}, {two:?}");
        first_won += usize::from(is_done(&one));
        paid_once(&scene, stuck).await;
        let story = scene.story(&stuck.id).await;
        assert_eq!(story.matches("intent adopt").count(), 2, "{story}");
        assert_eq!(story.matches("outcome adopt").count(), 2, "{story}");
        assert_eq!(story.matches("outcome adopt done").count(), 1, "{story}");
    }
    println!("the first console won {first_won} of {ROUNDS}");
    let takes = "SELECT count(*) FROM idempotency_keys k WHERE k.status <> 'done' OR 1 <> (SELECT count(*) FROM payment_attempts a \
        WHERE a.scope = k.scope AND a.key = k.key AND starts_with(a.worker, 'operator:'))";
    assert_eq!(scene.number(takes).await, 0, "the lease was taken once more, by the winner");
    every_intent_ended(&scene).await;
    let seen = scene.close().await;
    assert_eq!(seen.transactions.get("outcome adopt done"), Some(&ROUNDS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_consoles_that_wait_for_the_same_lock_are_let_go_together() {
    const ROUNDS: usize = 5;
    let mut scene = Scene::open("two waiting", by_hand()).await;
    let records = scene.stuck(ROUNDS).await;
    let (kims, lees) = (scene.login("kim").await, scene.login("lee").await);
    let mut kim = scene.console("kim", &kims).await;
    let mut lee = scene.console("lee", &lees).await;
    for stuck in &records {
        let (one, two) = (kim.ready(stuck).await, lee.ready(stuck).await);
        let mut locker = scene.admin().await;
        let mut held = locker.begin().await.unwrap();
        sqlx::query("SELECT 1 FROM idempotency_keys WHERE key = $1 FOR UPDATE")
            .bind(stuck.id.key.as_str())
            .execute(&mut *held)
            .await
            .unwrap();
        let letting_go = async {
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                AND application_name = 'unstuck' AND query LIKE '%do_adopt%' AND wait_event_type = 'Lock'";
            scene.until(waiting, 2).await;
            held.rollback().await.unwrap();
        };
        let (one, two, ()) = tokio::join!(kim.act(one), lee.act(two), letting_go);
        let outcomes = [&one.outcome, &two.outcome];
        assert!(outcomes.iter().any(|o| is_done(o)) && outcomes.iter().any(|o| is_no(o)), "{outcomes:?}");
        paid_once(&scene, stuck).await;
    }
    every_intent_ended(&scene).await;
    scene.close().await;
}

/// Asks again and again, as a client does, until the answer is final.
pub async fn insist(scene: &Scene, stuck: &Stuck) -> u16 {
    let asked = async {
        loop {
            match scene.pay(1, stuck).await {
                Some(409 | 503) | None => tokio::time::sleep(Duration::from_millis(50)).await,
                Some(code) => return code,
            }
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("a final answer")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_and_the_clients_retry_at_the_same_moment() {
    const ROUNDS: usize = 25;
    let mut scene = Scene::open("a retry", by_hand()).await;
    let records = scene.stuck(ROUNDS).await;
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    let (mut won, mut lost) = (0, 0);
    for (round, stuck) in records.iter().enumerate() {
        let armed = kim.ready(stuck).await;
        // The call goes out a little later each time: each side gets its chance.
        let late = Duration::from_millis(u64::try_from(round % 5).unwrap() * 4);
        let retry = async {
            tokio::time::sleep(late).await;
            scene.pay(1, stuck).await
        };
        let (acted, _) = tokio::join!(kim.act(armed), retry);
        assert!(is_done(&acted.outcome) || is_no(&acted.outcome), "{:?}", acted.outcome);
        won += usize::from(is_done(&acted.outcome));
        lost += usize::from(is_no(&acted.outcome));
        assert_eq!(insist(&scene, stuck).await, 201, "the client gets the one answer");
        paid_once(&scene, stuck).await;
    }
    println!("the console won {won}, the retry {lost} of {ROUNDS}");
    every_intent_ended(&scene).await;
    let seen = scene.close().await;
    assert_eq!(seen.transactions.get("outcome adopt done").copied().unwrap_or(0), won);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_and_the_recoverer_at_the_same_moment() {
    const RECORDS: usize = 16;
    // Awake every five seconds: it takes every lease that has expired, the oldest record first.
    let mut scene = Scene::open("the recoverer", ServiceOptions { recoverer: Recoverer::On, ..by_hand() }).await;
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    let records = scene.lost(RECORDS).await;
    let mut armed = Vec::new();
    for stuck in &records {
        kim.look_up(stuck).await;
        // A lease that still lives, or that the recoverer has already: no plan, and that is an answer.
        let made = async {
            loop {
                match kim.armed(Request::Resume, stuck).await {
                    Ok(armed) => break Some(armed),
                    Err(_) if scene.payments(&stuck.order).await.starts_with("succeeded") => break None,
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        armed.push(tokio::time::timeout(PATIENCE, made).await.expect("a plan, or the recoverer was first"));
    }
    // When it begins, the console begins from the other end: they meet.
    let begun = "SELECT least(1, count(*)) FROM idempotency_keys WHERE locked_by = 'recoverer'";
    scene.until(begun, 1).await;
    let mut done = 0;
    for (stuck, armed) in records.iter().zip(armed).rev() {
        if let Some(armed) = armed {
            let outcome = kim.act(armed).await.outcome;
            assert!(is_done(&outcome) || is_no(&outcome), "{outcome:?}");
            done += usize::from(is_done(&outcome));
        }
        assert_eq!(insist(&scene, stuck).await, 201);
    }
    for stuck in &records {
        paid_once(&scene, stuck).await;
    }
    println!("the console finished {done}, the recoverer {} of {RECORDS}", RECORDS - done);
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_an_intent_and_its_change_at_the_same_moment() {
    const ROUNDS: usize = 25;
    let mut scene = Scene::open("closing", by_hand()).await;
    let records = scene.stuck(ROUNDS).await;
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    let (mut changing, mut closing) = (scene.raw(&login).await, scene.raw(&login).await);
    let (mut done, mut closed) = (0, 0);
    for (round, stuck) in records.iter().enumerate() {
        let armed = kim.ready(stuck).await;
        let order = intended(&mut changing, serde_json::to_value(armed.order()).unwrap()).await;
        let close = json!({ "intent": order["intent"], "operator": "kim" });
        let late = |when: bool| tokio::time::sleep(Duration::from_millis(if when { 3 } else { 0 }));
        let change = async {
            late(round % 3 == 1).await;
            call(&mut changing, "do_adopt", &order).await
        };
        let end = async {
            late(round % 3 == 2).await;
            call(&mut closing, "do_close", &close).await
        };
        let (changed, ended) = tokio::join!(change, end);
        match (changed.outcome.as_str(), ended.outcome.as_str()) {
            ("done", "conflict") => {
                assert_eq!(ended.read_back["result"], "done", "{ended:?}");
                paid_once(&scene, stuck).await;
                done += 1;
            }
            ("conflict", "done") => {
                assert_eq!(scene.payments(&stuck.order).await, "unknown -", "a closed intent changes nothing");
                closed += 1;
            }
            _ => panic!("round {round}: {changed:?}, {ended:?}"),
        }
        let outcomes = format!("SELECT count(*) FROM unstuck.action_log WHERE intent_id = {}", order["intent"]);
        assert_eq!(scene.number(&outcomes).await, 1);
        // Whatever came of it, the order sent once more does nothing.
        let before = scene.payments(&stuck.order).await;
        assert_eq!(call(&mut changing, "do_adopt", &order).await.outcome, "conflict");
        assert_eq!(scene.payments(&stuck.order).await, before);
    }
    println!("the change came first in {done}, the closing in {closed} of {ROUNDS}");
    scene.close().await;
}
