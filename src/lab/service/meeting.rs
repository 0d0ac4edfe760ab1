//! Where requests wait for each other between a check and the act it permits: a race that happens every time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Barrier;

/// Shared by all pods of a service.
#[derive(Debug, Clone, Default)]
pub struct Meetings(Arc<Mutex<HashMap<String, Arc<Barrier>>>>);

impl Meetings {
    /// Requests for `order` that have checked go on when `many` of them have.
    pub fn call(&self, order: &str, many: usize) {
        self.with(|all| all.insert(order.to_owned(), Arc::new(Barrier::new(many))));
    }

    pub(super) async fn attend(&self, order: &str) {
        if let Some(barrier) = self.with(|all| all.get(order).cloned()) {
            barrier.wait().await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Arc<Barrier>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
