//! One record as the recovery table wants it: read with the very query the console reads it with.

use serde::Deserialize;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::types::Json;

use super::{Held, Reached, Records, Sql};
use crate::domain::ids::{
    Attempt, Holder, Key, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId, Scope, Version,
};
use crate::domain::money::Money;
use crate::domain::payment::PaymentStatus;
use crate::domain::record::{Lease, Record, RecordDetail, RecordStatus, RecoveryPoint, Sibling};
use crate::domain::time::Instant;

/// The variant for who may read the service's tables and nothing of schema `unstuck`.
const RECORD: &str = include_str!("../../../../queries/reference/uninstalled/get_record.sql");

impl Records {
    /// The record whole.
    pub(in crate::lab::service) async fn facts(&self, id: &RecordId) -> Sql<Option<RecordDetail>> {
        let mut connection = self.pool.acquire().await?;
        facts(&mut connection, id).await
    }

    /// The database's clock: what leases, look-ups and decisions are timed by.
    pub(in crate::lab::service) async fn now(&self) -> Sql<Instant> {
        sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(&self.pool).await
    }
}

/// The same inside a transaction.
pub(super) async fn facts(connection: &mut PgConnection, id: &RecordId) -> Sql<Option<RecordDetail>> {
    let row = sqlx::query(RECORD).bind(id.scope.as_str()).bind(id.key.as_str()).fetch_optional(connection).await?;
    row.as_ref().map(detail).transpose()
}

impl Held {
    /// The record as it was seen, by somebody who did not take it; `None` when it has no payment or no provider key.
    pub(in crate::lab::service) fn seen(detail: &RecordDetail) -> Option<Self> {
        let record = &detail.record;
        let money = record.money.as_ref()?;
        Some(Self {
            scope: record.id.scope.as_str().to_owned(),
            key: record.id.key.as_str().to_owned(),
            attempt: i32::try_from(record.attempt?.0).ok()?,
            reached: match record.recovery_point.as_ref()? {
                RecoveryPoint::Created => Reached::Created,
                RecoveryPoint::Charged | RecoveryPoint::Done => Reached::Charged,
                RecoveryPoint::ProviderCalled | RecoveryPoint::Unrecognised(_) => Reached::ProviderCalled,
            },
            payment: record.payment.as_ref()?.as_str().to_owned(),
            payment_status: record.payment_status.as_ref()?.to_string().to_lowercase(),
            order: record.order.as_ref()?.as_str().to_owned(),
            amount: money.minor,
            currency: money.currency.to_string(),
            provider_key: detail.provider_key.as_ref()?.as_str().to_owned(),
            provider_ref: record.provider_ref.as_ref().map(|found| found.as_str().to_owned()),
            not_after: None,
        })
    }
}

/// One element of the column `siblings`.
#[derive(Debug, Deserialize)]
struct SiblingRow {
    payment_id: String,
    status: String,
    amount: Option<i64>,
    currency: Option<String>,
    provider_ref: Option<String>,
    scope: String,
    key: String,
}

impl From<SiblingRow> for Sibling {
    fn from(row: SiblingRow) -> Self {
        Self {
            payment: PaymentId::new(row.payment_id),
            status: PaymentStatus::from_word(&row.status),
            money: row.amount.zip(row.currency).map(|(minor, currency)| Money::new(minor, currency)),
            provider_ref: row.provider_ref.map(ProviderRef::new),
            scope: Scope::new(row.scope),
            key: Key::new(row.key),
        }
    }
}

fn detail(row: &PgRow) -> Sql<RecordDetail> {
    let text = |column: &str| row.try_get::<Option<String>, _>(column);
    let instant = |column: &str| row.try_get::<Option<Instant>, _>(column);
    let amount: Option<i64> = row.try_get("amount")?;
    let siblings: Json<Vec<SiblingRow>> = row.try_get("siblings")?;
    let record = Record {
        id: RecordId::new(row.try_get::<String, _>("scope")?, row.try_get::<String, _>("key")?),
        order: text("order_id")?.map(OrderId::new),
        payment: text("payment_id")?.map(PaymentId::new),
        status: RecordStatus::from_word(&row.try_get::<String, _>("status")?),
        payment_status: text("payment_status")?.as_deref().map(PaymentStatus::from_word),
        recovery_point: text("recovery_point")?.as_deref().map(RecoveryPoint::from_word),
        lease: Lease { until: instant("lease_until")?, holder: text("lease_holder")?.map(Holder::new) },
        attempt: row.try_get::<Option<i64>, _>("attempt")?.map(Attempt),
        provider: text("provider")?.map(ProviderName::new),
        provider_ref: text("provider_ref")?.map(ProviderRef::new),
        money: amount.zip(text("currency")?).map(|(minor, currency)| Money::new(minor, currency)),
        first_key_use: instant("first_key_use")?,
        created_at: row.try_get("created_at")?,
        changed_at: row.try_get("changed_at")?,
        owner: None,
        version: Version::new(row.try_get::<String, _>("version")?),
    };
    Ok(RecordDetail {
        record,
        fingerprint: text("fingerprint")?,
        response_code: row.try_get("response_code")?,
        provider_key: text("provider_key")?.map(ProviderKey::new),
        last_attempt_at: instant("last_attempt_at")?,
        siblings: siblings.0.into_iter().map(Sibling::from).collect(),
        ref_owner: text("ref_owner")?.map(PaymentId::new),
    })
}
