//! What the provider's word means for a payment, whether a webhook or a settlement line brought it.
//!
//! Only legal edges, only with the lease: nobody overtakes a pod that is at work or a person who holds the
//! record. What contradicts the books changes nothing and stays visible as not applied.

use axum::http::StatusCode;
use serde::Deserialize;
use sqlx::Row;

use crate::lab::service::PROVIDER;
use crate::lab::service::flow::Flow;
use crate::lab::service::gateway::{Called, Found, judge};

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum Applied {
    /// The payment is final now.
    Changed,
    /// The books say so already, or it says nothing final.
    Nothing,
    /// Not yet, or not without a person: why.
    Kept(&'static str),
}

/// A charge as the provider tells it without being asked.
#[derive(Debug, Clone, Deserialize)]
pub(in crate::lab::service) struct Evidence {
    #[serde(flatten)]
    pub(in crate::lab::service) charge: Found,
    /// The payment it names.
    pub(in crate::lab::service) reference: Option<String>,
    /// Given back so far, minor units.
    #[serde(default)]
    pub(in crate::lab::service) refunded: i64,
}

impl Evidence {
    pub(in crate::lab::service) fn id(&self) -> &str {
        &self.charge.id
    }
}

/// The payment a piece of evidence is about, and its record.
#[derive(Debug)]
struct Ours {
    scope: String,
    key: String,
    status: String,
    provider_ref: Option<String>,
    amount: i64,
    currency: String,
    /// The attempt of a record that is not done.
    attempt: Option<i32>,
    lease: Lease,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lease {
    Live,
    Over,
}

impl Flow {
    /// Applies evidence of `kind` (`charge.succeeded` …) if it may be applied now.
    pub(in crate::lab::service) async fn apply(&self, kind: &str, evidence: &Evidence) -> Result<Applied, sqlx::Error> {
        let called = judge(evidence.charge.clone(), StatusCode::OK);
        if let Called::Open { .. } = called {
            return Ok(Applied::Nothing);
        }
        let mut ours = self.ours(evidence).await?;
        let Some(payment) = ours.pop() else { return Ok(Applied::Kept("no payment of ours")) };
        if !ours.is_empty() {
            return Ok(Applied::Kept("two payments of ours"));
        }
        if payment.provider_ref.as_deref().is_some_and(|known| known != evidence.id()) {
            return Ok(Applied::Kept("the payment has another charge"));
        }
        if (payment.amount, payment.currency.as_str()) != (evidence.charge.amount, evidence.charge.currency.as_str()) {
            return Ok(Applied::Kept("another amount"));
        }
        let (wanted, refunded) = (final_status(&called), evidence.refunded > 0 || kind == "charge.refunded");
        match payment.status.as_str() {
            "succeeded" | "failed" if payment.status == wanted => return Ok(Applied::Nothing),
            "succeeded" | "failed" => return Ok(Applied::Kept("it contradicts a final payment")),
            _ if refunded => return Ok(Applied::Kept("given back before the payment was final")),
            _ => {}
        }
        let Some(attempt) = payment.attempt else { return Ok(Applied::Kept("its record is not open")) };
        if payment.lease == Lease::Live {
            return Ok(Applied::Kept("somebody is at work on it"));
        }
        let Some(held) = self.records.take(&payment.scope, &payment.key, attempt).await? else {
            return Ok(Applied::Kept("somebody else was quicker"));
        };
        let answer = self.conclude(held, called).await?;
        if answer.code == StatusCode::SERVICE_UNAVAILABLE || answer.code == StatusCode::CONFLICT {
            return Ok(Applied::Kept("it could not be finished"));
        }
        Ok(Applied::Changed)
    }

    async fn ours(&self, evidence: &Evidence) -> Result<Vec<Ours>, sqlx::Error> {
        let rows = sqlx::query(
            "SELECT p.scope, p.key, p.status, coalesce(p.provider_ref, k.provider_ref) AS provider_ref, p.amount, p.currency,
                    CASE WHEN k.status = 'processing' THEN k.attempt END AS attempt, coalesce(k.locked_until >= clock_timestamp(), false) AS live
             FROM payments p LEFT JOIN idempotency_keys k ON k.scope = p.scope AND k.key = p.key
             WHERE p.provider = $1 AND (p.provider_ref = $2 OR k.provider_ref = $2 OR p.id = $3)",
        )
        .bind(PROVIDER)
        .bind(evidence.id())
        .bind(&evidence.reference)
        .fetch_all(&self.records.pool)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(Ours {
                    scope: row.try_get("scope")?,
                    key: row.try_get("key")?,
                    status: row.try_get("status")?,
                    provider_ref: row.try_get("provider_ref")?,
                    amount: row.try_get("amount")?,
                    currency: row.try_get("currency")?,
                    attempt: row.try_get("attempt")?,
                    lease: if row.try_get("live")? { Lease::Live } else { Lease::Over },
                })
            })
            .collect()
    }
}

fn final_status(called: &Called) -> &'static str {
    match called {
        Called::Succeeded(_) => "succeeded",
        Called::Declined { .. } => "failed",
        Called::Open { .. } | Called::Absent | Called::TimedOut | Called::Broken { .. } => "unknown",
    }
}
