//! The way between a console and its server, which a test can cut at the worst moment.
//!
//! Reads the frames of the PostgreSQL protocol as they pass: the moment is the guarded call that
//! follows an intent, which is the only one whose order names one.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Where the wire is cut next. Once: then it is whole again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Nowhere,
    /// The server gets the call and does it; its answer is lost.
    AfterSending,
    /// The call is lost on its way.
    BeforeArriving,
}

/// A wire to a server on this machine.
pub struct Wire {
    pub port: u16,
    next: Arc<Mutex<Cut>>,
}

impl Wire {
    /// To the server that listens on a loopback port.
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let next = Arc::new(Mutex::new(Cut::Nowhere));
        let shared = Arc::clone(&next);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let cut = Arc::clone(&shared);
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                        carry(client, server, &cut).await;
                    }
                });
            }
        });
        Self { port, next }
    }

    /// Cuts the next guarded call.
    pub fn cut(&self, where_: Cut) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = where_;
    }

    /// Whether the cut that was asked for is still to come.
    pub fn is_whole(&self) -> bool {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) == Cut::Nowhere
    }
}

async fn carry(client: TcpStream, server: TcpStream, cut: &Mutex<Cut>) {
    // Small messages go out at once, as they do without us.
    client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).expect("a socket's option");
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let there = forward(&mut from_client, &mut to_server, cut);
    let back = tokio::io::copy(&mut from_server, &mut to_client);
    let happened = tokio::select! {
        happened = there => happened,
        _ = back => Cut::Nowhere,
    };
    // The console sees its connection die at once, whatever the server still does.
    drop((from_client, to_client));
    if happened == Cut::AfterSending {
        // The server says what it did to nobody.
        from_server.read_u8().await.ok();
    }
}

/// Passes frames on until the cut, and says which it was.
async fn forward(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, cut: &Mutex<Cut>) -> Cut {
    // The first frame has no letter.
    let Some(start) = frame(from, None).await else { return Cut::Nowhere };
    if to.write_all(&start).await.is_err() {
        return Cut::Nowhere;
    }
    let mut now = Cut::Nowhere;
    while let Ok(letter) = from.read_u8().await {
        let Some(bytes) = frame(from, Some(letter)).await else { break };
        if letter == b'B' && names_an_intent(&bytes) {
            let mut next = cut.lock().unwrap_or_else(PoisonError::into_inner);
            now = std::mem::replace(&mut *next, Cut::Nowhere);
        }
        if now == Cut::BeforeArriving {
            return now;
        }
        if to.write_all(&bytes).await.is_err() {
            break;
        }
        // Sync ends the call: from here on the server commits it.
        if now == Cut::AfterSending && letter == b'S' {
            return now;
        }
    }
    Cut::Nowhere
}

async fn frame(from: &mut OwnedReadHalf, letter: Option<u8>) -> Option<Vec<u8>> {
    let length = from.read_u32().await.ok()?;
    let mut bytes: Vec<u8> = letter.into_iter().chain(length.to_be_bytes()).collect();
    let head = bytes.len();
    bytes.resize(head + usize::try_from(length).ok()?.checked_sub(4)?, 0);
    from.read_exact(bytes.get_mut(head..)?).await.ok()?;
    Some(bytes)
}

fn names_an_intent(bytes: &[u8]) -> bool {
    bytes.windows(9).any(|window| window == b"\"intent\":")
}
