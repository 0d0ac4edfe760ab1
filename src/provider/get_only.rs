//! The client that can only GET.
//!
//! It owns the HTTP client privately and has one method. There is no way to reach another verb, a
//! body or a redirect through it. Knows nothing of charges.

use std::fmt;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Url, redirect, retry};
use secrecy::{ExposeSecret as _, SecretString};

use super::address;
use super::clock;
use crate::domain::fault::step;

/// How long and how much a provider may take of us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For one request, connecting included.
    pub request: Duration,
    /// For a whole look-up with all its requests.
    pub whole: Duration,
    /// Bytes of one body.
    pub body: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Look-ups that may start within one second.
    pub per_second: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            whole: Duration::from_secs(30),
            body: 1_048_576,
            pages: 20,
            per_second: 2,
        }
    }
}

/// What came back: any status, the whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
    /// Whether the server says it is a page for people.
    pub html: bool,
    /// Seconds the server asks us to wait.
    pub retry_after_s: Option<u64>,
}

/// Why nothing that can be read came back. Never holds an address, a header or a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// The request could not be put together.
    #[error("the request cannot be sent: the id would change where it goes")]
    NotSent,
    /// Nobody answered at the address, or its certificate was refused.
    #[error("no connection to the provider")]
    NoConnection,
    /// The time-out passed.
    #[error("time-out: no complete answer in time")]
    TimedOut,
    /// The body ended early or was garbled.
    #[error("the answer was cut off")]
    CutOff,
    /// More than a look-up can be.
    #[error("the answer is larger than any look-up can be")]
    TooLarge,
}

/// A client for one provider that can GET and nothing else.
pub struct GetOnly {
    client: Client,
    base: Url,
    secret: Option<(HeaderName, SecretString)>,
    body_limit: usize,
}

impl fmt::Debug for GetOnly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetOnly").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl GetOnly {
    /// A client for `base`, which sends `secret` in the given header. `None`: the system's TLS cannot be used.
    pub fn new(base: Url, secret: Option<(HeaderName, SecretString)>, limits: Limits) -> Option<Self> {
        // Someone else's default is as good as ours: the result only says which came first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("unstuck/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(limits.request.min(Duration::from_secs(5)))
            .timeout(limits.request);
        if address::is_loopback(&base) {
            // This machine's own services are never behind a proxy, and plain HTTP needs no certificates.
            builder = builder.no_proxy();
            if base.scheme() == "http" {
                builder = builder.tls_certs_only(std::iter::empty());
            }
        } else {
            builder = builder.https_only(true);
        }
        Some(Self { client: builder.build().ok()?, base, secret, body_limit: limits.body })
    }

    /// Asks for `target`, a path with query below the base URL.
    pub async fn get(&self, target: &str) -> Result<Reply, NoReply> {
        let url = self.below_base(target)?;
        let mut request = self.client.get(url).header(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((name, secret)) = &self.secret {
            let mut value = HeaderValue::from_str(secret.expose_secret()).map_err(|_| NoReply::NotSent)?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        let mut response = step("GET", "head", request.send()).await.map_err(|error| meaning(&error))?;
        let header = |name: HeaderName| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let html = header(CONTENT_TYPE).is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
        let retry_after_s = header(RETRY_AFTER).and_then(|text| seconds_to_wait(&text));
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = step("GET", "body", response.chunk()).await.map_err(|error| meaning(&error))? {
            if body.len().saturating_add(chunk.len()) > self.body_limit {
                return Err(NoReply::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status, body, html, retry_after_s })
    }

    /// The full URL, if it reads back exactly as it was meant.
    fn below_base(&self, target: &str) -> Result<Url, NoReply> {
        let base_path = self.base.path().trim_end_matches('/');
        let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let wanted = format!("{base_path}{path}");
        let mut url = self.base.clone();
        url.set_path(&wanted);
        url.set_query(query);
        if url.path() == wanted && url.origin() == self.base.origin() { Ok(url) } else { Err(NoReply::NotSent) }
    }
}

/// An error in our words: the library's own texts carry addresses.
fn meaning(error: &reqwest::Error) -> NoReply {
    if error.is_timeout() {
        NoReply::TimedOut
    } else if error.is_connect() {
        NoReply::NoConnection
    } else if error.is_builder() {
        NoReply::NotSent
    } else {
        NoReply::CutOff
    }
}

/// `Retry-After` as seconds, whether it names seconds or a date; at most an hour.
fn seconds_to_wait(text: &str) -> Option<u64> {
    const LONGEST: u64 = 3_600;
    let text = text.trim();
    let seconds = text.parse::<u64>().ok().or_else(|| {
        let until = chrono::DateTime::parse_from_rfc2822(text).ok()?;
        let left = until.signed_duration_since(clock::now()).num_seconds();
        Some(u64::try_from(left).unwrap_or(0))
    })?;
    Some(seconds.min(LONGEST))
}
