//! `calm`: nothing is wrong, and the console must stay quiet.

use futures_util::FutureExt;

use super::stage::Stage;
use super::{Ending, Incident, Story};
use crate::lab::LabError;
use crate::lab::service::{Orphans, Recoverer};
use crate::lab::system::System;

pub(super) static INCIDENT: Incident = Incident {
    name: "calm",
    sentence: "Nothing is wrong: an ordinary day with refusals, retries and declined cards.",
    must_see: &["no alarm: everything that is checked holds"],
    should_do: &["nothing; look around, and learn what an ordinary day looks like"],
    must_not: &["look for something to repair"],
    ends_well: &[Ending::NothingDone],
    recoverer: Recoverer::On,
    flaws: &[],
    systems: &[System::Webhooks, System::Books, System::Checkouts, System::Settlement],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "payments 2.13.4, as every Tuesday", "deploy-bot").await?;
    Ok(Story { records: Vec::new() })
}
