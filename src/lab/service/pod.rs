//! One pod: its own runtime, listener, connections and name, so that it can die alone.

use std::net::SocketAddr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::flow::Flow;
use super::gateway::Gateway;
use super::records::Records;
use super::{ServiceOptions, Stalls, api};
use crate::lab::LabError;

/// A pod of the payment service. Its tasks live on a runtime of their own: killing it drops them all
/// at whatever they were waiting for, sockets and transactions included.
#[derive(Debug)]
pub struct Pod {
    name: String,
    address: SocketAddr,
    database: PgConnectOptions,
    provider: String,
    options: ServiceOptions,
    stalls: Stalls,
    runtime: Option<Runtime>,
}

impl Pod {
    pub(super) async fn start(
        name: &str,
        database: &PgConnectOptions,
        provider: &str,
        options: &ServiceOptions,
        stalls: Stalls,
    ) -> Result<Self, LabError> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut pod = Self {
            name: name.to_owned(),
            address,
            database: database.clone().application_name(name),
            provider: provider.to_owned(),
            options: options.clone(),
            stalls,
            runtime: None,
        };
        pod.run(Some(listener)).await?;
        Ok(pod)
    }

    /// The pod's name, `pod-a`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether it serves.
    pub fn is_up(&self) -> bool {
        self.runtime.is_some()
    }

    pub(super) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    pub(super) async fn revive(&mut self) -> Result<(), LabError> {
        self.run(None).await
    }

    async fn run(&mut self, listener: Option<std::net::TcpListener>) -> Result<(), LabError> {
        self.kill();
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name(&self.name).enable_all().build()?;
        let serving = runtime.spawn(serve(
            self.name.clone(),
            Address { at: self.address, listener },
            self.database.clone(),
            self.provider.clone(),
            self.options.clone(),
            self.stalls.clone(),
        ));
        // Held by the pod from here on, so that an error below still takes the runtime away.
        self.runtime = Some(runtime);
        serving.await.unwrap_or_else(|error| Err(LabError::Listen(std::io::Error::other(error))))
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where a pod listens: a listener bound already, or an address to bind again.
#[derive(Debug)]
struct Address {
    at: SocketAddr,
    listener: Option<std::net::TcpListener>,
}

/// Opens everything, then leaves the server running on the pod's runtime.
async fn serve(
    name: String,
    address: Address,
    database: PgConnectOptions,
    provider: String,
    options: ServiceOptions,
    stalls: Stalls,
) -> Result<(), LabError> {
    let pool = PgPoolOptions::new()
        .max_connections(options.connections)
        .min_connections(options.connections)
        .acquire_timeout(Duration::from_secs(30))
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(database)
        .await?;
    warm(&pool, options.connections).await?;
    let gateway = Gateway::new(&provider, &name, options.provider_timeout)?;
    let records = Records::new(pool, name, &options);
    let router = api::router(Flow { records, gateway, stalls, meetings: options.meetings });
    let listener = match address.listener {
        Some(listener) => TcpListener::from_std(listener)?,
        None => bind(address.at).await?,
    };
    tokio::spawn(async move {
        axum::serve(listener, router).await.ok();
    });
    Ok(())
}

/// Opens every connection: a cold pool lets requests trickle in one by one and hides races.
async fn warm(pool: &sqlx::PgPool, connections: u32) -> Result<(), sqlx::Error> {
    let mut held = Vec::new();
    for _ in 0..connections {
        held.push(pool.acquire().await?);
    }
    Ok(())
}

/// The address of a pod that was killed a moment ago may not be free yet.
async fn bind(address: SocketAddr) -> Result<TcpListener, std::io::Error> {
    let mut last = None;
    for _ in 0..50 {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last = Some(error),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(last.unwrap_or_else(|| std::io::Error::other("no address")))
}
