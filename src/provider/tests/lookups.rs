//! What several look-ups of one record come to.

use crate::domain::evidence::{Absence, Class, LookupOutcome, Mode};
use crate::domain::ids::{OrderId, PaymentId, ProviderKey};
use crate::provider::tests::server::{Server, json};
use crate::provider::tests::{
    NO_SUCH_CHARGE, ask, charge, found, lab, only_ref, page, query, unreachable, without_ref,
};

#[tokio::test]
async fn a_charge_is_read_whole_and_asked_for_in_every_way() {
    let server = Server::start(|target| {
        if target.starts_with("/v1/charges/ch_1") {
            json(200, charge("ch_1", "succeeded"))
        } else {
            json(200, page(&[charge("ch_1", "succeeded")], "false"))
        }
    })
    .await;
    let evidence = ask(lab(), &server, &query()).await;
    let [hit] = found(&evidence) else { panic!("{evidence:?}") };
    assert_eq!(hit.class, Class::Succeeded);
    assert_eq!(hit.money().to_string(), "EUR 19.34");
    assert_eq!((hit.money.captured, hit.money.refunded), (Some(1934), Some(0)));
    assert_eq!(hit.mode, Some(Mode::Live));
    assert_eq!(hit.reference, Some(PaymentId::new("pay_1")));
    assert_eq!(hit.order, Some(OrderId::new("A1")));
    assert_eq!(hit.provider_key, Some(ProviderKey::new("pay:shop-eu:k1")));
    assert_eq!(hit.created_at.unwrap().timestamp(), 1_764_511_200);
    let targets: Vec<String> = server.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(
        targets,
        [
            "/v1/charges/ch_1",
            "/v1/charges?idempotency_key=pay%3Ashop-eu%3Ak1&limit=100",
            "/v1/charges?reference=pay_1&limit=100",
            "/v1/charges?order_id=A1&limit=100",
        ]
    );
    assert!(server.seen().iter().all(|seen| seen.method == "GET"));
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| { seen.headers["user-agent"] == concat!("unstuck/", env!("CARGO_PKG_VERSION")) })
    );
    assert_eq!(evidence.steps.len(), 4);
    assert_eq!(evidence.steps[0].asked, "GET /v1/charges/ch_1");
    assert_eq!(evidence.steps[0].answered, "200");
    assert_eq!(evidence.steps[0].body_sha256.as_ref().map(String::len), Some(64));
}

#[tokio::test]
async fn every_status_word_has_its_class() {
    for (word, class) in [
        ("succeeded", Class::Succeeded),
        ("failed", Class::Failed),
        ("canceled", Class::Failed),
        ("pending", Class::Pending),
        ("authorised", Class::Authorised),
        ("requires_action", Class::Open),
        ("SUCCEEDED", Class::Unrecognised),
        ("disputed", Class::Unrecognised),
        ("", Class::Unrecognised),
    ] {
        let server = Server::start(move |_| json(200, charge("ch_1", word))).await;
        let evidence = ask(lab(), &server, &only_ref()).await;
        assert_eq!((found(&evidence)[0].class, found(&evidence)[0].raw.as_str()), (class, word));
    }
}

#[tokio::test]
async fn absence_by_key_is_certain_and_by_ref_it_is_not() {
    let nothing = |target: &str| {
        if target.starts_with("/v1/charges/") { json(404, NO_SUCH_CHARGE) } else { json(200, page(&[], "false")) }
    };
    let server = Server::start(nothing).await;
    let absence = |outcome: &LookupOutcome| match outcome {
        LookupOutcome::NotFound { absence, .. } => *absence,
        other @ (LookupOutcome::Found { .. } | LookupOutcome::Unreachable { .. }) => {
            panic!("{other:?}")
        }
    };
    let whole = ask(lab(), &server, &without_ref()).await;
    assert_eq!(absence(&whole.outcome), Absence::Consistent);
    let ref_only = ask(lab(), &server, &only_ref()).await;
    assert_eq!(absence(&ref_only.outcome), Absence::MayHaveMissed);
    let mut order_only = without_ref();
    (order_only.provider_key, order_only.payment) = (None, None);
    let order_only = ask(lab(), &server, &order_only).await;
    assert_eq!(absence(&order_only.outcome), Absence::MayHaveMissed);
}

#[tokio::test]
async fn one_silent_part_makes_the_whole_uncertain() {
    let server = Server::start(|target| {
        if target.contains("order_id") {
            json(500, "{}")
        } else if target.starts_with("/v1/charges/") {
            json(200, charge("ch_1", "succeeded"))
        } else {
            json(200, page(&[charge("ch_1", "succeeded")], "false"))
        }
    })
    .await;
    let evidence = ask(lab(), &server, &query()).await;
    unreachable(&evidence, "by order: 500");
}

#[tokio::test]
async fn charges_are_merged_by_ref_and_never_by_guess() {
    let server = Server::start(|target| {
        let status = if target.contains("order_id") { "failed" } else { "succeeded" };
        json(200, page(&[charge("ch_1", status)], "false"))
    })
    .await;
    unreachable(&ask(lab(), &server, &without_ref()).await, "disagree");

    let server = Server::start(|target| {
        let mut all = vec![charge("ch_2", "succeeded")];
        if target.contains("order_id") {
            all.push(charge("ch_3", "succeeded").replace("pay_1", "pay_9").replace("pay:shop-eu:k1", "other"));
        }
        json(200, page(&all, "false"))
    })
    .await;
    let evidence = ask(lab(), &server, &without_ref()).await;
    let refs: Vec<&str> = found(&evidence).iter().map(|hit| hit.provider_ref.as_str()).collect();
    assert_eq!(refs, ["ch_2", "ch_3"], "a second charge of the order is shown");
}

#[tokio::test]
async fn the_answer_must_be_about_what_was_asked() {
    let server = Server::start(|_| json(200, charge("ch_9", "succeeded"))).await;
    unreachable(&ask(lab(), &server, &only_ref()).await, "another charge");
    // Even when it carries our key: the stored ref was asked for.
    let server = Server::start(|target| {
        if target.starts_with("/v1/charges/") {
            json(200, charge("ch_9", "succeeded"))
        } else {
            json(200, page(&[], "false"))
        }
    })
    .await;
    unreachable(&ask(lab(), &server, &query()).await, "another charge");
}

#[tokio::test]
async fn a_filter_that_is_ignored_proves_nothing() {
    let other = charge("ch_9", "succeeded")
        .replace("pay_1", "pay_9")
        .replace("pay:shop-eu:k1", "pay:shop-eu:k9")
        .replace("A1", "A9");
    let server = Server::start(move |_| json(200, page(std::slice::from_ref(&other), "false"))).await;
    let evidence = ask(lab(), &server, &without_ref()).await;
    let LookupOutcome::NotFound { absence, why } = &evidence.outcome else { panic!("{evidence:?}") };
    assert_eq!(*absence, Absence::MayHaveMissed);
    assert!(why.contains("cannot be trusted"), "{why}");
}

#[tokio::test]
async fn a_record_without_ids_is_not_asked_about() {
    let server = Server::start(|_| json(200, page(&[], "false"))).await;
    let mut query = only_ref();
    query.provider_ref = None;
    unreachable(&ask(lab(), &server, &query).await, "no id");
    assert!(server.seen().is_empty());
}
