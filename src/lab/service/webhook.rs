//! The webhook inbox: `POST /webhooks/labpay`.
//!
//! A delivery is believed only with a valid signature over its bytes; it is noted either way. One event id is
//! applied once, however often it comes and to however many pods. What cannot be applied yet (no such payment,
//! somebody at work on it) is kept, answered 200, and applied by the job `inbox`.

mod apply;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;

use super::answer::Answer;
use super::flow::Flow;
use super::{PROVIDER, api};
use crate::lab::{clock, sign};

pub(super) use apply::{Applied, Evidence};

/// The bodies, by event, and the index that refuses a second application.
pub(super) const TABLES: &str = "
CREATE TABLE webhook_bodies (
  provider text  NOT NULL,
  event_id text  NOT NULL,
  body     jsonb NOT NULL,
  PRIMARY KEY (provider, event_id)
);
CREATE UNIQUE INDEX uq_webhook_applied ON webhook_events (provider, event_id) WHERE applied_at IS NOT NULL;";

/// Nothing a provider has to say is longer, bytes.
const LARGEST: usize = 64 * 1024;
/// What is noted of the id of an event nobody can vouch for, letters.
const LONGEST_ID: usize = 80;

/// An event as it is sent.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) data: Data,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Data {
    pub(super) object: Evidence,
}

pub(super) fn router() -> Router<Arc<Flow>> {
    Router::new().route("/webhooks/labpay", post(receive)).layer(DefaultBodyLimit::max(LARGEST))
}

async fn receive(State(flow): State<Arc<Flow>>, headers: HeaderMap, body: Bytes) -> Answer {
    let header = headers.get(sign::HEADER).and_then(|value| value.to_str().ok());
    let verdict = sign::verify(sign::SECRET, header, &body, clock::now().timestamp());
    let work = async {
        match (verdict, serde_json::from_slice::<Event>(&body)) {
            (sign::Verdict::Good, Ok(event)) => flow.take_in(&event, &body).await,
            (sign::Verdict::Good, Err(_)) => {
                Ok(Answer::error(StatusCode::BAD_REQUEST, "not_an_event", "the body is not an event"))
            }
            (sign::Verdict::Missing | sign::Verdict::Stale | sign::Verdict::Forged, parsed) => {
                flow.note_noise(parsed.ok().as_ref()).await?;
                Ok(Answer::error(StatusCode::BAD_REQUEST, "bad_signature", "the signature is missing, old or not ours"))
            }
        }
    };
    // 500 makes the provider come again.
    work.await.unwrap_or_else(|error: sqlx::Error| api::internal(&error))
}

impl Flow {
    /// A delivery nobody vouches for: noted for whoever looks, never acted upon.
    async fn note_noise(&self, event: Option<&Event>) -> Result<(), sqlx::Error> {
        let clip = |text: &str| text.chars().take(LONGEST_ID).filter(|letter| *letter != '\0').collect::<String>();
        let field = |of: fn(&Event) -> &str| event.map_or("unreadable".to_owned(), |event| clip(of(event)));
        sqlx::query(
            "INSERT INTO webhook_events (event_id, provider, type, provider_ref, signature_ok, received_at)
             VALUES ($1, $2, $3, $4, false, clock_timestamp())",
        )
        .bind(field(|event| &event.id))
        .bind(PROVIDER)
        .bind(field(|event| &event.kind))
        .bind(event.map(|event| clip(event.data.object.id())))
        .execute(&self.records.pool)
        .await?;
        Ok(())
    }

    async fn take_in(&self, event: &Event, body: &[u8]) -> Result<Answer, sqlx::Error> {
        let body: Value = serde_json::from_slice(body).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let mut tx = self.records.pool.begin().await?;
        sqlx::query(
            "INSERT INTO webhook_events (event_id, provider, type, provider_ref, signature_ok, received_at)
             VALUES ($1, $2, $3, $4, true, clock_timestamp())",
        )
        .bind(&event.id)
        .bind(PROVIDER)
        .bind(&event.kind)
        .bind(event.data.object.id())
        .execute(&mut *tx)
        .await?;
        sqlx::query("INSERT INTO webhook_bodies (provider, event_id, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
            .bind(PROVIDER)
            .bind(&event.id)
            .bind(&body)
            .execute(&mut *tx)
            .await?;
        let before: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM webhook_events WHERE provider = $1 AND event_id = $2 AND applied_at IS NOT NULL)",
        )
        .bind(PROVIDER)
        .bind(&event.id)
        .fetch_one(&mut *tx)
        .await?;
        tx.commit().await?;
        if before {
            return Ok(told("seen before"));
        }
        let applied = self.apply(&event.kind, &event.data.object).await?;
        if let Applied::Kept(why) = applied {
            return Ok(told(&format!("kept: {why}")));
        }
        let mut connection = self.records.pool.acquire().await?;
        mark(&mut connection, &event.id).await?;
        Ok(told(if applied == Applied::Changed { "applied" } else { "nothing to change" }))
    }
}

/// Marks an event applied: its first delivery, if none is marked yet.
pub(super) async fn mark(connection: &mut PgConnection, event: &str) -> Result<(), sqlx::Error> {
    let marked = sqlx::query(
        "UPDATE webhook_events SET applied_at = clock_timestamp()
         WHERE id = (SELECT min(w.id) FROM webhook_events w WHERE w.provider = $1 AND w.event_id = $2 AND w.signature_ok)
           AND applied_at IS NULL",
    )
    .bind(PROVIDER)
    .bind(event)
    .execute(connection)
    .await;
    match marked {
        // Another delivery of it was marked at this very moment.
        Err(sqlx::Error::Database(error)) if error.is_unique_violation() => Ok(()),
        other => other.map(drop),
    }
}

fn told(outcome: &str) -> Answer {
    Answer::plain(StatusCode::OK, json!({"received": true, "outcome": outcome}))
}
