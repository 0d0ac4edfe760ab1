//! Calls to the provider: written down before they leave, and held back when it is too late for them.

use std::time::Duration;

use super::{Held, Reached, Records, Sql};
use crate::lab::service::gateway::Called;

/// Why a charge was not sent. Nothing reached the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum NotSent {
    /// The lease is over or somebody else's, or the hand back's time is up.
    TooLate,
    /// The provider may have forgotten the key: with it, a charge could be a second one.
    KeyTooOld,
    /// The provider reads no keys and was asked before: another charge would be a second one.
    AskedBefore,
}

impl NotSent {
    pub(in crate::lab::service) fn why(self) -> &'static str {
        match self {
            Self::TooLate => "nothing was sent: the lease or the time to charge was over",
            Self::KeyTooOld => "nothing was sent: the provider may have forgotten the key",
            Self::AskedBefore => "nothing was sent: the provider reads no keys and was asked before",
        }
    }
}

impl Records {
    /// Writes `provider_called` before the first byte goes out, and the call itself.
    pub(in crate::lab::service) async fn about_to_charge(
        &self,
        held: &mut Held,
        timeout_ms: i32,
    ) -> Sql<Result<i64, NotSent>> {
        let mut tx = self.pool.begin().await?;
        let ours = sqlx::query(
            "UPDATE idempotency_keys SET recovery_point = 'provider_called', updated_at = clock_timestamp()
             WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3
               AND least(locked_until, $4) > clock_timestamp()",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .bind(held.not_after)
        .execute(&mut *tx)
        .await?;
        if ours.rows_affected() == 0 {
            return Ok(Err(NotSent::TooLate));
        }
        // The record's own birth lies when the record was lost and made again: whatever knows the key counts.
        let known: bool = sqlx::query_scalar(
            "SELECT CASE WHEN $3::float8 IS NULL
               THEN NOT EXISTS (SELECT 1 FROM provider_calls c WHERE c.scope = k.scope AND c.key = k.key AND c.purpose = 'charge')
               ELSE least(k.created_at,
                 (SELECT min(p.created_at) FROM payments p WHERE p.scope = k.scope AND p.key = k.key),
                 (SELECT min(r.at) FROM api_requests r WHERE r.scope = k.scope AND r.key = k.key),
                 (SELECT min(c.at) FROM provider_calls c WHERE c.scope = k.scope AND c.key = k.key),
                 (SELECT min(a.started_at) FROM payment_attempts a WHERE a.scope = k.scope AND a.key = k.key))
                 + make_interval(secs => $3::float8) > clock_timestamp() END
             FROM idempotency_keys k WHERE k.scope = $1 AND k.key = $2",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(self.key_life.map(|life| life.delta().as_seconds_f64()))
        .fetch_one(&mut *tx)
        .await?;
        if !known {
            return Ok(Err(if self.key_life.is_some() { NotSent::KeyTooOld } else { NotSent::AskedBefore }));
        }
        if held.payment_status == "created" {
            self.move_payment(&mut tx, held, "pending", None, None).await?;
        }
        let call = self.begin_call(&mut tx, held, "charge", timeout_ms).await?;
        tx.commit().await?;
        held.reached = Reached::ProviderCalled;
        Ok(Ok(call))
    }

    /// How long a call may still leave, by the lease and the hand back; `None`: the record is not ours any more.
    /// Asked right before sending: a worker that slept since it wrote `provider_called` must not send.
    pub(in crate::lab::service) async fn time_left(&self, held: &Held) -> Sql<Option<Duration>> {
        let left: Option<f64> = sqlx::query_scalar(
            "SELECT extract(epoch FROM least(locked_until, $4) - clock_timestamp())::float8 FROM idempotency_keys
             WHERE scope = $1 AND key = $2 AND status = 'processing' AND attempt = $3",
        )
        .bind(&held.scope)
        .bind(&held.key)
        .bind(held.attempt)
        .bind(held.not_after)
        .fetch_optional(&self.pool)
        .await?;
        Ok(left.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
    }

    /// The call that was written down did not leave.
    pub(in crate::lab::service) async fn never_left(&self, call: i64) -> Sql<()> {
        self.close_call(call, "error", None, None).await
    }

    pub(in crate::lab::service) async fn about_to_look_up(&self, held: &Held, timeout_ms: i32) -> Sql<i64> {
        let mut tx = self.pool.begin().await?;
        let call = self.begin_call(&mut tx, held, "lookup", timeout_ms).await?;
        tx.commit().await?;
        Ok(call)
    }

    pub(in crate::lab::service) async fn call_ended(&self, call: i64, called: &Called) -> Sql<()> {
        self.close_call(call, called.outcome(), called.http_status(), called.charge()).await
    }

    pub(in crate::lab::service) async fn close_call(
        &self,
        call: i64,
        outcome: &str,
        http: Option<i32>,
        provider_ref: Option<&str>,
    ) -> Sql<()> {
        sqlx::query(
            "UPDATE provider_calls SET finished_at = clock_timestamp(), outcome = $2, http_status = $3, provider_ref = $4 WHERE id = $1",
        )
        .bind(call)
        .bind(outcome)
        .bind(http)
        .bind(provider_ref)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
