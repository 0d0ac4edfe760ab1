//! The commands against a world with a live incident.

use sqlx::ConnectOptions as _;
use unstuck::lab::incident;
use unstuck::lab::world::{World, WorldOptions};

use super::Place;
use crate::support::cluster::shared;
use crate::support::proof::LogGuard;

async fn world() -> World {
    let story = incident::find("oom-kill").unwrap();
    let world = World::start_in(shared().await, WorldOptions::quiet(Some(story))).await.unwrap();
    world.story().await.unwrap();
    world
}

const CONFIG: &str = r#"
[environments.demo]
kind = "demo"
[policy]
stuck_after = "1s"
[policy.rules]
retention = "24h"
retry_window = "10m"
provider_timeout = "2s"
outbox_limit = "1h"
saga_limit = "1h"
grace = "5s"
[normal]
outbox = 1000
webhooks = 1000
pending = 1000
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_show_and_doctor_tell_of_an_incident() {
    let _log = LogGuard::over(shared().await);
    let world = world().await;
    let record = world.story().await.unwrap().records[0].clone();
    let place = Place::new().file("unstuck.toml", CONFIG).with("UNSTUCK_DATABASE_URL", &world.console_url());
    // The leases have to run out before anything counts as stuck.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;

    let check = place.run(&["check"]);
    assert_eq!((check.code, check.said.lines().count()), (2, 1), "{check:?}");
    assert!(check.said.starts_with("CRITICAL: "), "{check:?}");
    let json: serde_json::Value = serde_json::from_str(&place.run(&["check", "--json", "--audit"]).said).unwrap();
    assert_eq!((&json["level"], &json["environment"]), (&"critical".into(), &"demo".into()), "{json}");
    assert!(json["as_of"].is_string());
    let stuck = json["alarms"].as_array().unwrap().iter().find(|alarm| alarm["signal"] == "stuck").unwrap();
    assert!(stuck["money"][0]["minor"].is_i64() && stuck["age_s"].is_u64(), "{stuck}");

    let show = place.run(&["show", &record.scope, &record.key]);
    assert_eq!(show.code, 0, "{show:?}");
    assert!(show.said.contains(&record.order), "{}", show.said);
    assert!(show.said.lines().last().unwrap().starts_with("Next step: look up first"), "{}", show.said);
    let json: serde_json::Value =
        serde_json::from_str(&place.run(&["show", &record.scope, &record.key, "--json"]).said).unwrap();
    assert_eq!(json["record"]["id"]["key"], record.key.as_str());
    assert_eq!(json["next_step"]["word"], "lookup");
    assert!(json["timeline"].is_array(), "{json}");
    let none = place.run(&["show", &record.scope, "no-such-key"]);
    assert_eq!(none.code, 1, "{none:?}");

    let doctor = place.run(&["doctor"]);
    for line in [
        "ok  database:",
        "ok  profile: reference",
        "ok  environment: both sides say demo",
        "ok  rights:",
        "ok  actions:",
        "ok  contract:",
        "ok  clocks:",
        "ok  indexes:",
        "!!  providers: none is configured",
    ] {
        assert!(doctor.said.contains(line), "{line} in\n{}", doctor.said);
    }
    assert_eq!(doctor.code, 1);
    world.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn install_needs_an_administrator_and_is_whole_or_nothing() {
    let database = crate::support::cluster::fresh_database("cli_install").await;
    let url = database.admin_options().to_url_lossy().to_string();
    let place = Place::new().with("UNSTUCK_INSTALL_DATABASE_URL", &url);
    let apply = ["install", "--apply", "--environment", "eu-1", "--kind", "staging"];
    let empty = place.run(&apply);
    assert_eq!(empty.code, 1, "a database without the service's tables refuses: {empty:?}");
    assert!(empty.complained.contains("nothing was changed"), "{empty:?}");

    let mut admin = database.admin_options().connect().await.unwrap();
    schema(&mut admin).await;
    let done = place.run(&apply);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.said.contains("this database is eu-1 (STAGING)"), "{done:?}");
    assert_eq!(place.run(&apply).code, 0, "applying again changes nothing");
    let named: String = sqlx::query_scalar("SELECT name FROM unstuck.environment").fetch_one(&mut admin).await.unwrap();
    assert_eq!(named, "eu-1");
}

async fn schema(admin: &mut sqlx::PgConnection) {
    let tables = include_str!("../../queries/reference/schema.sql");
    sqlx::raw_sql(tables).execute(admin).await.unwrap();
}
