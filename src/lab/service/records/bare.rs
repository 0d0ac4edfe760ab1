//! Rows of a payment that has no record, as flawed services write them.

use serde_json::Value;

use super::{Held, Intent, Reached, Records, Sql};
use crate::lab::service::PROVIDER;
use crate::lab::service::answer::Answer;

impl Records {
    /// A pending payment and its provider call, and no record.
    pub(in crate::lab::service) async fn open_bare(&self, intent: &Intent, timeout_ms: i32) -> Sql<(Held, i64)> {
        let held = Held {
            scope: intent.scope.clone(),
            key: intent.key.clone(),
            attempt: 0,
            reached: Reached::Created,
            payment: intent.payment.clone(),
            payment_status: "created".to_owned(),
            order: intent.order.clone(),
            amount: intent.amount,
            currency: intent.currency.clone(),
            provider_key: intent.provider_key(),
            provider_ref: None,
            not_after: None,
        };
        let mut tx = self.pool.begin().await?;
        self.insert_payment(&mut tx, intent).await?;
        self.move_payment(&mut tx, &held, "pending", None, None).await?;
        let call = self.begin_call(&mut tx, &held, "charge", timeout_ms).await?;
        tx.commit().await?;
        Ok((Held { payment_status: "pending".to_owned(), ..held }, call))
    }

    /// How the payment ended, and its event.
    pub(in crate::lab::service) async fn close_bare(
        &self,
        held: &Held,
        status: &str,
        reason: Option<&str>,
        provider_ref: Option<&str>,
        body: &Value,
    ) -> Sql<()> {
        let mut tx = self.pool.begin().await?;
        self.move_payment(&mut tx, held, status, reason, provider_ref).await?;
        self.publish(&mut tx, &held.payment, status, body).await?;
        tx.commit().await
    }

    /// The record, when all is over. Whoever stores first is remembered.
    pub(in crate::lab::service) async fn store_done(
        &self,
        intent: &Intent,
        answer: &Answer,
        provider_ref: Option<&str>,
    ) -> Sql<()> {
        let provider_key = intent.provider_key();
        sqlx::query(
            "INSERT INTO idempotency_keys (scope, key, fingerprint, status, recovery_point, locked_until, locked_by, order_id,
                                           provider, provider_key, provider_ref, response_code, response_body)
             VALUES ($1, $2, $3, 'done', 'done', clock_timestamp(), $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (scope, key) DO NOTHING",
        )
        .bind(&intent.scope)
        .bind(&intent.key)
        .bind(&intent.fingerprint)
        .bind(&self.who)
        .bind(&intent.order)
        .bind(PROVIDER)
        .bind(self.conduct.provider_key.sent(&provider_key))
        .bind(provider_ref)
        .bind(i32::from(answer.code.as_u16()))
        .bind(&answer.body)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
