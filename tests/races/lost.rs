//! The connection dies around the one message that counts: UNKNOWN first, then the truth, never a repeat.

use unstuck::domain::action::Request;
use unstuck::domain::log::Outcome;
use unstuck::domain::port::Store;

use super::{every_intent_ended, is_done, paid_once};
use crate::support::cluster::shared;
use crate::support::scene::{Console, Scene, Stuck, by_hand};
use crate::support::wire::{Cut, Wire};

/// A scene, a stuck record, and a console behind a wire.
async fn behind_a_wire(purpose: &str) -> Option<(Scene, Stuck, Console, Wire)> {
    // Somebody's server has no loopback port of ours.
    let (port, _) = shared().await.loopback()?;
    let mut scene = Scene::open(purpose, by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    let login = scene.login("kim").await;
    let wire = Wire::to(port).await;
    let server = sqlx::postgres::PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(wire.port)
        .username(&login.name)
        .password(&login.password)
        .database(scene.database.name())
        .ssl_mode(sqlx::postgres::PgSslMode::Disable);
    let kim = scene.console_over("kim", server).await;
    Some((scene, stuck, kim, wire))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_was_lost_is_unknown_and_reads_back_as_done() {
    let Some((scene, stuck, mut kim, wire)) = Box::pin(behind_a_wire("an answer lost")).await else { return };
    let armed = kim.ready(&stuck).await;
    wire.cut(Cut::AfterSending);
    let outcome = kim.act(armed).await.outcome;
    assert!(wire.is_whole(), "the wire was cut");
    let Outcome::Unknown { why, intent: Some(intent) } = &outcome else { panic!("{outcome:?}") };
    assert!(why.contains("may or may not have been done"), "{why}");
    let entry = kim.store.read_back(*intent).await.unwrap().expect("an outcome");
    assert_eq!((entry.result.as_deref(), entry.intent), (Some("done"), Some(*intent)));
    paid_once(&scene, &stuck).await;
    // It was sent once; what was read back is the first one's doing, and there is nothing left to plan.
    assert!(scene.log.calls(scene.database.name(), "do_adopt").is_none_or(|calls| calls == 1));
    let refused = kim.plan(Request::Resume, &stuck).await.unwrap_err().to_string();
    assert!(refused.contains("The record is done"), "{refused}");
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_lost_is_unknown_and_reads_back_as_not_done() {
    let Some((scene, stuck, mut kim, wire)) = Box::pin(behind_a_wire("a call lost")).await else { return };
    let armed = kim.ready(&stuck).await;
    wire.cut(Cut::BeforeArriving);
    let outcome = kim.act(armed).await.outcome;
    assert!(wire.is_whole(), "the wire was cut");
    let Outcome::Unknown { intent: Some(intent), .. } = &outcome else { panic!("{outcome:?}") };
    assert_eq!(scene.payments(&stuck.order).await, "unknown -");
    let entry = kim.store.read_back(*intent).await.unwrap().expect("an outcome");
    assert_eq!(entry.result.as_deref(), Some("not done"));
    assert_eq!(scene.payments(&stuck.order).await, "unknown -");
    assert!(scene.log.calls(scene.database.name(), "do_adopt").is_none_or(|calls| calls == 0));
    // A new plan, and only that, does it.
    assert!(is_done(&kim.resume(&stuck).await));
    paid_once(&scene, &stuck).await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_up_whose_storing_was_lost_concludes_nothing() {
    let Some((scene, stuck, mut kim, wire)) = Box::pin(behind_a_wire("evidence lost")).await else { return };
    let armed = kim.armed(Request::LookUp, &stuck).await.unwrap();
    wire.cut(Cut::BeforeArriving);
    let acted = kim.act(armed).await;
    let Outcome::Unknown { intent: Some(intent), .. } = &acted.outcome else { panic!("{:?}", acted.outcome) };
    assert_eq!(kim.store.read_back(*intent).await.unwrap().unwrap().result.as_deref(), Some("not done"));
    let refused = kim.plan(Request::Resume, &stuck).await.unwrap_err().to_string();
    assert!(refused.contains("No look-up has been made"), "{refused}");
    assert!(is_done(&kim.resume(&stuck).await));
    scene.close().await;
}
