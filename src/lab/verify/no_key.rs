//! No key at all: two attempts, two charges.

use std::time::Duration;

use futures_util::FutureExt;

use super::stand::Keyed;
use super::told::{charges, in_turn};
use super::{Row, Seen, Side, Stand, Told};
use crate::lab::LabError;
use crate::lab::service::Conduct;

pub(super) static ROW: Row = Row {
    name: "no key at all",
    what: "The client leaves after 500 ms, the provider is slower, and the client tries once more.",
    provider_timeout: Duration::from_mins(1),
    naive: Some(Side { conduct: Conduct::without_keys, expected: &["time-out, then time-out", "2 charges"] }),
    correct: None,
    script: |stand| script(stand).boxed(),
};

const PATIENCE: Duration = Duration::from_millis(500);

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    stand.desk().hold(stand.order());
    let first = impatient(stand, 0, 1).await?;
    let retry = impatient(stand, 1, 2).await?;
    // Slower than the client, not failed: both go through now.
    stand.let_go().await?;
    stand.settled(2).await;
    let many = stand.desk().charges_for_order(stand.order());
    Ok(Seen(vec![in_turn(&[first.to_string(), retry.to_string()]), charges(many)]))
}

/// Leaves when its time is over and its call is at the provider: earlier it might not have been sent at all.
async fn impatient(stand: &Stand, pod: usize, calls: usize) -> Result<Told, LabError> {
    let leave = async {
        tokio::time::sleep(PATIENCE).await;
        stand.held(calls).await
    };
    tokio::select! {
        told = stand.ask(pod, Keyed::No, 100) => Ok(told),
        left = leave => left.map(|()| Told::GaveUp),
    }
}
