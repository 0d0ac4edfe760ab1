//! `unstuck triage WHAT` where several purchases may be meant, or none: it never chooses for the person.

use super::{Place, Ran};
use crate::support::store::{Ground, Tables};

const CONFIG: &str = "[environments.demo]\nkind = \"demo\"\n[policy.rules]\nretention = \"24h\"\n";

/// A database with the planted purchases, and how to ask about it.
async fn desk() -> (Ground, Place) {
    let mut ground = Ground::new(Tables::Installed).await;
    ground.run(include_str!("../fixtures/others.sql")).await;
    let place = Place::new().file("unstuck.toml", CONFIG).with("UNSTUCK_DATABASE_URL", &ground.url());
    (ground, place)
}

#[track_caller]
fn says(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran:?}");
    let said = format!("{}{}", ran.said, ran.complained);
    for word in words {
        assert!(said.contains(word), "{word:?} is not said: {ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_of_two_tenants_and_an_amount_are_for_a_person_to_choose() {
    let (_ground, place) = desk().await;
    let both = place.run(&["triage", "X-newkey"]);
    says(&both, 1, &["4 candidates", "--scope acme", "--scope globex", "EUR 14.00", "matched by order"]);
    let one = place.run(&["triage", "my order X-newkey was charged twice", "--scope", "globex", "--json"]);
    assert!(one.said.contains("\"verdict\""), "{one:?}");
    let amount = place.run(&["triage", "JPY 1,800 today"]);
    says(&amount, 1, &["1 candidate;", "x-honest", "matched by amount and day", "may be anybody's"]);
    let none = place.run(&["triage", "EUR 77.77 today"]);
    says(&none, 1, &["Nothing was found", "an amount with its day"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_full_is_no_answer_about_what_was_not_read() {
    let (mut ground, place) = desk().await;
    ground
        .run(
            "INSERT INTO payments (id, order_id, scope, key, provider, status, amount, currency, created_at, updated_at)
             SELECT 'Q-m' || n, 'X-many', CASE n WHEN 1 THEN 'globex' ELSE 'acme' END, 'x-many-' || n, 'lab', 'failed', 100, 'EUR',
               now() - interval '1 day' + interval '1 second' * n, now()
             FROM generate_series(1, 60) AS n",
        )
        .await;
    says(&place.run(&["triage", "X-many"]), 1, &["50 candidates"]);
    says(&place.run(&["triage", "X-many", "--scope", "globex"]), 3, &["NOT KNOWN", "name the key"]);
    assert!(place.run(&["triage", "x-many-1", "--scope", "globex", "--json"]).said.contains("\"verdict\""));
}
