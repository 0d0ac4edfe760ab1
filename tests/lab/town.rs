//! The service with everything around it: provider, carrier, books. Jobs run only when a test says so.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::postgres::{PgPool, PgPoolOptions};
use unstuck::lab::carrier::Carrier;
use unstuck::lab::cluster::LabDatabase;
use unstuck::lab::provider::{Habits, LabProvider, ProviderDesk};
use unstuck::lab::service::{Books, Job, Recoverer, Service, ServiceOptions, StallPoint, Stalls, Tally};

use crate::support::cluster::fresh_database;

/// However busy the machine is, nothing here takes this long.
pub const LIMIT: Duration = Duration::from_mins(2);

pub struct Town {
    pub service: Service,
    pub provider: LabProvider,
    pub carrier: Carrier,
    pub pool: PgPool,
    pub client: reqwest::Client,
    pub stalls: Stalls,
    _books: Books,
    _database: LabDatabase,
}

/// What a client was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub code: u16,
    pub body: Value,
    pub replayed: bool,
}

/// No job by itself; time-outs that a busy machine does not reach.
pub fn by_hand() -> ServiceOptions {
    ServiceOptions {
        lease: Duration::from_secs(4),
        provider_timeout: Duration::from_millis(1500),
        recoverer: Recoverer::Off { why: "tests recover by hand" },
        jobs: Vec::new(),
        connections: 4,
        ..ServiceOptions::default()
    }
}

impl Town {
    pub async fn open(name: &str) -> Self {
        Self::open_with(name, Habits::default(), by_hand()).await
    }

    pub async fn open_with(name: &str, habits: Habits, options: ServiceOptions) -> Self {
        let database = fresh_database(name).await;
        let owner = database.admin_options();
        Service::create_schema(&owner).await.unwrap();
        let stalls = Stalls::default();
        let provider = LabProvider::start_as(habits, 7).await.unwrap();
        let carrier = Carrier::start().await.unwrap();
        let books = Books::start(&owner, stalls.clone()).await.unwrap();
        let options = ServiceOptions { consumers: vec![books.url()], carrier: Some(carrier.url()), ..options };
        let service = Service::start_with(&owner, &provider.url(), &options, stalls.clone()).await.unwrap();
        let pool = PgPoolOptions::new().max_connections(4).connect_with(owner).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        sqlx::query("INSERT INTO stock (sku, free) VALUES ('tea', 3)").execute(&pool).await.unwrap();
        Self { service, provider, carrier, pool, client, stalls, _books: books, _database: database }
    }

    pub fn desk(&self) -> ProviderDesk {
        self.provider.desk()
    }

    /// From now on the provider's webhooks reach the service.
    pub fn subscribe(&self) {
        self.desk().subscribe(self.service.webhook_urls());
    }

    /// One pass of a job.
    pub async fn run(&self, job: &'static Job) -> Tally {
        self.service.jobs().run(job).await.unwrap()
    }

    /// One pass of a job that dies at `point`, while it works on `order`.
    pub async fn run_and_kill(&self, job: &'static Job, order: &str, point: StallPoint) {
        self.stalls.hang(order, point);
        let jobs = self.service.jobs();
        let pass = tokio::spawn(async move { jobs.run(job).await });
        assert!(self.stalls.wait(order, LIMIT).await, "{point:?} is reached");
        pass.abort();
        assert!(pass.await.unwrap_err().is_cancelled());
        self.stalls.release(order);
    }

    pub async fn send(&self, method: reqwest::Method, path: &str, key: Option<&str>, body: &Value) -> Told {
        self.send_as("shop-eu", method, path, key, body).await
    }

    pub async fn send_as(
        &self,
        scope: &str,
        method: reqwest::Method,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Told {
        let url = self.service.pod(0).unwrap().url();
        let mut request = self.client.request(method, format!("{url}{path}")).header("x-scope", scope).json(body);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let answer = request.send().await.unwrap();
        let replayed = answer.headers().contains_key("idempotent-replayed");
        Told { code: answer.status().as_u16(), replayed, body: answer.json().await.unwrap() }
    }

    pub async fn pay(&self, key: &str, order: &str, amount: i64) -> Told {
        let body = json!({"order_id": order, "amount": amount, "currency": "EUR", "customer_id": "cus_1"});
        self.send(reqwest::Method::POST, "/payments", Some(key), &body).await
    }

    /// The payment's status and its record's, of an order with one payment.
    pub async fn state(&self, order: &str) -> (String, String) {
        sqlx::query_as("SELECT p.status, k.status FROM payments p JOIN idempotency_keys k USING (scope, key) WHERE p.order_id = $1")
            .bind(order)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    pub async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query).fetch_one(&self.pool).await.unwrap()
    }

    /// Waits until a query says so.
    pub async fn until(&self, query: &'static str, wanted: i64) {
        let look = async {
            while self.count(query).await != wanted {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        assert!(tokio::time::timeout(LIMIT, look).await.is_ok(), "{query} never says {wanted}");
    }

    /// Leases, turns and pauses are over: as if time had passed, without waiting for it.
    pub async fn much_later(&self) {
        for forward in [
            "UPDATE idempotency_keys SET locked_until = clock_timestamp() - interval '1 second' WHERE status = 'processing'",
            "UPDATE checkouts SET next_try_at = clock_timestamp() - interval '1 second'",
        ] {
            sqlx::query(forward).execute(&self.pool).await.unwrap();
        }
    }

    /// How many webhooks wait, as the console counts them.
    pub async fn waiting_webhooks(&self) -> i64 {
        let pulse = include_str!("../../queries/reference/uninstalled/get_pulse.sql");
        let rows = sqlx::query(pulse).bind(5_i64).bind(30_i64).fetch_all(&self.pool).await.unwrap();
        let webhooks = |row: &&sqlx::postgres::PgRow| sqlx::Row::get::<String, _>(*row, "signal") == "webhooks";
        rows.iter().find(webhooks).map_or(0, |row| sqlx::Row::get::<i64, _>(row, "count"))
    }

    /// What the console's rules find, all of them, over everything there is.
    pub async fn breaches(&self) -> Vec<String> {
        let policy = json!({
            "retention_s": 86_400, "retry_window_s": 60, "provider_timeout_s": 2, "outbox_limit_s": 3_600,
            "saga_limit_s": 3_600, "grace_s": 0,
        });
        let mut found = Vec::new();
        for (id, rule) in RULES {
            let rows: Vec<sqlx::postgres::PgRow> = sqlx::query(rule)
                .bind(None::<chrono::DateTime<chrono::Utc>>)
                .bind(&policy)
                .fetch_all(&self.pool)
                .await
                .unwrap();
            found.extend(rows.iter().map(|row| format!("{id} {}", sqlx::Row::get::<String, _>(row, "detail"))));
        }
        found
    }
}

macro_rules! rule {
    ($id:literal, $file:literal) => {
        ($id, include_str!(concat!("../../queries/reference/rules/", $file, ".sql")))
    };
}

const RULES: [(&str, &str); 15] = [
    rule!("I1", "i01_one_success_per_order"),
    rule!("I2", "i02_done_has_answer"),
    rule!("I3", "i03_done_and_paid_together"),
    rule!("I4", "i04_ref_belongs_to_one_payment"),
    rule!("I5", "i05_no_record_lost"),
    rule!("I6", "i06_no_skipped_state"),
    rule!("I7", "i07_lease_outlasts_provider"),
    rule!("I8", "i08_no_answer_of_another_scope"),
    rule!("I9", "i09_one_key_per_order"),
    rule!("I10", "i10_success_is_announced"),
    rule!("I11", "i11_webhook_applied_once"),
    rule!("I12", "i12_settlement_matches"),
    rule!("I13", "i13_saga_goes_forward"),
    rule!("I14", "i14_silence_is_not_failure"),
    rule!("I15", "i15_retry_is_not_refused"),
];
