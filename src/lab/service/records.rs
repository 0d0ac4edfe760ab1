//! The service's rows: small transactions, each leaving a recovery point somebody else can go on from.
//!
//! Every change of a record asks for `status = 'processing'` and the attempt it was taken with: a slow
//! former owner changes nothing.

use axum::http::StatusCode;
use serde_json::Value;
use sqlx::postgres::PgPool;
use sqlx::{Postgres, Row, Transaction};

use super::PROVIDER;
use super::gateway::Called;

/// How far an operation is known to have got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    Created,
    ProviderCalled,
    Charged,
}

/// A record this worker holds the lease of.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) attempt: i32,
    pub(super) reached: Reached,
    pub(super) payment: String,
    pub(super) payment_status: String,
    pub(super) order: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) provider_key: String,
    pub(super) provider_ref: Option<String>,
}

/// What is there for a key already.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) fingerprint: String,
    pub(super) done: Option<(StatusCode, Value)>,
    /// Seconds the lease still lives; `None` when it is over.
    pub(super) lease_left: Option<u64>,
    pub(super) attempt: i32,
    pub(super) payment: Option<String>,
}

/// A request as it came in.
#[derive(Debug, Clone)]
pub(super) struct Intent {
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) fingerprint: String,
    pub(super) payment: String,
    pub(super) order: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) customer: Option<String>,
}

/// How an operation ended, all that is stored of it.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) payment_status: &'static str,
    pub(super) reason: Option<String>,
    pub(super) provider_ref: Option<String>,
    pub(super) code: StatusCode,
    pub(super) body: Value,
}

/// Whether a guarded change found its record as it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guarded {
    Changed,
    /// Somebody else took the lease meanwhile, or finished.
    Overtaken,
}

/// The rows as one worker (a pod, the recoverer) writes them.
#[derive(Debug, Clone)]
pub(super) struct Records {
    pub(super) pool: PgPool,
    pub(super) who: String,
    pub(super) lease_seconds: f64,
}

type Sql<T> = Result<T, sqlx::Error>;

impl Records {
    /// Wins the unique constraint, or does not: then nothing is written.
    pub(super) async fn claim(&self, intent: &Intent) -> Sql<Option<Held>> {
        let provider_key = format!("pay:{}:{}", intent.scope, intent.key);
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
        .bind(&provider_key)
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if won == 0 {
            return Ok(None);
        }
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
        .execute(&mut *tx)
        .await?;
        self.transition(&mut tx, &intent.payment, None, "created", None)
            .await?;
        self.begin_attempt(&mut tx, &intent.scope, &intent.key, 1)
            .await?;
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
        }))
    }

    pub(super) async fn see(&self, scope: &str, key: &str) -> Sql<Option<Seen>> {
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
        let code = code
            .and_then(|code| u16::try_from(code).ok())
            .and_then(|code| StatusCode::from_u16(code).ok());
        let left: i64 = row.try_get("lease_left")?;
        Ok(Some(Seen {
            fingerprint: row.try_get("fingerprint")?,
            done: if status == "done" {
                code.zip(body)
            } else {
                None
            },
            lease_left: u64::try_from(left).ok().filter(|left| *left > 0),
            attempt: row.try_get("attempt")?,
            payment: row.try_get("payment")?,
        }))
    }

    /// Takes an expired lease: one winner, by the attempt seen.
    pub(super) async fn take(
        &self,
        scope: &str,
        key: &str,
        seen_attempt: i32,
    ) -> Sql<Option<Held>> {
        let mut tx = self.pool.begin().await?;
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
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let attempt: i32 = row.try_get("attempt")?;
        self.begin_attempt(&mut tx, scope, key, attempt).await?;
        tx.commit().await?;
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
            provider_key: row.try_get("provider_key")?,
            provider_ref: row.try_get("provider_ref")?,
        }))
    }

    /// Writes `provider_called` before the first byte goes out, and the call itself.
    pub(super) async fn about_to_charge(
        &self,
        held: &mut Held,
        timeout_ms: i32,
    ) -> Sql<Option<i64>> {
        let mut tx = self.pool.begin().await?;
        if self.advance(&mut tx, held, "provider_called", None).await? == Guarded::Overtaken {
            return Ok(None);
        }
        if held.payment_status == "created" {
            self.move_payment(&mut tx, held, "pending", None, None)
                .await?;
        }
        let call = self.begin_call(&mut tx, held, "charge", timeout_ms).await?;
        tx.commit().await?;
        held.reached = Reached::ProviderCalled;
        Ok(Some(call))
    }

    pub(super) async fn about_to_look_up(&self, held: &Held, timeout_ms: i32) -> Sql<i64> {
        let mut tx = self.pool.begin().await?;
        let call = self.begin_call(&mut tx, held, "lookup", timeout_ms).await?;
        tx.commit().await?;
        Ok(call)
    }

    pub(super) async fn call_ended(&self, call: i64, called: &Called) -> Sql<()> {
        sqlx::query(
            "UPDATE provider_calls SET finished_at = clock_timestamp(), outcome = $2, http_status = $3, provider_ref = $4 WHERE id = $1",
        )
        .bind(call)
        .bind(called.outcome())
        .bind(called.http_status())
        .bind(called.charge())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The provider said yes: its id is written before anything else is tried.
    pub(super) async fn charged(&self, held: &mut Held, provider_ref: &str) -> Sql<Guarded> {
        let mut tx = self.pool.begin().await?;
        let guarded = self
            .advance(&mut tx, held, "charged", Some(provider_ref))
            .await?;
        if guarded == Guarded::Changed {
            tx.commit().await?;
            held.reached = Reached::Charged;
            held.provider_ref = Some(provider_ref.to_owned());
        }
        Ok(guarded)
    }

    /// The third outcome: the payment is UNKNOWN, the record stays `processing`, nothing is concluded.
    pub(super) async fn unknown(&self, held: &Held, why: &str) -> Sql<()> {
        let mut tx = self.pool.begin().await?;
        let ours = sqlx::query(
            "SELECT 1 FROM idempotency_keys WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3 FOR UPDATE",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .fetch_optional(&mut *tx)
        .await?;
        if ours.is_some() && held.payment_status != "unknown" {
            self.move_payment(&mut tx, held, "unknown", Some(why), None)
                .await?;
        }
        self.end_attempt(&mut tx, held, why).await?;
        tx.commit().await
    }

    /// Everything that has to be true together, in one transaction.
    pub(super) async fn finish(&self, held: &Held, outcome: &Outcome) -> Sql<Guarded> {
        let mut tx = self.pool.begin().await?;
        let changed = sqlx::query(
            "UPDATE idempotency_keys
             SET status = 'done', recovery_point = 'done', response_code = $4, response_body = $5,
                 provider_ref = coalesce($6, provider_ref), updated_at = clock_timestamp()
             WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .bind(i32::from(outcome.code.as_u16()))
        .bind(&outcome.body)
        .bind(&outcome.provider_ref)
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if changed == 0 {
            return Ok(Guarded::Overtaken);
        }
        let mut held = held.clone();
        if held.payment_status == "created" {
            self.move_payment(&mut tx, &held, "pending", None, None)
                .await?;
            "pending".clone_into(&mut held.payment_status);
        }
        let reason = outcome.reason.as_deref();
        self.move_payment(
            &mut tx,
            &held,
            outcome.payment_status,
            reason,
            outcome.provider_ref.as_deref(),
        )
        .await?;
        sqlx::query(
            "INSERT INTO outbox (payment_id, type, payload) VALUES ($1, 'payment.' || $2, $3)",
        )
        .bind(&held.payment)
        .bind(outcome.payment_status)
        .bind(&outcome.body)
        .execute(&mut *tx)
        .await?;
        self.end_attempt(&mut tx, &held, "done").await?;
        tx.commit().await?;
        Ok(Guarded::Changed)
    }

    /// Whether another payment of the order already succeeded.
    pub(super) async fn order_is_paid(&self, held: &Held) -> Sql<bool> {
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM payments WHERE order_id = $1 AND id <> $2 AND status = 'succeeded')")
            .bind(&held.order)
            .bind(&held.payment)
            .fetch_one(&self.pool)
            .await
    }

    /// Expired leases, the oldest first: what the recoverer works on.
    pub(super) async fn expired(&self) -> Sql<Vec<(String, String, i32)>> {
        sqlx::query_as(
            "SELECT scope, key, attempt FROM idempotency_keys
             WHERE status = 'processing' AND locked_until < clock_timestamp() ORDER BY created_at, scope, key LIMIT 20",
        )
        .fetch_all(&self.pool)
        .await
    }

    async fn advance(
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
        Ok(if changed == 0 {
            Guarded::Overtaken
        } else {
            Guarded::Changed
        })
    }

    async fn move_payment(
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
        self.transition(tx, &held.payment, Some(&held.payment_status), to, reason)
            .await
    }

    async fn transition(
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

    async fn begin_attempt(
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

    async fn end_attempt(
        &self,
        tx: &mut Transaction<'_, Postgres>,
        held: &Held,
        outcome: &str,
    ) -> Sql<()> {
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

    async fn begin_call(
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
        .bind(&held.provider_key)
        .bind(timeout_ms)
        .bind(&self.who)
        .fetch_one(&mut **tx)
        .await
    }
}
