//! Who asked the provider what, and when: what a test reads to prove who sent nothing but GET.

use std::sync::{Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use axum::middleware::Next;
use axum::response::Response;
use chrono::{DateTime, Utc};

use super::Shared;
use crate::lab::clock;

/// The newest this many are kept.
const KEPT: usize = 100_000;

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// When it arrived.
    pub at: DateTime<Utc>,
    /// `GET`, `POST` …
    pub method: String,
    /// Path with query.
    pub path: String,
    /// The client's name for itself (`User-Agent`), empty when it gave none.
    pub client: String,
}

#[derive(Debug, Default)]
pub(super) struct AccessLog(Mutex<Vec<Access>>);

impl AccessLog {
    pub(super) fn all(&self) -> Vec<Access> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, access: Access) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT {
            all.drain(..KEPT / 2);
        }
        all.push(access);
    }
}

/// Notes every request, answered or not, known route or not.
pub(super) async fn note(State(shared): State<std::sync::Arc<Shared>>, request: Request, next: Next) -> Response {
    let client = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    shared.access.note(Access {
        at: clock::now(),
        method: request.method().to_string(),
        path: request.uri().to_string(),
        client: client.to_owned(),
    });
    next.run(request).await
}
