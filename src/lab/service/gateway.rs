//! The service's side of the provider: charge with our key, look up by key, reference or id.
//!
//! A time-out, a reset and a 5xx are the third outcome: unknown. Never a failure.

mod sight;

use std::time::Duration;

use reqwest::StatusCode;
use serde::Deserialize;

use crate::lab::{LabError, http};

/// A charge as far as the service cares.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    pub(super) failure_code: Option<String>,
}

/// How a call ended.
#[derive(Debug, Clone)]
pub(super) enum Called {
    /// Final yes.
    Succeeded(Found),
    /// Final no, with the charge if there is one.
    Declined { code: String, charge: Option<String> },
    /// Answered, but nothing final: pending, held, in flight under the same key.
    Open { http: StatusCode, charge: Option<String> },
    /// No such charge, from a listing that is consistent.
    Absent,
    /// No answer within the time-out.
    TimedOut,
    /// Reset, 5xx, or an answer that makes no sense.
    Broken { http: Option<StatusCode> },
}

impl Called {
    /// The word for `provider_calls.outcome`.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Self::Succeeded(_) | Self::Open { .. } | Self::Absent => "ok",
            Self::Declined { .. } => "declined",
            Self::TimedOut => "timeout",
            Self::Broken { .. } => "error",
        }
    }

    pub(super) fn http_status(&self) -> Option<i32> {
        match self {
            Self::Succeeded(_) | Self::Absent => Some(200),
            Self::Declined { .. } => Some(402),
            Self::Open { http, .. } => Some(i32::from(http.as_u16())),
            Self::TimedOut => None,
            Self::Broken { http } => http.map(|status| i32::from(status.as_u16())),
        }
    }

    pub(super) fn charge(&self) -> Option<&str> {
        match self {
            Self::Succeeded(found) => Some(&found.id),
            Self::Declined { charge, .. } | Self::Open { charge, .. } => charge.as_deref(),
            Self::Absent | Self::TimedOut | Self::Broken { .. } => None,
        }
    }
}

/// What is charged.
#[derive(Debug)]
pub(super) struct ChargeRequest<'a> {
    /// None: sent without.
    pub(super) provider_key: Option<&'a str>,
    pub(super) payment: &'a str,
    pub(super) order: &'a str,
    pub(super) amount: i64,
    pub(super) currency: &'a str,
}

/// A client of the provider with the service's time-out.
#[derive(Debug, Clone)]
pub(super) struct Gateway {
    client: reqwest::Client,
    base: String,
    timeout: Duration,
}

#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Found>,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    error: RefusalBody,
}

#[derive(Debug, Deserialize)]
struct RefusalBody {
    code: String,
    charge: Option<Found>,
}

impl Gateway {
    pub(super) fn new(base: &str, who: &str, timeout: Duration) -> Result<Self, LabError> {
        Ok(Self { client: http::client(&format!("payment-service/{who}"))?, base: base.to_owned(), timeout })
    }

    pub(super) fn timeout_ms(&self) -> i32 {
        i32::try_from(self.timeout.as_millis()).unwrap_or(i32::MAX)
    }

    pub(super) async fn charge(&self, wanted: &ChargeRequest<'_>) -> Called {
        let body = serde_json::json!({
            "order_id": wanted.order, "reference": wanted.payment, "amount": wanted.amount, "currency": wanted.currency,
        });
        let request = self.client.post(format!("{}/v1/charges", self.base)).timeout(self.timeout).json(&body);
        let request = match wanted.provider_key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        let answer = match request.send().await {
            Ok(answer) => answer,
            Err(error) => return lost(&error),
        };
        let http = answer.status();
        match http {
            StatusCode::OK | StatusCode::CREATED => match answer.json::<Found>().await {
                Ok(found) => judge(found, http),
                Err(error) => lost(&error),
            },
            StatusCode::PAYMENT_REQUIRED => match answer.json::<Refusal>().await {
                Ok(refusal) => {
                    Called::Declined { code: refusal.error.code, charge: refusal.error.charge.map(|found| found.id) }
                }
                Err(error) => lost(&error),
            },
            StatusCode::CONFLICT => Called::Open { http, charge: None },
            _ => Called::Broken { http: Some(http) },
        }
    }

    /// By a field the provider lists by: `idempotency_key` or `reference`.
    pub(super) async fn look_up(&self, field: &'static str, value: &str) -> Called {
        let request = self
            .client
            .get(format!("{}/v1/charges", self.base))
            .query(&[(field, value), ("limit", "100")])
            .timeout(self.timeout);
        let answer = match request.send().await {
            Ok(answer) if answer.status() == StatusCode::OK => answer,
            Ok(answer) => {
                return Called::Broken { http: Some(answer.status()) };
            }
            Err(error) => return lost(&error),
        };
        match answer.json::<Page>().await {
            // Two charges under one key are never "take the newest".
            Ok(Page { data }) if data.len() > 1 => Called::Open { http: StatusCode::OK, charge: None },
            Ok(Page { data }) => data.into_iter().next().map_or(Called::Absent, |found| judge(found, StatusCode::OK)),
            Err(error) => lost(&error),
        }
    }

    /// By the provider's own id.
    pub(super) async fn verify(&self, provider_ref: &str) -> Called {
        let request = self.client.get(format!("{}/v1/charges/{provider_ref}", self.base)).timeout(self.timeout);
        let answer = match request.send().await {
            Ok(answer) if answer.status() == StatusCode::OK => answer,
            Ok(answer) => {
                return Called::Broken { http: Some(answer.status()) };
            }
            Err(error) => return lost(&error),
        };
        match answer.json::<Found>().await {
            Ok(found) => judge(found, StatusCode::OK),
            Err(error) => lost(&error),
        }
    }
}

/// What a charge as it stands means.
pub(super) fn judge(found: Found, http: StatusCode) -> Called {
    match found.status.as_str() {
        "succeeded" => Called::Succeeded(found),
        "failed" => Called::Declined {
            code: found.failure_code.unwrap_or_else(|| "declined".to_owned()),
            charge: Some(found.id),
        },
        "canceled" => Called::Declined { code: "canceled".to_owned(), charge: Some(found.id) },
        _ => Called::Open { http, charge: Some(found.id) },
    }
}

fn lost(error: &reqwest::Error) -> Called {
    if error.is_timeout() { Called::TimedOut } else { Called::Broken { http: None } }
}
