//! Answers that mean nothing, and hostile ones.

use std::time::Duration;

use crate::domain::evidence::{Evidence, LookupOutcome};
use crate::domain::port::Provider as _;
use crate::provider::read_adapter;
use crate::provider::tests::server::{Server, json, with};
use crate::provider::tests::{NO_SUCH_CHARGE, ask, charge, found, lab, only_ref, open, query, unreachable};

/// What the adapter makes of one answer to a look-up by ref.
async fn of(status: u16, headers: &'static [(&'static str, &'static str)], body: &[u8]) -> Evidence {
    let body = body.to_vec();
    let server = Server::start(move |_| with(status, headers, body.clone())).await;
    ask(lab(), &server, &only_ref()).await
}

#[tokio::test]
async fn statuses_that_are_no_answer() {
    let good = charge("ch_1", "succeeded");
    for (status, part) in [
        (401, "does not know us"),
        (403, "may not read"),
        (429, "slow down"),
        (500, "trouble"),
        (503, "trouble"),
        (201, "not an answer"),
        (204, "not an answer"),
        (206, "not an answer"),
        (400, "not an answer"),
        (409, "not an answer"),
    ] {
        let body = if status == 204 { "" } else { good.as_str() };
        unreachable(&of(status, &[], body.as_bytes()).await, part);
    }
}

#[tokio::test]
async fn only_the_declared_404_is_no_such_object() {
    let not_found = of(404, &[], NO_SUCH_CHARGE.as_bytes()).await;
    assert!(matches!(not_found.outcome, LookupOutcome::NotFound { .. }));
    for other in [
        "{}",
        r#"{"error":{"code":"route_not_found"}}"#,
        r#"{"error":"charge_not_found"}"#,
        "[]",
        r#"{"error":{"code":null}}"#,
    ] {
        unreachable(&of(404, &[], other.as_bytes()).await, "not proof");
    }
    unreachable(&of(404, &[("content-type", "text/html")], b"<h1>Not found</h1>").await, "a page for people");
    unreachable(&of(404, &[], b"").await, "JSON");
    // The same words with another status are another answer.
    unreachable(&of(500, &[], NO_SUCH_CHARGE.as_bytes()).await, "trouble");
}

#[tokio::test]
async fn bodies_that_cannot_be_read() {
    unreachable(
        &of(200, &[("content-type", "text/html; charset=utf-8")], charge("ch_1", "succeeded").as_bytes()).await,
        "a page for people",
    );
    unreachable(&of(200, &[], b"  <!doctype html><p>maintenance").await, "a page for people");
    unreachable(&of(200, &[], b"{\"id\":\"ch_1\"").await, "JSON");
    unreachable(&of(200, &[], b"{\"id\":\"ch_\xff\"}").await, "UTF-8");
    unreachable(&of(200, &[], b"").await, "JSON");
    let twice = charge("ch_1", "failed").replace("\"amount\"", "\"status\":\"succeeded\",\"amount\"");
    unreachable(&of(200, &[], twice.as_bytes()).await, "same key twice");
    let deep = format!("{{\"id\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    unreachable(&of(200, &[], deep.as_bytes()).await, "JSON");
}

#[tokio::test]
async fn charges_that_are_half_readable_are_no_evidence() {
    let good = charge("ch_1", "succeeded");
    for (from, to, part) in [
        (r#""id":"ch_1""#, r#""id":null"#, "without its id"),
        (r#""id":"ch_1""#, r#""id":["ch_1"]"#, "id is a list"),
        ("\"amount\":1934", "\"amount\":19.34", "decimal point"),
        ("\"amount\":1934", "\"amount\":-1934", "plain number"),
        ("\"amount\":1934", "\"amount\":1934e2", "plain number"),
        ("\"amount\":1934", "\"amount\":99999999999999999999", "larger"),
        ("\"amount\":1934", "\"sum\":1934", "without its amount"),
        ("\"captured\":1934", "\"captured\":{}", "an object"),
        ("\"eur\"", "null", "without its currency"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good, "{from}");
        unreachable(&of(200, &[], bad.as_bytes()).await, part);
    }
    let endless = good.replace("\"A1\"", &format!("\"{}\"", "A".repeat(600)));
    unreachable(&of(200, &[], endless.as_bytes()).await, "endless");
}

#[tokio::test]
async fn a_huge_body_is_not_swallowed() {
    let huge = format!("{{\"id\":\"{}\"}}", "x".repeat(200_000));
    unreachable(&of(200, &[], huge.as_bytes()).await, "larger");
}

#[tokio::test]
async fn a_slow_provider_and_a_lost_connection() {
    let server = Server::slow(Duration::from_secs(5), |_| json(200, charge("ch_1", "succeeded"))).await;
    unreachable(&ask(lab(), &server, &only_ref()).await, "time-out");

    let cut =
        Server::raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"id\":").await;
    unreachable(&ask(lab(), &cut, &only_ref()).await, "cut off");

    let garbled = Server::raw(b"HELLO\r\n\r\n").await;
    unreachable(&ask(lab(), &garbled, &only_ref()).await, "cut off");

    let gone = Server::start(|_| json(200, "{}")).await;
    let provider = open(lab(), &gone);
    drop(gone);
    tokio::time::sleep(Duration::from_millis(50)).await;
    unreachable(&provider.lookup(&only_ref()).await, "no connection");
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let elsewhere = Server::start(|_| json(200, charge("ch_1", "succeeded"))).await;
    let target = format!("{}/v1/charges/ch_1", elsewhere.address());
    for status in [301, 302, 303, 307, 308] {
        let target = target.clone();
        let server = Server::start(move |_| with(status, &[("location", target.as_str())], "")).await;
        unreachable(&ask(lab(), &server, &only_ref()).await, "never followed");
    }
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn a_provider_that_asks_for_quiet_gets_it() {
    let server = Server::start(|_| with(429, &[("retry-after", "7")], "{}")).await;
    let provider = open(lab(), &server);
    let first = provider.lookup(&only_ref()).await;
    assert!(matches!(first.outcome, LookupOutcome::Unreachable { retry_after_s: Some(7), .. }));
    let second = provider.lookup(&only_ref()).await;
    unreachable(&second, "left alone");
    assert!(matches!(second.steps.as_slice(), [step] if step.asked == "nothing" && step.retry_after_s.is_some()));
    assert_eq!(server.seen().len(), 1, "it was not asked again");
}

#[tokio::test]
async fn hostile_words_are_carried_as_they_are_and_never_into_reasons() {
    let hostile = charge("ch_1", "\\u001b]52;c;x\\u0007ok").replace("\"A1\"", "\"A1\\u202e\\u0000\\n\"");
    let evidence = of(200, &[], hostile.as_bytes()).await;
    assert_eq!(found(&evidence)[0].raw, "\u{1b}]52;c;x\u{7}ok");
    // No database keeps a NUL, and a look-up that cannot be stored is lost.
    assert_eq!(found(&evidence)[0].order.as_ref().unwrap().as_str(), "A1\u{202e}\u{fffd}\n");
    let lying = of(404, &[], b"{\"error\":{\"code\":\"\\u001b[2J\"}}").await;
    let said = format!("{lying:?}");
    assert!(!said.contains("\\u{1b}"), "{said}");
}

#[tokio::test]
async fn decimal_amounts_follow_their_currency() {
    let decimal = include_str!("../lab.toml").replace("amounts = \"minor\"", "amounts = \"decimal\"");
    for (amount, currency, minor) in [
        ("\"19.34\"", "EUR", 1934),
        ("19.34", "EUR", 1934),
        ("19.3", "EUR", 1930),
        ("500", "JPY", 500),
        ("\"1.250\"", "KWD", 1250),
        ("0.10", "EUR", 10),
        ("90071992547409.93", "EUR", 9_007_199_254_740_993),
    ] {
        let body = charge("ch_1", "succeeded")
            .replace("\"eur\"", &format!("\"{currency}\""))
            .replace(":1934", &format!(":{amount}"))
            .replace("\"refunded\":0", "\"refunded\":null");
        let server = Server::start(move |_| json(200, body.clone())).await;
        let evidence = ask(read_adapter(&decimal).unwrap(), &server, &only_ref()).await;
        assert_eq!(found(&evidence)[0].money.amount, minor, "{amount} {currency}");
        assert_eq!(found(&evidence)[0].money.refunded, None);
    }
}

#[tokio::test]
async fn a_reason_all_look_ups_share_is_said_once() {
    let server = Server::start(|_| with(401, &[], "{}")).await;
    let evidence = open(lab(), &server).lookup(&query()).await;
    let LookupOutcome::Unreachable { why, .. } = &evidence.outcome else { panic!("{evidence:?}") };
    assert_eq!(why.matches("check the secret").count(), 1, "{why}");
}
