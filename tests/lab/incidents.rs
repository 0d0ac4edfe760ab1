//! Every incident is named by the console: its sentence, its signals or its invariants, on a real world and with
//! the console's own login. On an ordinary day it says nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use unstuck::cli::demo::lab_policy;
use unstuck::domain::alarm::{self, Assessment, Level, Normals};
use unstuck::domain::ids::RecordId;
use unstuck::domain::port::{Beside, Store};
use unstuck::domain::rule::RuleState;
use unstuck::domain::snapshot::{Signal, Snapshot};
use unstuck::lab::incident::{self, Ended, Story, Truth};
use unstuck::lab::traffic::TrafficRate;
use unstuck::lab::world::{World, WorldOptions};
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;

use crate::support::cluster::shared;
use crate::support::proof::LogGuard;
use crate::support::store::shipped;

/// Longer than any rule waits for its turn on a busy machine.
const LIMIT: Duration = Duration::from_mins(3);

/// A world and a console's store on it.
struct Seat {
    world: World,
    story: Story,
    store: PgStore,
    _log: LogGuard,
}

impl Seat {
    async fn at(name: &str) -> Self {
        Box::pin(Self::in_world(WorldOptions::quiet(Some(incident::find(name).unwrap())))).await
    }

    async fn in_world(options: WorldOptions) -> Self {
        let cluster = shared().await;
        let log = LogGuard::over(cluster);
        let world = World::start_in(cluster, options).await.unwrap();
        let story = world.story().await.unwrap();
        let mut options = StoreOptions::new(world.console_options(), shipped());
        options.policy = lab_policy();
        options.poll_within = Duration::from_secs(20);
        options.read_within = Duration::from_secs(20);
        let store = PgStore::new(options);
        let facts = store.connect().await.unwrap();
        assert_eq!(facts.off, Vec::new());
        Self { world, story, store, _log: log }
    }

    /// One picture, and a piece of the work beside it: the full audits.
    async fn look(&self) -> (Snapshot, Assessment) {
        let snapshot = self.store.poll().await.unwrap();
        while !matches!(self.store.work_beside().await, Ok(Beside::Idle) | Err(_)) {}
        let assessment = alarm::assess(&snapshot, &Normals::new());
        (snapshot, assessment)
    }

    /// Looks until every word stands in an alarm, and says what the alarms were then.
    async fn named(&self, words: &[&str]) -> (Snapshot, Vec<String>) {
        let mut alarms = Vec::new();
        let look = async {
            loop {
                let (snapshot, assessment) = self.look().await;
                let line = alarm::check_line(&assessment, snapshot.db_now);
                alarms = assessment.alarms.into_iter().map(|alarm| alarm.what).collect();
                if words.iter().all(|word| alarms.iter().any(|alarm| alarm.contains(word))) {
                    println!("{}: {line}", self.world.options().incident.unwrap().name);
                    return snapshot;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let snapshot = tokio::time::timeout(LIMIT, look).await;
        let snapshot = snapshot.unwrap_or_else(|_| panic!("{words:?} is not what the console says: {alarms:#?}"));
        (snapshot, alarms)
    }

    /// The orders of the story whose truth is one of these.
    fn orders(&self, truths: &[Truth]) -> BTreeSet<String> {
        let records = self.story.records.iter().filter(|record| truths.contains(&record.truth));
        records.map(|record| record.order.clone()).collect()
    }

    /// Gives the second charge of every order back, as somebody would at the provider.
    async fn refund_the_doubles(&self) {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        for record in &self.story.records {
            for charge in self.world.provider().charges(&record.order).iter().skip(1) {
                let url = format!("{}/v1/refunds", self.world.provider_url());
                let body = serde_json::json!({"charge": charge.id});
                assert!(client.post(url).json(&body).send().await.unwrap().status().is_success());
            }
        }
    }

    /// What is not true yet of what should be in the end.
    async fn not_yet(&self) -> Vec<String> {
        let endings = self.world.endings().await.unwrap();
        let open = endings.into_iter().filter(|(_, ended)| *ended == Ended::NotYet);
        open.map(|(ending, _)| format!("{ending:?}")).collect()
    }

    /// The record under which an order was paid.
    async fn record_of(&self, order: &str) -> RecordId {
        let mut connection = self.world.admin_options().connect().await.unwrap();
        let (scope, key): (String, String) =
            sqlx::query_as("SELECT scope, key FROM payments WHERE order_id = $1 AND status = 'succeeded'")
                .bind(order)
                .fetch_one(&mut connection)
                .await
                .unwrap();
        connection.close().await.unwrap();
        RecordId::new(scope, key)
    }

    /// A record's timeline as the console's own login reads it.
    async fn timeline(&self, id: &RecordId) -> Vec<String> {
        let dossier = self.store.dossier(id).await.unwrap().expect("it is there");
        let entries = dossier.timeline.value().cloned().expect("the timeline is known");
        entries.into_iter().map(|entry| format!("{} {}", entry.what, entry.detail.unwrap_or_default())).collect()
    }

    async fn number(&self, sql: &'static str) -> i64 {
        let mut connection = self.world.admin_options().connect().await.unwrap();
        let number = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        number
    }
}

/// The orders a rule names.
fn breached(snapshot: &Snapshot, rule: &str) -> BTreeSet<String> {
    let report = snapshot.rules.iter().find(|report| report.rule.id == rule).unwrap();
    match &report.state {
        RuleState::Violated { breaches, .. } => {
            breaches.iter().filter_map(|breach| breach.order.as_ref()).map(ToString::to_string).collect()
        }
        RuleState::Holds { .. } | RuleState::NotKnown { .. } => BTreeSet::new(),
    }
}

fn count(snapshot: &Snapshot, signal: Signal) -> u64 {
    snapshot.pulse_of(signal).unwrap().count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordinary_day_raises_nothing() {
    let calm = incident::find("calm").unwrap();
    // However busy the machine is: a call that takes long on its account is not a stuck payment.
    let (lease, provider_timeout) = (Duration::from_mins(2), Duration::from_mins(1));
    let options =
        WorldOptions { traffic: TrafficRate::PerSecond(4), lease, provider_timeout, ..WorldOptions::quiet(Some(calm)) };
    let seat = Box::pin(Seat::in_world(options)).await;
    let mut looks = 0;
    let refused = "SELECT count(*) FROM api_requests WHERE status = 422";
    while looks < 12 || seat.number(refused).await == 0 {
        let (snapshot, assessment) = seat.look().await;
        assert_eq!(assessment.level, Level::Ok, "{:#?}", assessment.alarms);
        assert!(snapshot.rates.value().is_some() && snapshot.pulse.value().is_some());
        looks += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(seat.number("SELECT count(*) FROM payments WHERE status = 'succeeded'").await > 20, "with traffic");
    assert_eq!(seat.not_yet().await, Vec::<String>::new());
    seat.world.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payload_reuse_is_a_wave_of_422_and_says_whose() {
    let seat = Box::pin(Seat::at("payload-reuse")).await;
    let (snapshot, alarms) = seat.named(&["24 requests REFUSED"]).await;
    assert!(alarms[0].ends_with("most to one key of partner-fit."), "{alarms:?}");
    assert_eq!(alarms.len(), 1, "nothing else is wrong: {alarms:?}");
    assert_eq!(count(&snapshot, Signal::Stuck) + count(&snapshot, Signal::Unknown), 0);
    assert_eq!(seat.not_yet().await, Vec::<String>::new(), "there is nothing to repair");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cron_deletes_keys_is_a_lost_record_and_a_second_charge() {
    let seat = Box::pin(Seat::at("cron-deletes-keys")).await;
    let (snapshot, _) = seat.named(&["Invariant I5 VIOLATED (4 rows)", "PENDING"]).await;
    assert_eq!(breached(&snapshot, "I5"), seat.orders(&[Truth::ChargedTwice, Truth::Charged]));
    let report = snapshot.rules.iter().find(|report| report.rule.id == "I5").unwrap();
    let RuleState::Violated { breaches, .. } = &report.state else { panic!("{report:?}") };
    let again = breaches.iter().filter(|breach| breach.detail.contains("a retry made another payment")).count();
    assert_eq!(again, seat.orders(&[Truth::ChargedTwice]).len(), "{breaches:#?}");
    let cron = snapshot.changes.value().unwrap().iter().filter(|change| change.what.contains("removed")).count();
    assert!(cron > 0, "what changed names the cron");
    assert_eq!(seat.not_yet().await, ["OneChargeEach", "RecordsKept"]);
    seat.refund_the_doubles().await;
    // What was removed does not come back: that is the point.
    assert_eq!(seat.not_yet().await, ["RecordsKept"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_per_attempt_is_an_order_with_several_keys() {
    let seat = Box::pin(Seat::at("key-per-attempt")).await;
    let (snapshot, _) = seat.named(&["Invariant I9 VIOLATED (4 rows)", "4 payments with an UNKNOWN"]).await;
    assert_eq!(breached(&snapshot, "I9"), seat.orders(&[Truth::ChargedTwice]));
    assert!(seat.not_yet().await.contains(&"OneChargeEach".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timeout_as_failed_is_a_failure_that_nobody_told() {
    let seat = Box::pin(Seat::at("timeout-as-failed")).await;
    let (snapshot, alarms) = seat.named(&["Invariant I14 VIOLATED (4 rows)", "Invariant I9 VIOLATED (3 rows)"]).await;
    assert_eq!(breached(&snapshot, "I14"), seat.orders(&[Truth::ChargedTwice, Truth::Charged]));
    assert!(alarms[0].contains("I14"), "the worst comes first: {alarms:?}");
    assert_eq!(seat.not_yet().await, ["OneChargeEach", "BooksAgree"]);
    seat.refund_the_doubles().await;
    assert_eq!(seat.not_yet().await, ["BooksAgree"], "the one that was charged and told that it failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_global_key_is_an_answer_from_another_scope() {
    let seat = Box::pin(Seat::at("global-key")).await;
    let (snapshot, alarms) = seat.named(&["Invariant I8 VIOLATED (3 rows)"]).await;
    assert_eq!(breached(&snapshot, "I8"), seat.orders(&[Truth::Charged]));
    assert_eq!(alarms.len(), 1, "nothing else is wrong: {alarms:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tight_fingerprint_is_honest_retries_refused() {
    let seat = Box::pin(Seat::at("tight-fingerprint")).await;
    let words = ["Invariant I15 VIOLATED (3 rows)", "Invariant I1 VIOLATED (2 rows)", "Invariant I9 VIOLATED (2 rows)"];
    let (snapshot, _) = seat.named(&words).await;
    assert_eq!(breached(&snapshot, "I15"), seat.orders(&[Truth::ChargedTwice, Truth::Charged]));
    assert_eq!(breached(&snapshot, "I1"), seat.orders(&[Truth::ChargedTwice]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_lease_is_named_with_the_workers_it_put_on_one_charge() {
    let seat = Box::pin(Seat::at("short-lease")).await;
    let (snapshot, _) = seat.named(&["Invariant I7 VIOLATED (3 rows)", "3 records STUCK"]).await;
    assert_eq!(breached(&snapshot, "I7"), seat.orders(&[Truth::Charged]));
    for order in seat.orders(&[Truth::Charged]) {
        assert_eq!(seat.world.charges_for_order(&order), 1, "the provider key kept it to one");
    }
    assert!(seat.not_yet().await.contains(&"NothingStuck".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_key_is_a_lost_record_and_an_order_paid_twice() {
    let seat = Box::pin(Seat::at("key-expired")).await;
    let (snapshot, _) = seat.named(&["Invariant I5 VIOLATED", "Invariant I1 VIOLATED (2 rows)"]).await;
    assert_eq!(breached(&snapshot, "I1"), seat.orders(&[Truth::ChargedTwice]));
    assert!(breached(&snapshot, "I5").is_superset(&seat.orders(&[Truth::ChargedTwice, Truth::Charged])));
    assert_eq!(seat.not_yet().await, ["OneChargeEach"]);
    seat.refund_the_doubles().await;
    assert_eq!(seat.not_yet().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_webhook_is_unknown_payments_and_no_event() {
    let seat = Box::pin(Seat::at("lost-webhook")).await;
    let (snapshot, _) = seat.named(&["4 records STUCK", "4 payments with an UNKNOWN"]).await;
    assert_eq!(count(&snapshot, Signal::Webhooks), 0, "none waits");
    assert_eq!(seat.number("SELECT count(*) FROM webhook_events").await, 0, "none came");
    assert!(seat.not_yet().await.contains(&"BooksAgree".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphan_charges_are_named_by_ref_and_amount() {
    let seat = Box::pin(Seat::at("orphan-charges")).await;
    let (snapshot, alarms) = seat.named(&["Invariant I12 VIOLATED (3 rows)"]).await;
    let report = snapshot.rules.iter().find(|report| report.rule.id == "I12").unwrap();
    let RuleState::Violated { breaches, .. } = &report.state else { panic!("{report:?}") };
    let named: BTreeSet<String> = breaches.iter().filter_map(|b| b.reference.clone()).collect();
    let orders = seat.orders(&[Truth::Charged]);
    let charges = orders.iter().flat_map(|order| seat.world.provider().charges(order)).map(|charge| charge.id);
    assert_eq!(named, charges.collect());
    assert!(breaches.iter().all(|breach| breach.detail.starts_with("orphan") && breach.money.is_some()));
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert_eq!(seat.not_yet().await, ["NoOrphan"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_carrier_that_is_down_is_a_saga_past_its_pivot() {
    let seat = Box::pin(Seat::at("shipment-down")).await;
    let (snapshot, alarms) = seat.named(&["Invariant I13 VIOLATED (4 rows)"]).await;
    assert_eq!(breached(&snapshot, "I13"), seat.orders(&[Truth::Charged]));
    assert_eq!(alarms.len(), 1, "the payments are fine: {alarms:?}");
    assert_eq!(seat.not_yet().await, ["Shipped"]);
    let report = snapshot.rules.iter().find(|report| report.rule.id == "I13").unwrap();
    let breach = report.breaches().first().unwrap();
    let id = seat.record_of(breach.order.as_ref().unwrap().as_str()).await;
    let told = seat.timeline(&id).await;
    let steps = ["checkout step 1 reserve done", "checkout step 2 capture done", "checkout step 3 ship"];
    for step in steps {
        assert!(told.iter().any(|line| line.starts_with(step)), "{step}: {told:#?}");
    }
    assert!(told.iter().any(|line| line.contains("the pivot: from here only forward")), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("event payment.succeeded written")), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("sent PUT /checkouts without a key")), "{told:#?}");
    seat.world.carrier().unwrap().set_reach(unstuck::lab::provider::Reach::Up);
    let shipped = async {
        while !seat.not_yet().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(LIMIT, shipped).await.expect("the service ships by itself");
}
