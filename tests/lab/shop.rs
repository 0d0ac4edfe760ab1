//! A service, its provider and a client, for tests that look at what requests do.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{ConnectOptions, Row};
use unstuck::lab::cluster::LabDatabase;
use unstuck::lab::provider::{LabProvider, ProviderDesk};
use unstuck::lab::service::{Recoverer, Service, ServiceOptions, StallPoint};

use crate::support::cluster::fresh_database;

/// The service, its provider and its database; short leases, so that they expire while a test waits.
pub struct Shop {
    pub service: Service,
    pub provider: LabProvider,
    pub database: LabDatabase,
    pub client: reqwest::Client,
}

pub struct Told {
    pub code: u16,
    pub body: Value,
    pub retry_after: Option<String>,
    pub replayed: bool,
}

impl Shop {
    pub async fn open(name: &str, options: ServiceOptions) -> Self {
        let database = fresh_database(name).await;
        Service::create_schema_for(&database.admin_options(), options.conduct).await.unwrap();
        let provider = LabProvider::start(7).await.unwrap();
        let service = Service::start(&database.admin_options(), &provider.url(), &options).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { service, provider, database, client }
    }

    pub fn desk(&self) -> ProviderDesk {
        self.provider.desk()
    }

    pub async fn pay(&self, pod: usize, key: &str, order: &str, amount: i64) -> Option<Told> {
        self.pay_as("shop-eu", pod, key, order, amount).await
    }

    pub async fn pay_as(&self, scope: &str, pod: usize, key: &str, order: &str, amount: i64) -> Option<Told> {
        let url = self.service.pod(pod).unwrap().url();
        let request = self
            .client
            .post(format!("{url}/payments"))
            .header("idempotency-key", key)
            .header("x-scope", scope)
            .json(&json!({"order_id": order, "amount": amount, "currency": "EUR", "customer_id": "cus_1"}));
        let answer = request.send().await.ok()?;
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (retry_after, replayed) = (header("retry-after"), header("idempotent-replayed").is_some());
        Some(Told { code: answer.status().as_u16(), retry_after, replayed, body: answer.json().await.ok()? })
    }

    /// Asks until the answer is something else than 409; how long that takes is the machine's business.
    pub async fn pay_when_free(&self, pod: usize, key: &str, order: &str, amount: i64) -> Told {
        let asked = async {
            loop {
                let told = self.pay(pod, key, order, amount).await.unwrap();
                if told.code != 409 {
                    return told;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), asked).await.unwrap()
    }

    /// Sends a payment to pod 1, which is killed when the provider has charged and nothing is saved.
    pub async fn dies_after_the_charge(&mut self, key: &str, order: &str, amount: i64) {
        let stalls = self.service.stalls();
        stalls.hang(order, StallPoint::BeforeSaving);
        let asking = self.pay(1, key, order, amount);
        tokio::select! {
            told = asking => panic!("answered: {:?}", told.map(|told| told.code)),
            hangs = stalls.wait(order, Duration::from_mins(1)) => assert!(hangs, "the pod hangs"),
        }
        self.service.kill_pod(1);
        stalls.release(order);
    }

    /// An hour without any work on the records that are there: leases are over, retentions too.
    pub async fn an_hour_passes(&self) {
        let mut connection = self.database.admin_options().connect().await.unwrap();
        let aged = "UPDATE idempotency_keys SET locked_until = locked_until - interval '1 hour', updated_at = updated_at - interval '1 hour'";
        sqlx::query(aged).execute(&mut connection).await.unwrap();
    }

    pub async fn record(&self, key: &str) -> (String, String, i32, String) {
        let mut connection = self.database.admin_options().connect().await.unwrap();
        let row = sqlx::query(
            "SELECT k.status, k.recovery_point, k.attempt, p.status AS payment FROM idempotency_keys k JOIN payments p USING (scope, key) WHERE k.key = $1",
        )
        .bind(key)
        .fetch_one(&mut connection)
        .await
        .unwrap();
        (row.get("status"), row.get("recovery_point"), row.get("attempt"), row.get("payment"))
    }

    pub async fn count(&self, query: &'static str) -> i64 {
        let mut connection = self.database.admin_options().connect().await.unwrap();
        sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
    }
}

pub fn by_hand() -> ServiceOptions {
    ServiceOptions {
        lease: Duration::from_secs(4),
        provider_timeout: Duration::from_millis(500),
        recoverer: Recoverer::Off { why: "tests recover by hand" },
        ..ServiceOptions::default()
    }
}

pub fn state(status: &str, point: &str, attempt: i32, payment: &str) -> (String, String, i32, String) {
    (status.to_owned(), point.to_owned(), attempt, payment.to_owned())
}
