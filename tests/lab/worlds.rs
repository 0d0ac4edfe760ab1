//! Whole worlds: an incident comes about as written, repeats from its seed, and leaves nothing behind.

use sqlx::{ConnectOptions, Connection, PgConnection, Row};
use unstuck::lab::incident::{self, Incident, Truth};
use unstuck::lab::provider::ChargeStatus;
use unstuck::lab::system::System;
use unstuck::lab::world::{World, WorldOptions};

use crate::support::cluster::{options, shared};

async fn quiet(name: &str) -> World {
    World::start_in(shared().await, WorldOptions::quiet(Some(incident::find(name).unwrap()))).await.unwrap()
}

async fn admin(world: &World) -> PgConnection {
    world.admin_options().connect().await.unwrap()
}

/// What a story left in the database and at the provider, without times.
async fn told(world: &World) -> Vec<String> {
    world.story().await.unwrap();
    let mut connection = admin(world).await;
    let rows = sqlx::query(
        "SELECT concat_ws(' ', p.scope, p.key, p.order_id, k.status, k.recovery_point, k.attempt, k.provider_ref, p.status, p.amount, p.currency) AS line, p.order_id
         FROM payments p LEFT JOIN idempotency_keys k USING (scope, key) ORDER BY p.order_id, p.created_at",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    rows.iter()
        .map(|row| {
            let order: String = row.get("order_id");
            let charges: Vec<String> =
                world.provider().charges(&order).iter().map(|c| format!("{} {:?}", c.id, c.status)).collect();
            format!("{} | {}", row.get::<String, _>("line"), charges.join(", "))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oom_kill_leaves_records_stuck_that_the_provider_knows_about() {
    let world = quiet("oom-kill").await;
    let story = world.story().await.unwrap();
    assert_eq!(story.records.len(), 6);
    let mut connection = admin(&world).await;
    for stuck in &story.records {
        let row = sqlx::query(
            "SELECT k.recovery_point, k.attempt, p.status, p.amount FROM idempotency_keys k JOIN payments p USING (scope, key)
             WHERE k.scope = $1 AND k.key = $2 AND k.status = 'processing' AND k.locked_until < now()",
        )
        .bind(&stuck.scope)
        .bind(&stuck.key)
        .fetch_one(&mut connection)
        .await
        .unwrap();
        assert!(["provider_called", "charged"].contains(&row.get("recovery_point")));
        assert!(["pending", "unknown"].contains(&row.get("status")));
        assert_eq!((row.get::<i32, _>("attempt"), row.get::<i64, _>("amount")), (1, stuck.amount));
        let charges = world.provider().charges(&stuck.order);
        match stuck.truth {
            Truth::Charged => {
                assert!(charges.len() == 1 && charges[0].status == ChargeStatus::Succeeded);
            }
            Truth::Declined => {
                assert!(charges.len() == 1 && charges[0].status == ChargeStatus::Failed);
            }
            Truth::Absent => assert!(charges.is_empty()),
            Truth::Open | Truth::ChargedTwice => panic!("nothing is open or doubled in this story"),
        }
    }
    let conflicts: i64 = sqlx::query_scalar("SELECT count(*) FROM api_requests WHERE status = 409")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(conflicts, 12);
    assert!(world.access_log().iter().all(|access| access.client.starts_with("payment-service/")));
    world.shutdown().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_provider_leaves_unknown_payments() {
    let world = quiet("slow-provider").await;
    let story = world.story().await.unwrap();
    let mut connection = admin(&world).await;
    let unknown: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM payments p JOIN idempotency_keys k USING (scope, key)
         WHERE p.status = 'unknown' AND k.status = 'processing' AND k.recovery_point = 'provider_called'",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(usize::try_from(unknown).unwrap(), story.records.len());
    let timeouts: i64 = sqlx::query_scalar("SELECT count(*) FROM provider_calls WHERE outcome = 'timeout'")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(usize::try_from(timeouts).unwrap(), story.records.len());
    for truth in [Truth::Charged, Truth::Declined, Truth::Open, Truth::Absent] {
        assert!(story.records.iter().any(|stuck| stuck.truth == truth), "{truth:?}");
    }
}

/// A world of its own for one telling. Leases are shorter than a demo's: nobody watches.
async fn tell(incident: &'static Incident, seed: u64) -> Vec<String> {
    let options =
        WorldOptions { seed, lease: std::time::Duration::from_secs(6), ..WorldOptions::quiet(Some(incident)) };
    let world = World::start_in(shared().await, options).await.unwrap();
    let told = told(&world).await;
    world.shutdown().await.unwrap();
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_tells_the_same_story() {
    for incident in incident::ALL {
        let (once, again) = tokio::join!(tell(incident, 7), tell(incident, 7));
        assert_eq!(once, again, "{}", incident.name);
        assert_eq!(once.is_empty(), incident.name == "calm", "{}", incident.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_seed_tells_it_of_others() {
    let incident = incident::find("oom-kill").unwrap();
    let (one, other) = tokio::join!(tell(incident, 7), tell(incident, 8));
    assert!(one[0].contains("ord_88213"), "{one:#?}");
    assert!(one.iter().zip(&other).all(|(one, other)| one != other));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_consoles_login_may_read_and_not_write() {
    let world = World::start_in(shared().await, WorldOptions::quiet(None)).await.unwrap();
    world.story().await.unwrap();
    // Under another name: what the console sends is watched, and these statements must not look like its.
    assert_eq!(world.console_options().get_application_name(), Some("unstuck"));
    let other_name = world.console_options().application_name("not-the-console");
    let mut console = other_name.connect().await.unwrap();
    let row = sqlx::query(
        "SELECT session_user::text AS who, pg_has_role(session_user, 'unstuck_operator', 'member') AS operator,
                (SELECT rolsuper FROM pg_roles WHERE rolname = session_user) AS super, (SELECT count(*) FROM payments) AS payments",
    )
    .fetch_one(&mut console)
    .await
    .unwrap();
    assert!(row.get::<String, _>("who").starts_with("console_"));
    assert_eq!((row.get::<bool, _>("operator"), row.get::<bool, _>("super")), (true, false));
    for write in ["UPDATE payments SET status = 'failed'", "TRUNCATE idempotency_keys", "CREATE TABLE mine (id int)"] {
        assert!(sqlx::query(write).execute(&mut console).await.is_err(), "{write}");
    }
    let mut by_url = world.console_url().parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap();
    let same: String = sqlx::query_scalar("SELECT session_user::text").fetch_one(&mut by_url).await.unwrap();
    assert_eq!(same, row.get::<String, _>("who"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_has_a_second_person_who_may_decide_and_not_act() {
    let world = World::start_in(shared().await, WorldOptions::quiet(None)).await.unwrap();
    assert_eq!(world.approver_options().get_application_name(), Some("unstuck"));
    let mut approver =
        world.approver_url().parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap();
    let row = sqlx::query(
        "SELECT session_user::text AS who, pg_has_role(session_user, 'unstuck_approver', 'member') AS approver,
                pg_has_role(session_user, 'unstuck_operator', 'member') AS operator",
    )
    .fetch_one(&mut approver)
    .await
    .unwrap();
    assert!(row.get::<String, _>("who").starts_with("approver_"));
    assert_eq!((row.get::<bool, _>("approver"), row.get::<bool, _>("operator")), (true, false));
}

#[test]
fn the_consoles_adapter_promises_what_the_services_recoverer_goes_by() {
    let adapter = unstuck::provider::built_in("lab").unwrap();
    assert_eq!(adapter.terms, unstuck::lab::policy::terms());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_with_traffic_works_and_leaves_nothing_behind() {
    let world = World::start(WorldOptions { cluster: options(), ..WorldOptions::default() }).await.unwrap();
    let mut connection = admin(&world).await;
    let busy = async {
        loop {
            let done: i64 = sqlx::query_scalar("SELECT count(*) FROM payments WHERE status = 'succeeded'")
                .fetch_one(&mut connection)
                .await
                .unwrap();
            if done > 10 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), busy).await.unwrap();
    connection.close().await.unwrap();
    let directory = world.cluster().and_then(unstuck::lab::cluster::Cluster::directory);
    let provider = world.provider_url();
    world.shutdown().await.unwrap();
    assert!(directory.is_none_or(|directory| !directory.exists()));
    assert!(reqwest::Client::builder().no_proxy().build().unwrap().get(provider).send().await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_with_every_system_runs_and_breaks_no_rule() {
    let asked = WorldOptions { systems: System::ALL.to_vec(), ..WorldOptions::default() };
    let world = World::start_in(shared().await, asked).await.unwrap();
    let mut connection = admin(&world).await;
    // Each of them has done its work at least once.
    let signs = [
        "SELECT count(*) > 3 FROM webhook_events WHERE applied_at IS NOT NULL",
        "SELECT count(*) > 3 FROM ledger_entries",
        "SELECT count(*) > 1 FROM checkouts WHERE state = 'shipped'",
        "SELECT count(*) > 0 FROM settlement_lines",
        "SELECT count(*) > 0 FROM service_events WHERE who = 'reconcile'",
    ];
    for sign in signs {
        let look = async {
            while !sqlx::query_scalar::<_, bool>(sign).fetch_one(&mut connection).await.unwrap() {
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            }
        };
        assert!(tokio::time::timeout(std::time::Duration::from_mins(2), look).await.is_ok(), "{sign}");
    }
    let findings: i64 =
        sqlx::query_scalar("SELECT count(*) FROM settlement_findings").fetch_one(&mut connection).await.unwrap();
    assert_eq!(findings, 0, "an ordinary day");
    assert!(world.carrier().is_some());
    world.shutdown().await.unwrap();
}
