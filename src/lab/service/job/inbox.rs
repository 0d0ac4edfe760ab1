//! The inbox: webhooks that came too early, or while somebody was at work, are applied later.

use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use sqlx::Row;

use super::{Job, Tally, Workshop};
use crate::lab::LabError;
use crate::lab::service::PROVIDER;
use crate::lab::service::webhook::{self, Applied, Event};

pub(super) static JOB: Job = Job {
    name: "inbox",
    sentence: "applies webhooks that could not be applied when they came",
    every: Duration::from_millis(500),
    pass: |workshop| pass(workshop).boxed(),
};

async fn pass(workshop: &Workshop) -> Result<Tally, LabError> {
    let mut tally = Tally::default();
    let mut after = 0_i64;
    loop {
        // The row stays locked while its event is applied: another worker goes on to the next one.
        let mut tx = workshop.pool().begin().await?;
        let row = sqlx::query(
            "SELECT w.id, w.event_id, b.body FROM webhook_events w JOIN webhook_bodies b ON b.provider = w.provider AND b.event_id = w.event_id
             WHERE w.provider = $1 AND w.id > $2 AND w.applied_at IS NULL AND w.signature_ok
               AND NOT EXISTS (SELECT 1 FROM webhook_events d WHERE d.provider = w.provider AND d.event_id = w.event_id AND d.id <> w.id
                                 AND d.signature_ok AND (d.applied_at IS NOT NULL OR d.id < w.id))
             ORDER BY w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED",
        )
        .bind(PROVIDER)
        .bind(after)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(tally) };
        after = row.try_get("id")?;
        tally.seen += 1;
        let body: Value = row.try_get("body")?;
        let Ok(event) = serde_json::from_value::<Event>(body) else { continue };
        match workshop.flow.apply(&event.kind, &event.data.object).await? {
            Applied::Kept(why) => tracing::debug!(event = event.id, why, "a webhook is kept"),
            Applied::Changed | Applied::Nothing => {
                webhook::mark(&mut tx, &event.id).await?;
                tx.commit().await?;
                tally.changed += 1;
            }
        }
    }
}
