//! A way between a console and what it talks to, which can be cut, closed, or made to keep answers back.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::support::PATIENCE;

/// What the way does with what comes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Open,
    /// What is sent arrives; what is answered does not come back.
    AnswersKept,
    /// Nobody gets through: a connection is closed as soon as it is made.
    Closed,
}

#[derive(Debug, Clone, Copy)]
struct State {
    way: Way,
    /// Connections older than this are cut.
    cuts: usize,
}

type Open = Arc<Mutex<BTreeMap<usize, usize>>>;

/// A listening port that leads to another one of this machine.
pub struct Pipe {
    pub port: u16,
    state: watch::Sender<State>,
    /// Connections whose other end has not said goodbye yet, by the number of cuts before they were made.
    open: Open,
    listening: tokio::task::JoinHandle<()>,
}

impl Pipe {
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (state, seen) = watch::channel(State { way: Way::Open, cuts: 0 });
        let open = Open::default();
        let counted = Arc::clone(&open);
        let listening = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if seen.borrow().way == Way::Closed {
                    continue;
                }
                let made_at = seen.borrow().cuts;
                count(&counted, made_at, |open| open + 1);
                let (seen, counted) = (seen.clone(), Arc::clone(&counted));
                tokio::spawn(async move {
                    carry(client, server, seen, made_at).await;
                    count(&counted, made_at, |open| open - 1);
                });
            }
        });
        Self { port, state, open, listening }
    }

    pub fn set(&self, way: Way) {
        self.state.send_modify(|state| state.way = way);
    }

    /// Ends every connection there is. What the server does meanwhile, it finishes.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// Waits until the server is through with every connection that was cut.
    pub async fn until_drained(&self) {
        let cuts = self.state.borrow().cuts;
        let busy = || {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.range(..cuts).any(|(_, open)| *open > 0)
        };
        let drained = async {
            while busy() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, drained).await.expect("the server ends what was cut");
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.listening.abort();
        self.cut();
    }
}

fn count(open: &Open, made_at: usize, change: impl Fn(usize) -> usize) {
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    let one = open.entry(made_at).or_default();
    *one = change(*one);
}

async fn carry(client: TcpStream, server: u16, mut seen: watch::Receiver<State>, made_at: usize) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
    client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).expect("a socket's option");
    let mut watching = seen.clone();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let there = tokio::io::copy(&mut from_client, &mut to_server);
    let back = async {
        let mut bytes = vec![0; 65_536];
        while let Ok(count @ 1..) = from_server.read(&mut bytes).await {
            // What was kept back when the way was cut is lost, whatever the way is like by now.
            let is_cut = |state: &State| state.cuts > made_at;
            let told = watching.wait_for(|state| is_cut(state) || state.way != Way::AnswersKept).await;
            if told.map_or(true, |state| is_cut(&state)) || to_client.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        _ = there => {}
        () = back => {}
        _ = seen.wait_for(|state| state.cuts > made_at) => {}
    }
    drop((from_client, to_client));
    to_server.shutdown().await.ok();
    tokio::io::copy(&mut from_server, &mut tokio::io::sink()).await.ok();
}
