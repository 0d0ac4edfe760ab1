//! A hand back from the asker's key to its end, with four logins: asker, approver, recoverer, and the pods.

use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::service::{Recoverer, ServiceOptions, StallPoint};

use super::{every_intent_ended, paid_once};
use crate::support::PATIENCE;
use crate::support::handing::{Two, brisk_service, never_arrived};
use crate::support::scene::{Scene, Stuck};

async fn stuck(scene: &Scene, names: &[&str]) -> Vec<Stuck> {
    let cast = names.iter().map(|name| (format!("{name}-ABCD"), format!("ord_{name}"), never_arrived()));
    let records = scene.stuck_as(cast).await;
    // From now on the provider answers.
    for record in &records {
        scene.desk().destine(&record.order, Fate::default());
    }
    records
}

async fn opened(purpose: &str, names: &[&str]) -> (Scene, Two, Vec<Stuck>) {
    let mut scene = Scene::open(purpose, brisk_service()).await;
    let two = Box::pin(Two::at(&mut scene)).await;
    let records = stuck(&scene, names).await;
    (scene, two, records)
}

/// What became of a hand back: `taken recoverer, finished recoverer: …`.
async fn events(scene: &Scene, id: i64) -> String {
    scene
        .text(&format!(
            "SELECT coalesce(string_agg(event || ' ' || worker || coalesce(': ' || detail, ''), ', ' ORDER BY id), '') \
             FROM unstuck.resume_event WHERE request = {id}"
        ))
        .await
}

async fn until_ended(scene: &Scene, id: i64) -> String {
    let ended = format!("SELECT count(*) FROM unstuck.resume_event WHERE request = {id} AND event <> 'taken'");
    scene.until(&ended, 1).await;
    events(scene, id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_handed_back_is_charged_once_by_the_recoverer() {
    let (scene, mut two, records) = opened("handed back", &["one"]).await;
    let id = two.hand_back(&records[0]).await;
    let told = until_ended(&scene, id).await;
    assert!(told.starts_with("taken recoverer, finished recoverer: sent one charge with the same key"), "{told}");
    assert!(told.contains(&format!("payment SUCCEEDED, charge {}", scene.desk().charges("ord_one")[0].id)), "{told}");
    paid_once(&scene, &records[0]).await;
    assert_eq!(scene.desk().charges("ord_one")[0].idempotency_key.as_deref(), Some("pay:shop-eu:one-ABCD"));
    // Its login is its own, and it says in the service's events what it did.
    let who = "SELECT count(*) FROM unstuck.resume_event WHERE session_role NOT LIKE 'recoverer%'";
    assert_eq!(scene.number(who).await, 0);
    let noted = "SELECT string_agg(left(what, 12), ', ' ORDER BY id) FROM service_events WHERE kind = 'recoverer'";
    assert_eq!(scene.text(noted).await, "switched off, took hand ba, hand back 1 ");
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_that_shows_up_after_all_is_adopted_and_a_no_is_kept() {
    let (mut scene, mut two, records) = opened("handed back late", &["yes", "no"]).await;
    scene.service.kill_recoverer();
    let mut ids = Vec::new();
    for record in &records {
        ids.push(two.hand_back(record).await);
    }
    // The first call was only slow: it arrives now, long after everybody looked.
    scene.charge_directly(&records[0]).await;
    scene.desk().destine(&records[1].order, Fate::declined("insufficient_funds"));
    scene.charge_directly(&records[1]).await;
    scene.service.revive_recoverer();
    let (yes, no) = (until_ended(&scene, ids[0]).await, until_ended(&scene, ids[1]).await);
    assert!(yes.contains("charged nothing: payment SUCCEEDED"), "{yes}");
    assert!(no.contains("had said no (insufficient_funds), charged nothing: payment FAILED"), "{no}");
    paid_once(&scene, &records[0]).await;
    assert_eq!(scene.desk().charges(&records[1].order).len(), 1);
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn withdrawn_in_time_it_is_never_taken() {
    let (mut scene, mut two, records) = opened("withdrawn", &["back", "next"]).await;
    scene.service.kill_recoverer();
    let first = two.hand_back(&records[0]).await;
    two.withdraw(&records[0]).await;
    let second = two.hand_back(&records[1]).await;
    scene.service.revive_recoverer();
    // The later one is served: it has looked at everything that waits.
    assert!(until_ended(&scene, second).await.contains("finished recoverer"));
    assert_eq!(events(&scene, first).await, "withdrawn operator:kim");
    assert!(scene.desk().charges(&records[0].order).is_empty());
    assert_eq!(scene.payments(&records[0].order).await, "unknown -");
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn past_its_time_nothing_is_charged() {
    let (mut scene, mut two, records) = opened("too late", &["taken", "missed"]).await;
    scene.run("SELECT unstuck.set_limit('resume_life_s', 1)").await;
    // Taken in time, and then the recoverer slept too long.
    scene.service.stalls().hang(&records[0].order, StallPoint::BeforeCall);
    let taken = two.hand_back(&records[0]).await;
    assert!(scene.service.stalls().wait(&records[0].order, PATIENCE).await, "the recoverer is about to charge");
    let over = |id: i64| {
        format!("SELECT count(*) FROM unstuck.resume_request WHERE id = {id} AND not_after < clock_timestamp()")
    };
    scene.until(&over(taken), 1).await;
    scene.service.stalls().wake(&records[0].order);
    let told = until_ended(&scene, taken).await;
    assert!(told.contains("refused recoverer: nothing was sent"), "{told}");
    // Never taken up at all.
    scene.service.kill_recoverer();
    let missed = two.hand_back(&records[1]).await;
    scene.until(&over(missed), 1).await;
    scene.service.revive_recoverer();
    for record in &records {
        assert!(scene.desk().charges(&record.order).is_empty(), "{record:?}");
        assert_eq!(scene.payments(&record.order).await, "unknown -");
    }
    assert_eq!(events(&scene, missed).await, "");
    // The client comes again, and the service goes on as ever.
    assert_eq!(super::insist(&scene, &records[1]).await, 201);
    paid_once(&scene, &records[1]).await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_recoverer_took_is_ended_by_the_next() {
    let points = [StallPoint::BeforeLookUp, StallPoint::BeforeCall, StallPoint::BeforeSaving, StallPoint::BeforeFinish];
    let (mut scene, mut two, records) =
        opened("killed", &["looking", "calling", "saving", "finishing", "client"]).await;
    let mut ids = Vec::new();
    for (record, point) in records.iter().zip(points.into_iter().chain([StallPoint::BeforeCall])) {
        scene.service.stalls().hang(&record.order, point);
        ids.push(two.hand_back(record).await);
        assert!(scene.service.stalls().wait(&record.order, PATIENCE).await, "{point:?}");
        scene.service.kill_recoverer();
        scene.service.stalls().release(&record.order);
        if *record == records[4] {
            // Here a client is quicker than the next recoverer.
            assert_eq!(super::insist(&scene, record).await, 201);
        }
        scene.service.revive_recoverer();
    }
    for (record, id) in records.iter().zip(&ids) {
        let told = until_ended(&scene, *id).await;
        assert!(told.starts_with("taken recoverer, finished recoverer: "), "{record:?}: {told}");
        println!("{}: {told}", record.order);
        paid_once(&scene, record).await;
    }
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_provider_says_nothing_certain_the_hand_back_is_refused() {
    let (mut scene, mut two, records) = opened("not certain", &["open"]).await;
    scene.service.kill_recoverer();
    let id = two.hand_back(&records[0]).await;
    let pending = unstuck::lab::provider::ChargeStatus::Pending;
    scene.desk().destine(&records[0].order, Fate { status: pending, ..Fate::default() });
    scene.charge_directly(&records[0]).await;
    scene.service.revive_recoverer();
    let told = until_ended(&scene, id).await;
    assert!(told.contains("refused recoverer: row 11"), "{told}");
    assert_eq!(scene.desk().charges(&records[0].order).len(), 1);
    // It gave the lease back: a person need not wait for its end.
    scene.until_expired(&records[0].id).await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_an_answer_leaves_it_open_until_the_truth_is_known() {
    let (scene, mut two, records) = opened("lost again", &["lost"]).await;
    scene.desk().destine(&records[0].order, Fate { answer: Answer::Lost, ..Fate::default() });
    let id = two.hand_back(&records[0]).await;
    let told = until_ended(&scene, id).await;
    assert!(told.starts_with("taken recoverer, finished recoverer: found charge"), "{told}");
    paid_once(&scene, &records[0]).await;
    every_intent_ended(&scene).await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_it_is_down_nobody_answers() {
    let down =
        ServiceOptions { recoverer: Recoverer::Down { why: "its deployment was rolled back" }, ..brisk_service() };
    let mut scene = Scene::open("down", down).await;
    let mut two = Two::at(&mut scene).await;
    let records = stuck(&scene, &["down"]).await;
    scene.run("SELECT unstuck.set_limit('resume_answer_s', 1)").await;
    let id = two.hand_back(&records[0]).await;
    let unanswered = format!(
        "SELECT count(*) FROM unstuck.resume_request WHERE id = {id} AND at < clock_timestamp() - interval '1 second'"
    );
    scene.until(&unanswered, 1).await;
    let state = two.kim.read(&records[0]).await.resumes[0].state;
    assert_eq!(state, unstuck::domain::approval::ResumeState::Unanswered);
    assert_eq!(events(&scene, id).await, "");
    two.withdraw(&records[0]).await;
    scene.close().await;
}
