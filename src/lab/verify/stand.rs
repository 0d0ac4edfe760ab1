//! What a row is run on: two pods with warm pools, a provider over HTTP, clients, and a view of the rows behind them.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::{LIMIT, Row, Told};
use crate::lab::provider::{LabProvider, ProviderDesk};
use crate::lab::service::{Conduct, Meetings, Recoverer, Service, ServiceOptions, StallPoint};
use crate::lab::{LabError, http};

/// Everybody in the table belongs to one tenant.
const SCOPE: &str = "shop-eu";
/// Long enough that no lease is over by itself: it is over when a script says so.
const LEASE: Duration = Duration::from_mins(10);
/// As many connections as the largest crowd has requests for one pod.
const CONNECTIONS: u32 = 12;
/// The same ids of charges every time.
const SEED: u64 = 7;

/// A service, its provider and its clients, for one run of one row.
#[derive(Debug)]
pub struct Stand {
    // Before the provider: nobody may find the thing it talks to gone.
    service: Service,
    provider: LabProvider,
    client: reqwest::Client,
    database: PgConnectOptions,
    meetings: Meetings,
    order: String,
    key: String,
}

/// Whether a request carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyed {
    Yes,
    No,
}

impl Stand {
    /// Starts the service; done when every connection of every pod is open. `run` tells one run of a row from another.
    pub(super) async fn open(
        database: &PgConnectOptions,
        row: &Row,
        conduct: Conduct,
        run: u32,
    ) -> Result<Self, LabError> {
        let provider = LabProvider::start(SEED).await?;
        let meetings = Meetings::default();
        let options = ServiceOptions {
            pods: 2,
            lease: LEASE,
            provider_timeout: row.provider_timeout,
            recoverer: Recoverer::Down { why: "a table of what requests do" },
            connections: CONNECTIONS,
            conduct,
            meetings: meetings.clone(),
            ..ServiceOptions::default()
        };
        let service = Service::start(database, &provider.url(), &options).await?;
        let word: String = row.name.chars().filter(char::is_ascii_alphanumeric).collect();
        Ok(Self {
            service,
            provider,
            client: http::client("checkout/verify")?,
            database: database.clone(),
            meetings,
            order: format!("ord_{word}_{run}"),
            key: format!("key_{word}_{run}"),
        })
    }

    pub(super) fn order(&self) -> &str {
        &self.order
    }

    pub(super) fn desk(&self) -> ProviderDesk {
        self.provider.desk()
    }

    pub(super) fn meetings(&self) -> &Meetings {
        &self.meetings
    }

    pub(super) fn service(&mut self) -> &mut Service {
        &mut self.service
    }

    /// Sends the row's payment of 100 with its key.
    pub(super) fn pay(&self, pod: usize) -> BoxFuture<'static, Told> {
        self.ask(pod, Keyed::Yes, 100)
    }

    /// Sends a payment of that amount; the answer may be awaited later, or never.
    pub(super) fn ask(&self, pod: usize, keyed: Keyed, amount: i64) -> BoxFuture<'static, Told> {
        let Some(url) = self.service.pod(pod).map(crate::lab::service::Pod::url) else {
            return std::future::ready(Told::Nothing).boxed();
        };
        let body = json!({"order_id": self.order, "amount": amount, "currency": "EUR", "customer_id": "cus_1"});
        let request = self.client.post(format!("{url}/payments")).header("x-scope", SCOPE).timeout(LIMIT).json(&body);
        let request = match keyed {
            Keyed::Yes => request.header("idempotency-key", &self.key),
            Keyed::No => request,
        };
        async move {
            let Ok(answer) = request.send().await else { return Told::Nothing };
            let code = answer.status().as_u16();
            match answer.bytes().await {
                Ok(bytes) => Told::Answer { code, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) },
                Err(_) => Told::Nothing,
            }
        }
        .boxed()
    }

    /// Waits until `many` charges of the order wait at the provider.
    pub(super) async fn held(&self, many: usize) -> Result<(), LabError> {
        if self.desk().wait_for_held(&self.order, many, LIMIT).await {
            return Ok(());
        }
        Err(LabError::Story(format!("{many} calls did not reach the provider")))
    }

    /// Goes on when `alone` is done. With a fault that never happens: then a second call is at the provider.
    pub(super) async fn until_alone<T>(&self, alone: impl Future<Output = T>) -> Option<T> {
        let desk = self.desk();
        tokio::select! {
            done = alone => Some(done),
            _ = desk.wait_for_held(&self.order, 2, LIMIT) => None,
        }
    }

    /// Lets the held charges go, and waits until the order has one.
    pub(super) async fn let_go(&self) -> Result<(), LabError> {
        self.desk().release(&self.order);
        if self.desk().wait_for_charge(&self.order, LIMIT).await {
            return Ok(());
        }
        Err(LabError::Story("the provider made no charge".to_owned()))
    }

    /// Waits until the order has that many charges, or until that takes too long.
    pub(super) async fn settled(&self, many: usize) {
        let desk = self.desk();
        let look = async {
            while desk.charges(&self.order).len() < many {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LIMIT, look).await.ok();
    }

    /// Sends the payment to pod 1, which hangs at `point` and is killed there; says what its client was told.
    pub(super) async fn dies_at(&mut self, point: StallPoint) -> Result<Told, LabError> {
        let stalls = self.service.stalls();
        stalls.hang(&self.order, point);
        let asking = tokio::spawn(self.pay(1));
        if !stalls.wait(&self.order, LIMIT).await {
            return Err(LabError::Story("the pod did not get as far as it has to die".to_owned()));
        }
        self.service.kill_pod(1);
        stalls.release(&self.order);
        Ok(asking.await.unwrap_or(Told::Nothing))
    }

    /// Says so when an answer speaks of a charge the provider has for the order.
    pub(super) fn same_charge(&self, told: &Told) -> Option<String> {
        let charges = self.desk().charges(&self.order);
        let charge = told.charge()?;
        let known = charges.iter().any(|known| known.id == charge);
        Some(if known { "the same charge".to_owned() } else { format!("a charge nobody made: {charge}") })
    }

    /// An hour without any work on the row's record: its lease is over, if it has one, and it is stuck.
    pub(super) async fn an_hour_passes(&self) -> Result<(), LabError> {
        let mut connection = self.database.connect().await?;
        sqlx::query(
            "UPDATE idempotency_keys
             SET locked_until = least(locked_until, clock_timestamp() - interval '1 hour'), updated_at = updated_at - interval '1 hour'
             WHERE scope = $1 AND key = $2 AND status = 'processing'",
        )
        .bind(SCOPE)
        .bind(&self.key)
        .execute(&mut connection)
        .await?;
        Ok(connection.close().await?)
    }

    /// How the record stands: its status, or that there is none.
    pub(super) async fn record(&self) -> Result<String, LabError> {
        let mut connection = self.database.connect().await?;
        let status: Option<String> =
            sqlx::query_scalar("SELECT status FROM idempotency_keys WHERE scope = $1 AND key = $2")
                .bind(SCOPE)
                .bind(&self.key)
                .fetch_optional(&mut connection)
                .await?;
        connection.close().await?;
        Ok(status.map_or_else(|| "record gone".to_owned(), |status| format!("record {status}")))
    }
}
