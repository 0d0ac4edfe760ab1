//! What is true when an incident was handled well: asked of the books and of the provider, not of the console.

use sqlx::{Connection, PgConnection};

use super::{Story, StuckRecord};
use crate::lab::LabError;
use crate::lab::provider::ProviderDesk;

/// One thing that has to be true at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// No record of the story is left behind an expired lease.
    NothingStuck,
    /// The provider kept the money of one charge per order at most.
    OneChargeEach,
    /// An order has a succeeded payment where the provider kept money for it, and none where it did not.
    BooksAgree,
    /// Every payment of the story still has its record.
    RecordsKept,
    /// Every checkout of the story was shipped, and none of it was undone.
    Shipped,
    /// The provider keeps no money that no payment of ours accounts for.
    NoOrphan,
    /// Nobody changed anything: there was nothing to do.
    NothingDone,
}

/// Whether it is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It is.
    Well,
    /// It is not, or not yet.
    NotYet,
}

impl Ending {
    /// What is true, in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NothingStuck => "No record of the story is stuck.",
            Self::OneChargeEach => "The provider kept the money of at most one charge per order.",
            Self::BooksAgree => "The books have a success exactly where the provider kept money.",
            Self::RecordsKept => "Every payment still has its record.",
            Self::Shipped => "Every checkout was shipped, and nothing was undone.",
            Self::NoOrphan => "The provider keeps no money that no payment accounts for.",
            Self::NothingDone => "Nobody changed anything.",
        }
    }

    /// Asks the tables, as their owner, and the provider.
    pub(in crate::lab) async fn look(
        self,
        story: &Story,
        provider: &ProviderDesk,
        database: &mut PgConnection,
    ) -> Result<Ended, LabError> {
        let keys: Vec<&str> = story.records.iter().map(|record| record.key.as_str()).collect();
        let orders: Vec<&str> = story.records.iter().map(|record| record.order.as_str()).collect();
        let kept = |record: &StuckRecord| kept(provider, &record.order);
        let well = match self {
            Self::OneChargeEach => story.records.iter().all(|record| kept(record) <= 1),
            Self::BooksAgree => {
                let mut agree = true;
                for record in &story.records {
                    agree &= paid(database, &record.order).await? == kept(record);
                }
                agree
            }
            Self::NoOrphan => {
                let mut accounted = true;
                for record in &story.records {
                    accounted &= kept(record) <= paid(database, &record.order).await?;
                }
                accounted
            }
            Self::NothingStuck => none(database, STUCK, &keys).await?,
            Self::RecordsKept => none(database, LOST, &orders).await?,
            Self::Shipped => none(database, NOT_SHIPPED, &orders).await?,
            Self::NothingDone => none(database, DONE, &[]).await?,
        };
        Ok(if well { Ended::Well } else { Ended::NotYet })
    }
}

const STUCK: &str = "SELECT count(*) FROM idempotency_keys
    WHERE key = ANY ($1) AND status = 'processing' AND locked_until < clock_timestamp()";
const LOST: &str = "SELECT count(*) FROM payments p WHERE p.order_id = ANY ($1)
    AND NOT EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.scope = p.scope AND k.key = p.key AND k.created_at <= p.created_at)";
const NOT_SHIPPED: &str = "SELECT count(*) FROM saga_steps WHERE order_id = ANY ($1) AND status <> 'done'";
const DONE: &str = "SELECT count(*) FROM unstuck.action_log WHERE entry = 'intent' AND $1::text[] IS NOT NULL";

/// How many charges of an order moved money that was not given back.
fn kept(provider: &ProviderDesk, order: &str) -> i64 {
    let charges = provider.charges(order);
    let kept = charges.iter().filter(|charge| charge.captured > charge.refunded).count();
    i64::try_from(kept).unwrap_or(i64::MAX)
}

async fn paid(database: &mut PgConnection, order: &str) -> Result<i64, LabError> {
    let paid = sqlx::query_scalar("SELECT count(*) FROM payments WHERE order_id = $1 AND status = 'succeeded'");
    Ok(paid.bind(order).fetch_one(database).await?)
}

async fn none(database: &mut PgConnection, sql: &'static str, about: &[&str]) -> Result<bool, LabError> {
    database.ping().await?;
    let found: i64 = sqlx::query_scalar(sql).bind(about).fetch_one(database).await?;
    Ok(found == 0)
}
