//! Clients of the payment service: they send, they retry with the same key (but for the flawed ones), some give up.

use std::time::Duration;

use serde_json::json;

use super::names::Purchase;
use super::service::flaw::ClientKey;
use super::system::SKU;
use super::{LabError, http};

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The HTTP status, and when to come back, if that was said.
    Answer { code: u16, retry_after: Option<Duration> },
    /// The connection broke, or there was none.
    Nothing,
}

impl Told {
    pub(super) fn code(self) -> Option<u16> {
        match self {
            Self::Answer { code, .. } => Some(code),
            Self::Nothing => None,
        }
    }
}

/// Clients that know every pod's address. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Clients {
    http: reqwest::Client,
    pods: Vec<String>,
    keys: ClientKey,
}

impl Clients {
    pub(super) fn new(pods: Vec<String>, keys: ClientKey) -> Result<Self, LabError> {
        Ok(Self { http: http::client("checkout/3.1")?, pods, keys })
    }

    /// One HTTP attempt at one pod.
    pub(super) async fn pay(&self, pod: usize, purchase: &Purchase) -> Told {
        let Some(url) = self.url(pod) else { return Told::Nothing };
        let request = self
            .http
            .post(format!("{url}/payments"))
            .header("idempotency-key", &purchase.key)
            .header("x-scope", &purchase.scope)
            .timeout(PATIENCE)
            .json(&json!({
                "order_id": purchase.order, "amount": purchase.amount,
                "currency": purchase.currency, "customer_id": purchase.customer,
            }));
        told(request).await
    }

    /// Begins a checkout, or asks for the same one again: its id is the client's key.
    pub(super) async fn check_out(&self, pod: usize, purchase: &Purchase) -> Told {
        let Some(url) = self.url(pod) else { return Told::Nothing };
        let request = self
            .http
            .put(format!("{url}/checkouts/{}", purchase.key))
            .header("x-scope", &purchase.scope)
            .timeout(PATIENCE)
            .json(&json!({
                "order_id": purchase.order, "sku": SKU, "quantity": 1, "amount": purchase.amount,
                "currency": purchase.currency, "customer_id": purchase.customer,
            }));
        told(request).await
    }

    /// The key that attempt `nth` carries, the first being 0, for an intent whose key is `made`.
    pub(super) fn key(&self, made: &str, nth: usize) -> String {
        self.keys.key(made, nth)
    }

    fn url(&self, pod: usize) -> Option<&String> {
        self.pods.get(pod % self.pods.len().max(1))
    }
}

async fn told(request: reqwest::RequestBuilder) -> Told {
    match request.send().await {
        Ok(answer) => {
            let seconds = answer.headers().get(reqwest::header::RETRY_AFTER).and_then(|value| value.to_str().ok());
            let retry_after = seconds.and_then(|text| text.parse().ok()).map(Duration::from_secs);
            Told::Answer { code: answer.status().as_u16(), retry_after }
        }
        Err(_) => Told::Nothing,
    }
}

impl Clients {
    /// Retries, with the same key if it is a good client, at the next pod each time, until the answer is final or `tries` are used up.
    pub(super) async fn insist(&self, first_pod: usize, purchase: &Purchase, tries: usize) -> Told {
        let mut told = Told::Nothing;
        for attempt in 0..tries {
            let key = self.key(&purchase.key, attempt);
            told = self.pay(first_pod + attempt, &Purchase { key, ..purchase.clone() }).await;
            let pause = match told {
                Told::Answer { code: 409 | 503, retry_after } => retry_after.unwrap_or(Duration::from_secs(1)),
                Told::Nothing | Told::Answer { code: 500, .. } => Duration::from_millis(500),
                Told::Answer { .. } => return told,
            };
            tokio::time::sleep(pause.min(Duration::from_secs(3))).await;
        }
        told
    }
}
