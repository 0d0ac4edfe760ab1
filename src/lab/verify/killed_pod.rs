//! A pod is killed after the provider charged and before anything of it was saved.

use std::time::Duration;

use futures_util::FutureExt;

use super::told::{charges, in_turn};
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::{Conduct, StallPoint};

pub(super) static ROW: Row = Row {
    name: "pod killed after the charge, before saving",
    what: "The client retries at the other pod: while the lease lives, and after it.",
    provider_timeout: Duration::from_mins(1),
    naive: None,
    correct: Some(Side {
        conduct: || Conduct::CORRECT,
        expected: &["no answer, then 409, then 201", "the same charge", "1 charge"],
    }),
    script: |stand| script(stand).boxed(),
};

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    let dead = stand.dies_at(StallPoint::BeforeSaving).await?;
    let live = stand.pay(0).await;
    stand.an_hour_passes().await?;
    let after = stand.pay(0).await;
    let mut seen = vec![in_turn(&[dead.to_string(), live.to_string(), after.to_string()])];
    seen.extend(stand.same_charge(&after));
    seen.push(charges(stand.desk().charges_for_order(stand.order())));
    Ok(Seen(seen))
}
