//! A provider that answers what a test tells it to, on port 0 of this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// One request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: HeaderMap,
}

pub struct Server {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A JSON answer.
pub fn json(status: u16, body: impl Into<Vec<u8>>) -> Response<Body> {
    with(status, &[("content-type", "application/json")], body)
}

pub fn with(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Response<Body> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Body::from(body.into())).unwrap()
}

impl Server {
    /// Answers every request with what `answer` makes of its path and query.
    pub async fn start(answer: impl Fn(&str) -> Response<Body> + Send + Sync + 'static) -> Self {
        Self::slow(Duration::ZERO, answer).await
    }

    /// The same, `delay` later.
    pub async fn slow(delay: Duration, answer: impl Fn(&str) -> Response<Body> + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let answer = Arc::new(answer);
        let app = Router::new().fallback(move |request: Request| {
            let target = request.uri().path_and_query().map_or("", |pq| pq.as_str()).to_owned();
            log.lock().unwrap().push(Seen {
                method: request.method().to_string(),
                target: target.clone(),
                headers: request.headers().clone(),
            });
            let answer = Arc::clone(&answer);
            async move {
                tokio::time::sleep(delay).await;
                answer(&target)
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, seen, task }
    }

    /// Sends exactly these bytes to everyone and hangs up: for answers no HTTP library would make.
    pub async fn raw(bytes: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(bytes).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { address, seen: Arc::default(), task }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}
