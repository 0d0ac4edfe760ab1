//! The service's rows: small transactions, each leaving a recovery point somebody else can go on from.
//!
//! Every change of a record asks for `status = 'processing'` and the attempt it was taken with: a slow
//! former owner changes nothing.

mod bare;
mod calls;
mod facts;
mod hand_back;
mod lease;
mod rows;
mod turns;

use axum::http::StatusCode;
use serde_json::Value;
use sqlx::postgres::PgPool;

use super::flaw::Conduct;
use super::{ServiceOptions, large};
use crate::domain::time::{Instant, Seconds};

pub(super) use calls::NotSent;
pub(super) use hand_back::{Ending, HandBack, Take};
pub(super) use turns::TABLES as SWEEP_TURNS;

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
    /// A hand back allows a charge until then; `None`: only the lease and the key's age say when it is too late.
    pub(super) not_after: Option<Instant>,
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
    /// What its receipt lists.
    pub(super) lines: Option<Value>,
}

impl Intent {
    /// Our name for the charge at the provider, the same on every attempt.
    pub(super) fn provider_key(&self) -> String {
        format!("pay:{}:{}", self.scope, self.key)
    }
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
    pub(super) conduct: Conduct,
    /// How long after its first use the provider key is relied on: its retention less the margin. `None`: the
    /// provider promises nothing, so a key is used once.
    pub(super) key_life: Option<Seconds>,
}

type Sql<T> = Result<T, sqlx::Error>;

impl Records {
    pub(super) fn new(pool: PgPool, who: String, options: &ServiceOptions) -> Self {
        let margin = options.policy.key_margin.0;
        Self {
            pool,
            who,
            lease_seconds: options.lease_seconds(),
            conduct: options.conduct,
            key_life: options.terms.key_retention.map(|kept| Seconds(kept.0.saturating_sub(margin))),
        }
    }

    /// The provider said yes: its id is written before anything else is tried.
    pub(super) async fn charged(&self, held: &mut Held, provider_ref: &str) -> Sql<Guarded> {
        let mut tx = self.pool.begin().await?;
        let guarded = self.advance(&mut tx, held, "charged", Some(provider_ref)).await?;
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
            self.move_payment(&mut tx, held, "unknown", Some(why), None).await?;
        }
        self.end_attempt(&mut tx, held, why).await?;
        tx.commit().await
    }

    /// Everything that has to be true together, in one transaction.
    pub(super) async fn finish(&self, held: &Held, outcome: &Outcome) -> Sql<Guarded> {
        let body = large::kept(&outcome.body, &held.payment);
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
        .bind(&body)
        .bind(&outcome.provider_ref)
        .execute(&mut *tx)
        .await?
        .rows_affected();
        if changed == 0 {
            return Ok(Guarded::Overtaken);
        }
        let mut held = held.clone();
        if held.payment_status == "created" {
            self.move_payment(&mut tx, &held, "pending", None, None).await?;
            "pending".clone_into(&mut held.payment_status);
        }
        let reason = outcome.reason.as_deref();
        self.move_payment(&mut tx, &held, outcome.payment_status, reason, outcome.provider_ref.as_deref()).await?;
        self.publish(&mut tx, &held.payment, outcome.payment_status, &body).await?;
        self.end_attempt(&mut tx, &held, "done").await?;
        tx.commit().await?;
        Ok(Guarded::Changed)
    }
}
