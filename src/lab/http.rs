//! Loopback HTTP for the lab's parts: one way to make a client, one way to serve.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use super::LabError;

/// A client that talks to loopback directly, whatever proxy the environment names.
pub(super) fn client(name: &str) -> Result<reqwest::Client, LabError> {
    // Needed by every client of this build, even for plain HTTP; a second installation is refused, harmlessly.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = reqwest::Client::builder()
        .user_agent(name)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(5));
    Ok(client.build()?)
}

/// A listener on a free loopback port.
pub(super) async fn listen() -> Result<(TcpListener, SocketAddr), LabError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}
