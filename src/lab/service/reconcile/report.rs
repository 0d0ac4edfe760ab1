//! Fetching the provider's reports, page by page, and keeping each of them whole or not at all.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgPool;

use crate::lab::LabError;
use crate::lab::service::PROVIDER;

/// How long the provider may take for a page.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize)]
struct Reports {
    data: Vec<Report>,
}

#[derive(Debug, Deserialize)]
struct Report {
    id: String,
    closed_at: DateTime<Utc>,
}

/// One line of a report. Amounts are minor units.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    charge: String,
    reference: Option<String>,
    idempotency_key: Option<String>,
    amount: i64,
    currency: String,
    /// Unix seconds.
    at: i64,
}

#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Line>,
    has_more: bool,
}

/// Imports every report that is not there yet; says how many.
pub(in crate::lab::service) async fn import(
    pool: &PgPool,
    http: &reqwest::Client,
    provider: &str,
) -> Result<usize, LabError> {
    let Reports { data } = get(http, &format!("{provider}/v1/settlements"), &[]).await?;
    let mut imported = 0;
    for report in data {
        let there: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM settlement_reports WHERE provider = $1 AND report = $2)")
                .bind(PROVIDER)
                .bind(&report.id)
                .fetch_one(pool)
                .await?;
        if !there {
            let lines = all_lines(http, provider, &report.id).await?;
            imported += usize::from(keep(pool, &report, &lines).await?);
        }
    }
    Ok(imported)
}

async fn all_lines(http: &reqwest::Client, provider: &str, report: &str) -> Result<Vec<Line>, LabError> {
    let mut lines: Vec<Line> = Vec::new();
    loop {
        let after = lines.last().map(|line| line.id.clone());
        let mut query = vec![("limit", "100")];
        query.extend(after.as_deref().map(|last| ("starting_after", last)));
        let page: Page = get(http, &format!("{provider}/v1/settlements/{report}"), &query).await?;
        let empty = page.data.is_empty();
        lines.extend(page.data);
        if !page.has_more || empty {
            return Ok(lines);
        }
    }
}

/// Whether it was this worker who wrote it: another may be importing the same report.
async fn keep(pool: &PgPool, report: &Report, lines: &[Line]) -> Result<bool, LabError> {
    let mut tx = pool.begin().await?;
    let first = sqlx::query(
        "INSERT INTO settlement_reports (provider, report, closed_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    )
    .bind(PROVIDER)
    .bind(&report.id)
    .bind(report.closed_at)
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if first == 0 {
        return Ok(false);
    }
    for line in lines {
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO settlement_lines (provider, report, provider_ref, type, amount, currency, at, imported_at)
             VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::bigint), clock_timestamp()) RETURNING id",
        )
        .bind(PROVIDER)
        .bind(&report.id)
        .bind(&line.charge)
        .bind(&line.kind)
        .bind(line.amount)
        .bind(&line.currency)
        .bind(line.at)
        .fetch_one(&mut *tx)
        .await?;
        // Only charges are judged; a refund is the echo of something decided before.
        sqlx::query(
            "INSERT INTO settlement_names (line_id, reference, idempotency_key, judged_at)
             VALUES ($1, $2, $3, CASE WHEN $4 <> 'charge' THEN clock_timestamp() END)",
        )
        .bind(id)
        .bind(&line.reference)
        .bind(&line.idempotency_key)
        .bind(&line.kind)
        .execute(&mut *tx)
        .await?;
    }
    tx.commit().await?;
    Ok(true)
}

async fn get<T: DeserializeOwned>(http: &reqwest::Client, url: &str, query: &[(&str, &str)]) -> Result<T, LabError> {
    let answer = http.get(url).query(query).timeout(PATIENCE).send().await?.error_for_status()?;
    Ok(answer.json().await?)
}
