//! What an incident may touch while it is told.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use super::{StuckRecord, Truth};
use crate::lab::LabError;
use crate::lab::client::{Clients, Told};
use crate::lab::names::{self, Purchase, Shop};
use crate::lab::provider::{Fate, ProviderDesk};
use crate::lab::service::{Service, Stalls};

/// Nothing in a story takes this long, however slow the machine.
pub(super) const LIMIT: Duration = Duration::from_mins(2);

/// The service, the provider and the clients, as a story sees them.
#[derive(Debug, Clone)]
pub(in crate::lab) struct Stage {
    pub(in crate::lab) seed: u64,
    pub(in crate::lab) service: Arc<Mutex<Service>>,
    pub(in crate::lab) stalls: Stalls,
    pub(in crate::lab) provider: ProviderDesk,
    pub(in crate::lab) clients: Clients,
    pub(in crate::lab) database: PgConnectOptions,
}

/// One purchase of a story and what is to become of it.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) purchase: Purchase,
    pub(super) truth: Truth,
}

impl Part {
    pub(super) fn new(stage: &Stage, nth: u64, shop: Shop, truth: Truth) -> Self {
        Self { purchase: names::story(stage.seed, nth, shop), truth }
    }

    pub(super) fn order(&self) -> &str {
        &self.purchase.order
    }

    pub(super) fn record(&self) -> StuckRecord {
        let Purchase { scope, key, order, amount, currency, .. } = self.purchase.clone();
        StuckRecord { scope, key, order, amount, currency, truth: self.truth }
    }
}

impl Stage {
    pub(super) fn destine(&self, part: &Part, fate: Fate) {
        self.provider.destine(part.order(), fate);
    }

    /// Sends a purchase to a pod, on its own.
    pub(super) fn send(&self, pod: usize, part: &Part) -> tokio::task::JoinHandle<Told> {
        let (clients, purchase) = (self.clients.clone(), part.purchase.clone());
        tokio::spawn(async move { clients.pay(pod, &purchase).await })
    }

    /// Sends it and insists on the answer the story needs.
    pub(super) async fn expect(&self, pod: usize, part: &Part, code: u16) -> Result<(), LabError> {
        let told = self.clients.pay(pod, &part.purchase).await;
        if told.code() == Some(code) {
            return Ok(());
        }
        Err(LabError::Story(format!("{} was answered {told:?}, not {code}", part.order())))
    }

    pub(super) async fn event(&self, kind: &str, what: &str, who: &str) -> Result<(), LabError> {
        self.service.lock().await.background().event(kind, what, who).await
    }

    /// Waits until a purchase has its record.
    pub(super) async fn until_claimed(&self, part: &Part) -> Result<(), LabError> {
        let mut connection = self.database.connect().await?;
        let look = async {
            while !sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE scope = $1 AND key = $2)")
                .bind(&part.purchase.scope)
                .bind(&part.purchase.key)
                .fetch_one(&mut connection)
                .await?
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok::<(), LabError>(())
        };
        tokio::time::timeout(LIMIT, look)
            .await
            .map_err(|_| LabError::Story(format!("{} never got a record", part.order())))??;
        Ok(connection.close().await?)
    }

    /// Waits until every record is processing with an expired lease: nobody is at work on it any more.
    pub(super) async fn until_stuck(&self, parts: &[Part]) -> Result<(), LabError> {
        let keys: Vec<String> = parts.iter().map(|part| part.purchase.key.clone()).collect();
        let wanted = i64::try_from(keys.len()).unwrap_or(i64::MAX);
        let mut connection = self.database.connect().await?;
        let look = async {
            loop {
                let stuck: i64 = sqlx::query_scalar(
                    "SELECT count(*) FROM idempotency_keys
                     WHERE key = ANY ($1) AND status = 'processing' AND locked_until < clock_timestamp()",
                )
                .bind(&keys)
                .fetch_one(&mut connection)
                .await?;
                if stuck == wanted {
                    return Ok::<(), LabError>(());
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::time::timeout(LIMIT, look)
            .await
            .map_err(|_| LabError::Story("the records did not get stuck".to_owned()))??;
        Ok(connection.close().await?)
    }
}
