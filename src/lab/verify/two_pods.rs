//! Two requests with one key, five milliseconds apart, at two pods.

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::told::{among, charges};
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::Conduct;

pub(super) static ROW: Row = Row {
    name: "two pods, same key, 5 ms apart",
    what: "Whoever comes first is held at the provider until the other has its answer.",
    provider_timeout: Duration::from_mins(3),
    naive: None,
    correct: Some(Side { conduct: || Conduct::CORRECT, expected: &["201, 409", "1 charge"] }),
    script: |stand| script(stand).boxed(),
};

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    stand.desk().hold(stand.order());
    let mut waiting = FuturesUnordered::new();
    waiting.push(tokio::spawn(stand.pay(0)));
    tokio::time::sleep(Duration::from_millis(5)).await;
    waiting.push(tokio::spawn(stand.pay(1)));
    stand.held(1).await?;
    let mut told = Vec::new();
    if let Some(Some(Ok(loser))) = stand.until_alone(waiting.next()).await {
        told.push(loser);
    }
    stand.let_go().await?;
    while let Some(Ok(answer)) = waiting.next().await {
        told.push(answer);
    }
    Ok(Seen(vec![among(&told), charges(stand.desk().charges_for_order(stand.order()))]))
}
