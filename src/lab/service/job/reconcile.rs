//! Reconciliation, pass by pass: import, judge, give back, ask. Each part may die and be made again.

use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use sqlx::Row;

use super::{Job, Tally, Workshop};
use crate::lab::LabError;
use crate::lab::service::reconcile::{self, Judged};
use crate::lab::service::{PROVIDER, StallPoint};

pub(super) static JOB: Job = Job {
    name: "reconcile",
    sentence: "holds the books against the provider's settlement reports",
    every: Duration::from_secs(5),
    pass: |workshop| pass(workshop).boxed(),
};

pub(super) const TABLES: &str = reconcile::TABLES;

async fn pass(workshop: &Workshop) -> Result<Tally, LabError> {
    let pool = workshop.pool();
    let reports = reconcile::import(pool, &workshop.http, &workshop.provider).await?;
    let mut tally = judge(workshop).await?;
    for finding in reconcile::missing(pool).await? {
        let mut connection = pool.acquire().await?;
        tally.seen += 1;
        tally.changed += usize::from(reconcile::note(&mut connection, &finding).await?);
    }
    reconcile::returned(pool).await?;
    ask(workshop).await?;
    give_back(workshop).await?;
    if reports > 0 {
        tell(workshop).await?;
    }
    Ok(tally)
}

/// Judges every line that is not judged yet; several workers take different ones.
async fn judge(workshop: &Workshop) -> Result<Tally, LabError> {
    let mut tally = Tally::default();
    let mut after = 0_i64;
    loop {
        let mut tx = workshop.pool().begin().await?;
        let line = sqlx::query(
            "SELECT s.id, s.provider_ref, s.amount, s.currency, n.reference, n.idempotency_key
             FROM settlement_names n JOIN settlement_lines s ON s.id = n.line_id
             WHERE n.judged_at IS NULL AND n.line_id > $1 ORDER BY n.line_id LIMIT 1 FOR UPDATE OF n SKIP LOCKED",
        )
        .bind(after)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(line) = line else { return Ok(tally) };
        after = line.try_get("id")?;
        tally.seen += 1;
        match reconcile::classify(&workshop.flow, &line, workshop.options.orphans).await? {
            Judged::Again => continue,
            Judged::Matches => {}
            Judged::Differs(finding) => tally.changed += usize::from(reconcile::note(&mut tx, &finding).await?),
        }
        sqlx::query("UPDATE settlement_names SET judged_at = clock_timestamp() WHERE line_id = $1")
            .bind(after)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
    }
}

/// Gives back what is nobody's, under one key a charge: a second time changes nothing.
async fn give_back(workshop: &Workshop) -> Result<(), LabError> {
    for (class, charge) in reconcile::to_refund(workshop.pool()).await? {
        let sent = workshop
            .http
            .post(format!("{}/v1/refunds", workshop.provider))
            .header("idempotency-key", format!("refund:{charge}"))
            .timeout(Duration::from_secs(10))
            .json(&json!({"charge": charge}))
            .send()
            .await;
        workshop.flow.stalls.pass(&charge, StallPoint::BeforeRefunded).await;
        // Not answered: the finding stays open and is tried again.
        if sent.is_ok_and(|answer| answer.status().is_success()) {
            reconcile::close(workshop.pool(), &class, &charge).await?;
        }
    }
    Ok(())
}

/// Asks the provider about what it does not list, and writes down what it says. It concludes nothing.
async fn ask(workshop: &Workshop) -> Result<(), LabError> {
    for charge in reconcile::to_ask(workshop.pool()).await? {
        let called = workshop.flow.gateway.verify(&charge).await;
        sqlx::query(
            "UPDATE settlement_findings SET detail = detail || '; asked, it says ' || $3
             WHERE provider = $1 AND class = 'missing' AND provider_ref = $2 AND closed_at IS NULL",
        )
        .bind(PROVIDER)
        .bind(&charge)
        .bind(called.outcome())
        .execute(workshop.pool())
        .await?;
    }
    Ok(())
}

/// What is open goes where the console reads what happened to the service.
async fn tell(workshop: &Workshop) -> Result<(), LabError> {
    let open: Vec<(String, i64)> = sqlx::query_as(
        "SELECT class, count(*) FROM settlement_findings WHERE provider = $1 AND (closed_at IS NULL OR remedy = 'refund')
         GROUP BY class ORDER BY class",
    )
    .bind(PROVIDER)
    .fetch_all(workshop.pool())
    .await?;
    let counts: Vec<String> = open.iter().map(|(class, count)| format!("{count} {class}")).collect();
    let what = if counts.is_empty() {
        "settlement: all accounted for".to_owned()
    } else {
        format!("settlement: {}", counts.join(", "))
    };
    sqlx::query("INSERT INTO service_events (at, kind, what, who) VALUES (clock_timestamp(), 'sweeper', $1, $2)")
        .bind(what)
        .bind(&workshop.flow.records.who)
        .execute(workshop.pool())
        .await?;
    Ok(())
}
