//! Points where a pod can be told to hang for an order: what "out of memory" feels like from outside.
//!
//! A story needs a pod to die at an exact point; racing a timer against it would tell a different
//! story every time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Where to hang.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StallPoint {
    /// The lease was taken to recover the record, the provider not yet asked.
    BeforeLookUp,
    /// The recovery point `provider_called` is written, the call not yet sent.
    BeforeCall,
    /// The provider has answered, nothing of it is written: "charged, and killed before saving".
    BeforeSaving,
    /// The recovery point `charged` is written, the outcome not yet stored.
    BeforeFinish,
    /// Every consumer has the event, the outbox does not say so yet.
    BeforePublished,
    /// A consumer has written the message id and its effect, and not committed.
    BeforeBooked,
    /// The step of a checkout was made, the saga does not say so yet.
    AfterReserve,
    /// The same, of the pivot.
    AfterCapture,
    /// The same, of the last step.
    AfterShip,
    /// A checkout is about to undo a step.
    BeforeUndone,
    /// The provider has given an orphan charge back, the finding is still open.
    BeforeRefunded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    NotYet,
    Hanging,
}

#[derive(Debug)]
struct Stall {
    point: StallPoint,
    reached: Reached,
    woken: Arc<Notify>,
}

/// Shared by all pods of a service and its recoverer.
#[derive(Debug, Clone, Default)]
pub struct Stalls(Arc<Mutex<HashMap<String, Stall>>>);

impl Stalls {
    /// The next request for `order` hangs at `point` until its pod is killed.
    pub fn hang(&self, order: &str, point: StallPoint) {
        let stall = Stall { point, reached: Reached::NotYet, woken: Arc::default() };
        self.with(|all| all.insert(order.to_owned(), stall));
    }

    /// Forgets `order`: later requests pass.
    pub fn release(&self, order: &str) {
        self.with(|all| all.remove(order));
    }

    /// Whoever hangs for `order` goes on, as after a long sleep.
    pub fn wake(&self, order: &str) {
        if let Some(stall) = self.with(|all| all.remove(order)) {
            stall.woken.notify_one();
        }
    }

    /// Waits until a request for `order` hangs; false if none did within `limit`.
    pub async fn wait(&self, order: &str, limit: Duration) -> bool {
        let look = async {
            while !self.with(|all| all.get(order).is_some_and(|stall| stall.reached == Reached::Hanging)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(limit, look).await.is_ok()
    }

    pub(super) async fn pass(&self, order: &str, point: StallPoint) {
        let hang = self.with(|all| {
            let stall = all.get_mut(order).filter(|stall| stall.point == point)?;
            stall.reached = Reached::Hanging;
            Some(Arc::clone(&stall.woken))
        });
        if let Some(woken) = hang {
            woken.notified().await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Stall>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
