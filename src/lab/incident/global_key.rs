//! `global-key`: a tenant is given another tenant's answer.

use futures_util::FutureExt;

use super::stage::{Part, Stage};
use super::{Ending, Incident, Story, Truth};
use crate::lab::LabError;
use crate::lab::names::Shop;
use crate::lab::service::{Orphans, Recoverer, flaw};

pub(super) static INCIDENT: Incident = Incident {
    name: "global-key",
    sentence: "Records are found by key alone: a tenant whose key collides is shown another tenant's payment.",
    must_see: &["I8: requests answered from another scope, with both scopes", "nothing stuck and nothing unknown"],
    should_do: &["treat it as a data leak: who saw whose answer", "have the service look records up by scope and key"],
    must_not: &["resume anything: nothing is stuck", "ask tenants to choose longer keys and leave it there"],
    ends_well: &[Ending::OneChargeEach, Ending::BooksAgree, Ending::NothingDone],
    recoverer: Recoverer::On,
    flaws: &[&flaw::GLOBAL_KEY],
    systems: &[],
    orphans: Orphans::Refund,
    tell: |stage| tell(stage).boxed(),
};

async fn tell(stage: &Stage) -> Result<Story, LabError> {
    stage.event("deploy", "payments 2.16.0: one index less, keys are looked up alone", "deploy-bot").await?;
    let mut paid = Vec::new();
    for nth in 0..3_u64 {
        let mut first = Part::new(stage, nth, Shop::Europe, Truth::Charged);
        // Both tenants number their orders, and use the number as the key.
        first.purchase.key = format!("{:05}", 10_017 + nth);
        stage.expect(0, &first, 201).await?;
        let mut other = first.clone();
        "partner-fit".clone_into(&mut other.purchase.scope);
        stage.expect(1, &other, 201).await?;
        paid.push(first.record());
    }
    Ok(Story { records: paid })
}
