//! `unstuck audit verify` against a log that was tampered with, one way after the other.

use unstuck::domain::chain::{Fault, Noted};
use unstuck::domain::ids::LogId;

use super::{filled, place, tamper, walked};
use crate::cli::Place;
use crate::support::store::{Ground, Tables};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_intact_log_is_intact_hostile_words_and_all() {
    let mut ground = filled().await;
    let store = ground.store();
    let found = walked(&store, None).await;
    assert_eq!((found.rows, found.broken.clone(), found.last), (7, None, Some(LogId(7))));
    let head = ground.text("SELECT encode(hash, 'hex') FROM unstuck.action_log ORDER BY id DESC LIMIT 1").await;
    assert_eq!(found.head, head);
    assert_eq!(found.open.iter().map(|open| (open.id, open.action.as_str())).collect::<Vec<_>>(), [(LogId(5), "hold")]);
    // What is hashed here is what the database says is hashed, to the letter.
    let mut rows = store.chain(None).await.unwrap().rows;
    for row in &rows {
        let theirs =
            sqlx::query_scalar::<_, String>("SELECT unstuck.log_text(l) FROM unstuck.action_log l WHERE l.id = $1");
        assert_eq!(row.text(), theirs.bind(row.id.0).fetch_one(&mut ground.admin).await.unwrap());
    }
    assert!(rows.remove(3).data.unwrap().contains("-2.50"));

    let place = place(&ground);
    let ran = place.run(&["audit", "verify"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.said.starts_with("log of demo (DEMO DATA), database unstuck_lab_"), "{}", ran.said);
    assert!(ran.said.contains("intact: every row from au_1 to au_7, 7 in all\n"), "{}", ran.said);
    assert!(ran.said.contains(&format!("\nhead {head}\n")), "{}", ran.said);
    let open = ran.said.lines().find(|line| line.starts_with("open: ")).unwrap();
    assert!(open.starts_with("open: au_5 hold on acme/k-102 by kim, for "), "{open}");
    assert!(open.ends_with("Unknown until read back"), "{open}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_done_to_a_row_names_that_row() {
    let mut ground = filled().await;
    let store = ground.store();
    ground.run("CREATE TABLE kept AS SELECT * FROM unstuck.action_log").await;
    // The constraints are no guard against their owner; without them everything can be tried.
    ground
        .run(
            "DO $$ DECLARE c name; BEGIN FOR c IN SELECT conname FROM pg_constraint WHERE conrelid = 'unstuck.action_log'::regclass \
             AND contype IN ('c', 'f', 'p') ORDER BY contype = 'p' LOOP \
             EXECUTE format('ALTER TABLE unstuck.action_log DROP CONSTRAINT %I', c); END LOOP; END $$; \
             ALTER TABLE unstuck.action_log ALTER operator DROP NOT NULL, ALTER hash DROP NOT NULL, ALTER prev_hash DROP NOT NULL",
        )
        .await;
    let update = |row: i64, what: &str| (format!("UPDATE unstuck.action_log SET {what} WHERE id = {row}"), row);
    let mut deeds: Vec<(String, i64)> = [
        "at = at + interval '1 microsecond'",
        "at = 'infinity'",
        "entry = 'outcome'",
        "action = 'adopt'",
        "scope = 'acme2'",
        "key = key || ' '",
        "operator = 'lee'",
        "operator = NULL",
        "session_role = 'postgres'",
        "application = 'unstuck'",
        "environment = 'prod'",
        "plan_hash = ''",
        "reason = NULL",
        "ticket = 'INC-1'",
        "result = 'done'",
        "detail = left(detail, 5)",
        "intent_id = 2",
        "evidence_id = 1",
        "data = data || '{\"x\": 1}'",
        "data = jsonb_set(data, '{more,1}', '-2.5')",
        "hash = sha256('x')",
        "hash = NULL",
        "prev_hash = sha256('x')",
    ]
    .map(|what| update(4, what))
    .into();
    let rehash = |row: i64| {
        format!(
            "UPDATE unstuck.action_log l SET hash = sha256(prev_hash || convert_to(unstuck.log_text(l), 'UTF8')) WHERE id = {row}"
        )
    };
    deeds.extend([
        update(1, "operator = 'nobody'"),
        update(7, "result = 'refused'"),
        // A row that was altered and hashed again gives itself away by the next one.
        (format!("{}; {}", update(3, "detail = 'nothing'").0, rehash(3)), 4),
        ("DELETE FROM unstuck.action_log WHERE id = 4".to_owned(), 4),
        ("DELETE FROM unstuck.action_log WHERE id IN (1, 2)".to_owned(), 1),
        ("DELETE FROM unstuck.action_log WHERE id = 4; UPDATE unstuck.action_log SET id = id - 1 WHERE id > 4".to_owned(), 4),
        ("UPDATE unstuck.action_log SET id = CASE id WHEN 3 THEN 4 ELSE 3 END WHERE id IN (3, 4)".to_owned(), 3),
        ("INSERT INTO unstuck.action_log SELECT * FROM unstuck.action_log WHERE id = 5".to_owned(), 5),
        ("UPDATE unstuck.action_log SET id = 0 WHERE id = 1".to_owned(), 0),
        ("INSERT INTO unstuck.action_log SELECT -5, at, entry, action, scope, key, operator, session_role, application, environment, \
          plan_hash, reason, ticket, result, detail, intent_id, evidence_id, data, prev_hash, hash FROM unstuck.action_log WHERE id = 1"
            .to_owned(), -5),
    ]);
    let count = deeds.len();
    for (deed, row) in deeds {
        tamper(&mut ground, &deed).await;
        let found = walked(&store, None).await;
        assert_eq!(found.broken.map(|broken| broken.id.0), Some(row), "{deed}");
        let back = "DELETE FROM unstuck.action_log; INSERT INTO unstuck.action_log SELECT * FROM kept";
        tamper(&mut ground, back).await;
    }
    assert!(count >= 33, "{count}");
    assert!(walked(&store, None).await.is_intact(), "and back as it was it is intact");
    // The function that the database hashes with may be the liar: its verdict is not asked.
    tamper(&mut ground, &update(4, "reason = 'another'").0).await;
    let liar = "CREATE OR REPLACE FUNCTION unstuck.log_text(l unstuck.action_log) RETURNS text LANGUAGE sql AS \
        $$ SELECT l.reason $$; UPDATE unstuck.action_log l SET hash = sha256(prev_hash || convert_to(unstuck.log_text(l), 'UTF8')) WHERE id = 4";
    tamper(&mut ground, liar).await;
    assert!(
        ground.text("SELECT intact::text FROM unstuck.log_check WHERE id = 4").await == "true",
        "the database believes itself"
    );
    assert_eq!(walked(&store, None).await.broken.unwrap().faults, [Fault::Altered]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tail_that_was_cut_off_is_found_by_a_head_noted_before() {
    let mut ground = filled().await;
    let place = place(&ground);
    let head = walked(&ground.store(), None).await.head;
    let early = ground.text("SELECT encode(hash, 'hex') FROM unstuck.action_log WHERE id = 5").await;
    let whole = place.run(&["audit", "verify", "--head", &early.to_uppercase()]);
    assert_eq!(whole.code, 0, "{whole:?}");
    assert!(whole.said.contains("the noted head is that of au_5: nothing up to it was cut off"), "{}", whole.said);
    tamper(&mut ground, "DELETE FROM unstuck.action_log WHERE id > 5").await;
    // The chain of what is left is in order: nothing else could tell.
    let alone = place.run(&["audit", "verify"]);
    assert_eq!(alone.code, 0, "{alone:?}");
    let cut = place.run(&["audit", "verify", "--head", &head]);
    assert_eq!(cut.code, 1, "{cut:?}");
    assert!(cut.said.contains("BROKEN: no row has the noted head. Rows after au_5 were cut off"), "{}", cut.said);
    assert!(!cut.said.contains("intact"), "{}", cut.said);
    assert_eq!(place.run(&["audit", "verify", "--head", &early]).code, 0);
    assert_eq!(walked(&ground.store(), Some(&early)).await.noted, Noted::At(Some(LogId(5))));
    // Somebody who writes every row anew makes a chain that is in order, and cannot make the head that was noted.
    let anew = "DO $$ DECLARE l unstuck.action_log; last bytea := sha256(''); BEGIN FOR l IN SELECT * FROM unstuck.action_log ORDER BY id LOOP \
        l.prev_hash := last; IF l.id = 3 THEN l.operator := 'lee'; END IF; last := sha256(last || convert_to(unstuck.log_text(l), 'UTF8')); \
        UPDATE unstuck.action_log SET operator = l.operator, prev_hash = l.prev_hash, hash = last WHERE id = l.id; END LOOP; END $$";
    tamper(&mut ground, anew).await;
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    assert_eq!(place.run(&["audit", "verify", "--head", &early]).code, 1);
    // A log without a row is none that an installation leaves.
    tamper(&mut ground, "DELETE FROM unstuck.action_log").await;
    let emptied = place.run(&["audit", "verify"]);
    assert_eq!(emptied.code, 1, "{emptied:?}");
    assert!(emptied.said.contains("BROKEN at au_1: au_1 is missing: the log is empty"), "{}", emptied.said);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_broken_row_is_named_on_whatever_page_it_is() {
    let mut ground = filled().await;
    let store = ground.store();
    ground.run("SELECT unstuck.append('event', '{}', 'done', NULL, NULL, NULL) FROM generate_series(1, 1100)").await;
    let found = walked(&store, None).await;
    assert_eq!((found.rows, found.is_intact()), (1107, true));
    for row in [1107, 1001, 1000, 501, 500] {
        tamper(&mut ground, &format!("UPDATE unstuck.action_log SET reason = 'x' WHERE id = {row}")).await;
        assert_eq!(walked(&store, None).await.broken.unwrap().id, LogId(row));
    }
    let ran = place(&ground).run(&["audit", "verify"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.said.contains("BROKEN at au_500: au_500 was altered: its fields do not give its hash"), "{}", ran.said);
    assert!(!ran.said.contains("head "), "a broken log has no head worth noting: {}", ran.said);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_told_is_3_and_not_intact() {
    let ground = Ground::new(Tables::Plain).await;
    let place = place(&ground);
    for words in [["audit", "verify"], ["audit", "export"]] {
        let ran = place.run(&words);
        assert_eq!((ran.code, ran.said.as_str()), (3, ""), "{ran:?}");
        assert!(ran.complained.starts_with("NOT KNOWN: "), "{ran:?}");
    }
    let nowhere = Place::new().run(&["audit", "verify"]);
    assert_eq!(nowhere.code, 3, "{nowhere:?}");
    for words in [
        vec!["audit"],
        vec!["audit", "verify", "--head", "e3b0"],
        vec!["audit", "export", "--since", "yesterday"],
        vec!["audit", "export", "--format", "yaml"],
        vec!["audit", "export", "--key", "k-102"],
    ] {
        let ran = place.run(&words);
        assert_eq!((ran.code, ran.said.as_str()), (3, ""), "{words:?}: {ran:?}");
    }
}
