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
//! | `POST /v1/refunds` `{"charge":…}` | 200 the charge with what was given back; a second time the same |
//! | `GET /v1/settlements` | the closed reports, and when each was closed |
//! | `GET /v1/settlements/{report}?limit=&starting_after=` | its lines |
//!
//! What happens to a charge is also told by webhook, signed, to whoever subscribed.

mod access;
mod api;
mod charge;
mod habits;
mod hold;
mod ledger;
mod mood;
mod notice;
mod report;
mod settlement;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::task::Task;
use super::{LabError, clock, http, sign};

pub use access::Access;
pub use charge::{Charge, ChargeStatus};
pub use habits::{Habits, Keys, Lookup, Settles};
pub use mood::{Answer, Fate, Mood, Reach};
pub use notice::{Delivery, Notice, Sequence};
pub use report::Misreport;

use access::AccessLog;
use hold::Holds;
use ledger::{Ledger, Wanted};
use mood::Moods;
use notice::{Event, Notices};
use report::Reports;

/// How the provider signed the body of a webhook so many seconds ago: the value of `lab-signature`.
pub fn signature(seconds_ago: i64, body: &[u8]) -> String {
    sign::sign(sign::SECRET, clock::now().timestamp() - seconds_ago, body)
}

/// What the handlers share.
#[derive(Debug)]
struct Shared {
    habits: Habits,
    ledger: Ledger,
    moods: Moods,
    holds: Holds,
    access: AccessLog,
    notices: Notices,
    reports: Reports,
}

impl Shared {
    /// Tells whoever subscribed how a charge stands now.
    fn announce(&self, charge: &Charge) {
        let nth = self.notices.of_order(&charge.order_id);
        let event = Event::of(self.ledger.event_id(&charge.id, nth), charge);
        let notice = self.moods.fate(&charge.order_id).notice.unwrap_or(self.moods.now().notice);
        self.notices.post(event, notice);
    }
}

/// A running provider; dropping it closes it.
#[derive(Debug)]
pub struct LabProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    _server: Task,
    _postman: Task,
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
        Self::start_as(Habits::default(), seed).await
    }

    /// The same, of another kind.
    ///
    /// # Errors
    /// [`LabError::Listen`].
    pub async fn start_as(habits: Habits, seed: u64) -> Result<Self, LabError> {
        let (listener, address) = http::listen().await?;
        let (notices, letters) = Notices::new();
        let shared = Arc::new(Shared {
            habits,
            ledger: Ledger::new(seed),
            moods: Moods::default(),
            holds: Holds::default(),
            access: AccessLog::default(),
            notices,
            reports: Reports::default(),
        });
        let router = api::router(Arc::clone(&shared));
        let server = Task::spawn(async move {
            axum::serve(listener, router).await.ok();
        });
        let delivering = notice::deliver_all(Arc::clone(&shared), letters);
        let postman = Task::spawn(async move {
            if let Err(error) = delivering.await {
                tracing::error!(%error, "the lab's provider cannot send webhooks");
            }
        });
        Ok(Self { address, shared, _server: server, _postman: postman })
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

    /// Sends webhooks to these addresses from now on, to the next one when the first does not answer.
    pub fn subscribe(&self, targets: Vec<String>) {
        self.shared.notices.subscribe(targets);
    }

    /// Sends the webhooks of an order that were [`Notice::Kept`]; says how many.
    pub fn send_kept(&self, order: &str, sequence: Sequence) -> usize {
        self.shared.notices.send_kept(order, sequence)
    }

    /// Sends every webhook of an order once more, those that were lost included; says how many.
    pub fn resend(&self, order: &str) -> usize {
        self.shared.notices.resend(order)
    }

    /// Every delivery of a webhook so far, and how it was answered.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.shared.notices.deliveries()
    }

    /// Decides the charges of an order that were open: they stand as `status` from now on.
    pub fn decide(&self, order: &str, status: ChargeStatus) {
        for charge in self.shared.ledger.decide(order, status) {
            self.shared.announce(&charge);
        }
    }

    /// A charge nobody of ours asked for. `amount` is minor units of `currency`.
    pub fn charge_unasked(&self, order: &str, amount: i64, currency: &str) -> Charge {
        let wanted = Wanted { order_id: order.to_owned(), reference: None, amount, currency: currency.to_owned() };
        let charge = self.shared.ledger.make(None, &wanted, &Fate::default());
        self.shared.announce(&charge);
        charge
    }

    /// What the next report says wrongly about an order.
    pub fn misreport(&self, order: &str, how: Misreport) {
        self.shared.reports.misreport(order, how);
    }

    /// The next report says what is true about an order.
    pub fn report_rightly(&self, order: &str) {
        self.shared.reports.report_rightly(order);
    }

    /// Closes a settlement report over everything that is in none yet, and says its name.
    pub fn close_report(&self) -> Option<String> {
        self.shared.reports.close(|| self.shared.ledger.matching(|_| true))
    }

    /// Who asked what so far, in order.
    pub fn access_log(&self) -> Vec<Access> {
        self.shared.access.all()
    }
}
