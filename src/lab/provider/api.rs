//! The provider's routes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ledger::{Claim, Wanted};
use super::{Answer, Charge, ChargeStatus, Keys, Lookup, Reach, Shared, access, settlement};

/// Page size when none is asked for, and the largest there is.
const PAGE: usize = 10;
const LARGEST_PAGE: usize = 100;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/charges", post(create).get(list))
        .route("/v1/charges/{id}", get(read))
        .merge(settlement::router())
        .fallback(|| async { no_such_route() })
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), access::note))
        .with_state(shared)
}

#[derive(Debug, Deserialize)]
struct CreateBody {
    order_id: String,
    reference: Option<String>,
    amount: i64,
    currency: String,
}

async fn create(State(shared): State<Arc<Shared>>, headers: HeaderMap, Json(body): Json<CreateBody>) -> Response {
    let sent = headers.get("idempotency-key").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let key = match shared.habits.keys {
        Keys::Honoured => sent,
        Keys::Ignored => None,
    };
    let wanted =
        Wanted { order_id: body.order_id, reference: body.reference, amount: body.amount, currency: body.currency };
    // On its own: a client that hangs up does not stop a charge.
    tokio::spawn(async move { charge(&shared, key.as_deref(), &wanted).await }).await.unwrap_or_else(|_| unavailable())
}

async fn charge(shared: &Shared, key: Option<&str>, wanted: &Wanted) -> Response {
    let mood = shared.moods.now();
    if let Some(refusal) = reach(mood.charging).await {
        return refusal;
    }
    match shared.ledger.claim(key, wanted) {
        Claim::Fresh => {}
        Claim::InFlight => {
            return error(StatusCode::CONFLICT, "idempotency_key_in_use", "a request with this key is in progress");
        }
        Claim::Mismatch => {
            return error(StatusCode::BAD_REQUEST, "idempotency_error", "this key was used with different parameters");
        }
        Claim::Made(charge) => return made(StatusCode::OK, &charge),
    }
    let fate = shared.moods.fate(&wanted.order_id);
    if fate.answer == Answer::NeverArrived {
        shared.ledger.forget(key);
        return never().await;
    }
    shared.holds.pass(&wanted.order_id).await;
    tokio::time::sleep(fate.latency.unwrap_or(mood.latency)).await;
    let charge = shared.ledger.make(key, wanted, &fate);
    shared.announce(&charge);
    match fate.answer {
        Answer::Sent => made(StatusCode::CREATED, &charge),
        Answer::Lost | Answer::NeverArrived => never().await,
    }
}

fn made(fresh: StatusCode, charge: &Charge) -> Response {
    match charge.status {
        ChargeStatus::Failed => {
            let code = charge.failure_code.as_deref().unwrap_or("card_declined");
            let body = json!({"error": {"code": code, "message": "the charge was declined", "charge": charge}});
            (StatusCode::PAYMENT_REQUIRED, Json(body)).into_response()
        }
        ChargeStatus::Succeeded | ChargeStatus::Pending | ChargeStatus::Authorised | ChargeStatus::Canceled => {
            (fresh, Json(charge)).into_response()
        }
    }
}

async fn read(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Response {
    if let Some(refusal) = reach(shared.moods.now().reading).await {
        return refusal;
    }
    match shared.ledger.get(&id) {
        Some(charge) => Json(charge).into_response(),
        None => error(StatusCode::NOT_FOUND, "charge_not_found", "there is no charge with this id"),
    }
}

#[derive(Debug, Deserialize)]
struct ListQuery {
    idempotency_key: Option<String>,
    reference: Option<String>,
    order_id: Option<String>,
    limit: Option<usize>,
    starting_after: Option<String>,
}

async fn list(State(shared): State<Arc<Shared>>, Query(query): Query<ListQuery>) -> Response {
    if shared.habits.lookup == Lookup::OwnIdOnly {
        return no_such_route();
    }
    if let Some(refusal) = reach(shared.moods.now().reading).await {
        return refusal;
    }
    let fits = |asked: Option<&String>, has: Option<&String>| asked.is_none_or(|asked| has == Some(asked));
    let matching = shared.ledger.matching(|charge| {
        fits(query.idempotency_key.as_ref(), charge.idempotency_key.as_ref())
            && fits(query.reference.as_ref(), charge.reference.as_ref())
            && fits(query.order_id.as_ref(), Some(&charge.order_id))
    });
    page(&matching, |charge| &charge.id, query.starting_after.as_deref(), query.limit)
}

/// One page of a list, after the item with that id.
pub(super) fn page<T: Serialize>(
    all: &[T],
    id: impl Fn(&T) -> &String,
    after: Option<&str>,
    limit: Option<usize>,
) -> Response {
    let start = match after {
        None => 0,
        Some(last) => match all.iter().position(|item| id(item) == last) {
            Some(position) => position + 1,
            None => {
                return error(StatusCode::BAD_REQUEST, "no_such_cursor", "starting_after names nothing of this list");
            }
        },
    };
    let limit = limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
    let page: Vec<&T> = all.iter().skip(start).take(limit).collect();
    let has_more = start + page.len() < all.len();
    Json(json!({"data": page, "has_more": has_more})).into_response()
}

pub(super) async fn reach(reach: Reach) -> Option<Response> {
    match reach {
        Reach::Up => None,
        Reach::Unavailable => Some(unavailable()),
        Reach::Silent => Some(never().await),
    }
}

/// Longer than any client waits.
async fn never() -> Response {
    tokio::time::sleep(Duration::from_hours(1)).await;
    unavailable()
}

fn unavailable() -> Response {
    error(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "try again later")
}

fn no_such_route() -> Response {
    error(StatusCode::NOT_FOUND, "no_such_route", "there is nothing at this path")
}

pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, Json(json!({"error": {"code": code, "message": message}}))).into_response()
}
