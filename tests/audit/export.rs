//! `unstuck audit export`: both shapes, the filters, and readers that leave.

use std::io::Read as _;
use std::process::Stdio;

use serde_json::Value;

use super::{HOSTILE, filled, place, tamper};
use crate::cli::{Place, Ran};

/// Every field of a row, by its stable name.
const FIELDS: [&str; 21] = [
    "action",
    "application",
    "at",
    "data",
    "detail",
    "entry",
    "environment",
    "evidence_id",
    "hash",
    "id",
    "intent_id",
    "key",
    "line",
    "operator",
    "plan_hash",
    "prev_hash",
    "reason",
    "result",
    "scope",
    "session_user",
    "ticket",
];

fn export(place: &Place, more: &[&str]) -> Vec<Value> {
    let words: Vec<&str> = ["audit", "export"].iter().chain(more).copied().collect();
    let ran = place.run(&words);
    assert_eq!((ran.code, ran.complained.as_str()), (0, ""), "{words:?}: {ran:?}");
    ran.said.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

fn ids(lines: &[Value]) -> Vec<i64> {
    lines.iter().filter(|line| line["line"] == "row").map(|line| line["id"].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_is_one_object_with_every_field() {
    let mut ground = filled().await;
    let place = place(&ground);
    let lines = export(&place, &[]);
    assert_eq!((ids(&lines), lines.len()), ((1..=7).collect(), 9));
    let (first, last) = (&lines[0], &lines[8]);
    assert_eq!(
        (&first["line"], &first["environment"], &first["kind"]),
        (&"export".into(), &"demo".into(), &"demo".into())
    );
    assert_eq!(first["tool"], concat!("unstuck ", env!("CARGO_PKG_VERSION")));
    assert!(first["database"].as_str().unwrap().starts_with("unstuck_lab_") && first["as_of"].is_string());
    for row in &lines[1..8] {
        let fields: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, FIELDS, "{row}");
    }
    let refusal = &lines[4];
    assert_eq!((&refusal["key"], &refusal["detail"]), (&HOSTILE.into(), &HOSTILE.into()));
    assert_eq!((&refusal["plan_hash"], &refusal["intent_id"]), (&Value::Null, &Value::Null), "not known is null");
    assert_eq!(refusal["data"]["more"][4]["aa"], true);
    assert_eq!((&lines[7]["intent_id"], &lines[7]["result"]), (&6.into(), &"done".into()));
    assert_eq!((&last["line"], &last["complete"], &last["intact"]), (&"end".into(), &true.into(), &true.into()));
    assert_eq!((&last["rows"], &last["rows_in_log"], &last["open"]), (&7.into(), &7.into(), &serde_json::json!([5])));
    assert_eq!(last["head"], ground.text("SELECT encode(hash, 'hex') FROM unstuck.action_log WHERE id = 7").await);
    assert_eq!(last["head"], lines[7]["hash"]);
    // Nothing hidden is left for the terminal of whoever reads it.
    let said = place.run(&["audit", "export"]).said;
    assert!(!said.contains(['\u{1b}', '\u{7f}', '\u{202e}']), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_choose_rows_and_the_whole_chain_is_judged_all_the_same() {
    let mut ground = filled().await;
    let place = place(&ground);
    for (filters, expected) in [
        (vec!["--ticket", "INC-2"], vec![4]),
        (vec!["--scope", "acme"], vec![2, 3, 4, 5, 6, 7]),
        (vec!["--scope", "acme", "--key", "k-102"], vec![2, 3, 5]),
        (vec!["--scope", "acme", "--key", "k-103", "--ticket", "INC-1"], vec![6, 7]),
        (vec!["--since", "2h"], vec![1, 2, 3, 4, 5, 6, 7]),
        (vec!["--since", "2099-01-01T00:00:00Z"], vec![]),
        (vec!["--ticket", ""], vec![]),
    ] {
        let lines = export(&place, &filters);
        assert_eq!(ids(&lines), expected, "{filters:?}");
        let last = lines.last().unwrap();
        assert_eq!((&last["rows"], &last["rows_in_log"]), (&expected.len().into(), &7.into()), "{filters:?}");
    }
    let middle = ground.text("SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM unstuck.action_log WHERE id = 4").await;
    assert_eq!(ids(&export(&place, &["--since", &middle])), [4, 5, 6, 7]);
    tamper(&mut ground, "UPDATE unstuck.action_log SET reason = 'x' WHERE id = 2").await;
    let ran = place.run(&["audit", "export", "--ticket", "INC-2"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.complained.starts_with("BROKEN at au_2: au_2 was altered"), "{ran:?}");
    let last: Value = serde_json::from_str(ran.said.lines().last().unwrap()).unwrap();
    assert_eq!((&last["intact"], &last["broken_at"], &last["rows"]), (&false.into(), &2.into(), &1.into()));
}

/// The cells of a line of the table, by the bars that are not escaped.
fn cells(line: &str) -> Vec<String> {
    let bare = line.replace("\\\\", "\u{0}").replace("\\|", "\u{1}");
    bare.split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_for_the_incident_report_has_a_line_for_each_thing_done() {
    let ground = filled().await;
    let place = place(&ground);
    let ran = place.run(&["audit", "export", "--format", "markdown"]);
    assert_eq!((ran.code, ran.complained.as_str()), (0, ""), "{ran:?}");
    let page = &ran.said;
    assert!(page.starts_with("# What was done in demo\n\n- Where: demo (DEMO DATA), database unstuck_lab_"), "{page}");
    let table: Vec<Vec<String>> = page.lines().filter(|line| line.starts_with('|')).map(cells).collect();
    assert!(table.iter().all(|row| row.len() == 10), "hostile words stay in their cells:\n{page}");
    let column = |at: usize| table.iter().skip(2).map(|row| row[at].clone()).collect::<Vec<_>>();
    assert_eq!(column(3), ["set environment", "note", "refused command", "hand over", "hold"]);
    assert_eq!(column(8), ["au_1", "au_2, au_3", "au_4", "au_6, au_7", "au_5"]);
    assert_eq!(column(7)[1..], ["INC-1", "INC-2", "INC-1", "INC-1"]);
    assert_eq!(column(5)[1], "done");
    assert!(column(5)[4].starts_with("**UNKNOWN** until read back (for "), "{page}");
    assert!(column(1).iter().all(|when| when.ends_with('Z')), "{page}");
    assert!(column(2)[1].starts_with("kim (login console_"), "{page}");
    let bare = page.replace("\\<", "");
    for never in ["https://", "<", "`c`", "[l]", "\u{1b}", "\u{202e}"] {
        assert!(!bare.contains(never), "{never:?} in\n{page}");
    }
    assert!(page.contains("- Rows: 7 of 7 in the log\n- Hash chain: intact, au_1 to au_7\n- Head: `"), "{page}");
    let some = place.run(&["audit", "export", "--format", "markdown", "--scope", "acme", "--key", "k-102"]).said;
    assert!(some.contains("- Shows: scope acme, key k-102\n") && some.contains("- Rows: 3 of 7 in the log"), "{some}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_leaves_ends_it_and_a_full_disk_is_told() {
    let mut ground = filled().await;
    ground
        .run("SELECT unstuck.append('event', '{}', 'done', repeat('x', 400), NULL, NULL) FROM generate_series(1, 1500)")
        .await;
    let place = place(&ground);
    for format in ["ndjson", "markdown"] {
        let mut command = place.command(&["audit", "export", "--format", format]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 16]).unwrap();
        drop(pipe);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.complained.as_str()), (0, ""), "{format}");
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { continue };
        let ran = Ran::from(place.command(&["audit", "export", "--format", format]).stdout(full).output().unwrap());
        assert_eq!(ran.code, 3, "{format}: {ran:?}");
        assert!(ran.complained.contains("could not be written whole"), "{ran:?}");
    }
    let lines = export(&place, &[]);
    assert_eq!((lines.len(), lines.last().unwrap()["rows"].as_u64()), (1509, Some(1507)));
}
