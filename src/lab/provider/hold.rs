//! Charges that wait at the provider until they are let go: "slow" as an order of events, not as a race of timers.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

/// How the charges of one held order stand.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    waiting: usize,
    gate: Gate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Gate {
    #[default]
    Shut,
    Open,
}

/// The orders whose charges are held.
#[derive(Debug, Default)]
pub(super) struct Holds(Mutex<HashMap<String, watch::Sender<Standing>>>);

impl Holds {
    /// From now on the charges of `order` arrive and are not made.
    pub(super) fn hold(&self, order: &str) {
        self.with(|all| all.insert(order.to_owned(), watch::Sender::default()));
    }

    /// Lets them go, and holds no more.
    pub(super) fn release(&self, order: &str) {
        if let Some(held) = self.with(|all| all.remove(order)) {
            held.send_modify(|standing| standing.gate = Gate::Open);
        }
    }

    /// Waits until `many` charges of `order` wait here. Never ends for an order that is not held.
    pub(super) async fn gathered(&self, order: &str, many: usize) {
        match self.with(|all| all.get(order).map(watch::Sender::subscribe)) {
            Some(mut standing) => drop(standing.wait_for(|standing| standing.waiting >= many).await),
            None => std::future::pending().await,
        }
    }

    /// A charge of `order` passes here before it is made.
    pub(super) async fn pass(&self, order: &str) {
        let held = self.with(|all| {
            all.get(order).map(|held| {
                held.send_modify(|standing| standing.waiting += 1);
                held.subscribe()
            })
        });
        if let Some(mut standing) = held {
            // A hold that is replaced by another lets its charges go, too.
            standing.wait_for(|standing| standing.gate == Gate::Open).await.ok();
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, watch::Sender<Standing>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
