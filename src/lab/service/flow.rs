//! DOMAIN's answer table, in order. One request, one pass.

use axum::http::StatusCode;
use serde_json::json;

use super::answer::Answer;
use super::flaw::{self, Pass};
use super::gateway::{Called, ChargeRequest, Found, Gateway};
use super::large::{self, Success};
use super::meeting::Meetings;
use super::records::{Guarded, Held, Intent, NotSent, Outcome, Records};
use super::stall::{StallPoint, Stalls};
use crate::lab::clock;

/// What a worker (a pod, the recoverer) needs to carry a payment through.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) records: Records,
    pub(super) gateway: Gateway,
    pub(super) stalls: Stalls,
    pub(super) meetings: Meetings,
}

impl Flow {
    /// Answers a request.
    pub(super) async fn answer(&self, intent: &Intent) -> Result<Answer, sqlx::Error> {
        if let Some(held) = self.records.claim(intent).await? {
            return self.fresh(held).await;
        }
        let Some(seen) = self.records.see(&intent.scope, &intent.key).await? else {
            return Ok(match self.records.spent(&intent.payment).await?.as_deref() {
                Some("succeeded" | "failed") => Answer::expired(intent.payment.clone()),
                Some(_) => Answer::unknown(&intent.payment),
                // It was there a moment ago; the next attempt sees what became of it.
                None => Answer::in_progress(1),
            });
        };
        let conduct = self.records.conduct;
        if conduct.comparison.lets_pass(&seen.fingerprint, &intent.fingerprint) == Pass::No {
            return Ok(Answer::mismatch());
        }
        if let Some((code, body)) = seen.done {
            return Ok(Answer::replay(code, body, seen.payment));
        }
        if let Some(left) = seen.lease_left {
            return Ok(Answer::in_progress(left));
        }
        match self.records.take(&intent.scope, &intent.key, seen.attempt).await? {
            Some(held) => flaw::go_on(self, held).await,
            None => Ok(Answer::in_progress(1)),
        }
    }

    async fn fresh(&self, held: Held) -> Result<Answer, sqlx::Error> {
        if self.records.conduct.serves_correctly() && self.records.order_is_paid(&held).await? {
            return self.fail(&held, "order_already_paid", None).await;
        }
        self.charge(held).await
    }

    /// Charges, or says why nothing was sent.
    pub(super) async fn charge(&self, held: Held) -> Result<Answer, sqlx::Error> {
        match self.charge_in_time(&held).await? {
            Ok(answer) => Ok(answer),
            Err(NotSent::TooLate) => Ok(Answer::in_progress(1)),
            Err(why @ (NotSent::KeyTooOld | NotSent::AskedBefore)) => self.unknown(&held, why.why()).await,
        }
    }

    /// The one place that may move money: same provider key on every attempt, and never after the lease.
    pub(super) async fn charge_in_time(&self, held: &Held) -> Result<Result<Answer, NotSent>, sqlx::Error> {
        let mut held = held.clone();
        match self.call(&mut held).await? {
            Ok(called) => Ok(Ok(self.conclude(held, called).await?)),
            Err(why) => Ok(Err(why)),
        }
    }

    /// Asks the provider for the charge and notes the call; nothing is concluded.
    pub(super) async fn call(&self, held: &mut Held) -> Result<Result<Called, NotSent>, sqlx::Error> {
        let call = match self.records.about_to_charge(held, self.gateway.timeout_ms()).await? {
            Ok(call) => call,
            Err(why) => return Ok(Err(why)),
        };
        if held.payment_status == "created" {
            "pending".clone_into(&mut held.payment_status);
        }
        self.stalls.pass(&held.order, StallPoint::BeforeCall).await;
        // Whoever slept until here may have lost the record meanwhile, and somebody else may be charging.
        let asked = clock::instant();
        let left = self.records.time_left(held).await?;
        if left.is_none_or(|left| asked.elapsed() >= left) {
            self.records.never_left(call).await?;
            return Ok(Err(NotSent::TooLate));
        }
        let called = self.send(held).await;
        self.stalls.pass(&held.order, StallPoint::BeforeSaving).await;
        self.records.call_ended(call, &called).await?;
        Ok(Ok(called))
    }

    pub(super) async fn send(&self, held: &Held) -> Called {
        let wanted = ChargeRequest {
            provider_key: self.records.conduct.provider_key.sent(&held.provider_key),
            payment: &held.payment,
            order: &held.order,
            amount: held.amount,
            currency: &held.currency,
        };
        self.gateway.charge(&wanted).await
    }

    /// What an answer of the provider means for the record.
    pub(super) async fn conclude(&self, mut held: Held, called: Called) -> Result<Answer, sqlx::Error> {
        match called {
            Called::Succeeded(found) if found.amount == held.amount && found.currency == held.currency => {
                if self.records.charged(&mut held, &found.id).await? == Guarded::Overtaken {
                    return Ok(Answer::in_progress(1));
                }
                self.stalls.pass(&held.order, StallPoint::BeforeFinish).await;
                self.succeed(&held, &found).await
            }
            Called::Succeeded(_) => self.unknown(&held, "the provider's charge is of another amount").await,
            Called::Declined { code, charge } => self.fail(&held, &code, charge).await,
            Called::Open { .. } => self.unknown(&held, "the provider has not decided").await,
            Called::Absent => self.unknown(&held, "the provider does not list it").await,
            Called::TimedOut => flaw::timed_out(self, &held).await,
            Called::Broken { .. } => self.unknown(&held, "the provider answered with an error").await,
        }
    }

    async fn succeed(&self, held: &Held, found: &Found) -> Result<Answer, sqlx::Error> {
        let lines = large::receipt(&self.records.pool, &held.payment).await?;
        let (payment, order, currency) = (&held.payment, &held.order, &held.currency);
        let body = Success { payment, order, amount: held.amount, currency, charge: &found.id, lines }.body();
        let outcome = Outcome {
            payment_status: "succeeded",
            reason: None,
            provider_ref: Some(found.id.clone()),
            code: StatusCode::CREATED,
            body: body.clone(),
        };
        match self.records.finish(held, &outcome).await {
            Ok(Guarded::Changed) => Ok(Answer::stored(StatusCode::CREATED, body, &held.payment)),
            Ok(Guarded::Overtaken) => Ok(Answer::in_progress(1)),
            // The order has a succeeded payment already: the database refuses a second. A person decides.
            Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                self.unknown(held, "the order has another succeeded payment").await
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn fail(&self, held: &Held, why: &str, charge: Option<String>) -> Result<Answer, sqlx::Error> {
        let body = json!({
            "error": {"code": why, "message": "the payment was declined"},
            "payment_id": held.payment, "order_id": held.order, "status": "failed",
        });
        let outcome = Outcome {
            payment_status: "failed",
            reason: Some(why.to_owned()),
            provider_ref: charge,
            code: StatusCode::PAYMENT_REQUIRED,
            body: body.clone(),
        };
        match self.records.finish(held, &outcome).await? {
            Guarded::Changed => Ok(Answer::stored(StatusCode::PAYMENT_REQUIRED, body, &held.payment)),
            Guarded::Overtaken => Ok(Answer::in_progress(1)),
        }
    }

    pub(super) async fn unknown(&self, held: &Held, why: &str) -> Result<Answer, sqlx::Error> {
        self.records.unknown(held, why).await?;
        Ok(Answer::unknown(&held.payment))
    }
}
