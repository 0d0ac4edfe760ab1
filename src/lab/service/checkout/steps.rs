//! The three steps, and how the first is undone.

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use sqlx::postgres::PgPool;

use super::Checkout;
use crate::lab::service::api;
use crate::lab::service::flow::Flow;
use crate::lab::service::records::Intent;

/// A step of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum Step {
    /// Goods are put aside. Can be undone.
    Reserve,
    /// The money is taken: the pivot.
    Capture,
    /// The parcel goes out. Tried until it succeeds.
    Ship,
}

/// How a step ended this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::lab::service) enum Ended {
    /// Done.
    Done,
    /// Not known, or not now: the same step again later, under the same key.
    Again,
    /// Refused for good.
    Refused(String),
}

impl Step {
    pub(super) const ALL: [Step; 3] = [Step::Reserve, Step::Capture, Step::Ship];
    pub(in crate::lab::service) const PIVOT: Step = Step::Capture;

    pub(in crate::lab::service) fn name(self) -> &'static str {
        match self {
            Self::Reserve => "reserve",
            Self::Capture => "capture",
            Self::Ship => "ship",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }
}

impl Checkout {
    /// Puts the goods aside, once.
    pub(in crate::lab::service) async fn reserve(&self, pool: &PgPool) -> Result<Ended, sqlx::Error> {
        let mut tx = pool.begin().await?;
        if !self.move_stock(&mut tx, &self.step_key(Step::Reserve), -self.quantity).await? {
            return Ok(Ended::Done);
        }
        let taken = sqlx::query("UPDATE stock SET free = free - $2 WHERE sku = $1 AND free >= $2")
            .bind(&self.sku)
            .bind(self.quantity)
            .execute(&mut *tx)
            .await?
            .rows_affected();
        if taken == 0 {
            return Ok(Ended::Refused("out_of_stock".to_owned()));
        }
        self.step(&mut tx, Step::Reserve, "done").await?;
        tx.commit().await?;
        Ok(Ended::Done)
    }

    /// Puts the goods back, once. Refuses past the pivot, whoever asks.
    pub(in crate::lab::service) async fn release(&self, pool: &PgPool) -> Result<Ended, sqlx::Error> {
        let mut tx = pool.begin().await?;
        let captured: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM saga_steps WHERE saga_id = $1 AND pivot AND status = 'done' FOR UPDATE)",
        )
        .bind(&self.saga)
        .fetch_one(&mut *tx)
        .await?;
        if captured {
            return Ok(Ended::Refused("captured".to_owned()));
        }
        if self.move_stock(&mut tx, &format!("{}:undo", self.step_key(Step::Reserve)), self.quantity).await? {
            sqlx::query("UPDATE stock SET free = free + $2 WHERE sku = $1")
                .bind(&self.sku)
                .bind(self.quantity)
                .execute(&mut *tx)
                .await?;
        }
        self.step(&mut tx, Step::Reserve, "compensated").await?;
        tx.commit().await?;
        Ok(Ended::Done)
    }

    /// Whether this step key moves goods for the first time.
    async fn move_stock(
        &self,
        tx: &mut sqlx::PgConnection,
        step_key: &str,
        quantity: i32,
    ) -> Result<bool, sqlx::Error> {
        let first = sqlx::query(
            "INSERT INTO stock_moves (step_key, sku, quantity) VALUES ($1, $2, $3) ON CONFLICT (step_key) DO NOTHING",
        )
        .bind(step_key)
        .bind(&self.sku)
        .bind(quantity)
        .execute(tx)
        .await?;
        Ok(first.rows_affected() == 1)
    }

    /// Takes the money, through the front door: a payment under the step's key, with all that protects one.
    pub(in crate::lab::service) async fn capture(&self, flow: &Flow) -> Result<Ended, sqlx::Error> {
        let key = self.step_key(Step::Capture);
        let intent = Intent {
            fingerprint: api::hex(&["SAGA", &self.scope, &self.order, &self.amount.to_string(), &self.currency], 32),
            payment: format!("pay_{}", api::hex(&[&self.scope, &key], 6)),
            scope: self.scope.clone(),
            key,
            order: self.order.clone(),
            amount: self.amount,
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            lines: None,
        };
        let answer = flow.answer(&intent).await?;
        Ok(match answer.code {
            StatusCode::CREATED => Ended::Done,
            StatusCode::PAYMENT_REQUIRED => {
                let why = answer.body.pointer("/error/code").and_then(serde_json::Value::as_str);
                Ended::Refused(why.unwrap_or("declined").to_owned())
            }
            // So long ago that the answer is not kept any more: the payment itself says how it ended.
            StatusCode::GONE => match flow.records.spent(&intent.payment).await?.as_deref() {
                Some("succeeded") => Ended::Done,
                Some("failed") => Ended::Refused("declined".to_owned()),
                Some(_) | None => Ended::Again,
            },
            // 409, 503: not known. Nothing is undone on a guess.
            _ => Ended::Again,
        })
    }

    /// Sends the parcel, under the step's key.
    pub(in crate::lab::service) async fn ship(
        &self,
        pool: &PgPool,
        http: &reqwest::Client,
        carrier: Option<&str>,
    ) -> Result<Ended, sqlx::Error> {
        #[derive(Deserialize)]
        struct Parcel {
            id: String,
        }
        let Some(carrier) = carrier else { return Ok(Ended::Again) };
        let key = self.step_key(Step::Ship);
        let sent = http
            .post(format!("{carrier}/v1/shipments"))
            .header("idempotency-key", &key)
            .timeout(std::time::Duration::from_secs(2))
            .json(&json!({"order_id": self.order}))
            .send()
            .await;
        let Ok(answer) = sent.and_then(reqwest::Response::error_for_status) else { return Ok(Ended::Again) };
        let Ok(parcel) = answer.json::<Parcel>().await else { return Ok(Ended::Again) };
        sqlx::query(
            "INSERT INTO shipments (step_key, order_id, parcel) VALUES ($1, $2, $3) ON CONFLICT (step_key) DO NOTHING",
        )
        .bind(&key)
        .bind(&self.order)
        .bind(&parcel.id)
        .execute(pool)
        .await?;
        Ok(Ended::Done)
    }
}
