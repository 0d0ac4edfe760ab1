//! What a role may do, tried as that role with a client of its own: the database is the last guard, and the
//! console does not act in production with a role that could get around it.
//!
//! The refusals that a charge calls for are in `tests/fixtures/refusals.json`.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};
use unstuck::domain::environment::{Environment, EnvironmentKind};
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile;

use crate::support::orders::{Said, call, intent, order, over};
use crate::support::store::{Ground, Tables};

/// Everything that counts, in one text.
const EVERYTHING: &str = "SELECT md5(string_agg(t, '|' ORDER BY t)) FROM (SELECT k::text FROM idempotency_keys k \
    UNION ALL SELECT p::text FROM payments p UNION ALL SELECT a::text FROM payment_attempts a UNION ALL SELECT t::text FROM payment_transitions t \
    UNION ALL SELECT o::text FROM outbox o UNION ALL SELECT n::text FROM unstuck.note n UNION ALL SELECT e::text FROM unstuck.environment e) AS a(t)";

/// Every function of ours: its name, and a call of it that means nothing.
const CALLS: &str = "SELECT p.proname::text AS name, p.proname || '(' || coalesce((SELECT string_agg('NULL::' || format_type(a.kind, NULL), ', ' ORDER BY a.place) \
    FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(kind, place)), '') || ')' AS call \
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'unstuck' ORDER BY 1";

/// Every table there is: its name, and a column that can be written.
const TABLES: &str = "SELECT n.nspname || '.' || c.relname AS name, (SELECT quote_ident(a.attname) FROM pg_attribute a \
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated = '' AND a.attidentity <> 'a' ORDER BY a.attnum LIMIT 1) AS field \
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'unstuck') AND c.relkind = 'r' ORDER BY 1";

async fn refused(line: &mut PgConnection, statement: &str) {
    let answer = line.execute(AssertSqlSafe(statement.to_owned())).await;
    let Err(sqlx::Error::Database(error)) = answer else { panic!("{statement}: {answer:?}") };
    assert_eq!(error.code().as_deref(), Some("42501"), "{statement}: {error}");
}

async fn pairs(ground: &mut Ground, query: &'static str, second: &str) -> Vec<(String, String)> {
    let rows = sqlx::query(query).fetch_all(&mut ground.admin).await.unwrap();
    rows.iter().map(|row| (row.get("name"), row.get(second))).collect()
}

#[tokio::test]
async fn an_operator_may_call_what_the_console_calls_and_a_reader_nothing() {
    let mut ground = Ground::new(Tables::Installed).await;
    let login = ground.database.create_login("reader", &["unstuck_reader"]).await.unwrap();
    let mut reader = ground.in_psql_as(&login).await;
    let mut operator = ground.in_psql().await;
    let before = ground.text(EVERYTHING).await;
    let (mut inner, mut offered) = (0, 0);
    for (name, call) in pairs(&mut ground, CALLS, "call").await {
        if name == "log_text" {
            continue; // only writes a row of the log as text
        }
        refused(&mut reader, &format!("SELECT unstuck.{call}")).await;
        if name.starts_with("do_") {
            offered += 1;
        } else {
            refused(&mut operator, &format!("SELECT unstuck.{call}")).await;
            inner += 1;
        }
    }
    assert!(offered >= 10 && inner >= 25, "{offered} {inner}");
    assert_eq!(ground.text(EVERYTHING).await, before);
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, 1);
}

#[tokio::test]
async fn a_reader_reads() {
    let mut ground = Ground::new(Tables::Installed).await;
    let login = ground.database.create_login("reader", &["unstuck_reader"]).await.unwrap();
    let mut reader = ground.in_psql_as(&login).await;
    let before = ground.text(EVERYTHING).await;
    let tables = pairs(&mut ground, TABLES, "field").await;
    assert!(tables.len() >= 15, "{tables:?}");
    for (table, field) in &tables {
        for statement in [
            format!("UPDATE {table} SET {field} = {field}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
            format!("DROP TABLE {table}"),
            format!("INSERT INTO {table} DEFAULT VALUES"),
            format!("ALTER TABLE {table} DISABLE TRIGGER ALL"),
            format!("ALTER TABLE {table} ADD COLUMN mine int"),
            format!("CREATE TRIGGER mine AFTER INSERT ON {table} EXECUTE FUNCTION unstuck.refuse_change()"),
            format!("CREATE INDEX ON {table} ({field})"),
            format!("SELECT {field} FROM {table} FOR UPDATE"),
        ] {
            refused(&mut reader, &statement).await;
        }
    }
    for statement in [
        "SET ROLE unstuck_operator",
        "SET ROLE unstuck_definer",
        "SET session_replication_role = replica",
        "CREATE TABLE public.mine (id int)",
        "CREATE FUNCTION unstuck.mine() RETURNS void LANGUAGE sql AS 'SELECT'",
        "DROP SCHEMA unstuck CASCADE",
        "CREATE OR REPLACE VIEW unstuck.log_check AS SELECT 1",
    ] {
        refused(&mut reader, statement).await;
    }
    assert_eq!(ground.text(EVERYTHING).await, before);
    let facts =
        PgStore::new(StoreOptions::new(ground.database.login_options(&login), crate::support::store::shipped()));
    assert_eq!(
        facts.connect().await.unwrap().excess_rights.value(),
        Some(&Vec::new()),
        "a reader has no right too many"
    );
}

/// Version and attempt of acme k-102 as they are.
async fn as_read(ground: &mut Ground) -> Value {
    let version = ground.text("SELECT unstuck.service_version('acme', 'k-102')").await;
    json!({ "version": version, "attempt": 1 })
}

fn assert_is(said: &Said, outcome: &str, why: &str) {
    assert!(said.is(outcome, why), "{outcome} with {why:?}, not {said:?}");
}

#[tokio::test]
async fn a_forged_order_is_refused_by_the_server() {
    let mut ground = Ground::new(Tables::Installed).await;
    let login = ground.database.create_login("lee", &["unstuck_operator"]).await.unwrap();
    let (mut kim, mut lee) = (ground.in_psql().await, ground.in_psql_as(&login).await);
    let read = as_read(&mut ground).await;
    let before = ground.text(EVERYTHING).await;
    let functions = [
        ("do_hold", "hold"),
        ("do_release", "release"),
        ("do_adopt", "adopt"),
        ("do_fail", "fail"),
        ("do_note", "note"),
        ("do_hand_over", "hand_over"),
    ];
    for (function, action) in functions {
        // Without an intent, and with a number that is none.
        for number in [Value::Null, json!(1), json!(9_999_999)] {
            let said = call(&mut kim, function, &order(&over(read.clone(), &json!({ "intent": number })))).await;
            assert_is(&said, "refused", "The log has no such intent");
        }
        let real = intent(&mut kim, action, &read).await;
        for (forged, why) in [
            (json!({ "plan_hash": "p2" }), "for another action, record or plan"),
            (json!({ "plan_hash": null }), "for another action, record or plan"),
            (json!({ "key": "k-103" }), "for another action, record or plan"),
            (json!({ "scope": "other" }), "for another action, record or plan"),
            (json!({ "operator": "lee" }), "Make your own plan"),
            (json!({ "environment": "prod" }), "The plan is for environment prod, this database is demo"),
        ] {
            // An order that does not fit its intent leaves the intent as it is, so each can be tried.
            let fits = forged.get("environment").is_some();
            let named = if fits { intent(&mut kim, action, &read).await } else { real.clone() };
            assert_is(&call(&mut kim, function, &over(named, &forged)).await, "refused", why);
        }
        // Another login with all the right words.
        assert_is(&call(&mut lee, function, &real).await, "refused", "Make your own plan");
        // The intent of another action.
        let (other, _) = functions.into_iter().find(|(_, word)| *word != action).unwrap();
        assert_is(&call(&mut kim, other, &real).await, "refused", "for another action, record or plan");
        // In a transaction that sees an old picture.
        kim.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
        assert_is(&call(&mut kim, function, &real).await, "refused", "must run in READ COMMITTED");
        kim.execute("ROLLBACK").await.unwrap();
        // Closed: the order comes too late.
        assert_eq!(
            call(&mut lee, "do_close", &json!({ "intent": real["intent"], "operator": "lee" })).await.outcome,
            "done"
        );
        assert_is(&call(&mut kim, function, &real).await, "conflict", "already ended: not done");
    }
    assert_eq!(ground.text(EVERYTHING).await, before, "nothing of it changed anything");
    // Every try is in the log, under the login that made it.
    let tries = "SELECT count(*) FROM unstuck.action_log WHERE entry = 'event' AND result = 'refused' AND session_role LIKE 'lee%'";
    assert_eq!(ground.number(tries).await, 6);
}

#[tokio::test]
async fn an_old_picture_or_somebody_elses_look_up_is_no_ground_to_act_on() {
    let mut ground = Ground::new(Tables::Installed).await;
    let login = ground.database.create_login("lee", &["unstuck_operator"]).await.unwrap();
    let (mut kim, mut lee) = (ground.in_psql().await, ground.in_psql_as(&login).await);
    let read = as_read(&mut ground).await;
    let looked = intent(&mut lee, "lookup", &json!({ "operator": "lee" })).await;
    let evidence = json!({
        "provider": "lab", "started_at": ground.text("SELECT now()::text").await, "outcome": "found", "definitive": false, "why": null, "steps": [],
        "observed": [{
            "ref": "ch_102", "reference": "P-102", "order": null, "provider_key": "pay:acme:k-102", "class": "succeeded", "raw": "paid",
            "amount": 4200, "captured": 4200, "refunded": 0, "currency": "EUR", "created_at": null, "live": false,
        }],
    });
    assert_eq!(call(&mut lee, "do_evidence", &over(looked, &json!({ "evidence": evidence }))).await.outcome, "done");
    let theirs = ground.number("SELECT max(id) FROM unstuck.evidence").await;
    let before = ground.text(EVERYTHING).await;
    let expect = json!({ "payment_id": "P-102", "provider_ref": "ch_102", "amount": 4200, "currency": "EUR" });
    for (function, action, forged, outcome, why) in [
        ("do_hold", "hold", json!({ "version": "00" }), "conflict", "changed since the plan was made"),
        ("do_hold", "hold", json!({ "version": null }), "conflict", "changed since the plan was made"),
        ("do_hold", "hold", json!({ "attempt": 7 }), "conflict", "The lease was taken"),
        ("do_hold", "hold", json!({ "hold_seconds": -5 }), "refused", "at least a second"),
        ("do_release", "release", json!({ "version": "00" }), "conflict", "changed since the plan was made"),
        ("do_release", "release", json!({}), "refused", "Nobody holds this record"),
        ("do_adopt", "adopt", json!({ "evidence_id": null }), "refused", "No stored look-up is named"),
        ("do_adopt", "adopt", json!({ "evidence_id": 9_999 }), "refused", "No stored look-up is named"),
        ("do_adopt", "adopt", json!({ "evidence_id": theirs }), "refused", "Look the payment up yourself"),
        (
            "do_fail",
            "fail",
            json!({ "evidence_id": theirs, "failure_reason": "x" }),
            "refused",
            "Look the payment up yourself",
        ),
    ] {
        let more = over(over(read.clone(), &json!({ "expect": expect })), &forged);
        let ordered = intent(&mut kim, action, &more).await;
        assert_is(&call(&mut kim, function, &ordered).await, outcome, why);
        assert_is(&call(&mut kim, function, &ordered).await, "conflict", "already ended");
    }
    assert_eq!(ground.text(EVERYTHING).await, before, "nothing of it changed anything");
}

/// The ground as production, and what a console configured for it connects with.
async fn production(ground: &mut Ground) -> StoreOptions {
    ground.run("SELECT unstuck.set_environment('eu-1', 'production')").await;
    let mut options = ground.options();
    options.environment = Some(Environment { name: "eu-1".to_owned(), kind: EnvironmentKind::Production });
    options
}

#[tokio::test]
async fn in_production_a_role_with_rights_too_many_reads_and_is_told_which() {
    let mut ground = Ground::new(Tables::Installed).await;
    let options = production(&mut ground).await;
    let facts = PgStore::new(options.clone()).connect().await.unwrap();
    assert_eq!(facts.read_only, None, "an operator and nothing else may act");
    let role = unstuck::lab::sql::ident(&facts.role);
    ground.run(&format!("GRANT UPDATE ON payments TO {role}")).await;
    let store = PgStore::new(options.clone());
    let why = store.connect().await.unwrap().read_only.expect("read only");
    assert!(why.contains("UPDATE on public.payments") && why.contains("unstuck_operator"), "{why}");
    // Reading goes on, and with it look-ups: what they need is the record.
    let snapshot = unstuck::domain::port::Store::poll(&store).await.unwrap();
    assert!(snapshot.stuck.value().is_some());
    let id = unstuck::domain::ids::RecordId::new("acme", "k-102");
    assert!(unstuck::domain::port::Store::dossier(&store, &id).await.unwrap().is_some());
    // Nothing is written either, not even that something was refused.
    let rows = ground.number("SELECT count(*) FROM unstuck.action_log").await;
    let event = unstuck::domain::port::RefusedEvent {
        operator: unstuck::domain::ids::Operator::new("kim"),
        environment: "eu-1".to_owned(),
        what: "typed: rm".to_owned(),
        target: None,
    };
    assert!(unstuck::domain::port::Store::refused(&store, &event).await.is_err());
    assert_eq!(ground.number("SELECT count(*) FROM unstuck.action_log").await, rows);
    // The superuser is the worst of them.
    let mut root = StoreOptions::new(ground.database.admin_options(), crate::support::store::shipped());
    root.environment.clone_from(&options.environment);
    let why = PgStore::new(root).connect().await.unwrap().read_only.expect("read only");
    assert!(why.contains("SUPERUSER on role"), "{why}");
}

#[tokio::test]
async fn in_production_a_function_that_is_not_offered_is_a_right_too_many() {
    let mut ground = Ground::new(Tables::Installed).await;
    let options = production(&mut ground).await;
    let role = unstuck::lab::sql::ident(&PgStore::new(options.clone()).connect().await.unwrap().role);
    for (grant, revoke, named) in [
        (
            format!("GRANT EXECUTE ON FUNCTION unstuck.set_approval_limit(text, bigint) TO {role}"),
            format!("REVOKE EXECUTE ON FUNCTION unstuck.set_approval_limit(text, bigint) FROM {role}"),
            "unstuck.set_approval_limit",
        ),
        (
            "GRANT EXECUTE ON FUNCTION unstuck.resume(jsonb, text, text) TO PUBLIC".to_owned(),
            "REVOKE EXECUTE ON FUNCTION unstuck.resume(jsonb, text, text) FROM PUBLIC".to_owned(),
            "unstuck.resume",
        ),
        (
            format!("GRANT unstuck_recoverer TO {role}"),
            format!("REVOKE unstuck_recoverer FROM {role}"),
            "unstuck.recoverer_",
        ),
        (
            format!("ALTER FUNCTION unstuck.do_adopt(jsonb) OWNER TO {role}"),
            "ALTER FUNCTION unstuck.do_adopt(jsonb) OWNER TO unstuck_definer".to_owned(),
            "OWNER on function unstuck.do_adopt",
        ),
    ] {
        ground.run(&grant).await;
        let why = PgStore::new(options.clone()).connect().await.unwrap().read_only.expect(named);
        assert!(why.contains(named), "{why}");
        ground.run(&revoke).await;
        assert_eq!(PgStore::new(options.clone()).connect().await.unwrap().read_only, None, "{named}");
    }
}

#[tokio::test]
async fn in_production_rights_that_are_not_known_are_too_many() {
    let mut ground = Ground::new(Tables::Installed).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("reference")).unwrap();
    let text = "-- mine\nSELECT r.rolname AS right FROM pg_catalog.pg_roles r ORDER BY 1 LIMIT 1";
    std::fs::write(folder.path().join("reference/get_rights.sql"), text).unwrap();
    let library = Library::shipped().overlaid(folder.path()).unwrap();
    let profiles = Arc::new(profile::load(&library).unwrap());
    let elsewhere = PgStore::new(ground.options().with_profiles(Arc::clone(&profiles))).connect().await.unwrap();
    assert!(elsewhere.excess_rights.value().is_none());
    assert_eq!(elsewhere.read_only, None, "elsewhere the doctor says so, and work goes on");
    let options = production(&mut ground).await.with_profiles(profiles);
    let why = PgStore::new(options).connect().await.unwrap().read_only.expect("read only");
    assert!(why.contains("What this role may do is not known (") && why.contains("get_rights.sql"), "{why}");
}

#[tokio::test]
async fn when_console_and_database_disagree_about_the_environment_the_console_reads() {
    let ground = Ground::new(Tables::Installed).await;
    for (name, kind, said) in [
        (
            "prod",
            EnvironmentKind::Demo,
            "The database says it is demo (DEMO DATA), the configuration says prod (DEMO DATA).",
        ),
        (
            "demo",
            EnvironmentKind::Production,
            "The database says it is demo (DEMO DATA), the configuration says demo (PROD).",
        ),
    ] {
        let mut options = ground.options();
        options.environment = Some(Environment { name: name.to_owned(), kind });
        assert_eq!(PgStore::new(options).connect().await.unwrap().read_only.as_deref(), Some(said));
    }
}
