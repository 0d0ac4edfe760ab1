//! The provider is slower than the service waits.

use std::time::Duration;

use futures_util::FutureExt;

use super::told::{charges, in_turn};
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::Conduct;

pub(super) static ROW: Row = Row {
    name: "provider slower than the time-out",
    what: "The service gives up, the charge is made all the same; the client retries after the lease.",
    provider_timeout: Duration::from_secs(1),
    naive: Some(Side {
        conduct: Conduct::naive,
        expected: &["500, then 200 with an empty body", "record processing", "1 charge"],
    }),
    correct: Some(Side {
        conduct: || Conduct::CORRECT,
        expected: &["503, then 201", "the same charge", "record done", "1 charge"],
    }),
    script: |stand| script(stand).boxed(),
};

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    stand.desk().hold(stand.order());
    let first = stand.pay(0).await;
    // A call that never arrived would be another story.
    stand.held(1).await?;
    stand.let_go().await?;
    stand.an_hour_passes().await?;
    let retry = stand.pay(1).await;
    let mut seen = vec![in_turn(&[first.to_string(), retry.to_string()])];
    seen.extend(stand.same_charge(&retry));
    seen.push(stand.record().await?);
    seen.push(charges(stand.desk().charges_for_order(stand.order())));
    Ok(Seen(seen))
}
