//! The poller: connects, polls, waits, for ever. Polls never overlap; a lost database is tried again with
//! back-off and jitter and comes back by itself; the newest result replaces the one before it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc, watch};

use super::clock;
use crate::app::msg::{Msg, Polled};
use crate::domain::port::{Beside, BoxFuture, Store, StoreError};
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::Seconds;

/// What connecting gives: the store, and what was learned about it.
pub type Connected = (Arc<dyn Store>, ServerFacts);

/// Connects to the database; called again after every failure.
pub type Connect = Arc<dyn Fn() -> BoxFuture<'static, Result<Connected, StoreError>> + Send + Sync>;

/// The pause after the first, second, … failure in a row, in seconds; the last one is kept for ever.
const BACK_OFF: [u64; 5] = [1, 2, 4, 8, 15];

/// A poll that takes longer than this is given up by the console, whatever the server does.
const DEADLINE: Duration = Duration::from_secs(10);

/// The store, as soon as there is one.
pub type StoreSlot = watch::Receiver<Option<Arc<dyn Store>>>;

/// The two ends of a running poller.
pub struct Polling {
    /// The newest result.
    pub latest: watch::Receiver<Option<Polled>>,
    /// The store, as soon as there is one.
    pub store: StoreSlot,
    /// Poll now.
    pub nudge: Arc<Notify>,
}

/// Starts the poller. If its task dies it says so and is started again.
pub fn start(connect: Connect, every: Seconds, said: mpsc::Sender<Msg>) -> Polling {
    let (publish, latest) = watch::channel(None);
    let (keep, store) = watch::channel(None);
    let nudge = Arc::new(Notify::new());
    let poller = Poller {
        connect,
        every: Duration::from_secs(every.0.max(1)),
        publish: Arc::new(publish),
        keep: Arc::new(keep),
        nudge: Arc::clone(&nudge),
        said,
    };
    tokio::spawn(async move {
        let mut generation = 0;
        loop {
            let lived = tokio::spawn(poller.clone().run(generation)).await;
            match lived {
                Ok(()) => return,
                Err(died) if died.is_cancelled() => return,
                Err(_) => {
                    generation = poller.publish.borrow().as_ref().map_or(0, |polled| polled.generation);
                    let note = "The poller died and was started again; the log has the details.".to_owned();
                    if poller.said.send(Msg::Said(note)).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    });
    tokio::spawn(beside(store.clone()));
    Polling { latest, store, nudge }
}

/// Does the work beside the polls for as long as there is a console, one piece after another. What it finds
/// comes with the next poll; what it cannot finish is NOT KNOWN there.
async fn beside(mut store: StoreSlot) {
    loop {
        let Ok(known) = store.wait_for(Option::is_some).await.map(|known| known.clone()) else { return };
        let Some(known) = known else { continue };
        // A task of its own, so that a panic costs one piece and not the rest.
        let piece = tokio::spawn(async move { known.work_beside().await }).await;
        let pause = match piece {
            Ok(Ok(Beside::Worked)) => Duration::from_millis(50),
            Ok(Ok(Beside::Idle) | Err(_)) | Err(_) => Duration::from_secs(1),
        };
        tokio::time::sleep(pause).await;
    }
}

#[derive(Clone)]
struct Poller {
    connect: Connect,
    every: Duration,
    publish: Arc<watch::Sender<Option<Polled>>>,
    keep: Arc<watch::Sender<Option<Arc<dyn Store>>>>,
    nudge: Arc<Notify>,
    said: mpsc::Sender<Msg>,
}

impl Poller {
    async fn run(self, mut generation: u64) {
        let mut failures: usize = 0;
        while !self.publish.is_closed() {
            generation = generation.saturating_add(1);
            let result = self.once().await;
            let (pause, next_try) = if result.is_ok() {
                failures = 0;
                (self.every, None)
            } else {
                let pause = back_off(failures);
                failures = failures.saturating_add(1);
                let next =
                    chrono::TimeDelta::from_std(pause).ok().and_then(|pause| clock::now().0.checked_add_signed(pause));
                (pause, next)
            };
            self.publish.send_replace(Some(Polled { generation, result, next_try }));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.nudge.notified() => {}
            }
        }
    }

    async fn once(&self) -> Result<Box<crate::domain::snapshot::Snapshot>, StoreError> {
        let attempt = async {
            let store = self.store().await?;
            store.poll().await.map(Box::new)
        };
        match tokio::time::timeout(DEADLINE, attempt).await {
            Ok(result) => result,
            Err(_) => Err(StoreError::TimedOut { what: format!("no answer within {} s", DEADLINE.as_secs()) }),
        }
    }

    async fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        let known = self.keep.borrow().clone();
        if let Some(store) = known {
            return Ok(store);
        }
        let (store, facts) = (self.connect)().await?;
        self.keep.send_replace(Some(Arc::clone(&store)));
        // A full channel means the console is busy; it is told with the next connection at the latest.
        let _ = self.said.send(Msg::Connected(Box::new(facts))).await;
        Ok(store)
    }
}

/// The pause after that many failures before this one: with jitter, so that many consoles do not return together.
fn back_off(failures: usize) -> Duration {
    let [.., last] = BACK_OFF;
    let seconds = BACK_OFF.get(failures).copied().unwrap_or(last);
    let jitter = 0.8 + fastrand::f64() * 0.4;
    Duration::from_secs(seconds).mul_f64(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_grows_and_stays() {
        assert!(back_off(0) < Duration::from_millis(1_300));
        assert!(back_off(99) >= Duration::from_secs(12) && back_off(99) <= Duration::from_secs(18));
    }
}
