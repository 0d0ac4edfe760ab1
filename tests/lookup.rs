//! The shipped adapter against the lab's provider: it finds out the truth about every stuck record, by GET alone.

use unstuck::domain::evidence::{Absence, Class, LookupOutcome, Match};
use unstuck::domain::ids::{Operator, ProviderName, RecordId};
use unstuck::domain::port::{Provider as _, Query, Store as _};
use unstuck::lab::incident::{self, Truth};
use unstuck::lab::world::{World, WorldOptions};
use unstuck::provider::{HttpProvider, Limits, built_in};
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile;

use crate::support::cluster::shared;
use crate::support::proof::LogGuard;

fn provider(world: &World) -> HttpProvider {
    let adapter = built_in("lab").unwrap().named(ProviderName::new("labpay")).at(world.provider_url());
    HttpProvider::open(adapter, &|_| None, Limits { per_second: 1_000, ..Limits::default() }).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_up_finds_out_the_truth_and_only_gets() {
    let _log = LogGuard::over(shared().await);
    for story in ["oom-kill", "slow-provider"] {
        let story = incident::find(story).unwrap();
        let world = World::start_in(shared().await, WorldOptions::quiet(Some(story))).await.unwrap();
        let story = world.story().await.unwrap();
        let profiles = std::sync::Arc::new(profile::load(&Library::shipped()).unwrap());
        let store = PgStore::new(StoreOptions::new(world.console_options(), profiles));
        let provider = provider(&world);
        for stuck in &story.records {
            let id = RecordId::new(&*stuck.scope, &*stuck.key);
            let detail = store.dossier(&id).await.unwrap().expect("the record is there").detail;
            let query = Query {
                id,
                provider_ref: detail.record.provider_ref.clone(),
                provider_key: detail.provider_key.clone(),
                payment: detail.record.payment.clone(),
                order: detail.record.order.clone(),
                money: detail.record.money.clone(),
                operator: Operator::new("dana"),
            };
            let evidence = provider.lookup(&query).await;
            let class = match &evidence.outcome {
                LookupOutcome::Found { observed } => {
                    let [hit] = observed.as_slice() else { panic!("{observed:?}") };
                    assert_eq!(hit.matches(&detail), Match::Decides);
                    assert_eq!((hit.money.amount, hit.money.currency.as_str()), (stuck.amount, stuck.currency));
                    Some(hit.class)
                }
                LookupOutcome::NotFound { absence, .. } => {
                    assert_eq!(*absence, Absence::Consistent);
                    None
                }
                LookupOutcome::Unreachable { why, .. } => panic!("{why}"),
            };
            let expected: &[Option<Class>] = match stuck.truth {
                Truth::Charged => &[Some(Class::Succeeded)],
                Truth::Declined => &[Some(Class::Failed)],
                Truth::Open => &[Some(Class::Pending), Some(Class::Open), Some(Class::Authorised)],
                Truth::Absent => &[None],
                Truth::ChargedTwice => &[],
            };
            assert!(expected.contains(&class), "{:?}: {class:?}", stuck.truth);
        }
        let ours: Vec<_> =
            world.access_log().into_iter().filter(|access| access.client.starts_with("unstuck/")).collect();
        assert!(ours.len() >= 3 * story.records.len(), "{}", ours.len());
        assert!(ours.iter().all(|access| access.method == "GET"));
        world.shutdown().await.unwrap();
    }
}
