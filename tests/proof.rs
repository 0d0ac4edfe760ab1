//! The proof that the console cannot remove anything, and changes nothing outside its guard.
//!
//! Four readings of the same promise: what the server was sent, what its tables saw, what its functions
//! say, and what the role may do. The first two run at the end of every test that opens a console, see
//! `support::proof`; here they are shown to see, and a whole session is led past them.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, ConnectOptions, Row};
use unstuck::domain::action::Request;
use unstuck::domain::clue::{Clue, Trail};
use unstuck::domain::port::{Beside, RefusedEvent, Store};
use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::sql;
use unstuck::store::contract::Question;
use unstuck::store::options::{APPLICATION, Pooling};
use unstuck::store::postgres::PgStore;

use crate::support::cluster::shared;
use crate::support::keys::Key;
use crate::support::proof::{Watch, witness};
use crate::support::pty::Ended;
use crate::support::scene::{Console, RAW, Scene, by_hand};
use crate::support::seat;
use crate::support::store::{Ground, Tables};

/// What a connection of these tests calls itself that does what no console does.
const CULPRIT: &str = "the-culprit";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_session_of_every_action_leaves_only_what_it_may() {
    let mut scene = Scene::open("a session", by_hand()).await;
    let declined = Fate { answer: Answer::Lost, ..Fate::declined("card_declined") };
    let mut records = scene.stuck(3).await;
    records.extend(scene.stuck_as([("NO-0001".to_owned(), "ord_no".to_owned(), declined)].into_iter()).await);
    let login = scene.login("kim").await;
    let mut pooled = Scene::store_options(scene.options(&login));
    pooled.pooling = Pooling::Transaction;
    let consoles = [scene.console("kim", &login).await, Console::open("kim", pooled, scene.adapter()).await];
    for (nth, mut kim) in consoles.into_iter().enumerate() {
        kim.store.poll().await.unwrap();
        while kim.store.work_beside().await.unwrap() == Beside::Worked {}
        kim.store.find(&Clue::Id("ord_1".to_owned())).await.unwrap();
        let stuck = &records[nth];
        for request in [Request::Hold, Request::Note, Request::HandOver, Request::Release] {
            let armed = kim.armed(request, stuck).await.unwrap();
            kim.act(armed).await;
        }
        let now = kim.store.poll().await.unwrap().db_now;
        for question in Question::ALL {
            if let Question::Others(cause) = question {
                kim.store.others(cause, now).await.ok();
            }
        }
        let mut trail = Trail::of("EUR 5.00 today", now);
        while let Some(clue) = trail.next(0) {
            kim.store.find(&clue).await.unwrap();
        }
        kim.resume(stuck).await;
        // A refusal, and one that a person typed.
        assert!(kim.plan(Request::Hold, stuck).await.is_err());
        let (operator, environment) = (kim.context.operator.clone(), "demo".to_owned());
        let what = "typed: rm -rf payments; DELETE FROM payments".to_owned();
        let event = RefusedEvent { operator, environment, what, target: Some(stuck.id.clone()) };
        kim.store.refused(&event).await.unwrap();
        if nth == 1 {
            kim.resume(&records[3]).await;
        }
        kim.store.poll().await.unwrap();
    }
    assert_eq!(scene.payments("ord_no").await.split(' ').next(), Some("failed"));
    let statements = scene.log.look(|watch| watch.statements);
    assert!(statements.is_none_or(|statements| statements > 200), "{statements:?}");
    assert!(scene.asked_by_consoles() >= 3);
    let seen = scene.close().await;
    let expected = [
        ("event refused command refused", 2),
        ("intent adopt", 2),
        ("intent fail", 1),
        ("intent hand_over", 2),
        ("intent hold", 2),
        ("intent lookup", 3),
        ("intent note", 2),
        ("intent release", 2),
        ("outcome adopt done", 2),
        ("outcome fail done", 1),
        ("outcome hand_over done", 2),
        ("outcome hold done", 2),
        ("outcome lookup found", 3),
        ("outcome note done", 2),
        ("outcome release done", 2),
    ];
    let expected: BTreeMap<String, usize> = expected.map(|(what, count)| (what.to_owned(), count)).into();
    assert_eq!(seen.transactions, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_at_the_real_binary_leaves_only_what_they_may() {
    let mut scene = Scene::open("at the binary", by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    let login = scene.login("kim").await;
    // Somebody's server has no loopback port of ours.
    let Some(seat) = seat::Seat::at(shared().await, &scene, &login) else {
        scene.close().await;
        return;
    };
    let order = stuck.order.clone();
    tokio::task::spawn_blocking(move || {
        let mut pty = seat.sit();
        seat::finish_the_oldest(&mut pty, &order);
        pty.press(Key::Char('2'));
        for key in [Key::Delete, Key::Char('D'), Key::Ctrl('k')] {
            pty.press(key);
            pty.press(Key::Escape);
        }
        pty.press(Key::Char('1'));
        pty.press(Key::Char('q'));
        assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    })
    .await
    .unwrap();
    assert_eq!(scene.desk().charges(&stuck.order).len(), 1);
    assert!(scene.payments(&stuck.order).await.starts_with("succeeded ch_"));
    assert!(scene.asked_by_consoles() >= 1);
    let adopted = scene.log.calls(scene.database.name(), "do_adopt");
    assert!(adopted.is_none_or(|calls| calls == 1), "{adopted:?}");
    let seen = scene.close().await.transactions;
    assert_eq!(seen.get("outcome adopt done"), Some(&1), "{seen:?}");
    assert_eq!(seen.get("outcome lookup found"), Some(&1), "{seen:?}");
}

#[tokio::test]
async fn the_witnesses_see_what_must_not_be() {
    let mut ground = Ground::new(Tables::Installed).await;
    let culprit = ground.database.admin_options().application_name(CULPRIT);
    let mut culprit = culprit.connect().await.unwrap();
    let deeds = [
        "DELETE\n  FROM outbox\n WHERE published_at IS NULL",
        "TRUNCATE\n\tsaga_steps",
        "UPDATE payments SET status = status",
        "INSERT INTO outbox (payment_id, type, payload) VALUES ('P-100', 'x', '{}')",
        "SELECT id FROM payments LIMIT 1",
        "/* quiet */ WITH gone AS (DELETE FROM webhook_events RETURNING id) SELECT count(*) FROM gone",
    ];
    for deed in deeds {
        sqlx::query(deed).execute(&mut culprit).await.unwrap();
    }
    let prepared = sqlx::query("DELETE FROM outbox WHERE payment_id = $1").bind("P-100").persistent(true);
    prepared.execute(&mut culprit).await.unwrap();
    // The tables saw each change of each transaction …
    let seen = witness::seen(&mut ground.admin, CULPRIT).await.broken;
    assert_eq!(seen.len(), 6, "{seen:#?}");
    for change in ["DELETE", "TRUNCATE", "UPDATE", "INSERT"] {
        assert!(seen.iter().any(|one| one.contains(change)), "{change}: {seen:#?}");
    }
    assert!(witness::seen(&mut ground.admin, APPLICATION).await.broken.is_empty());
    // … and the log every statement, the read outside a read-only transaction too.
    let Ok(log) = shared().await.statement_log() else { return };
    let mut watch = Watch::new(log, CULPRIT);
    watch.look();
    assert_eq!((watch.statements, watch.broken.len()), (7, 7), "{:#?}", watch.broken);
    for word in ["DELETE", "TRUNCATE", "UPDATE", "INSERT", "outside a read-only transaction"] {
        assert!(watch.broken.iter().any(|one| one.contains(word)), "{word}: {:#?}", watch.broken);
    }
}

/// Comments and quoted texts of a function body blanked: what is left is what runs.
fn bare(body: &str) -> String {
    let quoted = regex::Regex::new(r"(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'").unwrap();
    quoted.replace_all(body, "''").into_owned()
}

#[tokio::test]
async fn no_function_of_ours_says_a_word_of_removal() {
    let mut ground = Ground::new(Tables::Installed).await;
    let query = "SELECT p.proname::text AS name, p.prosrc AS body, p.prosecdef AS definer, pg_get_userbyid(p.proowner)::text AS owner, \
        coalesce(array_to_string(p.proconfig, ','), '') AS settings, has_function_privilege('public', p.oid, 'EXECUTE') AS anybody \
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'unstuck' ORDER BY p.proname";
    let rows = sqlx::query(query).fetch_all(&mut ground.admin).await.unwrap();
    assert!(rows.len() > 30, "{}", rows.len());
    let words = regex::Regex::new(
        r"(?i)\b(?:delete|truncate|drop|alter|merge|copy|grant|revoke|execute|dblink\w*|lo_unlink|pg_terminate_backend|session_replication_role)\b",
    )
    .unwrap();
    let removal = regex::Regex::new(r"(?i)\b(?:delete|truncate)\b").unwrap();
    for row in &rows {
        let (name, body): (String, String) = (row.get("name"), row.get("body"));
        let said = bare(&body);
        assert!(!words.is_match(&said), "{name}: {:?}", words.find(&said));
        // Not even in a text: there is nothing that a statement could be built from.
        assert!(!removal.is_match(&body), "{name}: {:?}", removal.find(&body));
        assert_eq!((row.get::<bool, _>("definer"), row.get::<bool, _>("anybody")), (true, false), "{name}");
        assert_eq!(row.get::<String, _>("owner"), "unstuck_definer", "{name}");
        assert!(row.get::<String, _>("settings").contains("search_path=pg_catalog, pg_temp"), "{name}");
    }
    assert!(words.is_match(&bare("BEGIN delete\nFROM x; END")), "the scan sees");
    // Whom they run as owns no table, cannot log in, and has no right to remove.
    let owned =
        "SELECT count(*) FROM pg_class WHERE relowner = 'unstuck_definer'::regrole AND relkind IN ('r', 'p', 'm', 'S')";
    assert_eq!(ground.number(owned).await, 0);
    let rights = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'unstuck') \
        AND c.relkind IN ('r', 'p') AND (has_table_privilege('unstuck_definer', c.oid, 'DELETE') \
        OR has_table_privilege('unstuck_definer', c.oid, 'TRUNCATE') OR has_table_privilege('unstuck_definer', c.oid, 'TRIGGER'))";
    assert_eq!(ground.number(rights).await, 0);
    let login = "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'unstuck\\_%' AND rolname NOT LIKE 'unstuck\\_lab%' AND (rolcanlogin OR rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls)";
    assert_eq!(ground.number(login).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_start_a_role_with_rights_too_many_is_told_which() {
    let mut scene = Scene::open("rights", by_hand()).await;
    let login = scene.login("kim").await;
    let role = sql::ident(&login.name);
    let facts = PgStore::new(Scene::store_options(scene.options(&login))).connect().await.unwrap();
    assert_eq!(facts.excess_rights.value(), Some(&Vec::new()), "an operator has SELECT and EXECUTE");
    let extra = [
        (format!("GRANT DELETE ON payments TO {role}"), "DELETE on public.payments"),
        (format!("GRANT TRUNCATE ON idempotency_keys TO {role}"), "TRUNCATE on public.idempotency_keys"),
        (format!("GRANT UPDATE (status) ON payments TO {role}"), "UPDATE on public.payments"),
        (format!("GRANT INSERT ON unstuck.action_log TO {role}"), "INSERT on unstuck.action_log"),
        (format!("GRANT CREATE ON SCHEMA public TO {role}"), "CREATE on schema public"),
        (format!("ALTER TABLE outbox OWNER TO {role}"), "OWNER on public.outbox"),
        (format!("GRANT unstuck_definer TO {role}"), "MEMBER on role unstuck_definer"),
        (format!("GRANT pg_write_all_data TO {role}"), "MEMBER on role pg_write_all_data"),
        (format!("ALTER ROLE {role} CREATEROLE"), "CREATEROLE on role"),
        (format!("ALTER ROLE {role} SUPERUSER"), "SUPERUSER on role"),
    ];
    for (grant, said) in extra {
        scene.run(&grant).await;
        let facts = PgStore::new(Scene::store_options(scene.options(&login))).connect().await.unwrap();
        let rights = facts.excess_rights.value().expect("the catalogue answers");
        assert!(rights.iter().any(|right| right.starts_with(said)), "{grant}: {rights:?}");
    }
    scene.run("ALTER TABLE outbox OWNER TO CURRENT_USER").await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_who_leaves_the_console_is_refused_by_the_server() {
    let mut scene = Scene::open("outside", by_hand()).await;
    let stuck = scene.stuck(1).await.remove(0);
    let login = scene.login("kim").await;
    let mut kim = scene.console("kim", &login).await;
    kim.resume(&stuck).await;
    let everything = "SELECT md5(string_agg(t, '|' ORDER BY t)) FROM (SELECT k::text FROM idempotency_keys k UNION ALL SELECT p::text FROM payments p \
        UNION ALL SELECT l::text FROM unstuck.action_log l UNION ALL SELECT e::text FROM unstuck.evidence e) AS a(t)";
    let before = scene.text(everything).await;
    let mut raw = scene.raw(&login).await;
    // The server answers this one with a warning: nothing is granted, as what follows shows.
    sqlx::query("GRANT ALL ON payments, idempotency_keys, unstuck.action_log TO CURRENT_USER")
        .execute(&mut raw)
        .await
        .unwrap();
    let mut statements: Vec<String> = Vec::new();
    let tables = [
        "idempotency_keys",
        "payments",
        "outbox",
        "unstuck.action_log",
        "unstuck.evidence",
        "unstuck.note",
        "unstuck.environment",
    ];
    for table in tables {
        let column = match table {
            "idempotency_keys" | "payments" => "status = 'done'",
            "outbox" => "type = 'x'",
            "unstuck.environment" => "name = 'prod'",
            _ => "operator = 'somebody'",
        };
        statements.push(format!("UPDATE {table} SET {column}"));
        statements.extend(["DELETE FROM", "TRUNCATE", "DROP TABLE"].map(|verb| format!("{verb} {table}")));
        statements.push(format!("ALTER TABLE {table} DISABLE TRIGGER ALL"));
        statements.push(format!("INSERT INTO {table} DEFAULT VALUES"));
        statements.push(format!("SELECT * FROM {table} FOR UPDATE"));
        statements.push(format!("WITH gone AS (DELETE FROM {table} RETURNING 1) SELECT count(*) FROM gone"));
    }
    statements.extend(
        [
            "SET ROLE unstuck_definer",
            "SET SESSION AUTHORIZATION postgres",
            "SET session_replication_role = replica",
            "CREATE TABLE mine (id int)",
            "CREATE FUNCTION public.mine() RETURNS void LANGUAGE sql AS 'SELECT'",
            "CREATE SCHEMA mine",
            "DROP SCHEMA unstuck CASCADE",
            "DROP FUNCTION unstuck.do_adopt(jsonb)",
            "ALTER FUNCTION unstuck.do_adopt(jsonb) SECURITY INVOKER",
            "CREATE OR REPLACE FUNCTION unstuck.do_adopt(o jsonb) RETURNS void LANGUAGE sql AS 'SELECT'",
            "COPY payments TO PROGRAM 'cat'",
            "SELECT unstuck.append('event', '{}', 'done', 'forged', NULL, NULL)",
            "SELECT unstuck.set_environment('prod', 'production')",
            "SELECT unstuck.resume('{}', 'adopt', 'succeeded')",
            "SELECT unstuck.service_lock('shop-eu', 'K000-ABCD')",
        ]
        .map(str::to_owned),
    );
    let count = statements.len();
    for statement in statements {
        let refused = sqlx::query(AssertSqlSafe(statement.clone())).execute(&mut raw).await;
        let Err(sqlx::Error::Database(error)) = refused else { panic!("{statement}: {refused:?}") };
        assert_eq!(error.code().as_deref(), Some("42501"), "{statement}: {error}");
    }
    assert!(count >= 60, "{count}");
    // The tables' owner is stopped too where only growing is allowed.
    let mut admin = scene.admin().await;
    for table in ["unstuck.action_log", "unstuck.evidence", "unstuck.note"] {
        for statement in [
            format!("UPDATE {table} SET operator = 'somebody'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            let refused = sqlx::query(AssertSqlSafe(statement.clone())).execute(&mut admin).await;
            let Err(sqlx::Error::Database(error)) = refused else { panic!("{statement}: {refused:?}") };
            assert!(error.message().contains("only grows"), "{statement}: {error}");
        }
    }
    assert_eq!(scene.text(everything).await, before, "nothing of it changed anything");
    assert!(witness::seen(&mut admin, RAW).await.transactions.is_empty());
    scene.close().await;
}

#[test]
fn every_test_that_opens_a_console_is_watched() {
    let mut files = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))];
    let mut watched = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
            files.extend(inside.filter(|path| !path.ends_with("tests/support")));
            continue;
        }
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let opens = ["PgStore::new(", "console_url()", "console_options()"].iter().any(|word| text.contains(word));
        if opens {
            let guarded = ["LogGuard", "Ground", "Scene", "not-the-console"].iter().any(|word| text.contains(word));
            assert!(guarded, "{} opens a console and ends without a look at what it did", path.display());
            watched += 1;
        }
    }
    assert!(watched >= 6, "{watched}");
}
