//! A payment without a record: what services write that charge first and remember later, or never.

use axum::http::StatusCode;
use serde_json::json;

use super::answer::Answer;
use super::flow::Flow;
use super::gateway::Called;
use super::records::Intent;

/// What came of it.
#[derive(Debug)]
pub(in crate::lab::service) struct Paid {
    pub(in crate::lab::service) answer: Answer,
    /// The provider's id of the charge, if it named one.
    pub(in crate::lab::service) charge: Option<String>,
}

/// Charges at once and writes the payment as the provider says.
pub(in crate::lab::service) async fn pay(flow: &Flow, intent: &Intent) -> Result<Paid, sqlx::Error> {
    let (held, call) = flow.records.open_bare(intent, flow.gateway.timeout_ms()).await?;
    let called = flow.send(&held).await;
    flow.records.call_ended(call, &called).await?;
    let charge = called.charge().map(str::to_owned);
    let (code, status, reason) = match &called {
        Called::Succeeded(_) => (StatusCode::CREATED, "succeeded", None),
        Called::Declined { code, .. } => (StatusCode::PAYMENT_REQUIRED, "failed", Some(code.as_str())),
        Called::Open { .. } | Called::Absent | Called::TimedOut | Called::Broken { .. } => {
            (StatusCode::INTERNAL_SERVER_ERROR, "unknown", Some("the provider did not say"))
        }
    };
    let body = json!({
        "payment_id": held.payment, "order_id": held.order, "status": status,
        "amount": held.amount, "currency": held.currency, "charge_id": charge,
    });
    flow.records.close_bare(&held, status, reason, charge.as_deref(), &body).await?;
    Ok(Paid { answer: Answer::stored(code, body, &held.payment), charge })
}
