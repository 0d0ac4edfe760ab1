//! Orders: what is idempotent by nature and needs no key.
//!
//! The client makes the id, so that a second `PUT` meets the first; a change of state asks for the state it
//! comes from, so that a second one changes nothing. No record is kept, nothing is replayed, and nothing has to be.
//! That works because nobody outside is called; a charge is another matter.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, Replayed};
use super::api::{self, Keyless};
use super::flow::Flow;
use crate::lab::clock;

/// Orders, named by their clients.
pub(super) const TABLES: &str = "
CREATE TABLE orders (
  scope      text        NOT NULL,
  id         text        NOT NULL,
  amount     bigint      NOT NULL,
  currency   text        NOT NULL,
  status     text        NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'paid', 'cancelled')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (scope, id)
);";

#[derive(Debug, Deserialize)]
struct OrderBody {
    /// Minor units.
    amount: i64,
    currency: String,
}

pub(super) fn router() -> Router<Arc<Flow>> {
    Router::new().route("/orders/{id}", put(place)).route("/orders/{id}/cancel", post(cancel))
}

async fn place(
    State(flow): State<Arc<Flow>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<OrderBody>,
) -> Answer {
    let started = clock::instant();
    let Some(scope) = api::scope(&headers) else { return api::no_scope() };
    let answer = flow.place_order(scope, &id, &body).await.unwrap_or_else(|error| api::internal(&error));
    let seen = Keyless { method: "PUT", route: "/orders", scope, order: &id };
    api::note_keyless(&flow, &seen, &answer, started.elapsed()).await;
    answer
}

async fn cancel(State(flow): State<Arc<Flow>>, Path(id): Path<String>, headers: HeaderMap) -> Answer {
    let started = clock::instant();
    let Some(scope) = api::scope(&headers) else { return api::no_scope() };
    let answer = flow.cancel_order(scope, &id).await.unwrap_or_else(|error| api::internal(&error));
    let seen = Keyless { method: "POST", route: "/orders/cancel", scope, order: &id };
    api::note_keyless(&flow, &seen, &answer, started.elapsed()).await;
    answer
}

impl Flow {
    async fn place_order(&self, scope: &str, id: &str, body: &OrderBody) -> Result<Answer, sqlx::Error> {
        let made = sqlx::query(
            "INSERT INTO orders (scope, id, amount, currency) VALUES ($1, $2, $3, $4) ON CONFLICT (scope, id) DO NOTHING",
        )
        .bind(scope)
        .bind(id)
        .bind(body.amount)
        .bind(&body.currency)
        .execute(&self.records.pool)
        .await?
        .rows_affected();
        let (amount, currency, status) = self.order(scope, id).await?.unwrap_or_default();
        if (amount, currency.as_str()) != (body.amount, body.currency.as_str()) {
            return Ok(Answer::error(
                StatusCode::CONFLICT,
                "order_differs",
                "an order with this id says something else",
            ));
        }
        let code = if made == 1 { StatusCode::CREATED } else { StatusCode::OK };
        Ok(told(code, id, &status, made))
    }

    async fn cancel_order(&self, scope: &str, id: &str) -> Result<Answer, sqlx::Error> {
        let changed = sqlx::query(
            "UPDATE orders SET status = 'cancelled', updated_at = clock_timestamp() WHERE scope = $1 AND id = $2 AND status = 'open'",
        )
        .bind(scope)
        .bind(id)
        .execute(&self.records.pool)
        .await?
        .rows_affected();
        Ok(match self.order(scope, id).await? {
            None => Answer::error(StatusCode::NOT_FOUND, "no_such_order", "there is no order with this id"),
            Some((_, _, status)) if status == "cancelled" => told(StatusCode::OK, id, &status, changed),
            Some((_, _, status)) => {
                Answer::error(StatusCode::CONFLICT, "too_late", &format!("the order is {status} already"))
            }
        })
    }

    async fn order(&self, scope: &str, id: &str) -> Result<Option<(i64, String, String)>, sqlx::Error> {
        sqlx::query_as("SELECT amount, currency, status FROM orders WHERE scope = $1 AND id = $2")
            .bind(scope)
            .bind(id)
            .fetch_optional(&self.records.pool)
            .await
    }
}

fn told(code: StatusCode, id: &str, status: &str, changed: u64) -> Answer {
    let replayed = if changed == 0 { Replayed::Yes } else { Replayed::No };
    Answer { replayed, ..Answer::plain(code, json!({"order_id": id, "status": status})) }
}
