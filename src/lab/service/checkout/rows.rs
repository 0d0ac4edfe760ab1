//! The rows of a saga: its own, and one per step that the console reads.

use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::{PgConnection, PgPool, PgRow};

use super::{CheckoutBody, Step};
use crate::lab::service::api;

/// How a saga stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lab::service) enum State {
    /// Going forward.
    Running,
    /// Going back: a step before the pivot failed for good.
    Undoing,
    /// All done.
    Shipped,
    /// All undone.
    Cancelled,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Undoing => "undoing",
            Self::Shipped => "shipped",
            Self::Cancelled => "cancelled",
        }
    }

    fn read(word: &str) -> Self {
        match word {
            "undoing" => Self::Undoing,
            "shipped" => Self::Shipped,
            "cancelled" => Self::Cancelled,
            _ => Self::Running,
        }
    }

    /// What a customer reads.
    pub(super) fn for_customers(self) -> &'static str {
        match self {
            Self::Running => "being prepared",
            Self::Undoing => "being cancelled",
            Self::Shipped => "shipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// One saga.
#[derive(Debug, Clone)]
pub(in crate::lab::service) struct Checkout {
    pub(super) id: String,
    pub(in crate::lab::service) saga: String,
    pub(in crate::lab::service) scope: String,
    pub(in crate::lab::service) order: String,
    pub(in crate::lab::service) customer: Option<String>,
    pub(super) sku: String,
    pub(super) quantity: i32,
    pub(in crate::lab::service) amount: i64,
    pub(in crate::lab::service) currency: String,
    pub(in crate::lab::service) state: State,
    pub(super) reason: Option<String>,
    pub(in crate::lab::service) tries: i32,
}

impl Checkout {
    /// The key a step is called under, on every attempt.
    pub(in crate::lab::service) fn step_key(&self, step: Step) -> String {
        format!("{}:{}", self.saga, step.name())
    }

    pub(super) fn same_as(&self, body: &CheckoutBody) -> bool {
        (&self.order, &self.sku, self.quantity, self.amount, &self.currency, &self.customer)
            == (&body.order_id, &body.sku, body.quantity, body.amount, &body.currency, &body.customer_id)
    }

    fn read(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            saga: row.try_get("saga_id")?,
            scope: row.try_get("scope")?,
            order: row.try_get("order_id")?,
            customer: row.try_get("customer_id")?,
            sku: row.try_get("sku")?,
            quantity: row.try_get("quantity")?,
            amount: row.try_get("amount")?,
            currency: row.try_get("currency")?,
            state: State::read(&row.try_get::<String, _>("state")?),
            reason: row.try_get("reason")?,
            tries: row.try_get("tries")?,
        })
    }
}

/// Writes the saga and its steps, or finds them there.
pub(super) async fn begin(pool: &PgPool, scope: &str, id: &str, body: &CheckoutBody) -> Result<Checkout, sqlx::Error> {
    let saga = format!("saga_{}", api::hex(&[scope, id], 6));
    let mut tx = pool.begin().await?;
    let made = sqlx::query(
        "INSERT INTO checkouts (saga_id, scope, id, order_id, customer_id, sku, quantity, amount, currency)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
    )
    .bind(&saga)
    .bind(scope)
    .bind(id)
    .bind(&body.order_id)
    .bind(&body.customer_id)
    .bind(&body.sku)
    .bind(body.quantity)
    .bind(body.amount)
    .bind(&body.currency)
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if made == 1 {
        for (position, step) in (1_i32..).zip(Step::ALL) {
            sqlx::query(
                "INSERT INTO saga_steps (saga_id, position, step, pivot, status, order_id) VALUES ($1, $2, $3, $4, 'pending', $5)",
            )
            .bind(&saga)
            .bind(position)
            .bind(step.name())
            .bind(step == Step::PIVOT)
            .bind(&body.order_id)
            .execute(&mut *tx)
            .await?;
        }
    }
    tx.commit().await?;
    find(pool, scope, id).await?.ok_or(sqlx::Error::RowNotFound)
}

pub(super) async fn find(pool: &PgPool, scope: &str, id: &str) -> Result<Option<Checkout>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT saga_id, scope, id, order_id, customer_id, sku, quantity, amount, currency, state, reason, tries
         FROM checkouts WHERE scope = $1 AND id = $2",
    )
    .bind(scope)
    .bind(id)
    .fetch_optional(pool)
    .await?;
    row.as_ref().map(Checkout::read).transpose()
}

impl Checkout {
    /// Takes the saga whose turn it is, for so long; several workers take different ones.
    pub(in crate::lab::service) async fn next(pool: &PgPool, lease: Duration) -> Result<Option<Self>, sqlx::Error> {
        let row = sqlx::query(
            "UPDATE checkouts SET next_try_at = clock_timestamp() + make_interval(secs => $1), tries = tries + 1
             WHERE saga_id = (SELECT c.saga_id FROM checkouts c WHERE c.state IN ('running', 'undoing') AND c.next_try_at <= clock_timestamp()
                              ORDER BY c.next_try_at, c.saga_id LIMIT 1 FOR UPDATE SKIP LOCKED)
             RETURNING saga_id, scope, id, order_id, customer_id, sku, quantity, amount, currency, state, reason, tries",
        )
        .bind(lease.as_secs_f64())
        .fetch_optional(pool)
        .await?;
        row.as_ref().map(Self::read).transpose()
    }

    /// Gives it back until its next turn.
    pub(in crate::lab::service) async fn wait(&self, pool: &PgPool, pause: Duration) -> Result<(), sqlx::Error> {
        sqlx::query(
            "UPDATE checkouts SET next_try_at = clock_timestamp() + make_interval(secs => $2) WHERE saga_id = $1",
        )
        .bind(&self.saga)
        .bind(pause.as_secs_f64())
        .execute(pool)
        .await?;
        Ok(())
    }

    /// The whole saga changes its state.
    pub(in crate::lab::service) async fn turn(
        &self,
        connection: &mut PgConnection,
        state: State,
        reason: Option<&str>,
    ) -> Result<(), sqlx::Error> {
        sqlx::query("UPDATE checkouts SET state = $2, reason = coalesce($3, reason), tries = 0 WHERE saga_id = $1")
            .bind(&self.saga)
            .bind(state.word())
            .bind(reason)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Steps with their status, in order.
    pub(in crate::lab::service) async fn steps(&self, pool: &PgPool) -> Result<Vec<(Step, String)>, sqlx::Error> {
        let rows: Vec<(String, String)> =
            sqlx::query_as("SELECT step, status FROM saga_steps WHERE saga_id = $1 ORDER BY position")
                .bind(&self.saga)
                .fetch_all(pool)
                .await?;
        Ok(rows.into_iter().filter_map(|(name, status)| Step::named(&name).map(|step| (step, status))).collect())
    }

    /// A step changes its status. That it is what it was already is no movement: rule I13 counts from the last one.
    pub(in crate::lab::service) async fn step(
        &self,
        connection: &mut PgConnection,
        step: Step,
        status: &str,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(
            "UPDATE saga_steps SET status = $3, updated_at = clock_timestamp() WHERE saga_id = $1 AND step = $2 AND status <> $3",
        )
        .bind(&self.saga)
        .bind(step.name())
        .bind(status)
        .execute(connection)
        .await?;
        Ok(())
    }
}
