//! The single rows a step is made of, each written inside the step's transaction.

use serde_json::Value;
use sqlx::{Postgres, Transaction};

use super::{Guarded, Held, Intent, Records, Sql};
use crate::lab::service::PROVIDER;

impl Records {
    pub(super) async fn insert_payment(&self, tx: &mut Transaction<'_, Postgres>, intent: &Intent) -> Sql<()> {
        sqlx::query(
            "INSERT INTO payments (id, order_id, scope, key, customer_id, provider, status, amount, currency)
             VALUES ($1, $2, $3, $4, $5, $6, 'created', $7, $8)",
        )
        .bind(&intent.payment)
        .bind(&intent.order)
        .bind(&intent.scope)
        .bind(&intent.key)
        .bind(&intent.customer)
        .bind(PROVIDER)
        .bind(intent.amount)
        .bind(&intent.currency)
        .execute(&mut **tx)
        .await?;
        self.transition(tx, &intent.payment, None, "created", None).await
    }

    pub(super) async fn publish(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        payment: &str,
        status: &str,
        body: &Value,
    ) -> Sql<()> {
        sqlx::query("INSERT INTO outbox (payment_id, type, payload) VALUES ($1, 'payment.' || $2, $3)")
            .bind(payment)
            .bind(status)
            .bind(body)
            .execute(&mut **tx)
            .await?;
        Ok(())
    }

    pub(super) async fn advance(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        held: &Held,
        point: &str,
        provider_ref: Option<&str>,
    ) -> Sql<Guarded> {
        let changed = sqlx::query(
            "UPDATE idempotency_keys SET recovery_point = $4, provider_ref = coalesce($5, provider_ref), updated_at = clock_timestamp()
             WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .bind(point)
        .bind(provider_ref)
        .execute(&mut **tx)
        .await?
        .rows_affected();
        Ok(if changed == 0 { Guarded::Overtaken } else { Guarded::Changed })
    }

    pub(super) async fn move_payment(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        held: &Held,
        to: &str,
        reason: Option<&str>,
        provider_ref: Option<&str>,
    ) -> Sql<()> {
        sqlx::query(
            "UPDATE payments SET status = $2, failure_reason = CASE WHEN $2 = 'failed' THEN $3 ELSE failure_reason END,
                    provider_ref = coalesce($4, provider_ref), updated_at = clock_timestamp()
             WHERE id = $1",
        )
        .bind(&held.payment)
        .bind(to)
        .bind(reason)
        .bind(provider_ref)
        .execute(&mut **tx)
        .await?;
        self.transition(tx, &held.payment, Some(&held.payment_status), to, reason).await
    }

    pub(super) async fn transition(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        payment: &str,
        from: Option<&str>,
        to: &str,
        reason: Option<&str>,
    ) -> Sql<()> {
        sqlx::query(
            "INSERT INTO payment_transitions (payment_id, from_status, to_status, at, actor, reason) VALUES ($1, $2, $3, clock_timestamp(), $4, $5)",
        )
        .bind(payment)
        .bind(from)
        .bind(to)
        .bind(&self.who)
        .bind(reason)
        .execute(&mut **tx)
        .await?;
        Ok(())
    }

    pub(super) async fn begin_attempt(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        scope: &str,
        key: &str,
        attempt: i32,
    ) -> Sql<()> {
        sqlx::query(
            "INSERT INTO payment_attempts (scope, key, attempt, worker, lease_until)
             VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))",
        )
        .bind(scope)
        .bind(key)
        .bind(attempt)
        .bind(&self.who)
        .bind(self.lease_seconds)
        .execute(&mut **tx)
        .await?;
        Ok(())
    }

    pub(super) async fn end_attempt(&self, tx: &mut Transaction<'_, Postgres>, held: &Held, outcome: &str) -> Sql<()> {
        sqlx::query(
            "UPDATE payment_attempts SET finished_at = clock_timestamp(), outcome = $4 WHERE scope = $1 AND key = $2 AND attempt = $3",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .bind(outcome)
        .execute(&mut **tx)
        .await?;
        Ok(())
    }

    pub(super) async fn begin_call(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        held: &Held,
        purpose: &str,
        timeout_ms: i32,
    ) -> Sql<i64> {
        sqlx::query_scalar(
            "INSERT INTO provider_calls (at, scope, key, payment_id, provider, purpose, provider_key, timeout_ms, pod)
             VALUES (clock_timestamp(), $1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(&held.payment)
        .bind(PROVIDER)
        .bind(purpose)
        .bind(self.conduct.provider_key.sent(&held.provider_key))
        .bind(timeout_ms)
        .bind(&self.who)
        .fetch_one(&mut **tx)
        .await
    }
}
