//! Who works on a record: winning the unique constraint, seeing what is there, taking an expired lease.

use axum::http::StatusCode;
use serde_json::Value;
use sqlx::{Postgres, Row, Transaction};

use super::facts::facts;
use super::{Held, Intent, Reached, Records, Seen, Sql};
use crate::domain::ids::RecordId;
use crate::domain::record::RecordDetail;
use crate::lab::service::flaw::Takeover;
use crate::lab::service::{PROVIDER, large};

impl Records {
    /// Wins the unique constraint, or does not: then nothing is written.
    pub(in crate::lab::service) async fn claim(&self, intent: &Intent) -> Sql<Option<Held>> {
        let provider_key = intent.provider_key();
        let mut tx = self.pool.begin().await?;
        let won = sqlx::query(
            "INSERT INTO idempotency_keys (scope, key, fingerprint, status, locked_until, locked_by, order_id, provider, provider_key)
             VALUES ($1, $2, $3, 'processing', clock_timestamp() + make_interval(secs => $4), $5, $6, $7, $8)
             ON CONFLICT (scope, key) DO NOTHING",
        )
        .bind(&intent.scope)
        .bind(&intent.key)
        .bind(&intent.fingerprint)
        .bind(self.lease_seconds)
        .bind(&self.who)
        .bind(&intent.order)
        .bind(PROVIDER)
        .bind(self.conduct.provider_key.sent(&provider_key))
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if won == 0 {
            return Ok(None);
        }
        let spent: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM payments WHERE id = $1)")
            .bind(&intent.payment)
            .fetch_one(&mut *tx)
            .await?;
        if spent {
            // The key did its work long ago and its record made room: claimed again, it would charge again.
            return Ok(None);
        }
        self.insert_payment(&mut tx, intent).await?;
        if let Some(lines) = &intent.lines {
            sqlx::query("INSERT INTO receipts (payment_id, lines) VALUES ($1, $2)")
                .bind(&intent.payment)
                .bind(lines)
                .execute(&mut *tx)
                .await?;
        }
        self.begin_attempt(&mut tx, &intent.scope, &intent.key, 1).await?;
        tx.commit().await?;
        Ok(Some(Held {
            scope: intent.scope.clone(),
            key: intent.key.clone(),
            attempt: 1,
            reached: Reached::Created,
            payment: intent.payment.clone(),
            payment_status: "created".to_owned(),
            order: intent.order.clone(),
            amount: intent.amount,
            currency: intent.currency.clone(),
            provider_key,
            provider_ref: None,
            not_after: None,
        }))
    }

    pub(in crate::lab::service) async fn see(&self, scope: &str, key: &str) -> Sql<Option<Seen>> {
        let row = sqlx::query(
            "SELECT k.fingerprint, k.status, k.response_code, k.response_body, k.attempt, p.id AS payment,
                    ceil(extract(epoch FROM k.locked_until - clock_timestamp()))::int8 AS lease_left
             FROM idempotency_keys k LEFT JOIN payments p ON p.scope = k.scope AND p.key = k.key
             WHERE k.scope = $1 AND k.key = $2 ORDER BY p.created_at LIMIT 1",
        )
        .bind(scope)
        .bind(key)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let status: String = row.try_get("status")?;
        let code: Option<i32> = row.try_get("response_code")?;
        let body: Option<Value> = row.try_get("response_body")?;
        let body = match body {
            Some(kept) => Some(large::restored(&self.pool, kept).await?),
            None => None,
        };
        let code = code.and_then(|code| u16::try_from(code).ok()).and_then(|code| StatusCode::from_u16(code).ok());
        let left: i64 = row.try_get("lease_left")?;
        Ok(Some(Seen {
            fingerprint: row.try_get("fingerprint")?,
            done: if status == "done" { code.zip(body) } else { None },
            lease_left: u64::try_from(left).ok().filter(|left| *left > 0),
            attempt: row.try_get("attempt")?,
            payment: row.try_get("payment")?,
        }))
    }

    /// The payment of a key that has no record any more, and its status.
    pub(in crate::lab::service) async fn spent(&self, payment: &str) -> Sql<Option<String>> {
        sqlx::query_scalar("SELECT status FROM payments WHERE id = $1").bind(payment).fetch_optional(&self.pool).await
    }

    /// Takes an expired lease: one winner, by the attempt seen.
    pub(in crate::lab::service) async fn take(&self, scope: &str, key: &str, seen_attempt: i32) -> Sql<Option<Held>> {
        if self.conduct.takeover == Takeover::Never {
            return Ok(None);
        }
        let mut tx = self.pool.begin().await?;
        let held = self.take_in(&mut tx, scope, key, seen_attempt).await?;
        tx.commit().await?;
        Ok(held)
    }

    /// The same for a decision that was made before: only if nothing changed since the record was read.
    pub(in crate::lab::service) async fn take_as_seen(&self, seen: &RecordDetail) -> Sql<Option<Held>> {
        let id = &seen.record.id;
        let Some(attempt) = seen.record.attempt.and_then(|attempt| i32::try_from(attempt.0).ok()) else {
            return Ok(None);
        };
        let mut tx = self.pool.begin().await?;
        lock(&mut tx, id).await?;
        let same = facts(&mut tx, id).await?.is_some_and(|now| now.record.version == seen.record.version);
        if !same {
            return Ok(None);
        }
        let held = self.take_in(&mut tx, id.scope.as_str(), id.key.as_str(), attempt).await?;
        tx.commit().await?;
        Ok(held)
    }

    pub(super) async fn take_in(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        scope: &str,
        key: &str,
        seen_attempt: i32,
    ) -> Sql<Option<Held>> {
        let row = sqlx::query(
            "UPDATE idempotency_keys k
             SET locked_until = clock_timestamp() + make_interval(secs => $4), locked_by = $5, attempt = k.attempt + 1, updated_at = clock_timestamp()
             FROM payments p
             WHERE k.scope = $1 AND k.key = $2 AND k.status = 'processing' AND k.attempt = $3 AND k.locked_until < clock_timestamp()
               AND p.scope = k.scope AND p.key = k.key AND p.status IN ('created', 'pending', 'unknown')
             RETURNING k.attempt, k.recovery_point, k.order_id, k.provider_key, k.provider_ref, p.id AS payment, p.status, p.amount, p.currency",
        )
        .bind(scope)
        .bind(key)
        .bind(seen_attempt)
        .bind(self.lease_seconds)
        .bind(&self.who)
        .fetch_optional(&mut **tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let attempt: i32 = row.try_get("attempt")?;
        self.begin_attempt(tx, scope, key, attempt).await?;
        let point: String = row.try_get("recovery_point")?;
        Ok(Some(Held {
            scope: scope.to_owned(),
            key: key.to_owned(),
            attempt,
            reached: match point.as_str() {
                "created" => Reached::Created,
                "charged" => Reached::Charged,
                _ => Reached::ProviderCalled,
            },
            payment: row.try_get("payment")?,
            payment_status: row.try_get("status")?,
            order: row.try_get("order_id")?,
            amount: row.try_get("amount")?,
            currency: row.try_get("currency")?,
            provider_key: row.try_get::<Option<String>, _>("provider_key")?.unwrap_or_default(),
            provider_ref: row.try_get("provider_ref")?,
            not_after: None,
        }))
    }

    /// Gives a lease back that nothing came of. The attempt stays: what was taken was taken.
    pub(in crate::lab::service) async fn give_back(&self, held: &Held, why: &str) -> Sql<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "UPDATE idempotency_keys SET locked_until = least(locked_until, clock_timestamp()), updated_at = clock_timestamp()
             WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .execute(&mut *tx)
        .await?;
        self.end_attempt(&mut tx, held, why).await?;
        tx.commit().await
    }

    /// Whether another payment of the order already succeeded.
    pub(in crate::lab::service) async fn order_is_paid(&self, held: &Held) -> Sql<bool> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM payments WHERE order_id = $1 AND id <> $2 AND status = 'succeeded')",
        )
        .bind(&held.order)
        .bind(&held.payment)
        .fetch_one(&self.pool)
        .await
    }

    /// Another payment that carries a charge; one charge pays for one payment.
    pub(in crate::lab::service) async fn owner_of(&self, held: &Held, provider_ref: &str) -> Sql<Option<String>> {
        sqlx::query_scalar("SELECT id FROM payments WHERE provider = $1 AND provider_ref = $2 AND id <> $3 LIMIT 1")
            .bind(PROVIDER)
            .bind(provider_ref)
            .bind(&held.payment)
            .fetch_optional(&self.pool)
            .await
    }
}

/// Nobody else changes the record or its payment from here to the end of the transaction.
async fn lock(tx: &mut Transaction<'_, Postgres>, id: &RecordId) -> Sql<()> {
    sqlx::query("SELECT 1 FROM idempotency_keys WHERE scope = $1 AND key = $2 FOR UPDATE")
        .bind(id.scope.as_str())
        .bind(id.key.as_str())
        .fetch_optional(&mut **tx)
        .await?;
    Ok(())
}
