//! The service's own recoverer: what it may do with a record is what `next_step` says, the product's own table.
//!
//! It decides on the record as it was before its own take: its own lease would count as a call that may be under
//! way, and "not found" would never become proof. Two things wake it: its own sweep over expired leases
//! ([`sweep`]), and records that people hand back ([`hand_backs`]), which it serves also while the sweep is off.

mod hand_backs;
mod sweep;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::answer::Answer;
use super::flow::Flow;
use super::gateway::{Called, Found, Gateway};
use super::records::{Held, NotSent, Records};
use super::{ServiceOptions, Stalls};
use crate::domain::evidence::{Evidence, LookupOutcome, Observed};
use crate::domain::ids::{Holder, Operator, ProviderName, RecordId};
use crate::domain::policy::{Policy, ProviderTerms};
use crate::domain::record::{RecordDetail, RecordStatus};
use crate::domain::recovery::{Decision, Step, next_step};
use crate::domain::time::{Instant, Seconds};
use crate::lab::LabError;
use crate::lab::service::PROVIDER;

pub use sweep::Recovered;

/// Who it says it is, in every table.
pub(super) const NAME: &str = "recoverer";

/// Whether stuck records are recovered without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recoverer {
    /// Every five seconds it looks at expired leases, and it serves hand backs.
    On,
    /// Its own sweep is switched off, and `service_events` says by whom and why. Hand backs are served.
    Off {
        /// Why, in the words of who did it.
        why: &'static str,
    },
    /// It does not run at all: nobody answers a hand back.
    Down {
        /// Why, in the words of who noticed.
        why: &'static str,
    },
}

/// One recoverer. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    flow: Flow,
    policy: Policy,
    terms: ProviderTerms,
}

/// What the recovery table lets this recoverer do with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Deed {
    /// Finish with the provider's final yes.
    Adopt(Observed),
    /// Finish with its final no, and its reason.
    Fail(Observed, String),
    /// Charge, with the same provider key.
    Charge,
}

impl Deed {
    /// `None`: nothing of it is ours to do.
    fn of(step: &Step) -> Option<Self> {
        match step {
            Step::Adopt { charge } => Some(Self::Adopt(charge.clone())),
            Step::FinishAsFailed { charge, reason } => Some(Self::Fail(charge.clone(), reason.clone())),
            Step::HandBack => Some(Self::Charge),
            // The last two end a payment without a charge, on proof that two people judge.
            Step::Refuse(_)
            | Step::NothingToDo
            | Step::LookUpFirst { .. }
            | Step::Wait { .. }
            | Step::FinishAsReversed { .. }
            | Step::FinishAsNotCharged => None,
        }
    }
}

/// What the recoverer knows of a record that it left.
#[derive(Debug, Default)]
struct Memory {
    looked_up: Vec<Evidence>,
    why: String,
    again: Option<Instant>,
}

/// A record that was refused is asked about again after this.
const REFUSED: Seconds = Seconds(60);
/// So many look-ups of one record are kept: more than two that must agree.
const REMEMBERED: usize = 50;

impl Worker {
    pub(super) async fn start(
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
        stalls: Stalls,
    ) -> Result<Self, LabError> {
        let login = options.recoverer_as.clone().unwrap_or_else(|| database.clone()).application_name(NAME);
        let pool = PgPoolOptions::new().max_connections(4).connect_with(login).await?;
        let gateway = Gateway::new(provider, NAME, options.provider_timeout)?;
        let records = Records::new(pool, NAME.to_owned(), options);
        let flow = Flow { records, gateway, stalls, meetings: options.meetings.clone() };
        Ok(Self { flow, policy: options.policy.clone(), terms: options.terms })
    }

    fn pool(&self) -> &PgPool {
        &self.flow.records.pool
    }

    /// Asks the provider about a record as it was read. Written down as a look-up of ours.
    async fn look_up(&self, seen: &Held) -> Result<Evidence, sqlx::Error> {
        let records = &self.flow.records;
        let started_at = records.now().await?;
        let call = records.about_to_look_up(seen, self.flow.gateway.timeout_ms()).await?;
        let outcome = self.flow.gateway.sight(seen).await;
        let (word, provider_ref) = match &outcome {
            LookupOutcome::Found { observed } => ("ok", observed.first().map(|hit| hit.provider_ref.as_str())),
            LookupOutcome::NotFound { .. } => ("ok", None),
            LookupOutcome::Unreachable { .. } => ("error", None),
        };
        records.close_call(call, word, (word == "ok").then_some(200), provider_ref).await?;
        Ok(Evidence {
            id: None,
            operator: Operator::new(NAME),
            provider: ProviderName::new(PROVIDER),
            started_at,
            outcome,
            steps: Vec::new(),
        })
    }

    /// Looks a record up that nobody holds, and asks the product's table what may be done with it.
    async fn judge(&self, before: &RecordDetail, seen: &Held, memory: &mut Memory) -> Result<Decision, sqlx::Error> {
        if memory.looked_up.len() >= REMEMBERED {
            memory.looked_up.remove(0);
        }
        memory.looked_up.push(self.look_up(seen).await?);
        let decision = self.decide(before, &memory.looked_up).await?;
        memory.again = match &decision.step {
            Step::Wait { look_again, .. } => Some(*look_again),
            Step::Refuse(_) | Step::FinishAsReversed { .. } | Step::FinishAsNotCharged => {
                Some(REFUSED.after(self.flow.records.now().await?))
            }
            Step::NothingToDo
            | Step::LookUpFirst { .. }
            | Step::Adopt { .. }
            | Step::FinishAsFailed { .. }
            | Step::HandBack => None,
        };
        Ok(decision)
    }

    /// The product's decision, at the database's clock.
    async fn decide(&self, before: &RecordDetail, evidence: &[Evidence]) -> Result<Decision, sqlx::Error> {
        let now = self.flow.records.now().await?;
        Ok(next_step(before, evidence, &Holder::new(NAME), &self.policy, &self.terms, now))
    }

    /// Does it, with the lease in hand. Every write is fenced, and a charge leaves in time or not at all.
    async fn carry_out(&self, held: &Held, deed: &Deed) -> Result<Result<Answer, NotSent>, sqlx::Error> {
        let called = match deed {
            Deed::Charge => return self.flow.charge_in_time(held).await,
            Deed::Fail(charge, reason) => {
                Called::Declined { code: reason.clone(), charge: Some(charge.provider_ref.as_str().to_owned()) }
            }
            Deed::Adopt(charge) => {
                let provider_ref = charge.provider_ref.as_str();
                if let Some(other) = self.flow.records.owner_of(held, provider_ref).await? {
                    let why = format!("charge {provider_ref} belongs to payment {other}");
                    return self.flow.unknown(held, &why).await.map(Ok);
                }
                Called::Succeeded(Found {
                    id: provider_ref.to_owned(),
                    status: "succeeded".to_owned(),
                    amount: charge.money.amount,
                    currency: charge.money.currency.clone(),
                    failure_code: None,
                })
            }
        };
        self.flow.conclude(held.clone(), called).await.map(Ok)
    }

    /// How a record ended, whoever ended it; `None` while it has not.
    async fn ending(&self, id: &RecordId) -> Result<Option<String>, sqlx::Error> {
        let detail = self.flow.records.facts(id).await?;
        let Some(detail) = detail.filter(|detail| detail.record.status == RecordStatus::Done) else {
            return Ok(None);
        };
        let status = detail.record.payment_status.map_or_else(|| "NOT KNOWN".to_owned(), |status| status.to_string());
        let charge = detail.record.provider_ref.map_or_else(String::new, |found| format!(", charge {found}"));
        Ok(Some(format!("payment {status}{charge}")))
    }

    /// Notes what it did where the service notes such things.
    async fn note(&self, what: &str) -> Result<(), sqlx::Error> {
        sqlx::query("INSERT INTO service_events (at, kind, what, who) VALUES (clock_timestamp(), 'recoverer', $1, $2)")
            .bind(what)
            .bind(NAME)
            .execute(self.pool())
            .await?;
        Ok(())
    }
}

/// Why a step is not the recoverer's to take.
fn left(decision: &Decision) -> String {
    let why = match &decision.step {
        Step::Refuse(refusal) => &refusal.why,
        Step::LookUpFirst { why } | Step::Wait { why, .. } => why,
        Step::NothingToDo => "It is done.",
        Step::FinishAsReversed { .. } => {
            "The charge was given back and another payment paid the order: two people finish it."
        }
        Step::FinishAsNotCharged => "Nothing was charged and the provider forgot the key: two people finish it.",
        Step::Adopt { .. } | Step::FinishAsFailed { .. } | Step::HandBack => "The record changed meanwhile.",
    };
    format!("row {}: {why}", decision.row)
}
