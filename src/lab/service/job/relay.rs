//! The outbox relay: hands every event to every consumer, and marks it published only then.
//!
//! A relay that dies between the two hands it over again: at least once. Consumers remember what they had.

use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use sqlx::Row;

use super::{Job, Tally, Workshop};
use crate::lab::LabError;
use crate::lab::service::StallPoint;

pub(super) static JOB: Job = Job {
    name: "relay",
    sentence: "publishes the events of the outbox, at least once",
    every: Duration::from_millis(500),
    pass: |workshop| pass(workshop).boxed(),
};

/// Events of one transaction.
const BATCH: i64 = 50;
/// How long a consumer may take.
const PATIENCE: Duration = Duration::from_secs(5);

async fn pass(workshop: &Workshop) -> Result<Tally, LabError> {
    let mut tally = Tally::default();
    let mut after = 0_i64;
    loop {
        let mut tx = workshop.pool().begin().await?;
        let rows = sqlx::query(
            "SELECT id, payment_id, type, payload FROM outbox WHERE published_at IS NULL AND id > $1
             ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED",
        )
        .bind(after)
        .bind(BATCH)
        .fetch_all(&mut *tx)
        .await?;
        if rows.is_empty() {
            return Ok(tally);
        }
        let (mut published, mut nobody) = (Vec::new(), false);
        for row in &rows {
            after = row.try_get("id")?;
            let payload: Value = row.try_get("payload")?;
            let message = json!({
                "id": format!("outbox:{after}"), "type": row.try_get::<String, _>("type")?,
                "payment_id": row.try_get::<String, _>("payment_id")?, "payload": payload,
            });
            tally.seen += 1;
            match hand_over(workshop, &message).await {
                Handed::Over => published.push(after),
                Handed::Refused => {}
                Handed::Nobody => nobody = true,
            }
            if nobody {
                break;
            }
            let order = payload.get("order_id").and_then(Value::as_str).unwrap_or_default();
            workshop.flow.stalls.pass(order, StallPoint::BeforePublished).await;
        }
        // One that no consumer takes does not hold up the others; rule I10 tells how long it has waited.
        sqlx::query("UPDATE outbox SET published_at = clock_timestamp() WHERE id = ANY ($1)")
            .bind(&published)
            .execute(&mut *tx)
            .await?;
        tx.commit().await?;
        tally.changed += published.len();
        if nobody {
            return Ok(tally);
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handed {
    /// Every consumer has it.
    Over,
    /// One would not have it, this time.
    Refused,
    /// One does not answer: no use in sending it the next.
    Nobody,
}

async fn hand_over(workshop: &Workshop, message: &Value) -> Handed {
    for consumer in &workshop.options.consumers {
        match workshop.http.post(format!("{consumer}/messages")).timeout(PATIENCE).json(message).send().await {
            Ok(answer) if answer.status().is_success() => {}
            Ok(_) => return Handed::Refused,
            Err(_) => return Handed::Nobody,
        }
    }
    Handed::Over
}
