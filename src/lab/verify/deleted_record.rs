//! A stuck record, and whoever clears stuck records.

use std::time::Duration;

use futures_util::FutureExt;

use super::told::charges;
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::{Conduct, StallPoint};

pub(super) static ROW: Row = Row {
    name: "stuck record deleted, client retries",
    what: "A pod dies after the charge. What clears stuck keys has its turn, then the client retries.",
    provider_timeout: Duration::from_mins(1),
    naive: Some(Side { conduct: Conduct::naive_with_cron, expected: &["record gone", "retry 200", "2 charges"] }),
    // The correct service has nothing that removes a record: its turn comes and nothing happens.
    correct: Some(Side {
        conduct: || Conduct::CORRECT,
        expected: &["record processing", "retry 201", "the same charge", "1 charge"],
    }),
    script: |stand| script(stand).boxed(),
};

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    stand.dies_at(StallPoint::BeforeSaving).await?;
    stand.an_hour_passes().await?;
    stand.service().run_jobs().await?;
    let mut seen = vec![stand.record().await?];
    let retry = stand.pay(0).await;
    seen.push(format!("retry {retry}"));
    let many = stand.desk().charges_for_order(stand.order());
    if many == 1 {
        seen.extend(stand.same_charge(&retry));
    }
    seen.push(charges(many));
    Ok(Seen(seen))
}
