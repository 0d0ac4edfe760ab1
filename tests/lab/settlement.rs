//! Reconciliation: each kind of difference is found, visible, and met with what can do no harm.

use unstuck::lab::provider::{Answer, ChargeStatus, Fate, Habits, Misreport};
use unstuck::lab::service::job::RECONCILE;
use unstuck::lab::service::{Orphans, ServiceOptions, StallPoint};

use super::town::{Town, by_hand};

/// Findings as "class remedy open|closed", sorted.
async fn findings(town: &Town) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT concat_ws(' ', class, remedy, CASE WHEN closed_at IS NULL THEN 'open' ELSE 'closed' END) AS f FROM settlement_findings ORDER BY f",
    )
    .fetch_all(&town.pool)
    .await
    .unwrap()
}

#[tokio::test]
async fn books_that_agree_have_no_findings() {
    let town = Town::open("settled").await;
    // More than a page.
    for n in 0..105 {
        town.desk().destine(&format!("ord_{n}"), Fate { latency: Some(std::time::Duration::ZERO), ..Fate::default() });
    }
    let all = (0..105).map(|n| {
        let town = &town;
        async move { town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await.code }
    });
    assert!(futures_util::future::join_all(all).await.iter().all(|code| *code == 201));
    assert_eq!(town.run(RECONCILE).await.seen, 0, "no report is closed yet");
    town.desk().close_report().unwrap();
    assert_eq!(town.desk().close_report(), None, "nothing moved since");
    let tally = town.run(RECONCILE).await;
    assert_eq!((tally.seen, tally.changed), (105, 0));
    assert_eq!(town.run(RECONCILE).await.seen, 0, "a report is imported once");
    assert_eq!(town.count("SELECT count(*) FROM settlement_lines").await, 105);
    assert_eq!(town.count("SELECT count(*) FROM service_events WHERE what = 'settlement: all accounted for'").await, 1);
    assert_eq!(town.breaches().await, Vec::<String>::new());
}

#[tokio::test]
async fn every_class_gets_its_default() {
    let town = Town::open("classes").await;
    for order in ["ord_ok", "ord_amount", "ord_twice", "ord_missing"] {
        assert_eq!(town.pay(order, order, 500).await.code, 201);
    }
    town.desk().misreport("ord_amount", Misreport::Amount(750));
    town.desk().misreport("ord_twice", Misreport::Twice);
    town.desk().misreport("ord_missing", Misreport::LeftOut);
    let orphan = town.desk().charge_unasked("ord_orphan", 300, "EUR");
    town.desk().destine("ord_late", Fate { answer: Answer::Lost, ..Fate::default() });
    assert_eq!(town.pay("ord_late", "ord_late", 500).await.code, 503);
    town.desk().close_report().unwrap();
    town.much_later().await;
    assert_eq!(town.run(RECONCILE).await.changed, 5);
    assert_eq!(
        findings(&town).await,
        [
            "amount person open",
            "duplicate count once closed",
            "late finish closed",
            "missing ask open",
            "orphan refund closed"
        ]
    );
    assert_eq!(town.desk().charges("ord_orphan")[0].refunded, 300);
    assert_eq!(town.desk().charges("ord_twice")[0].refunded, 0);
    assert_eq!(town.state("ord_late").await, ("succeeded".to_owned(), "done".to_owned()));
    assert_eq!(town.state("ord_amount").await, ("succeeded".to_owned(), "done".to_owned()));
    assert_eq!(town.state("ord_missing").await, ("succeeded".to_owned(), "done".to_owned()), "silence is no failure");
    let asked = "SELECT count(*) FROM settlement_findings WHERE class = 'missing' AND detail LIKE '%asked, it says ok'";
    assert_eq!(town.count(asked).await, 1);
    let breaches = town.breaches().await;
    assert_eq!(breaches.len(), 2, "{breaches:?}");
    assert!(breaches.iter().any(|found| found.contains("orphan: no payment of ours")), "{breaches:?}");
    assert!(breaches.iter().any(|found| found.contains("our payment says 500 EUR")), "{breaches:?}");
    // The next report lists what was missing, and the refund.
    town.desk().report_rightly("ord_missing");
    town.desk().close_report().unwrap();
    town.run(RECONCILE).await;
    assert!(findings(&town).await.contains(&"missing ask closed".to_owned()));
    let refund: (String, i64) =
        sqlx::query_as("SELECT provider_ref, amount FROM settlement_lines WHERE type = 'refund'")
            .fetch_one(&town.pool)
            .await
            .unwrap();
    assert_eq!(refund, (orphan.id, 300));
}

#[tokio::test]
async fn a_second_charge_of_a_paid_payment_is_given_back() {
    let town = Town::open_with("second charge", Habits::without_keys(), by_hand()).await;
    let told = town.pay("K-1", "ord_1", 500).await;
    // The same request reaches the provider once more, from wherever: it reads no keys and charges.
    let body = serde_json::json!({"order_id": "ord_1", "reference": told.body["payment_id"], "amount": 500, "currency": "EUR"});
    let sent = town.client.post(format!("{}/v1/charges", town.provider.url())).json(&body).send().await.unwrap();
    assert_eq!(sent.status(), 201);
    town.desk().close_report().unwrap();
    town.run(RECONCILE).await;
    assert_eq!(findings(&town).await, ["duplicate refund closed"]);
    let charges = town.desk().charges("ord_1");
    assert_eq!((charges[0].refunded, charges[1].refunded), (0, 500), "the one our payment carries is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reconciliation_that_dies_after_the_refund_gives_back_once() {
    let town = Town::open("refund dies").await;
    let orphan = town.desk().charge_unasked("ord_orphan", 300, "EUR");
    town.desk().close_report().unwrap();
    town.run_and_kill(RECONCILE, &orphan.id, StallPoint::BeforeRefunded).await;
    assert_eq!(findings(&town).await, ["orphan refund open"]);
    assert_eq!(town.desk().charges("ord_orphan")[0].refunded, 300);
    town.run(RECONCILE).await;
    assert_eq!(findings(&town).await, ["orphan refund closed"]);
    assert_eq!(town.desk().charges("ord_orphan")[0].refunded, 300);
    let refunds = town.desk().access_log().iter().filter(|access| access.path == "/v1/refunds").count();
    assert_eq!(refunds, 2, "asked twice, given back once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_reconciliations_import_and_judge_once() {
    let town = Town::open("reconciliations").await;
    for n in 0..6 {
        town.pay(&format!("K-{n}"), &format!("ord_{n}"), 500).await;
        town.desk().charge_unasked(&format!("orphan_{n}"), 100, "EUR");
    }
    town.desk().close_report().unwrap();
    let passes = futures_util::future::join_all((0..3).map(|_| town.run(RECONCILE))).await;
    assert_eq!(passes.iter().map(|tally| tally.changed).sum::<usize>(), 6, "{passes:?}");
    assert_eq!(town.count("SELECT count(*) FROM settlement_lines").await, 12);
    town.run(RECONCILE).await;
    assert_eq!(town.count("SELECT count(*) FROM settlement_findings WHERE closed_at IS NULL").await, 0);
}

#[tokio::test]
async fn an_orphan_can_be_left_to_a_person() {
    let options = ServiceOptions { orphans: Orphans::Report, ..by_hand() };
    let town = Town::open_with("orphan report", Habits::default(), options).await;
    town.desk().charge_unasked("ord_orphan", 300, "EUR");
    town.desk().close_report().unwrap();
    town.run(RECONCILE).await;
    assert_eq!(findings(&town).await, ["orphan person open"]);
    assert_eq!(town.desk().charges("ord_orphan")[0].refunded, 0);
}

#[tokio::test]
async fn a_line_waits_for_whoever_is_at_work_and_a_failed_payment_goes_to_a_person() {
    let town = Town::open("settlement waits").await;
    town.desk().destine("ord_1", Fate { answer: Answer::Lost, ..Fate::default() });
    assert_eq!(town.pay("K-1", "ord_1", 500).await.code, 503);
    sqlx::query("UPDATE idempotency_keys SET locked_until = clock_timestamp() + interval '1 hour'")
        .execute(&town.pool)
        .await
        .unwrap();
    town.desk().close_report().unwrap();
    assert_eq!(town.run(RECONCILE).await.changed, 0);
    assert_eq!(findings(&town).await, Vec::<String>::new());
    // Somebody wrote FAILED over it meanwhile: the provider was paid, and nobody guesses.
    sqlx::query("UPDATE payments SET status = 'failed'").execute(&town.pool).await.unwrap();
    town.run(RECONCILE).await;
    assert_eq!(findings(&town).await, ["amount person open"]);
    assert_eq!(town.desk().charges("ord_1")[0].status, ChargeStatus::Succeeded);
    // Nobody of ours knows its ref: to the console it is a charge without a payment.
    let breaches = town.breaches().await;
    assert!(breaches.iter().any(|found| found.starts_with("I12 orphan")), "{breaches:?}");
}
