//! The tables of the document are those of the case, and what is wrong is named.

use serde_json::{Value, json};

use super::*;
use crate::domain::case::{Charge, KeyRecord, PaymentRow, Request, SettlementLine, Transition, Webhook};
use crate::domain::ids::{PaymentId, ProviderName, RecordId, Scope};

#[test]
fn the_document_has_the_fields_of_the_case_and_no_others() {
    let request = Request {
        answered_scope: Some(Scope::new("s")),
        answered_payment: Some(PaymentId::new("p")),
        ..Request::default()
    };
    let case = Case {
        requests: Some(vec![request]),
        records: Some(vec![KeyRecord::default()]),
        payments: Some(vec![PaymentRow { provider: Some(ProviderName::new("lab")), ..PaymentRow::default() }]),
        transitions: Some(vec![Transition::default()]),
        charges: Some(vec![Charge::default()]),
        webhooks: Some(vec![Webhook::default()]),
        settlements: Some(vec![SettlementLine::default()]),
        retention_s: Some(5_400),
        not_asked: vec![RecordId::new("shop", "k-1")],
        cut: vec!["requests: only the newest 500".to_owned()],
        ..Case::default()
    };
    let Value::Object(mut document) = serde_json::to_value(&case).unwrap() else { panic!("an object") };
    for (table, fields) in TABLES {
        let rows = document.remove(*table).unwrap_or_else(|| panic!("{table}"));
        let mut ours: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let mut theirs: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{table}");
    }
    assert!(document.remove(OPEN.0).is_some() && document.remove(CUT).is_some());
    let left: Vec<&str> = document.keys().map(String::as_str).collect();
    assert_eq!(left.len(), HEAD.len(), "{left:?}");
    assert!(HEAD.iter().all(|(name, _)| left.contains(name)));
    let again = from_value(serde_json::from_str(&to_json(&case).unwrap()).unwrap()).unwrap();
    assert_eq!((again.case, again.passed_over), (case, Vec::new()));
}

#[test]
fn what_is_wrong_is_named_with_table_row_and_field() {
    let said = |document: Value| from_value(document).unwrap_err().to_string();
    for (document, words) in [
        (json!([]), "the whole document: expected tables by name, found a list"),
        (json!({"charge": 7}), "[[charge]]: expected a list of rows, found the number 7"),
        (json!({"charge": {"ref": "a"}}), "[[charge]]: expected a list of rows, found a table"),
        (json!({"charge": [{}, 5]}), "[[charge]] row 2: expected a row of named fields, found the number 5"),
        (
            json!({"charge": [{}, {"amount": "EUR 5"}]}),
            "[[charge]] row 2, field amount: expected a whole number of minor units, found the text \"EUR 5\"",
        ),
        (
            json!({"charge": [{"amount": 1.5}]}),
            "field amount: expected a whole number of minor units, found the number 1.5",
        ),
        (json!({"charge": [{"amount": u64::MAX}]}), "found the number 18446744073709551615"),
        (json!({"charge": [{"ref": 5}]}), "[[charge]] row 1, field ref: expected text in quotes, found the number 5"),
        (json!({"request": [{"status": 70_000}]}), "expected an HTTP status, as 201, found the number 70000"),
        (json!({"request": [{"replayed": "yes"}]}), "expected true or false, found the text \"yes\""),
        (json!({"record": [{"attempt": -1}]}), "expected a whole number, not negative, found the number -1"),
        (json!({"now": "2026-03-02T09:00:00", "charge": []}), "field now: expected a time with its zone"),
        (json!({"charge": [{"created_at": "x".repeat(90)}]}), "xxx…"),
        (json!({"asked": "x".repeat(LONGEST_TEXT + 1), "charge": []}), "field asked: the text is 16385 bytes long"),
        (json!({"payment": vec![json!({}); MOST_ROWS + 1]}), "10001 rows of [[payment]]"),
        (json!({"about": "x", "charges": []}), "empty: it has not one table"),
        (json!({"about": "x", "charges": []}), "the whole document has charges, which no case has"),
        (json!({"charge": null}), "is empty"),
        (json!({"charge": [], "not_asked": [{"scope": "s"}]}), "[[not_asked]] row 1: expected scope and key"),
        (json!({"charge": [], "not_asked": [{"scope": "s", "key": null}]}), "[[not_asked]] row 1"),
        (json!({"charge": [], "cut": "all"}), "field cut: expected a list of texts"),
        (json!({"charge": [], "cut": [null]}), "field cut: expected texts, found nothing"),
    ] {
        let said = said(document);
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn a_name_nobody_knows_is_told_and_decides_nothing() {
    let read = from_value(json!({"charge": [{"ref": "a", "ammount": 5}], "expect": {"verdict": "x"}, "Payment": []}));
    let read = read.unwrap();
    assert_eq!(read.passed_over.len(), 2, "{:?}", read.passed_over);
    assert!(read.passed_over[0].contains("[[charge]] row 1 has ammount"), "{:?}", read.passed_over);
    assert_eq!(read.case.payments, None, "a misspelt source is one we do not have");
    let many: Map<String, Value> = (0..500).map(|nth| (format!("x{nth}"), Value::Null)).collect();
    let read = from_value(json!({"charge": [many]})).unwrap();
    assert_eq!(read.passed_over.len(), TOLD + 1);
    assert!(read.passed_over[TOLD].contains("480 more"), "{:?}", read.passed_over);
}

#[test]
fn a_lease_for_ever_comes_back_from_its_file() {
    let for_ever =
        KeyRecord { locked_until: Some(Instant::MAX_UTC), created_at: Some(Instant::MIN_UTC), ..KeyRecord::default() };
    let case = Case { records: Some(vec![for_ever]), ..Case::default() };
    let again = from_value(serde_json::from_str(&to_json(&case).unwrap()).unwrap()).unwrap().case;
    assert_eq!(again, case);
}
