//! The chain without a database: rows made here, then tampered with.

use chrono::DateTime;
use proptest::prelude::*;

use super::*;

/// A row that follows `before`, hashed as the database hashes it.
fn after(before: Option<&ChainRow>, entry: &str, intent: Option<i64>) -> ChainRow {
    let mut row = ChainRow {
        id: LogId(before.map_or(0, |row| row.id.0) + 1),
        at: DateTime::from_timestamp(1_782_914_607, 0),
        entry: Some(entry.to_owned()),
        action: Some("adopt".to_owned()),
        scope: Some("shop-eu".to_owned()),
        key: Some("k\"1\"\\\u{7}\u{1f}\u{7f}é".to_owned()),
        operator: Some("dana".to_owned()),
        session_user: Some("console".to_owned()),
        application: None,
        environment: Some("prod".to_owned()),
        plan_hash: None,
        reason: Some("it is\nstuck".to_owned()),
        ticket: Some("INC-1".to_owned()),
        result: None,
        detail: None,
        intent: intent.map(LogId),
        evidence: None,
        data: Some("{\"a\": 1}".to_owned()),
        prev_hash: Some(before.and_then(|row| row.hash.clone()).unwrap_or_else(|| Head::start().as_str().to_owned())),
        hash: None,
    };
    row.hash = row.computed();
    row
}

fn log(length: usize) -> Vec<ChainRow> {
    let mut rows: Vec<ChainRow> = Vec::new();
    for _ in 0..length {
        rows.push(after(rows.last(), "event", None));
    }
    rows
}

fn walk(rows: &[ChainRow], noted: Option<&str>) -> Walked {
    let mut walk = Walk::new(noted.map(|head| Head::parse(head).unwrap()));
    for row in rows {
        walk.step(row);
    }
    walk.finish()
}

fn first(rows: &[ChainRow]) -> (i64, Vec<Fault>) {
    let broken = walk(rows, None).broken.expect("a break");
    (broken.id.0, broken.faults)
}

#[test]
fn the_text_is_the_databases_writing() {
    let text = after(None, "event", None).text();
    assert_eq!(
        text,
        "[1, \"2026-07-01T14:03:27.000000Z\", \"event\", \"adopt\", \"shop-eu\", \"k\\\"1\\\"\\\\\\u0007\\u001f\u{7f}é\", \
         \"dana\", \"console\", null, \"prod\", null, \"it is\\nstuck\", \"INC-1\", null, null, null, null, {\"a\": 1}]"
    );
}

#[test]
fn an_intact_log_is_intact_and_its_heads_are_found() {
    let rows = log(5);
    let walked = walk(&rows, rows[2].hash.as_deref());
    assert!(walked.is_intact());
    assert_eq!((walked.rows, walked.last, walked.noted), (5, Some(LogId(5)), Noted::At(Some(LogId(3)))));
    assert_eq!(Some(walked.head), rows[4].hash);
    assert_eq!(walk(&[], Some(Head::start().as_str())).noted, Noted::At(None));
    assert_eq!(Head::start().as_str(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn each_kind_of_tampering_names_its_first_row() {
    let rows = log(5);
    let mut altered = rows.clone();
    altered[2].reason = Some("another".to_owned());
    assert_eq!(first(&altered), (3, vec![Fault::Altered]));

    let mut rehashed = altered.clone();
    rehashed[2].hash = rehashed[2].computed();
    assert_eq!(first(&rehashed), (4, vec![Fault::Unlinked { before: Some(LogId(3)) }]));

    let mut removed = rows.clone();
    removed.drain(1..3);
    assert_eq!(first(&removed), (2, vec![Fault::Missing { up_to: LogId(3) }]));
    assert!(walk(&removed, None).broken.unwrap().to_string().starts_with("au_2 to au_3 are missing"));

    let mut renumbered = removed.clone();
    renumbered[1].id = LogId(2);
    assert_eq!(first(&renumbered), (2, vec![Fault::Unlinked { before: Some(LogId(1)) }, Fault::Altered]));

    let mut swapped = rows.clone();
    (swapped[1].id, swapped[2].id) = (LogId(3), LogId(2));
    swapped.swap(1, 2);
    assert_eq!(first(&swapped).0, 2);

    let mut twice = rows.clone();
    twice.insert(2, rows[1].clone());
    assert!(first(&twice).1.contains(&Fault::OutOfOrder));

    let mut zero = rows.clone();
    zero.insert(0, ChainRow { id: LogId(0), ..rows[0].clone() });
    assert_eq!(first(&zero).0, 0);

    let mut unhashed = rows.clone();
    unhashed[3].hash = None;
    assert_eq!(first(&unhashed), (4, vec![Fault::Altered]));

    let cut = walk(&rows[..4], rows[4].hash.as_deref());
    assert_eq!((cut.broken.clone(), cut.noted, cut.is_intact()), (None, Noted::Missing, false));
    assert!(walk(&rows[..4], None).is_intact(), "which is why heads are noted");
}

#[test]
fn an_intent_is_open_until_its_outcome() {
    let intent = after(None, "intent", None);
    let other = after(Some(&intent), "intent", None);
    let outcome = after(Some(&other), "outcome", Some(1));
    let walked = walk(&[intent.clone(), other.clone(), outcome], None);
    assert!(walked.is_intact());
    assert_eq!(walked.open.iter().map(|open| open.id.0).collect::<Vec<_>>(), [2]);
    assert!(walked.open[0].at.is_some());
}

#[test]
fn a_head_is_read_as_it_was_noted_or_not_at_all() {
    let start = Head::start();
    assert_eq!(Head::parse(&format!(" {} ", start.as_str().to_uppercase())), Ok(start));
    for wrong in ["", "e3b0", &"g".repeat(64), &"a".repeat(65)] {
        assert_eq!(Head::parse(wrong), Err(NoHead), "{wrong}");
    }
}

proptest! {
    #[test]
    fn any_single_change_is_found(length in 2usize..8, at in 0usize..8, field in 0usize..12, word in "\\PC{0,6}") {
        let mut rows = log(length);
        let row = &mut rows[at % length];
        let before = row.clone();
        let value = Some(word);
        match field {
            0 => row.at = DateTime::from_timestamp_micros(i64::try_from(value.map_or(0, |word| word.len())).unwrap()),
            1 => row.entry = value,
            2 => row.action = value,
            3 => row.scope = value,
            4 => row.key = value,
            5 => row.operator = value,
            6 => row.session_user = value,
            7 => row.application = value,
            8 => row.reason = value,
            9 => row.ticket = value,
            10 => row.data = value,
            _ => row.hash = value,
        }
        let changed = *row != before;
        let id = row.id;
        let broken = walk(&rows, None).broken;
        prop_assert_eq!(broken.map(|broken| broken.id), changed.then_some(id));
    }
}
