//! Routes about money that moved: refunds and the settlement reports.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::api::{error, page, reach};
use super::ledger::Refunded;

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1/refunds", post(refund))
        .route("/v1/settlements", get(reports))
        .route("/v1/settlements/{report}", get(lines))
}

#[derive(Debug, Deserialize)]
struct RefundBody {
    charge: String,
}

async fn refund(State(shared): State<Arc<Shared>>, Json(body): Json<RefundBody>) -> Response {
    if let Some(refusal) = reach(shared.moods.now().charging).await {
        return refusal;
    }
    match shared.ledger.refund(&body.charge) {
        Some(Refunded::Now(charge)) => {
            shared.announce(&charge);
            Json(charge).into_response()
        }
        Some(Refunded::Before(charge)) => Json(charge).into_response(),
        None => error(StatusCode::NOT_FOUND, "charge_not_found", "there is no charge with this id"),
    }
}

async fn reports(State(shared): State<Arc<Shared>>) -> Response {
    if let Some(refusal) = reach(shared.moods.now().reading).await {
        return refusal;
    }
    let names = shared.reports.names(shared.habits.settles, || shared.ledger.matching(|_| true));
    let data: Vec<_> = names.into_iter().map(|(name, closed_at)| json!({"id": name, "closed_at": closed_at})).collect();
    Json(json!({"data": data})).into_response()
}

#[derive(Debug, Deserialize)]
struct LinesQuery {
    limit: Option<usize>,
    starting_after: Option<String>,
}

async fn lines(
    State(shared): State<Arc<Shared>>,
    Path(report): Path<String>,
    Query(query): Query<LinesQuery>,
) -> Response {
    if let Some(refusal) = reach(shared.moods.now().reading).await {
        return refusal;
    }
    match shared.reports.lines(&report) {
        Some(lines) => page(&lines, |line| &line.id, query.starting_after.as_deref(), query.limit),
        None => error(StatusCode::NOT_FOUND, "report_not_found", "no closed report has this name"),
    }
}
