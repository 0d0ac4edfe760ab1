//! Checkouts: a saga over three parties, with a pivot.
//!
//! reserve → **capture** → ship. Before the capture a step that fails is made good by undoing those before it;
//! from the capture on there is only forward: a carrier that is down for hours delays the parcel, it does not
//! give the money back. Every step is called under one key, `saga:step`, on every attempt.

mod rows;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::put;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::answer::Answer;
use super::api::{self, Keyless};
use super::flow::Flow;
use crate::lab::clock;

pub(super) use rows::{Checkout, State as SagaState};
pub(super) use steps::{Ended, Step};

/// The checkouts, the warehouse and the parcels.
pub(super) const TABLES: &str = "
CREATE TABLE checkouts (
  saga_id     text        PRIMARY KEY,
  scope       text        NOT NULL,
  id          text        NOT NULL,
  order_id    text        NOT NULL,
  customer_id text,
  sku         text        NOT NULL,
  quantity    integer     NOT NULL CHECK (quantity > 0),
  amount      bigint      NOT NULL,
  currency    text        NOT NULL,
  state       text        NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'undoing', 'shipped', 'cancelled')),
  reason      text,
  tries       integer     NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (scope, id)
);
CREATE TABLE stock (
  sku  text    PRIMARY KEY,
  free integer NOT NULL CHECK (free >= 0)
);
CREATE TABLE stock_moves (
  step_key text        PRIMARY KEY,
  sku      text        NOT NULL,
  quantity integer     NOT NULL,
  at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE shipments (
  step_key   text        PRIMARY KEY,
  order_id   text        NOT NULL,
  parcel     text        NOT NULL,
  shipped_at timestamptz NOT NULL DEFAULT clock_timestamp()
);";

/// A checkout as its client asks for it.
#[derive(Debug, Deserialize)]
pub(super) struct CheckoutBody {
    order_id: String,
    sku: String,
    quantity: i32,
    /// Minor units.
    amount: i64,
    currency: String,
    customer_id: Option<String>,
}

pub(super) fn router() -> Router<Arc<Flow>> {
    Router::new().route("/checkouts/{id}", put(begin).get(status))
}

async fn begin(
    State(flow): State<Arc<Flow>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<CheckoutBody>,
) -> Answer {
    let started = clock::instant();
    let Some(scope) = api::scope(&headers) else { return api::no_scope() };
    if body.quantity <= 0 || body.amount <= 0 {
        return Answer::error(StatusCode::UNPROCESSABLE_ENTITY, "not_a_checkout", "quantity and amount are above zero");
    }
    let answer = match rows::begin(&flow.records.pool, scope, &id, &body).await {
        Ok(checkout) if checkout.same_as(&body) => told(StatusCode::ACCEPTED, &checkout),
        Ok(_) => Answer::error(StatusCode::CONFLICT, "checkout_differs", "a checkout with this id says something else"),
        Err(error) => api::internal(&error),
    };
    let seen = Keyless { method: "PUT", route: "/checkouts", scope, order: &body.order_id };
    api::note_keyless(&flow, &seen, &answer, started.elapsed()).await;
    answer
}

async fn status(State(flow): State<Arc<Flow>>, Path(id): Path<String>, headers: HeaderMap) -> Answer {
    let Some(scope) = api::scope(&headers) else { return api::no_scope() };
    match rows::find(&flow.records.pool, scope, &id).await {
        Ok(Some(checkout)) => told(StatusCode::OK, &checkout),
        Ok(None) => Answer::error(StatusCode::NOT_FOUND, "no_such_checkout", "there is no checkout with this id"),
        Err(error) => api::internal(&error),
    }
}

fn told(code: StatusCode, checkout: &Checkout) -> Answer {
    let body = json!({
        "checkout_id": checkout.id, "saga_id": checkout.saga, "order_id": checkout.order,
        "status": checkout.state.for_customers(), "reason": checkout.reason,
    });
    Answer::plain(code, body)
}

/// How long to wait before the next try: longer each time, never longer than a customer's patience.
pub(super) fn backoff(tries: i32) -> Duration {
    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(5);
    let doubled = u32::try_from(tries.clamp(0, 16)).unwrap_or(16);
    FIRST.saturating_mul(2_u32.saturating_pow(doubled)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_to_its_limit() {
        assert_eq!(backoff(0), Duration::from_millis(250));
        assert_eq!(backoff(2), Duration::from_secs(1));
        assert_eq!(backoff(i32::MAX), Duration::from_secs(5));
        assert_eq!(backoff(-1), Duration::from_millis(250));
    }
}
