//! The systems a world can have beside its payments, and who else has to be there for them.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::LabError;
use super::carrier::{Carrier, CarrierDesk};
use super::provider::{Habits, Settles};
use super::service::{Books, Job, ServiceOptions, Stalls, job};

/// What the warehouse of a world has.
pub(super) const SKU: &str = "tea";
const STOCK: i32 = 1_000_000;
/// How often the provider of a world closes a settlement report.
const SETTLES: std::time::Duration = std::time::Duration::from_secs(20);

/// A system beside the payments. Each is real: it runs on the database and over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// The provider tells what happened, signed; an inbox applies it once.
    Webhooks,
    /// A consumer books every event exactly once.
    Books,
    /// Checkouts: reserve, capture, ship; and some of the traffic is checkouts.
    Checkouts,
    /// The provider settles, the service holds its books against it.
    Settlement,
    /// Done records make room when their time is over.
    Retention,
}

impl System {
    /// Every system there is.
    pub const ALL: [System; 5] =
        [System::Webhooks, System::Books, System::Checkouts, System::Settlement, System::Retention];

    /// The job that does its work; the relay of the books runs always.
    fn job(self) -> Option<&'static Job> {
        match self {
            Self::Webhooks => Some(job::INBOX),
            Self::Books => None,
            Self::Checkouts => Some(job::CHECKOUT),
            Self::Settlement => Some(job::RECONCILE),
            Self::Retention => Some(job::RETENTION),
        }
    }
}

/// What stands around the service for the systems that were asked for; dropping it closes it.
#[derive(Debug)]
pub(super) struct Surroundings {
    systems: Vec<System>,
    carrier: Option<Carrier>,
    books: Option<Books>,
    stalls: Stalls,
}

impl Surroundings {
    pub(super) async fn start(database: &PgConnectOptions, systems: &[System]) -> Result<Self, LabError> {
        let (mut carrier, mut books, stalls) = (None, None, Stalls::default());
        if systems.contains(&System::Checkouts) {
            carrier = Some(Carrier::start().await?);
            let mut connection = database.connect().await?;
            sqlx::query("INSERT INTO stock (sku, free) VALUES ($1, $2)")
                .bind(SKU)
                .bind(STOCK)
                .execute(&mut connection)
                .await?;
            connection.close().await?;
        }
        if systems.contains(&System::Books) {
            books = Some(Books::start(database, stalls.clone()).await?);
        }
        Ok(Self { systems: systems.to_vec(), carrier, books, stalls })
    }

    pub(super) fn has(&self, system: System) -> bool {
        self.systems.contains(&system)
    }

    /// A provider of that kind, as these systems need it.
    pub(super) fn habits(&self, kind: Habits) -> Habits {
        let settles = if self.has(System::Settlement) { Settles::Every(SETTLES) } else { kind.settles };
        Habits { settles, ..kind }
    }

    /// The service, with the jobs and the neighbours of these systems.
    pub(super) fn served_by(&self, mut options: ServiceOptions) -> ServiceOptions {
        options.jobs.extend(self.systems.iter().filter_map(|system| system.job()));
        options.consumers.extend(self.books.iter().map(Books::url));
        options.carrier = self.carrier.as_ref().map(Carrier::url);
        options
    }

    pub(super) fn carrier(&self) -> Option<CarrierDesk> {
        self.carrier.as_ref().map(Carrier::desk)
    }

    pub(super) fn stalls(&self) -> Stalls {
        self.stalls.clone()
    }
}
