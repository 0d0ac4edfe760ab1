//! What was found, and what became of it. A finding is written before its remedy begins.

use sqlx::Row;
use sqlx::postgres::{PgConnection, PgPool};

use super::{Class, Remedy};
use crate::lab::service::PROVIDER;

/// One difference.
#[derive(Debug, Clone)]
pub(in crate::lab::service) struct Finding {
    pub(in crate::lab::service) class: Class,
    pub(in crate::lab::service) remedy: Remedy,
    pub(in crate::lab::service) provider_ref: String,
    pub(in crate::lab::service) payment: Option<String>,
    pub(in crate::lab::service) detail: String,
}

/// Writes it, once; what needs nothing more is closed at once. Says whether it is new.
pub(in crate::lab::service) async fn note(
    connection: &mut PgConnection,
    finding: &Finding,
) -> Result<bool, sqlx::Error> {
    let closed = match finding.remedy {
        Remedy::Finish | Remedy::CountOnce => "now",
        Remedy::Refund | Remedy::Person | Remedy::Ask => "open",
    };
    let new = sqlx::query(
        "INSERT INTO settlement_findings (provider, class, provider_ref, payment_id, remedy, detail, closed_at)
         VALUES ($1, $2, $3, $4, $5, $6, CASE WHEN $7 = 'now' THEN clock_timestamp() END) ON CONFLICT DO NOTHING",
    )
    .bind(PROVIDER)
    .bind(finding.class.word())
    .bind(&finding.provider_ref)
    .bind(&finding.payment)
    .bind(finding.remedy.word())
    .bind(&finding.detail)
    .bind(closed)
    .execute(connection)
    .await?;
    Ok(new.rows_affected() == 1)
}

/// Its remedy is done.
pub(in crate::lab::service) async fn close(pool: &PgPool, class: &str, provider_ref: &str) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE settlement_findings SET closed_at = clock_timestamp()
         WHERE provider = $1 AND class = $2 AND provider_ref = $3 AND closed_at IS NULL",
    )
    .bind(PROVIDER)
    .bind(class)
    .bind(provider_ref)
    .execute(pool)
    .await?;
    Ok(())
}

/// Charges that are to be given back and are not yet: class and ref.
pub(in crate::lab::service) async fn to_refund(pool: &PgPool) -> Result<Vec<(String, String)>, sqlx::Error> {
    sqlx::query_as(
        "SELECT class, provider_ref FROM settlement_findings
         WHERE provider = $1 AND remedy = 'refund' AND closed_at IS NULL ORDER BY found_at, provider_ref",
    )
    .bind(PROVIDER)
    .fetch_all(pool)
    .await
}

/// Successes of ours that no report lists, though one was closed after them.
pub(in crate::lab::service) async fn missing(pool: &PgPool) -> Result<Vec<Finding>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT p.id, p.provider_ref, p.amount, p.currency FROM payments p
         WHERE p.provider = $1 AND p.status = 'succeeded' AND p.provider_ref IS NOT NULL
           AND p.updated_at < (SELECT max(r.closed_at) FROM settlement_reports r WHERE r.provider = $1)
           AND NOT EXISTS (SELECT 1 FROM settlement_lines s WHERE s.provider = $1 AND s.provider_ref = p.provider_ref AND s.type = 'charge')
           AND NOT EXISTS (SELECT 1 FROM settlement_findings f WHERE f.provider = $1 AND f.provider_ref = p.provider_ref AND f.class = 'missing')
         ORDER BY p.updated_at, p.id",
    )
    .bind(PROVIDER)
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            let (amount, currency): (i64, String) = (row.try_get("amount")?, row.try_get("currency")?);
            Ok(Finding {
                class: Class::Missing,
                remedy: Remedy::Ask,
                provider_ref: row.try_get("provider_ref")?,
                payment: row.try_get("id")?,
                detail: format!("{amount} {currency}: in no report"),
            })
        })
        .collect()
}

/// Missing ones about which the provider has not been asked yet.
pub(in crate::lab::service) async fn to_ask(pool: &PgPool) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT provider_ref FROM settlement_findings
         WHERE provider = $1 AND remedy = 'ask' AND closed_at IS NULL AND strpos(detail, 'asked') = 0 ORDER BY provider_ref",
    )
    .bind(PROVIDER)
    .fetch_all(pool)
    .await
}

/// What was missing and is listed now: closed.
pub(in crate::lab::service) async fn returned(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE settlement_findings f SET closed_at = clock_timestamp()
         WHERE f.provider = $1 AND f.class = 'missing' AND f.closed_at IS NULL
           AND EXISTS (SELECT 1 FROM settlement_lines s WHERE s.provider = $1 AND s.provider_ref = f.provider_ref AND s.type = 'charge')",
    )
    .bind(PROVIDER)
    .execute(pool)
    .await?;
    Ok(())
}
