//! What a client is told.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// One answer, and what `api_requests` notes of it.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) body: Value,
    pub(super) replayed: Replayed,
    /// Whole seconds.
    pub(super) retry_after: Option<u64>,
    /// The payment the answer speaks of.
    pub(super) payment: Option<String>,
}

/// Whether the work was done now or earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replayed {
    No,
    Yes,
}

impl Answer {
    fn new(code: StatusCode, body: Value) -> Self {
        Self { code, body, replayed: Replayed::No, retry_after: None, payment: None }
    }

    /// An answer that speaks of no payment.
    pub(super) fn plain(code: StatusCode, body: Value) -> Self {
        Self::new(code, body)
    }

    pub(super) fn error(code: StatusCode, word: &str, message: &str) -> Self {
        Self::new(code, json!({"error": {"code": word, "message": message}}))
    }

    /// The outcome of work done now, as it is stored.
    pub(super) fn stored(code: StatusCode, body: Value, payment: &str) -> Self {
        Self { payment: Some(payment.to_owned()), ..Self::new(code, body) }
    }

    pub(super) fn replay(code: StatusCode, body: Value, payment: Option<String>) -> Self {
        Self { replayed: Replayed::Yes, payment, ..Self::new(code, body) }
    }

    pub(super) fn in_progress(retry_after: u64) -> Self {
        let answer = Self::error(StatusCode::CONFLICT, "in_progress", "a request with this key is being worked on");
        Self { retry_after: Some(retry_after.max(1)), ..answer }
    }

    pub(super) fn mismatch() -> Self {
        Self::error(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", "this key was used for a different request")
    }

    /// The key did its work so long ago that the answer is no longer kept. Nothing is done again.
    pub(super) fn expired(payment: String) -> Self {
        let answer =
            Self::error(StatusCode::GONE, "key_expired", "this key was used before; its answer is no longer kept");
        Self { payment: Some(payment), ..answer }
    }

    pub(super) fn unknown(payment: &str) -> Self {
        let answer = Self::error(
            StatusCode::SERVICE_UNAVAILABLE,
            "outcome_unknown",
            "the provider has not said how this ended; retry with the same key",
        );
        Self { retry_after: Some(2), payment: Some(payment.to_owned()), ..answer }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.code, Json(self.body)).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.replayed == Replayed::Yes {
            headers.insert(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"));
        }
        response
    }
}
