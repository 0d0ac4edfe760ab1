//! What nobody of the service does: send a call too late, rely on a key too long, finish what is not certain.

use unstuck::domain::policy::ProviderTerms;
use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::service::{Recovered, Recoverer, ServiceOptions, StallPoint};

use crate::support::PATIENCE;
use crate::support::handing::{brisk, brisk_service, never_arrived};
use crate::support::scene::{Scene, Stuck};

async fn one(scene: &Scene, fate: Fate) -> Stuck {
    scene.stuck_as([("ONE-ABCD".to_owned(), "ord_one".to_owned(), fate)].into_iter()).await.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_slept_past_its_lease_sends_nothing() {
    let scene = Scene::open("asleep", brisk_service()).await;
    let stuck = one(&scene, never_arrived()).await;
    scene.desk().destine(&stuck.order, Fate::default());
    scene.service.stalls().hang(&stuck.order, StallPoint::BeforeCall);
    let waking = async {
        assert!(scene.service.stalls().wait(&stuck.order, PATIENCE).await, "the pod is about to charge");
        scene.until_expired(&stuck.id).await;
        // Somebody else may take the record now, and does not know that the pod will wake.
        assert!(scene.desk().charges(&stuck.order).is_empty());
        scene.service.stalls().wake(&stuck.order);
    };
    let (code, ()) = tokio::join!(scene.pay(0, &stuck), waking);
    assert_eq!(code, Some(409));
    assert!(scene.desk().charges(&stuck.order).is_empty(), "it woke and sent nothing");
    let calls = "SELECT count(*) FROM provider_calls WHERE purpose = 'charge' AND finished_at IS NULL";
    assert_eq!(scene.number(calls).await, 0, "and says so");
    assert_eq!(crate::races::insist(&scene, &stuck).await, 201);
    assert_eq!(scene.desk().charges(&stuck.order).len(), 1);
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_the_provider_may_have_forgotten_is_not_charged_with() {
    let scene = Scene::open("an old key", brisk_service()).await;
    let stuck = one(&scene, never_arrived()).await;
    scene.desk().destine(&stuck.order, Fate::default());
    // The record was made again a moment ago; an old request still knows the key.
    scene.run("UPDATE api_requests SET at = at - interval '23 hours' - interval '1 minute'").await;
    assert_eq!(scene.pay(0, &stuck).await, Some(503));
    assert!(scene.desk().charges(&stuck.order).is_empty());
    let why = "SELECT outcome FROM payment_attempts ORDER BY id DESC LIMIT 1";
    assert_eq!(scene.text(why).await, "nothing was sent: the provider may have forgotten the key");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sweep_charges_only_what_is_proven_absent() {
    let scene = Scene::open("the sweep", ServiceOptions { recoverer: Recoverer::On, ..brisk_service() }).await;
    let stuck = one(&scene, never_arrived()).await;
    scene.desk().destine(&stuck.order, Fate::default());
    let done = "SELECT count(*) FROM payments WHERE status = 'succeeded'";
    scene.until(done, 1).await;
    crate::races::paid_once(&scene, &stuck).await;
    // It looked twice before it took the record, which it took once.
    let looked = "SELECT count(*) FROM provider_calls c, payment_attempts a \
        WHERE c.purpose = 'lookup' AND a.worker = 'recoverer' AND c.at < a.started_at";
    assert!(scene.number(looked).await >= 2);
    let left = "SELECT what FROM service_events WHERE what LIKE 'left %' ORDER BY id LIMIT 1";
    let left = scene.text(left).await;
    assert!(left.starts_with("left shop-eu ONE-ABCD: row 14: NOT FOUND once."), "{left}");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_has_to_judge_is_left_as_it_was() {
    let scene = Scene::open("left", brisk_service()).await;
    let stuck = one(&scene, Fate { answer: Answer::Lost, ..Fate::default() }).await;
    scene.desk().destine(&stuck.order, Fate::default());
    scene.charge_with("a-client-with-a-key-of-its-own", &stuck).await;
    let version = "SELECT unstuck.service_version('shop-eu', 'ONE-ABCD')";
    let before = scene.text(version).await;
    let left = scene.service.recover(&stuck.id).await.unwrap();
    let Recovered::Left(why) = &left else { panic!("{left:?}") };
    assert!(why.starts_with("row 8: Two charges moved money"), "{why}");
    assert_eq!(scene.text(version).await, before, "not even taken");
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_promises_nothing_is_charged_once_by_a_key() {
    let (policy, terms) = brisk();
    let terms = ProviderTerms { key_retention: None, ..terms };
    let scene = Scene::open("no promise", ServiceOptions { policy, terms, ..brisk_service() }).await;
    let stuck = one(&scene, never_arrived()).await;
    scene.desk().destine(&stuck.order, Fate::default());
    assert_eq!(scene.pay(0, &stuck).await, Some(503));
    assert!(scene.desk().charges(&stuck.order).is_empty(), "the first call may still be under way");
    scene.close().await;
}
