//! A consumer of the service's events: the books.
//!
//! Messages come at least once. The message id and its effect are written in one transaction, so that the
//! effect is there exactly once: a second delivery meets the id and changes nothing, and a consumer that dies
//! half way leaves neither.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::{StallPoint, Stalls};
use crate::lab::task::Task;
use crate::lab::{LabError, http};

/// The inbox, and what is booked: two lines a payment, which add up to nothing.
pub(super) const TABLES: &str = "
CREATE TABLE processed_messages (
  consumer     text        NOT NULL,
  message_id   text        NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (consumer, message_id)
);
CREATE TABLE ledger_entries (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment_id text        NOT NULL,
  account    text        NOT NULL,
  amount     bigint      NOT NULL,
  currency   text        NOT NULL,
  booked_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);";

const NAME: &str = "books";

/// A running consumer; dropping it closes it.
#[derive(Debug)]
pub struct Books {
    address: SocketAddr,
    _server: Task,
}

#[derive(Debug, Clone)]
struct Desk {
    pool: PgPool,
    stalls: Stalls,
}

#[derive(Debug, Deserialize)]
struct Message {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    payment_id: String,
    payload: Value,
}

impl Books {
    /// Listens on a free loopback port and books into the service's database.
    ///
    /// # Errors
    /// [`LabError::Database`] or [`LabError::Listen`].
    pub async fn start(database: &PgConnectOptions, stalls: Stalls) -> Result<Self, LabError> {
        let pool = PgPoolOptions::new()
            .max_connections(4)
            .acquire_timeout(Duration::from_secs(30))
            .connect_with(database.clone().application_name(NAME))
            .await?;
        let (listener, address) = http::listen().await?;
        let router = Router::new().route("/messages", post(receive)).with_state(Desk { pool, stalls });
        let server = Task::spawn(async move {
            axum::serve(listener, router).await.ok();
        });
        Ok(Self { address, _server: server })
    }

    /// Base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn receive(State(desk): State<Desk>, Json(message): Json<Message>) -> (StatusCode, Json<Value>) {
    match process(&desk, &message).await {
        Ok(seen) => (StatusCode::OK, Json(json!({"seen": seen}))),
        Err(error) => {
            tracing::debug!(%error, message = message.id, "a message could not be processed");
            (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"error": "try again"})))
        }
    }
}

async fn process(desk: &Desk, message: &Message) -> Result<&'static str, sqlx::Error> {
    let mut tx = desk.pool.begin().await?;
    let first =
        sqlx::query("INSERT INTO processed_messages (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(NAME)
            .bind(&message.id)
            .execute(&mut *tx)
            .await?
            .rows_affected();
    if first == 0 {
        return Ok("before");
    }
    if message.kind == "payment.succeeded" {
        // From the payment, not from the message: a large answer travels as a reference.
        sqlx::query(
            "INSERT INTO ledger_entries (payment_id, account, amount, currency)
             SELECT p.id, line.account, line.sign * p.amount, p.currency
             FROM payments p, (VALUES ('provider receivable', 1), ('sales', -1)) AS line(account, sign)
             WHERE p.id = $1 AND p.status = 'succeeded'",
        )
        .bind(&message.payment_id)
        .execute(&mut *tx)
        .await?;
        // Naturally idempotent: only an open order becomes paid.
        sqlx::query(
            "UPDATE orders o SET status = 'paid', updated_at = clock_timestamp()
             FROM payments p WHERE p.id = $1 AND o.id = p.order_id AND o.scope = p.scope AND o.status = 'open'",
        )
        .bind(&message.payment_id)
        .execute(&mut *tx)
        .await?;
    }
    let order = message.payload.get("order_id").and_then(Value::as_str).unwrap_or_default();
    desk.stalls.pass(order, StallPoint::BeforeBooked).await;
    tx.commit().await?;
    Ok("now")
}
