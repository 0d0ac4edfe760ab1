//! The searches of support on real tables: what a customer gave, and who else has it for the same cause.

use unstuck::domain::clue::{Clue, Trail};
use unstuck::domain::ids::RecordId;
use unstuck::domain::money::Money;
use unstuck::domain::port::{Candidate, Matched, Other, Store, StoreError};
use unstuck::domain::time::Seconds;
use unstuck::domain::triage::Cause;
use unstuck::store::postgres::PgStore;

use crate::support::store::{Ground, Tables};

const PLANTED: &str = include_str!("../fixtures/others.sql");

/// Cause, the keys it has to find (of charges nobody knows: their refs), and the money of them that may be too much.
const EXPECTED: &[(Cause, &[&str], Option<i64>)] = &[
    (Cause::KeyExpired, &["acme/x-expired"], Some(1_100)),
    (Cause::RecordDeleted, &["acme/x-gone", "acme/x-removed"], Some(1_200)),
    (Cause::TimeoutMarkedFailed, &["acme/x-timeout-1"], Some(1_300)),
    (Cause::LeaseTooShort, &["acme/x-lease"], Some(1_500)),
    (Cause::UnstableProviderKey, &["acme/x-unstable"], Some(1_600)),
    (Cause::NoProviderKey, &["acme/x-nokey"], Some(1_700)),
    (Cause::NewKeyPerAttempt, &["acme/x-newkey-2"], Some(1_400)),
    (Cause::ChargeWithoutPayment, &["ch-nobody"], Some(1_900)),
    (Cause::GlobalKey, &["globex/x-shared"], None),
];

async fn planted(tables: Tables) -> (Ground, PgStore, unstuck::domain::time::Instant) {
    let mut ground = Ground::new(tables).await;
    ground.run(PLANTED).await;
    let store = ground.store();
    let now = store.poll().await.unwrap().db_now;
    (ground, store, now)
}

fn named(other: &Other) -> String {
    let theirs = || other.provider_ref.as_ref().expect("a ref").to_string();
    other.id.as_ref().map_or_else(theirs, ToString::to_string)
}

#[tokio::test]
async fn each_cause_finds_what_was_planted_for_it_and_no_honest_neighbour() {
    for tables in [Tables::Installed, Tables::Plain] {
        let (_ground, store, now) = planted(tables).await;
        for (cause, wanted, minor) in EXPECTED {
            let found = store.others(*cause, Seconds(3 * 3_600).before(now)).await.unwrap();
            let mut names: Vec<String> = found.iter().map(named).collect();
            names.sort();
            assert_eq!(names, *wanted, "{cause:?}: {found:#?}");
            let money: Vec<&Money> = found.iter().filter_map(|other| other.at_risk.as_ref()).collect();
            assert_eq!(money.first().map(|money| money.minor), *minor, "{cause:?}");
            assert!(money.len() <= 1 && found.iter().all(|other| !other.what.is_empty()));
            let later = store.others(*cause, Seconds(60).before(now)).await.unwrap();
            let recent: Vec<String> = later.iter().map(named).collect();
            // A line of a report counts from the moment it was imported.
            let wanted: &[&str] = if *cause == Cause::ChargeWithoutPayment { wanted } else { &[] };
            assert_eq!(recent, wanted, "{cause:?}");
        }
        let none = store.others(Cause::Unknown, now).await;
        assert!(matches!(none, Err(StoreError::CannotAnswer { .. })), "{none:?}");
    }
}

#[tokio::test]
async fn without_the_time_keys_are_kept_it_is_not_known_who_else() {
    let ground = Ground::new(Tables::Installed).await;
    let mut options = ground.options();
    options.policy.rules.retention_s = None;
    let store = PgStore::new(options);
    for cause in [Cause::KeyExpired, Cause::RecordDeleted] {
        let said = store.others(cause, store.poll().await.unwrap().db_now).await;
        assert!(said.as_ref().is_err_and(|why| why.to_string().contains("retention")), "{said:?}");
    }
}

/// As the console and the command look: clue by clue.
async fn found(store: &PgStore, text: &str, now: unstuck::domain::time::Instant) -> Vec<Candidate> {
    let mut trail = Trail::of(text, now);
    let mut all = Vec::new();
    while let Some(clue) = trail.next(all.len()) {
        all.extend(store.find(&clue).await.unwrap());
    }
    all
}

#[tokio::test]
async fn an_amount_and_a_day_find_their_payments_and_say_that_it_may_be_anybodys() {
    let (_ground, store, now) = planted(Tables::Installed).await;
    let today = now.format("%d.%m.%Y");
    let orders = |found: &[Candidate]| {
        let mut orders: Vec<String> =
            found.iter().filter_map(|one| one.order.as_ref().map(ToString::to_string)).collect();
        orders.sort();
        orders.dedup();
        orders
    };
    for text in [format!("You took 12,00 EUR twice, on {today}!"), "€12 today".to_owned(), "12.00".to_owned()] {
        let all = found(&store, &text, now).await;
        assert_eq!(orders(&all), ["X-removed"], "{text}: {all:#?}");
        assert!(all.iter().all(|one| one.matched == Matched::Amount && one.money == Some(Money::new(1_200, "EUR"))));
        assert!(all.iter().all(|one| one.at.is_some_and(|at| at < now)));
    }
    assert_eq!(orders(&found(&store, "JPY 1,800 today", now).await), ["X-honest"]);
    for text in ["USD 12.00 today", "EUR 1800 today", "EUR 12.00 on 2001-01-01", "EUR 999999999999.00"] {
        assert_eq!(found(&store, text, now).await, Vec::new(), "{text}");
    }
    let with_order = found(&store, &format!("EUR 12.00 on {today} for order X-honest"), now).await;
    assert_eq!(orders(&with_order), ["X-honest"], "what names the purchase goes before what anybody may have paid");
    assert!(with_order.iter().all(|one| one.matched == Matched::Id));
}

#[tokio::test]
async fn a_ref_that_only_a_call_carries_finds_its_record() {
    let (_ground, store, _) = planted(Tables::Installed).await;
    let found = store.find(&Clue::Id("ch-call-only".to_owned())).await.unwrap();
    let [one] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(one.id, RecordId::new("acme", "x-honest"));
    assert_eq!((one.money.clone(), one.why.as_str()), (Some(Money::new(1_800, "JPY")), "provider ref of a call"));
    let gone = store.find(&Clue::Id("x-gone".to_owned())).await.unwrap();
    assert_eq!(
        gone.iter().map(|one| &one.id).collect::<Vec<_>>(),
        [&RecordId::new("acme", "x-gone")],
        "its record is gone"
    );
}

#[tokio::test]
async fn a_timeline_says_what_was_stored_by_reference_and_what_had_no_key() {
    let (mut ground, store, _) = planted(Tables::Installed).await;
    ground
        .run(
            "UPDATE idempotency_keys SET response_body = '{\"stored_by_reference\": {\"payment\": \"Q-ok1\"}}' WHERE key = 'x-honest';
             INSERT INTO api_requests (scope, method, route, order_id, status, pod) VALUES
               ('acme', 'PUT', '/checkouts', 'X-honest', 202, 'pod-a'), ('globex', 'PUT', '/elsewhere', 'X-honest', 202, 'pod-a');",
        )
        .await;
    let told = store.dossier(&RecordId::new("acme", "x-honest")).await.unwrap().unwrap();
    let told: Vec<String> = told
        .timeline
        .value()
        .unwrap()
        .iter()
        .map(|entry| format!("{} {}", entry.what, entry.detail.clone().unwrap_or_default()))
        .collect();
    for wanted in
        ["record done stored answer 201, too large to keep: by reference", "sent PUT /checkouts without a key"]
    {
        assert!(told.iter().any(|line| line == wanted), "{wanted}: {told:#?}");
    }
    assert!(!told.iter().any(|line| line.contains("/elsewhere")), "another tenant's: {told:#?}");
}
