//! `POST /payments`, and the row `api_requests` keeps of every answer.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::answer::{Answer, Replayed};
use super::flaw::{self, Conduct};
use super::flow::Flow;
use super::records::Intent;
use super::{checkout, order, webhook};
use crate::lab::clock;

/// The body of a payment request.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PaymentBody {
    order_id: String,
    amount: i64,
    currency: String,
    customer_id: Option<String>,
    /// Lines for the receipt, which the answer repeats.
    #[serde(default)]
    lines: Vec<Line>,
}

/// One line of a receipt.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct Line {
    text: String,
    /// Minor units.
    amount: i64,
}

pub(super) fn router(flow: Flow) -> Router {
    let payments = Router::new().route("/payments", post(pay));
    payments.merge(order::router()).merge(checkout::router()).merge(webhook::router()).with_state(Arc::new(flow))
}

async fn pay(State(flow): State<Arc<Flow>>, headers: HeaderMap, Json(body): Json<PaymentBody>) -> Answer {
    let started = clock::instant();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty());
    let sent_key = header("idempotency-key");
    let asked = header("x-scope").and_then(|scope| intent(scope, sent_key, body, flow.records.conduct));
    let Some(asked) = asked else {
        return Answer::error(StatusCode::BAD_REQUEST, "key_missing", "Idempotency-Key and X-Scope are required");
    };
    let sent_key = sent_key.map(str::to_owned);
    // On its own: a client that hangs up does not stop a payment half way.
    let work = tokio::spawn(async move {
        let told = async {
            let placed = flow.records.placed(&asked).await?;
            let answer = flaw::answer(&flow, &placed).await?;
            Ok::<_, sqlx::Error>((answer, placed.scope))
        };
        let (answer, scope) = told.await.unwrap_or_else(|_| {
            let why = "the service could not do its work";
            (Answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", why), asked.scope.clone())
        });
        note(&flow, &Asked { intent: &asked, sent_key }, &answer, &scope, started.elapsed()).await;
        answer
    });
    work.await
        .unwrap_or_else(|_| Answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the service was stopped"))
}

/// `None` when there has to be a key and is none.
fn intent(scope: &str, sent_key: Option<&str>, body: PaymentBody, conduct: Conduct) -> Option<Intent> {
    let amount = body.amount.to_string();
    let lines = (!body.lines.is_empty()).then(|| json!(body.lines));
    let receipt = lines.as_ref().map(ToString::to_string);
    let mut hashed = vec![
        "POST",
        "/payments",
        conduct.key_space.account(scope),
        &body.order_id,
        &amount,
        &body.currency,
        body.customer_id.as_deref().unwrap_or(""),
    ];
    let volatile = conduct.hashed.volatile();
    hashed.extend(receipt.as_deref());
    hashed.extend(volatile.as_deref());
    let fingerprint = hex(&hashed, 32);
    let payment = if conduct.serves_correctly() {
        format!("pay_{}", hex(&[scope, sent_key?], 6))
    } else {
        // A service that may meet a key it has forgotten cannot name payments after keys.
        format!("pay_{:012x}", fastrand::u64(..1 << 48))
    };
    Some(Intent {
        scope: scope.to_owned(),
        key: conduct.key_header.key(sent_key, &payment)?,
        fingerprint,
        payment,
        order: body.order_id,
        amount: body.amount,
        currency: body.currency,
        customer: body.customer_id,
        lines,
    })
}

/// Who asks, from the header.
pub(super) fn scope(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-scope").and_then(|value| value.to_str().ok()).filter(|value| !value.is_empty())
}

pub(super) fn no_scope() -> Answer {
    Answer::error(StatusCode::BAD_REQUEST, "scope_missing", "X-Scope is required")
}

pub(super) fn internal(error: &sqlx::Error) -> Answer {
    tracing::debug!(%error, "a request could not be answered");
    Answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the service could not do its work")
}

/// The first `bytes` bytes of a SHA-256, in hex; parts are told apart.
pub(super) fn hex(parts: &[&str], bytes: usize) -> String {
    let digest = Sha256::digest(parts.join("\n"));
    digest.iter().take(bytes).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// A request as it came in.
#[derive(Debug)]
struct Asked<'a> {
    intent: &'a Intent,
    sent_key: Option<String>,
}

async fn note(flow: &Flow, asked: &Asked<'_>, answer: &Answer, answered_scope: &str, took: Duration) {
    let intent = asked.intent;
    let written = sqlx::query(
        "INSERT INTO api_requests (at, scope, key, method, route, order_id, amount, currency, fingerprint, status, replayed,
                                   answered_scope, answered_payment, pod, duration_ms)
         VALUES (clock_timestamp(), $1, $2, 'POST', '/payments', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(&intent.scope)
    .bind(&asked.sent_key)
    .bind(&intent.order)
    .bind(intent.amount)
    .bind(&intent.currency)
    .bind(&intent.fingerprint)
    .bind(i32::from(answer.code.as_u16()))
    .bind(answer.replayed == Replayed::Yes)
    .bind(answer.payment.as_ref().map(|_| answered_scope))
    .bind(&answer.payment)
    .bind(&flow.records.who)
    .bind(i32::try_from(took.as_millis()).unwrap_or(i32::MAX))
    .execute(&flow.records.pool)
    .await;
    if let Err(error) = written {
        tracing::debug!(%error, "a request was answered but not noted");
    }
}

/// A request that needs no key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyless<'a> {
    pub(super) method: &'a str,
    pub(super) route: &'a str,
    pub(super) scope: &'a str,
    pub(super) order: &'a str,
}

pub(super) async fn note_keyless(flow: &Flow, seen: &Keyless<'_>, answer: &Answer, took: Duration) {
    let written = sqlx::query(
        "INSERT INTO api_requests (at, scope, method, route, order_id, status, replayed, pod, duration_ms)
         VALUES (clock_timestamp(), $1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(seen.scope)
    .bind(seen.method)
    .bind(seen.route)
    .bind(seen.order)
    .bind(i32::from(answer.code.as_u16()))
    .bind(answer.replayed == Replayed::Yes)
    .bind(&flow.records.who)
    .bind(i32::try_from(took.as_millis()).unwrap_or(i32::MAX))
    .execute(&flow.records.pool)
    .await;
    if let Err(error) = written {
        tracing::debug!(%error, "a request was answered but not noted");
    }
}
