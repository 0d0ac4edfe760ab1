//! The lab's payment provider: charges over loopback HTTP, with the habits of real ones.
//!
//! Owns the one truth about money in the lab: which charges exist. Knows nothing of our records.
//! Its moods (latency, lost answers, outages, fates of single orders) are switched while it runs;
//! its access log is what tests read to prove that a console only ever asks with GET.
//!
//! | request | answer |
//! |---|---|
//! | `POST /v1/charges`, `Idempotency-Key` | 201 the charge, 200 the same charge again, 402 declined, 409 the key is in flight, 400 the key was used for something else |
//! | `GET /v1/charges/{id}` | 200, or 404 with code `charge_not_found` |
//! | `GET /v1/charges?idempotency_key=&reference=&order_id=&limit=&starting_after=` | `{"data":[…],"has_more":…}`, oldest first, consistent |

mod access;
mod api;
mod charge;
mod hold;
mod ledger;
mod mood;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::task::Task;
use super::{LabError, http};

pub use access::Access;
pub use charge::{Charge, ChargeStatus};
pub use mood::{Answer, Fate, Mood, Reach};

use access::AccessLog;
use hold::Holds;
use ledger::Ledger;
use mood::Moods;

/// What the handlers share.
#[derive(Debug)]
struct Shared {
    ledger: Ledger,
    moods: Moods,
    holds: Holds,
    access: AccessLog,
}

/// A running provider; dropping it closes it.
#[derive(Debug)]
pub struct LabProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    _server: Task,
}

/// What scripts and tests may do with a running provider. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ProviderDesk {
    shared: Arc<Shared>,
}

impl LabProvider {
    /// Listens on a free loopback port. The same `seed` gives the same charge ids.
    ///
    /// # Errors
    /// [`LabError::Listen`].
    pub async fn start(seed: u64) -> Result<Self, LabError> {
        let (listener, address) = http::listen().await?;
        let shared = Arc::new(Shared {
            ledger: Ledger::new(seed),
            moods: Moods::default(),
            holds: Holds::default(),
            access: AccessLog::default(),
        });
        let router = api::router(Arc::clone(&shared));
        let server = Task::spawn(async move {
            axum::serve(listener, router).await.ok();
        });
        Ok(Self { address, shared, _server: server })
    }

    /// Base URL, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The handle for scripts and tests.
    pub fn desk(&self) -> ProviderDesk {
        ProviderDesk { shared: Arc::clone(&self.shared) }
    }
}

impl ProviderDesk {
    /// Changes how everything is answered from now on.
    pub fn set_mood(&self, mood: Mood) {
        self.shared.moods.set(mood);
    }

    /// Decides what happens to the charges of one order.
    pub fn destine(&self, order: &str, fate: Fate) {
        self.shared.moods.destine(order, fate);
    }

    /// From now on charges of one order arrive and wait; none is made before [`ProviderDesk::release`].
    pub fn hold(&self, order: &str) {
        self.shared.holds.hold(order);
    }

    /// Lets the held charges of an order go, and holds no more of them.
    pub fn release(&self, order: &str) {
        self.shared.holds.release(order);
    }

    /// Waits until `many` charges of a held order have arrived; false when they have not within `limit`.
    pub async fn wait_for_held(&self, order: &str, many: usize, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.shared.holds.gathered(order, many)).await.is_ok()
    }

    /// Every idempotency key is past its retention: the next request with one is a new request.
    pub fn forget_keys(&self) {
        self.shared.ledger.forget_all();
    }

    /// Every charge of an order, oldest first.
    pub fn charges(&self, order: &str) -> Vec<Charge> {
        self.shared.ledger.of_order(order)
    }

    /// How many charges of an order moved money, or still may.
    pub fn charges_for_order(&self, order: &str) -> usize {
        self.charges(order).iter().filter(|charge| charge.status.may_move_money()).count()
    }

    /// Waits until an order has a charge of any kind; false when it has none after `limit`.
    pub async fn wait_for_charge(&self, order: &str, limit: Duration) -> bool {
        let look = async {
            while self.charges(order).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(limit, look).await.is_ok()
    }

    /// Who asked what so far, in order.
    pub fn access_log(&self) -> Vec<Access> {
        self.shared.access.all()
    }
}
