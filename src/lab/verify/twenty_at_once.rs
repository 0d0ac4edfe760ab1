//! Twenty requests with one key, all while the first of them is at work.

use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};

use super::told::{among, charges};
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::Conduct;

pub(super) static ROW: Row = Row {
    name: "20 concurrent, same key",
    what: "Ten come at once and ten more while the winner's charge is held at the provider.",
    provider_timeout: Duration::from_mins(3),
    naive: Some(Side { conduct: Conduct::naive, expected: &["200, 200 with an empty body, 409", "1 charge"] }),
    correct: Some(Side { conduct: || Conduct::CORRECT, expected: &["201, 409", "1 charge"] }),
    script: |stand| script(stand).boxed(),
};

/// Half of them.
const HALF: usize = 10;

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    stand.desk().hold(stand.order());
    // A service that checks before it claims has ten that checked before anybody claims. The correct one has no such place.
    stand.meetings().call(stand.order(), HALF);
    let mut waiting: FuturesUnordered<_> = (0..HALF).map(|nth| tokio::spawn(stand.pay(nth % 2))).collect();
    stand.held(1).await?;
    waiting.extend((0..HALF).map(|nth| tokio::spawn(stand.pay(nth % 2))));
    let mut told = Vec::new();
    let everybody_else = async {
        while told.len() < 2 * HALF - 1
            && let Some(Ok(answer)) = waiting.next().await
        {
            told.push(answer);
        }
    };
    stand.until_alone(everybody_else).await;
    stand.let_go().await?;
    while let Some(Ok(answer)) = waiting.next().await {
        told.push(answer);
    }
    let many = stand.desk().charges_for_order(stand.order());
    Ok(Seen(vec![among(&told), charges(many)]))
}
