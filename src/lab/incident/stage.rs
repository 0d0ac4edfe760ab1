//! What an incident may touch while it is told.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use super::{StuckRecord, Truth};
use crate::lab::LabError;
use crate::lab::carrier::CarrierDesk;
use crate::lab::client::{Clients, Told};
use crate::lab::names::{self, Purchase, Shop};
use crate::lab::provider::{Fate, ProviderDesk};
use crate::lab::service::{Service, Stalls};

/// Nothing in a story takes this long, however slow the machine.
pub(super) const LIMIT: Duration = Duration::from_mins(2);
/// The pause between two looks at the tables.
const EVERY: Duration = Duration::from_millis(50);

/// The service, the provider and the clients, as a story sees them.
#[derive(Debug, Clone)]
pub(in crate::lab) struct Stage {
    pub(in crate::lab) seed: u64,
    pub(in crate::lab) service: Arc<Mutex<Service>>,
    pub(in crate::lab) stalls: Stalls,
    pub(in crate::lab) provider: ProviderDesk,
    /// In a world with checkouts.
    pub(in crate::lab) carrier: Option<CarrierDesk>,
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

    /// The same purchase under another key.
    pub(super) fn keyed(&self, key: String) -> Self {
        Self { purchase: Purchase { key, ..self.purchase.clone() }, truth: self.truth }
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
        let sql = "SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE scope = $1 AND key = ANY ($2))";
        let (scope, key) = (part.purchase.scope.as_str(), &part.purchase.key);
        self.until(sql, scope, std::slice::from_ref(key), "it has no record").await
    }

    /// Waits until somebody has removed the record of a purchase.
    pub(super) async fn until_removed(&self, part: &Part) -> Result<(), LabError> {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE scope = $1 AND key = ANY ($2))";
        let (scope, key) = (part.purchase.scope.as_str(), &part.purchase.key);
        self.until(sql, scope, std::slice::from_ref(key), "its record is still there").await
    }

    /// Waits until every record is processing with an expired lease: nobody is at work on it any more.
    pub(super) async fn until_stuck(&self, parts: &[Part]) -> Result<(), LabError> {
        let sql = "SELECT $1::text IS NOT NULL AND count(*) = cardinality($2::text[]) FROM idempotency_keys
                   WHERE key = ANY ($2) AND status = 'processing' AND locked_until < clock_timestamp()";
        let keys: Vec<String> = parts.iter().map(|part| part.purchase.key.clone()).collect();
        self.until(sql, "", &keys, "they did not get stuck").await
    }

    /// Waits until every checkout has taken the money and not shipped.
    pub(super) async fn until_captured(&self, parts: &[Part]) -> Result<(), LabError> {
        let sql = "SELECT $1::text IS NOT NULL AND count(*) = cardinality($2::text[]) FROM saga_steps
                   WHERE order_id = ANY ($2) AND pivot AND status = 'done'";
        let orders: Vec<String> = parts.iter().map(|part| part.purchase.order.clone()).collect();
        self.until(sql, "", &orders, "they were not captured").await
    }

    /// Waits until a charge stands in a settlement report that was imported for long enough to be judged.
    pub(super) async fn until_settled(&self, charge: &str) -> Result<(), LabError> {
        let sql = "SELECT $1::text IS NOT NULL AND EXISTS (SELECT 1 FROM settlement_lines
                   WHERE provider_ref = ANY ($2) AND imported_at < clock_timestamp() - interval '6 seconds')";
        self.until(sql, "", &[charge.to_owned()], "no report lists it").await
    }

    async fn until(&self, sql: &'static str, scope: &str, about: &[String], else_: &str) -> Result<(), LabError> {
        let mut connection = self.database.connect().await?;
        let look = async {
            while !sqlx::query_scalar(sql).bind(scope).bind(about).fetch_one(&mut connection).await? {
                tokio::time::sleep(EVERY).await;
            }
            Ok::<(), LabError>(())
        };
        let found = tokio::time::timeout(LIMIT, look).await;
        found.map_err(|_| LabError::Story(format!("{}: {else_}", about.join(", "))))??;
        Ok(connection.close().await?)
    }
}
