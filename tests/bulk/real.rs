//! The same on a real PostgreSQL and a provider over HTTP: what was sent, what was paid, what the log has.

use unstuck::app::dialog::bulk::Phase;
use unstuck::app::key::Key;
use unstuck::domain::guard::Progress;
use unstuck::lab::sql;

use super::desk::Desk;
use crate::support::cluster::shared;
use crate::support::scene::{Scene, Stuck, by_hand};
use crate::support::wire::{Cut, Wire};

// The log and the triggers of every scene are looked at when it is closed (`Scene::close`).

/// Stuck for so long that they are on the list.
async fn on_the_list(scene: &Scene, count: usize) -> Vec<Stuck> {
    let records = scene.stuck(count).await;
    aged(scene).await;
    records
}

async fn aged(scene: &Scene) {
    scene.run("UPDATE idempotency_keys SET locked_until = now() - interval '1 hour' WHERE status = 'processing'").await;
}

async fn desk(scene: &mut Scene) -> Desk {
    let login = scene.login("kim").await;
    let server = scene.options(&login);
    Desk::at(scene, "kim", server)
}

/// One charge, one payment with it.
async fn paid_once(scene: &Scene, stuck: &Stuck) {
    let charges = scene.desk().charges(&stuck.order);
    assert_eq!(charges.len(), 1, "{stuck:?}: {charges:?}");
    assert_eq!(scene.payments(&stuck.order).await, format!("succeeded {}", charges[0].id), "{stuck:?}");
}

async fn every_intent_ended(scene: &Scene) {
    let open = "SELECT count(*) FROM unstuck.action_log i WHERE i.entry = 'intent' AND 1 <> \
        (SELECT count(*) FROM unstuck.action_log o WHERE o.intent_id = i.id)";
    assert_eq!(scene.number(open).await, 0, "an intent without its one outcome");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_are_adopted_with_the_canary_first_in_two_currencies() {
    let mut scene = Scene::open("bulk", by_hand()).await;
    let mut records = scene.stuck(2).await;
    records.push(scene.stuck_in("JPY", "K900-WXYZ", "ord_yen", 1_200).await);
    aged(&scene).await;
    let mut kim = desk(&mut scene).await;
    kim.mark_all(3).await;
    kim.look_up(3).await;
    assert_eq!(scene.number("SELECT count(DISTINCT key) FROM unstuck.evidence").await, 3);
    kim.press(&[Key::Esc]).await;
    kim.adopt().await;
    kim.until_shown("Canary done.").await;
    assert_eq!(kim.sent.len(), 4, "three look-ups and the canary: {:?}", kim.sent);
    let succeeded = "SELECT count(*) FROM payments WHERE status = 'succeeded'";
    assert_eq!(scene.number(succeeded).await, 1, "the canary alone");
    kim.until_shown("[5 Result]").await;
    let picture = kim.picture();
    assert!(picture.contains("ok DONE  3 of 3, EUR 85.00 + JPY 1,200."), "{picture}");
    for stuck in &records {
        paid_once(&scene, stuck).await;
        let story = scene.story(&stuck.id).await;
        let whole = "intent lookup, outcome lookup found, intent adopt, outcome adopt done";
        assert_eq!(story, whole, "{stuck:?}");
    }
    let gaps: Vec<i64> = kim.sent.windows(2).map(|pair| (pair[1].0 - pair[0].0).num_milliseconds()).collect();
    assert!(gaps[..2].iter().all(|gap| *gap >= 500) && gaps[4] >= 1_000, "{gaps:?}");
    let reasons = "SELECT count(*) FROM unstuck.action_log WHERE action = 'adopt' AND entry = 'intent' \
        AND ticket = 'INC-2291' AND reason ~ '^the workers died after the charge \\[bulk [0-9a-f]{6}, [123] of 3\\]$'";
    assert_eq!(scene.number(reasons).await, 3);
    assert!(kim.model.marks.is_empty());
    kim.leave().await;
    every_intent_ended(&scene).await;
    let seen = scene.close().await;
    assert_eq!(seen.transactions.get("outcome adopt done"), Some(&3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_somebody_else_takes_in_between_stops_the_run() {
    let mut scene = Scene::open("bulk changed", by_hand()).await;
    let records = on_the_list(&scene, 3).await;
    let mut kim = desk(&mut scene).await;
    kim.mark_all(3).await;
    kim.look_up(3).await;
    kim.press(&[Key::Esc]).await;
    kim.adopt().await;
    kim.until_shown("Canary done.").await;
    let second = kim.flow().entries[1].id.clone();
    // A pod takes the lease after the plan was confirmed.
    let key = sql::literal(second.key.as_str());
    scene.run(&format!("UPDATE idempotency_keys SET attempt = attempt + 1, locked_by = 'pod-b', locked_until = now() + interval '1 hour' WHERE key = {key}")).await;
    kim.until("the end", |model| matches!(&model.dialog, Some(unstuck::app::dialog::Dialog::Bulk(bulk)) if matches!(bulk.phase, Phase::Result(_)))).await;
    let picture = kim.picture();
    assert!(picture.contains("STOPPED. 1 of 3 done") && picture.contains("attempt 1 -> 2"), "{picture}");
    assert_eq!(kim.sent.iter().filter(|(_, what)| what.starts_with("adopt")).count(), 1, "{:?}", kim.sent);
    let succeeded = "SELECT count(*) FROM payments WHERE status = 'succeeded'";
    assert_eq!(scene.number(succeeded).await, 1);
    assert!(scene.log.calls(scene.database.name(), "do_adopt").is_none_or(|calls| calls == 1));
    assert_eq!(kim.model.marks.len(), 2);
    let story = scene.story(&second).await;
    assert_eq!(story, "intent lookup, outcome lookup found", "not even an intent");
    assert_eq!(records.len(), 3);
    kim.leave().await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_the_canary_breaks_stops_the_run() {
    let mut scene = Scene::open("bulk breach", by_hand()).await;
    on_the_list(&scene, 2).await;
    let mut kim = desk(&mut scene).await;
    kim.mark_all(2).await;
    kim.look_up(2).await;
    kim.press(&[Key::Esc]).await;
    kim.adopt().await;
    kim.until_shown("Canary done.").await;
    // The books lose what the canary wrote: the client is told 201, and no payment succeeded.
    scene.run("UPDATE payments SET status = 'unknown', updated_at = now() WHERE status = 'succeeded'").await;
    kim.until_shown("STOPPED. 1 of 2 done").await;
    let picture = kim.picture();
    assert!(picture.contains("A new breach of I"), "{picture}");
    assert_eq!(kim.sent.iter().filter(|(_, what)| what.starts_with("adopt")).count(), 1, "{:?}", kim.sent);
    kim.leave().await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_cut_in_the_middle_is_unknown_and_the_last() {
    // Somebody's server has no loopback port of ours.
    let Some((port, _)) = shared().await.loopback() else { return };
    let mut scene = Scene::open("bulk cut", by_hand()).await;
    let records = on_the_list(&scene, 3).await;
    let login = scene.login("kim").await;
    let wire = Wire::to(port).await;
    let server = sqlx::postgres::PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(wire.port)
        .username(&login.name)
        .password(&login.password)
        .database(scene.database.name())
        .ssl_mode(sqlx::postgres::PgSslMode::Disable);
    let mut kim = Desk::at(&scene, "kim", server);
    kim.mark_all(3).await;
    kim.look_up(3).await;
    kim.press(&[Key::Esc]).await;
    kim.adopt().await;
    kim.until_shown("Canary done.").await;
    wire.cut(Cut::AfterSending);
    kim.until_shown("The log says: done.").await;
    assert!(wire.is_whole(), "the wire was cut");
    let picture = kim.picture();
    assert!(picture.contains("STOPPED. 1 of 3 done") && picture.contains("Do NOT repeat it"), "{picture}");
    assert!(matches!(&kim.flow().phase, Phase::Result(Progress::Stopped(_))));
    assert_eq!(kim.sent.iter().filter(|(_, what)| what.starts_with("adopt")).count(), 2, "{:?}", kim.sent);
    let third = kim.flow().entries[2].id.clone();
    let untouched = records.iter().find(|stuck| stuck.id == third).expect("the third");
    assert_eq!(scene.payments(&untouched.order).await, "unknown -");
    kim.leave().await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_five_look_ups_reach_the_provider_one_by_one() {
    let mut scene = Scene::open("bulk look-ups", by_hand()).await;
    let records = on_the_list(&scene, 25).await;
    let mut kim = desk(&mut scene).await;
    kim.mark_all(25).await;
    kim.look_up(25).await;
    assert!(kim.picture().contains("ok DONE  25 of 25"), "{}", kim.picture());
    assert_eq!((kim.sent.len(), scene.asked_by_consoles() % 25), (25, 0), "as many questions for each");
    let too_fast = kim.sent.windows(2).filter(|pair| (pair[1].0 - pair[0].0).num_milliseconds() < 500).count();
    assert_eq!(too_fast, 0, "{:?}", kim.sent);
    assert_eq!(scene.number("SELECT count(DISTINCT key) FROM unstuck.evidence").await, 25);
    assert_eq!(records.len(), 25);
    kim.leave().await;
    every_intent_ended(&scene).await;
    let seen = scene.close().await;
    assert_eq!(seen.transactions.get("outcome lookup found"), Some(&25));
}
