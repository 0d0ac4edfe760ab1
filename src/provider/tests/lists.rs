//! Lists: read to their true end, or not at all.

use crate::domain::evidence::{Absence, LookupOutcome};
use crate::domain::port::Query;
use crate::provider::read_adapter;
use crate::provider::tests::server::{Server, json};
use crate::provider::tests::{ask, charge, found, lab, page, unreachable, without_ref};

/// A record known by its key alone: one look-up, one list.
fn by_key() -> Query {
    Query { payment: None, order: None, ..without_ref() }
}

#[tokio::test]
async fn pages_are_read_to_the_end() {
    let server = Server::start(|target| {
        if target.ends_with("starting_after=ch_2") {
            json(200, page(&[charge("ch_3", "failed")], "false"))
        } else {
            json(200, page(&[charge("ch_1", "failed"), charge("ch_2", "failed")], "true"))
        }
    })
    .await;
    let evidence = ask(lab(), &server, &by_key()).await;
    assert_eq!(found(&evidence).len(), 3);
    assert_eq!(evidence.steps.len(), 2);
}

#[tokio::test]
async fn a_list_that_is_cut_off_concludes_nothing() {
    // Always one more page, each with a new charge: the cap ends it.
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        json(200, page(&[charge(&format!("ch_{n}"), "failed")], "true"))
    })
    .await;
    unreachable(&ask(lab(), &server, &by_key()).await, "cut off");
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn pages_that_go_round_are_noticed() {
    let server = Server::start(|_| json(200, page(&[charge("ch_1", "failed")], "true"))).await;
    unreachable(&ask(lab(), &server, &by_key()).await, "circle");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_list_must_say_that_it_is_whole() {
    for (body, part) in [
        (r#"{"data":[]}"#.to_owned(), "whether its list is whole"),
        (page(&[], "\"no\""), "whether its list is whole"),
        (page(&[], "true"), "not where"),
        (r#"{"data":{},"has_more":false}"#.to_owned(), "no list"),
        (r#"{"has_more":false}"#.to_owned(), "no list"),
        (r"[]".to_owned(), "no list"),
        (page(&["null".to_owned()], "false"), "without its id"),
    ] {
        let server = Server::start(move |_| json(200, body.clone())).await;
        unreachable(&ask(lab(), &server, &by_key()).await, part);
    }
    // A list answers 404 only when its route is not there.
    let server = Server::start(|_| json(404, crate::provider::tests::NO_SUCH_CHARGE)).await;
    unreachable(&ask(lab(), &server, &by_key()).await, "missing route");
}

#[tokio::test]
async fn without_declared_paging_nothing_found_is_not_proof() {
    let unpaged = include_str!("../lab.toml")
        .replace("[lookup.paging]\nmore = \"/has_more\"\ncursor = \"last_ref\"\nparameter = \"starting_after\"\n", "");
    let server = Server::start(|_| json(200, page(&[], "false"))).await;
    let evidence = ask(read_adapter(&unpaged).unwrap(), &server, &by_key()).await;
    assert!(matches!(evidence.outcome, LookupOutcome::NotFound { absence: Absence::MayHaveMissed, .. }));
}

#[tokio::test]
async fn cursors_of_the_answer_are_encoded() {
    let cursor = include_str!("../generic.toml");
    let adapter = read_adapter(&cursor.replace("[auth]", "[x]").replace("[x]\nenv = \"UNSTUCK_PROVIDER_KEY\"\nheader = \"Authorization\"\nprefix = \"Bearer \"\nrefuse = [\"sk_live_\"]\n", "")).unwrap();
    let server = Server::start(|target| {
        if target.contains("cursor=") {
            json(200, r#"{"data":[],"next_cursor":null}"#)
        } else {
            json(200, r#"{"data":[],"next_cursor":"a&b=../c d"}"#)
        }
    })
    .await;
    let evidence = ask(adapter, &server, &without_ref()).await;
    assert!(matches!(evidence.outcome, LookupOutcome::NotFound { absence: Absence::MayHaveMissed, .. }));
    assert_eq!(server.seen()[1].target, "/payments?reference=pay_1&limit=100&cursor=a%26b%3D..%2Fc%20d");
}
