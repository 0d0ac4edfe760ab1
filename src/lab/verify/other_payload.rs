//! The same key for another amount.

use std::time::Duration;

use futures_util::FutureExt;

use super::stand::Keyed;
use super::told::{charges, in_turn};
use super::{Row, Seen, Side, Stand};
use crate::lab::LabError;
use crate::lab::service::Conduct;

pub(super) static ROW: Row = Row {
    name: "same key, other payload",
    what: "The client asks for 100, then with the same key for 250.",
    provider_timeout: Duration::from_mins(1),
    naive: Some(Side { conduct: Conduct::naive, expected: &["200, then 200 with amount 100", "1 charge"] }),
    correct: Some(Side { conduct: || Conduct::CORRECT, expected: &["201, then 422", "1 charge"] }),
    script: |stand| script(stand).boxed(),
};

async fn script(stand: &mut Stand) -> Result<Seen, LabError> {
    let first = stand.ask(0, Keyed::Yes, 100).await;
    let second = stand.ask(1, Keyed::Yes, 250).await;
    let many = stand.desk().charges_for_order(stand.order());
    Ok(Seen(vec![in_turn(&[first.to_string(), second.with_amount()]), charges(many)]))
}
