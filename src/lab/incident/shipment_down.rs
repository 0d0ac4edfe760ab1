//! `shipment-down`: a saga is past its pivot, and its last step fails.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::provider::Reach;
use crate::lab::service::{Orphans, Recoverer};
use crate::lab::system::System;

pub(super) static INCIDENT: Incident = Incident {
    name: "shipment-down",
    sentence: "The carrier is down after the money was taken: checkouts stand past their pivot and must only go forward.",
    must_see: &[
        "I13: checkouts that have not moved, and the step they wait at",
        "nothing stuck and nothing unknown: the payments are fine",
    ],
    should_do: &["call the carrier; the service retries the step by itself", "tell support: paid, being prepared"],
    must_not: &[
        "refund or compensate: the pivot is behind them",
        "ship by hand while the service retries: two parcels",
    ],
    ends_well: &[Ending::Shipped, Ending::OneChargeEach, Ending::BooksAgree],
    recoverer: Recoverer::On,
    flaws: &[],
    systems: &[System::Checkouts],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    let Some(carrier) = &stage.carrier else { return Err(LabError::Story("there is no carrier".to_owned())) };
    carrier.set_reach(Reach::Unavailable);
    let cast = [Shop::Europe, Shop::Europe, Shop::Japan, Shop::Kuwait].into_iter().zip(0..);
    let cast: Vec<Part> = cast.map(|(shop, nth)| Part::new(stage, nth, shop, Truth::Charged)).collect();
    for part in &cast {
        stage.clients.check_out(0, &part.purchase).await;
    }
    stage.until_captured(&cast).await?;
    Ok(Story { records: cast.iter().map(Part::record).collect() })
}
