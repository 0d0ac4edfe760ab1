//! A support question about every incident: the real binary finds the order, asks the provider, and says what the
//! provider itself counts, and why.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use sqlx::ConnectOptions as _;
use tempfile::TempDir;
use unstuck::cli::demo::lab_policy;
use unstuck::domain::port::Store as _;
use unstuck::lab::incident::{self, StuckRecord, Truth};
use unstuck::lab::provider::ChargeStatus;
use unstuck::lab::traffic::TrafficRate;
use unstuck::lab::world::{World, WorldOptions};
use unstuck::store::contract::Question;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;

use crate::support::cluster::shared;
use crate::support::launch::binary;
use crate::support::proof::LogGuard;
use crate::support::store::shipped;

/// A world whose story is told, and a desk of support on it.
struct Desk {
    world: World,
    records: Vec<StuckRecord>,
    folder: TempDir,
    _log: LogGuard,
}

impl Desk {
    async fn at(name: &str) -> Self {
        Box::pin(Self::in_world(WorldOptions::quiet(Some(incident::find(name).unwrap())))).await
    }

    async fn in_world(options: WorldOptions) -> Self {
        let cluster = shared().await;
        let log = LogGuard::over(cluster);
        let world = World::start_in(cluster, options).await.unwrap();
        let records = world.story().await.unwrap().records;
        let folder = tempfile::tempdir().unwrap();
        let config = format!(
            "[environments.demo]\nkind = \"demo\"\n[providers.labpay]\nfile = \"lab.toml\"\nbase_url = \"{}\"\n\
             [policy.rules]\nretention = \"24h\"\n",
            world.provider_url()
        );
        fs::write(folder.path().join("unstuck.toml"), config).unwrap();
        let adapter = include_str!("../../src/provider/lab.toml");
        fs::write(folder.path().join("lab.toml"), adapter).unwrap();
        Self { world, records, folder, _log: log }
    }

    /// What support is told about one thing a customer gave.
    async fn asked(&self, words: &[&str]) -> (i32, Value) {
        let mut command = tokio::process::Command::new(binary());
        command.arg("triage").args(words).current_dir(self.folder.path()).env_clear();
        command.env("UNSTUCK_DATABASE_URL", self.world.console_url()).env("USER", "dana");
        let ran = command.output().await.unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let complained = String::from_utf8_lossy(&ran.stderr).into_owned();
        let code = ran.status.code().unwrap();
        (code, serde_json::from_str(&said).unwrap_or_else(|_| Value::String(format!("{said}{complained}"))))
    }

    /// The charges of an order that the provider itself counts.
    fn counted(&self, order: &str) -> Vec<String> {
        let charges = self.world.provider().charges(order).into_iter();
        let mut all: Vec<String> =
            charges.filter(|charge| charge.status == ChargeStatus::Succeeded).map(|charge| charge.id).collect();
        all.sort();
        all
    }

    /// Every record of the story is answered with the charges that the provider counts; gives the verdicts.
    async fn answers(&self, wanted: impl Fn(&StuckRecord, usize) -> (&'static str, Option<&'static str>)) {
        assert!(!self.records.is_empty());
        for record in &self.records {
            let (_, said) = self.asked(&[&record.order, "--scope", &record.scope, "--lookup", "--json"]).await;
            let counted = self.counted(&record.order);
            let told: Vec<&str> = said["charges"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            assert_eq!(told, counted, "{record:?}: {said:#}");
            let (verdict, cause) = wanted(record, counted.len());
            assert_eq!(
                (said["verdict"].as_str(), said["cause"].as_str()),
                (Some(verdict), cause),
                "{record:?}: {said:#}"
            );
            if verdict == "charged_twice" {
                assert!(counted.len() > 1 && said["story"].is_string(), "{said:#}");
            }
        }
    }

    /// Who else, as the orders that `--others` names; every one of the story's that was charged twice is among them.
    async fn others(&self, cause: &str) -> Vec<String> {
        let twice = self.records.iter().filter(|record| self.counted(&record.order).len() > 1);
        let mut wanted: Vec<&str> = twice.map(|record| record.order.as_str()).collect();
        let first = wanted.first().copied().expect("somebody was charged twice");
        let record = self.records.iter().find(|record| record.order == first).unwrap();
        let (code, said) = self.asked(&[first, "--scope", &record.scope, "--lookup", "--others", "--json"]).await;
        assert_eq!((code, said["cause"].as_str()), (0, Some(cause)), "{said:#}");
        let found = said["others"].as_array().unwrap();
        let mut orders: Vec<String> =
            found.iter().filter_map(|other| other["order"].as_str().map(ToOwned::to_owned)).collect();
        orders.sort();
        orders.dedup();
        wanted.retain(|order| !orders.iter().any(|known| known == order));
        assert!(wanted.is_empty(), "{wanted:?} are missing: {said:#}");
        assert!(said["at_risk"].as_object().is_some_and(|sums| !sums.is_empty()), "{said:#}");
        orders
    }
}

/// Twice with this cause where the provider counts two; what is left where it counts one or none.
fn twice(
    cause: &'static str,
    once: &'static str,
) -> impl Fn(&StuckRecord, usize) -> (&'static str, Option<&'static str>) {
    move |_, charges| match charges {
        0 => ("not_charged", None),
        1 => (once, None),
        _ => ("charged_twice", Some(cause)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_a_cron_removed() {
    let desk = Box::pin(Desk::at("cron-deletes-keys")).await;
    Box::pin(desk.answers(|record, charges| match (record.truth, charges) {
        (Truth::ChargedTwice, 2) => ("charged_twice", Some("record_deleted")),
        // Its client did not try again: one charge, and books that lost the record of it.
        (Truth::Charged, 1) => ("paid_not_recorded", None),
        other => panic!("{other:?}"),
    }))
    .await;
    // The one whose client did not come back yet, too: its next retry would be the second charge.
    assert_eq!(desk.others("record_deleted").await.len(), desk.records.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_for_every_attempt() {
    let desk = Box::pin(Desk::at("key-per-attempt")).await;
    Box::pin(desk.answers(twice("new_key_per_attempt", "charged_once"))).await;
    desk.others("new_key_per_attempt").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_out_that_was_taken_for_a_failure() {
    let desk = Box::pin(Desk::at("timeout-as-failed")).await;
    Box::pin(desk.answers(twice("timeout_marked_failed", "paid_not_recorded"))).await;
    assert_eq!(desk.others("timeout_marked_failed").await.len(), desk.records.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_expired_too_early() {
    let desk = Box::pin(Desk::at("key-expired")).await;
    Box::pin(desk.answers(twice("key_expired", "charged_once"))).await;
    desk.others("key_expired").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn honest_retries_that_were_refused() {
    let desk = Box::pin(Desk::at("tight-fingerprint")).await;
    Box::pin(desk.answers(twice("new_key_per_attempt", "charged_once"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_reached_another_tenant() {
    let desk = Box::pin(Desk::at("global-key")).await;
    assert!(!desk.records.is_empty());
    for record in &desk.records {
        let (code, said) = desk.asked(&[&record.order, "--lookup", "--json"]).await;
        assert_eq!((code, said["cause"].as_str()), (1, Some("global_key")), "{record:?}: {said:#}");
        assert_eq!((said["verdict"].as_str(), said["next"].as_str()), (Some("charged_once"), Some("hand_over")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_provider_charges_nobody_twice() {
    let desk = Box::pin(Desk::at("slow-provider")).await;
    assert!(!desk.records.is_empty());
    for record in &desk.records {
        let (code, said) = desk.asked(&[&record.order, "--lookup", "--json"]).await;
        assert_ne!(said["verdict"], "charged_twice", "{said:#}");
        let told: Vec<&str> = said["charges"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(told, desk.counted(&record.order), "{code} {said:#}");
    }
}

/// On a day with retries, refusals and declined cards nobody was charged twice, and no cause finds anybody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ordinary_day_charges_nobody_twice() {
    let (lease, provider_timeout) = (Duration::from_mins(2), Duration::from_mins(1));
    let calm = WorldOptions::quiet(Some(incident::find("calm").unwrap()));
    let options = WorldOptions { traffic: TrafficRate::PerSecond(4), lease, provider_timeout, ..calm };
    let desk = Box::pin(Desk::in_world(options)).await;
    let mut admin = desk.world.admin_options().connect().await.unwrap();
    // Some of each kind: paid at once, paid after a retry, declined.
    let some = "SELECT order_id, scope FROM (
        SELECT DISTINCT ON (p.status, r.status, r.replayed) p.order_id, p.scope
        FROM payments p JOIN api_requests r ON r.scope = p.scope AND r.key = p.key
        WHERE p.status IN ('succeeded', 'failed')
        ORDER BY p.status, r.status, r.replayed, p.created_at) x";
    let mut orders: Vec<(String, String)> = Vec::new();
    while orders.len() < 5 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        orders = sqlx::query_as(some).fetch_all(&mut admin).await.unwrap();
    }
    for (order, scope) in &orders {
        let (_, said) = desk.asked(&[order, "--scope", scope, "--lookup", "--json"]).await;
        let wanted = match desk.counted(order).len() {
            0 => "not_charged",
            1 => "charged_once",
            more => panic!("{order}: the provider counts {more}"),
        };
        assert_eq!(said["verdict"], wanted, "{order}: {said:#}");
    }
    let mut options = StoreOptions::new(desk.world.console_options(), shipped());
    options.policy = lab_policy();
    let store = PgStore::new(options);
    let since = store.poll().await.unwrap().db_now - Duration::from_hours(1);
    for question in Question::ALL {
        if let Question::Others(cause) = question {
            assert_eq!(store.others(cause, since).await.unwrap(), Vec::new(), "{cause:?}");
        }
    }
}

/// Before anybody asked the provider nothing is promised, and what cannot be found says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_look_up_nobody_is_told_that_all_is_well() {
    let desk = Box::pin(Desk::at("oom-kill")).await;
    let record = desk.records.iter().find(|record| record.truth == Truth::Charged).unwrap();
    let (code, before) = desk.asked(&[&record.order, "--json"]).await;
    assert_eq!(
        (code, before["verdict"].as_str(), before["next"].as_str()),
        (3, Some("in_doubt"), Some("lookup")),
        "{before:#}"
    );
    let (code, after) = desk.asked(&[&record.order, "--lookup", "--json", "--export", "case.json"]).await;
    assert_eq!(
        (code, after["verdict"].as_str(), after["next"].as_str()),
        (1, Some("paid_not_recorded"), Some("resume")),
        "{after:#}"
    );
    let (_, again) = desk.asked(&["--from", "case.json", "--json"]).await;
    assert_eq!(after, again, "the bundle says the same on any machine");
    let (code, none) = desk.asked(&["no-such-order"]).await;
    assert!(code == 1 && none.as_str().unwrap().contains("Nothing was found"), "{none}");
}
