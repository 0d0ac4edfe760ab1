//! Every shipped query against a real PostgreSQL: recognised, in contract, only reading, and every
//! invariant finding what was planted for it and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Executor, Row};
use unstuck::domain::port::Store;
use unstuck::store::gate::plan;
use unstuck::store::install;
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile::{self, RuleFile};

use crate::support::store::{Ground, Tables, demo, policy, shipped};

#[tokio::test]
async fn the_reference_profile_is_recognised_whole_and_an_operator_has_no_right_too_many() {
    let ground = Ground::new(Tables::Installed).await;
    let facts = ground.store().connect().await.unwrap();
    assert_eq!(facts.profile, "reference");
    assert_eq!(facts.off, Vec::new());
    assert_eq!(facts.read_only, None);
    assert_eq!(facts.environment.map(|environment| environment.name).as_deref(), Some("demo"));
    assert_eq!(facts.excess_rights.value(), Some(&Vec::new()), "{:?}", facts.excess_rights);
    assert!(facts.server.starts_with("PostgreSQL 1"), "{}", facts.server);
}

#[tokio::test]
async fn installing_again_changes_nothing() {
    let mut ground = Ground::new(Tables::Installed).await;
    let before = ground.number("SELECT count(*) FROM unstuck.action_log").await;
    let owner = StoreOptions::new(ground.database.admin_options(), shipped());
    let script = install::script(&Library::shipped(), "reference").unwrap();
    install::apply(&owner, &script, &demo()).await.unwrap();
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, before);
    assert!(install::script(&Library::shipped(), "records").is_err());
    let refused = install::apply(&ground.options(), &script, &demo()).await;
    assert!(refused.is_err(), "an operator installs nothing");
}

#[tokio::test]
async fn missing_indexes_are_named_with_the_statement_that_makes_them() {
    let mut ground = Ground::new(Tables::Plain).await;
    let store = ground.store();
    store.connect().await.unwrap();
    let missing = store.missing_indexes().unwrap();
    let index = missing.iter().find(|index| index.name == "ix_payments_order").unwrap();
    ground.run(&index.definition).await;
    store.connect().await.unwrap();
    assert_eq!(store.missing_indexes().unwrap().len(), missing.len() - 1);
}

#[tokio::test]
async fn a_superuser_is_told_so() {
    let ground = Ground::new(Tables::Installed).await;
    let options = StoreOptions::new(ground.database.admin_options(), shipped());
    let facts = PgStore::new(options).connect().await.unwrap();
    let rights = facts.excess_rights.value().unwrap();
    assert!(rights.iter().any(|right| right.starts_with("SUPERUSER")), "{rights:?}");
}

#[tokio::test]
async fn without_schema_unstuck_the_console_only_reads_and_says_what_to_do() {
    let ground = Ground::new(Tables::Plain).await;
    let store = ground.store();
    let facts = store.connect().await.unwrap();
    assert!(facts.read_only.unwrap().contains("unstuck install --print"));
    let off: Vec<&str> = facts.off.iter().map(|panel| panel.question.as_str()).collect();
    assert_eq!(
        off,
        [
            "get_evidence",
            "get_log",
            "get_chain",
            "get_outcome",
            "get_environment",
            "get_handed_over",
            "get_reports",
            "get_breaks",
            "get_approvals",
            "get_requests"
        ]
    );
    let snapshot = store.poll().await.unwrap();
    assert!(snapshot.stuck.value().is_some(), "{:?}", snapshot.stuck);
    assert!(snapshot.log.why_not().unwrap().contains("unstuck install --print"));
}

#[tokio::test]
async fn the_records_profile_is_recognised_and_says_what_it_cannot_answer() {
    let ground = Ground::new(Tables::Records).await;
    let store = ground.store();
    let facts = store.connect().await.unwrap();
    assert_eq!(facts.profile, "records");
    assert!(facts.read_only.unwrap().starts_with("Profile records only reads: "));
    let why: BTreeMap<&str, &str> = facts.off.iter().map(|off| (off.question.as_str(), off.why.as_str())).collect();
    assert_eq!(why["get_rates"], "answered requests are not kept");
    assert!(!why.contains_key("get_stuck") && !why.contains_key("get_record"));
    let snapshot = store.poll().await.unwrap();
    assert!(!snapshot.stuck.value().unwrap().is_empty());
    assert_eq!(snapshot.rates.why_not(), Some("answered requests are not kept"));
    let i1 = snapshot.rules.iter().find(|report| report.rule.id == "I1").unwrap();
    assert!(format!("{:?}", i1.state).contains("there is no table of payments"));
}

#[tokio::test]
async fn a_query_that_does_not_fit_switches_one_panel_off_and_names_file_column_and_types() {
    let ground = Ground::new(Tables::Installed).await;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("reference")).unwrap();
    let file = folder.path().join("reference/get_changes.sql");
    let text = "-- mine\nSELECT e.at::text AS at, e.kind, e.what, e.who FROM service_events e ORDER BY e.id LIMIT 5";
    fs::write(&file, text).unwrap();
    let library = Library::shipped().overlaid(folder.path()).unwrap();
    let profiles = Arc::new(profile::load(&library).unwrap());
    let store = PgStore::new(ground.options().with_profiles(profiles));
    let facts = store.connect().await.unwrap();
    let said = format!("{}: column at is text, the contract says timestamptz", file.display());
    assert_eq!(facts.off.len(), 1, "{:?}", facts.off);
    assert_eq!(facts.off[0].why, said);
    let snapshot = store.poll().await.unwrap();
    assert_eq!(snapshot.changes.why_not(), Some(said.as_str()));
    assert!(snapshot.pulse.value().is_some() && snapshot.stuck.value().is_some() && snapshot.rates.value().is_some());
}

#[tokio::test]
async fn a_database_that_fits_no_profile_is_told_what_it_lacks() {
    let mut ground = Ground::new(Tables::Plain).await;
    ground.run("ALTER TABLE payments RENAME COLUMN order_id TO order_number").await;
    let error = ground.store().connect().await.unwrap_err().to_string();
    assert!(error.contains("reference comes nearest and lacks payments.order_id"), "{error}");
}

#[tokio::test]
async fn the_plan_of_a_statement_that_writes_or_locks_is_refused() {
    let mut ground = Ground::new(Tables::Plain).await;
    for statement in [
        "WITH gone AS (UPDATE payments SET status = 'failed' RETURNING id) SELECT id FROM gone",
        "SELECT id FROM payments FOR UPDATE",
    ] {
        let explain = format!("EXPLAIN (FORMAT JSON) {statement}");
        let row = ground.admin.fetch_one(sqlx::query(AssertSqlSafe(explain))).await.unwrap();
        let answer: serde_json::Value = row.get(0);
        assert!(plan::only_reads(&answer).is_err(), "{statement}");
    }
}

fn reference_rules() -> Vec<RuleFile> {
    let profiles = shipped();
    profiles.iter().find(|profile| profile.name == "reference").unwrap().rules.clone()
}

/// How many breaches every rule finds in a full audit.
async fn audit(ground: &mut Ground, rules: &[RuleFile]) -> BTreeMap<String, usize> {
    let policy = serde_json::to_value(&policy().rules).unwrap();
    let mut found = BTreeMap::new();
    for file in rules {
        let query = sqlx::query(AssertSqlSafe(file.checked.sql().to_owned()))
            .bind(None::<chrono::DateTime<chrono::Utc>>)
            .bind(policy.clone());
        let rows = query.fetch_all(&mut ground.admin).await.unwrap_or_else(|error| panic!("{}: {error}", file.rule.id));
        if !rows.is_empty() {
            found.insert(file.rule.id.clone(), rows.len());
        }
    }
    found
}

#[tokio::test]
async fn every_rule_finds_what_was_planted_for_it_and_nothing_else() {
    let mut ground = Ground::new(Tables::Plain).await;
    let rules = reference_rules();
    assert_eq!(rules.len(), 15);
    assert_eq!(audit(&mut ground, &rules).await, BTreeMap::new(), "clean.sql is clean");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/violations");
    for number in 1..=15 {
        let text = fs::read_to_string(format!("{folder}/i{number:02}.sql")).unwrap();
        let header: String = text.lines().take_while(|line| line.starts_with("--")).collect();
        let planted: usize = header
            .split("Breaches: ")
            .nth(1)
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
            .unwrap_or_else(|| panic!("i{number:02}.sql does not say how many breaches: {header}"));
        ground.run("BEGIN").await;
        ground.run(&text).await;
        let found = audit(&mut ground, &rules).await;
        ground.run("ROLLBACK").await;
        assert_eq!(found, BTreeMap::from([(format!("I{number}"), planted)]), "i{number:02}.sql");
    }
}
