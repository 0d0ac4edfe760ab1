//! A drill can be practised to its end with what a world has: two logins, the demo's times, a recoverer whose sweep is off.

use unstuck::domain::ids::RecordId;
use unstuck::domain::log::Outcome;
use unstuck::lab::incident::{self, Ended, Truth};
use unstuck::lab::world::{World, WorldOptions};

use crate::support::PATIENCE;
use crate::support::cluster::shared;
use crate::support::handing::Two;
use crate::support::proof::LogGuard;
use crate::support::scene::Stuck;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_record_of_oom_kill_can_be_finished_by_two_people() {
    let cluster = shared().await;
    let _log = LogGuard::over(cluster);
    let world = World::start_in(cluster, WorldOptions::quiet(Some(incident::find("oom-kill").unwrap()))).await.unwrap();
    let story = world.story().await.unwrap();
    let mut two = Two::in_world(&world).await;
    for record in &story.records {
        let id = RecordId::new(&record.scope, &record.key);
        let stuck = Stuck { id, order: record.order.clone(), amount: record.amount };
        let charges = match record.truth {
            Truth::Charged | Truth::Declined => {
                let outcome = two.kim.resume(&stuck).await;
                assert!(matches!(outcome, Outcome::Done { .. }), "{record:?}: {outcome:?}");
                usize::from(record.truth == Truth::Charged)
            }
            Truth::Absent => {
                two.hand_back(&stuck).await;
                1
            }
            Truth::Open | Truth::ChargedTwice => panic!("nothing is open or doubled in this story"),
        };
        let done = async {
            while two.kim.read(&stuck).await.detail.response_code.is_none() {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, done).await.expect("the record is done");
        assert_eq!(world.charges_for_order(&record.order), charges, "{record:?}");
    }
    for (ending, ended) in world.endings().await.unwrap() {
        assert_eq!(ended, Ended::Well, "{}", ending.sentence());
    }
    world.shutdown().await.unwrap();
}
