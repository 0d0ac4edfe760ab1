//! What a pod does when a client comes again: from the recovery point, never from the start. Look first; charge
//! only what is absent, and then with the same provider key. Nobody waits for the service's own recoverer,
//! which goes by stricter rules (`recoverer.rs`).

use super::answer::Answer;
use super::flow::Flow;
use super::gateway::Called;
use super::records::{Held, Reached};
use super::stall::StallPoint;

impl Flow {
    /// Goes on with a record whose lease was just taken.
    pub(super) async fn recover(&self, held: Held) -> Result<Answer, sqlx::Error> {
        self.stalls.pass(&held.order, StallPoint::BeforeLookUp).await;
        match (held.reached, held.provider_ref.clone()) {
            (Reached::Charged, Some(provider_ref)) => self.verify(held, &provider_ref).await,
            (Reached::Charged, None) => self.unknown(&held, "charged, but no provider ref was kept").await,
            (Reached::Created | Reached::ProviderCalled, _) => self.look_then_charge(held).await,
        }
    }

    async fn verify(&self, held: Held, provider_ref: &str) -> Result<Answer, sqlx::Error> {
        let call = self.records.about_to_look_up(&held, self.gateway.timeout_ms()).await?;
        let called = self.gateway.verify(provider_ref).await;
        self.records.call_ended(call, &called).await?;
        self.conclude(held, called).await
    }

    async fn look_then_charge(&self, held: Held) -> Result<Answer, sqlx::Error> {
        let by_key = self.look_up(&held, "idempotency_key", &held.provider_key).await?;
        let called = match by_key {
            Called::Absent => self.look_up(&held, "reference", &held.payment).await?,
            Called::Succeeded(_)
            | Called::Declined { .. }
            | Called::Open { .. }
            | Called::TimedOut
            | Called::Broken { .. } => by_key,
        };
        match called {
            // No proof yet that nothing was charged; but the provider knows the key, and repeats itself if there was.
            Called::Absent if self.records.order_is_paid(&held).await? => {
                self.unknown(&held, "another payment paid the order: nothing may be charged").await
            }
            Called::Absent => self.charge(held).await,
            Called::Succeeded(_)
            | Called::Declined { .. }
            | Called::Open { .. }
            | Called::TimedOut
            | Called::Broken { .. } => self.conclude(held, called).await,
        }
    }

    async fn look_up(&self, held: &Held, field: &'static str, value: &str) -> Result<Called, sqlx::Error> {
        let call = self.records.about_to_look_up(held, self.gateway.timeout_ms()).await?;
        let called = self.gateway.look_up(field, value).await;
        self.records.call_ended(call, &called).await?;
        Ok(called)
    }
}
