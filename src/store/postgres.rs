//! The store port over PostgreSQL: who holds which connection, and what is shared between them.
//!
//! Polls have a connection of their own, so has a person's reading (`desk`), so has the work beside the
//! polls; a guarded call gets a fresh one each time. None waits for another.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::connect::{self, Bound};
use super::options::StoreOptions;
use super::poll::{self, Books, PollState};
use super::profile::Index;
use super::reading::{self, Fit, Line, Reading};
use super::{act, case, clock, dossier, locked, search};
use crate::domain::approval::Consent;
use crate::domain::case::Case;
use crate::domain::clue::Clue;
use crate::domain::evidence::Evidence;
use crate::domain::guard::Armed;
use crate::domain::ids::{LogId, RecordId};
use crate::domain::log::{LogEntry, Outcome};
use crate::domain::port::{Beside, BoxFuture, Candidate, Dossier, Other, RefusedEvent, Store, StoreError};
use crate::domain::snapshot::{ServerFacts, Snapshot};
use crate::domain::triage::Cause;

/// PostgreSQL behind the query contract. Connects when it is first asked, and again when it lost the server.
pub struct PgStore {
    pub(super) options: StoreOptions,
    pub(super) books: std::sync::Mutex<Books>,
    pub(super) beside: Mutex<Option<Line>>,
    bound: std::sync::Mutex<Option<Known>>,
    polling: Mutex<PollState>,
    desk: Mutex<Option<Line>>,
}

/// What the last look around told.
struct Known {
    looked: Instant,
    bound: Arc<Bound>,
    /// Whether polls went by it already: a lost connection then asks for a new look.
    used: Used,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    NotYet,
    Yes,
}

impl std::fmt::Debug for PgStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgStore").field("options", &self.options).finish_non_exhaustive()
    }
}

impl PgStore {
    /// A store that has not connected yet: the screen can be drawn first.
    pub fn new(options: StoreOptions) -> Self {
        Self {
            options,
            books: std::sync::Mutex::default(),
            beside: Mutex::default(),
            bound: std::sync::Mutex::default(),
            polling: Mutex::default(),
            desk: Mutex::default(),
        }
    }

    /// Connects, recognises the profile, compares every file with the contract.
    ///
    /// # Errors
    /// No connection, no login, or no profile that fits.
    pub async fn connect(&self) -> Result<ServerFacts, StoreError> {
        Ok(self.look_around().await?.facts.clone())
    }

    /// What was learned on the last connect; `None` before the first.
    pub fn facts(&self) -> Option<ServerFacts> {
        self.known().map(|(_, bound)| bound.facts.clone())
    }

    /// The profile's indexes that are not in the database; `None` before the first connect.
    pub fn missing_indexes(&self) -> Option<Vec<Index>> {
        self.known().map(|(_, bound)| bound.missing_indexes().to_vec())
    }

    /// Looks around anew; what was known is replaced when it succeeds.
    pub(super) async fn look_around(&self) -> Result<Arc<Bound>, StoreError> {
        let bound = Arc::new(connect::look_around(&self.options).await?);
        *locked(&self.bound) = Some(Known { looked: clock(), bound: Arc::clone(&bound), used: Used::NotYet });
        Ok(bound)
    }

    /// What is known of the database, and since when.
    pub(super) fn known(&self) -> Option<(Instant, Arc<Bound>)> {
        locked(&self.bound).as_ref().map(|known| (known.looked, Arc::clone(&known.bound)))
    }

    /// What is known, or else is learned now.
    pub(super) async fn bound(&self) -> Result<Arc<Bound>, StoreError> {
        match self.known() {
            Some((_, bound)) => Ok(bound),
            None => self.look_around().await,
        }
    }

    /// For a new connection of the polls. After a loss everything may be different: tables, rights, the
    /// server itself; so only a look that no poll has gone by yet is good enough.
    async fn bound_anew(&self) -> Result<Arc<Bound>, StoreError> {
        let fresh =
            locked(&self.bound).as_ref().filter(|known| known.used == Used::NotYet).map(|k| Arc::clone(&k.bound));
        let bound = match fresh {
            Some(bound) => bound,
            None => self.look_around().await?,
        };
        if let Some(known) = locked(&self.bound).as_mut() {
            known.used = Used::Yes;
        }
        Ok(bound)
    }

    /// A line to keep. After a statement that no longer fits the tables, everything is looked at anew with the
    /// next question, and what then does not fit is named; not more often than every few seconds.
    pub(super) fn kept(&self, line: Option<Line>) -> Option<Line> {
        let mut line = line?;
        if line.fit() == Fit::InDoubt {
            let mut known = locked(&self.bound);
            if known.as_ref().is_none_or(|known| clock().duration_since(known.looked) >= self.options.look_again) {
                *known = None;
                return None;
            }
            line.doubt_is_known();
        }
        Some(line)
    }

    async fn poll_once(&self) -> Result<Snapshot, StoreError> {
        let mut state = self.polling.lock().await;
        let (line, bound) = match (state.line.take(), self.known()) {
            (Some(line), Some((_, bound))) => (line, bound),
            (old, _) => {
                drop(old);
                let bound = self.bound_anew().await?;
                state.connected();
                locked(&self.books).reconnected();
                (Line::open(&self.options).await?, bound)
            }
        };
        let time = self.options.poll_within;
        let (options, books) = (&self.options, &self.books);
        let kept = &mut *state;
        let read = reading::read(options, line, time, "the poll", async |reading: &mut Reading<'_>| {
            poll::poll(options, &bound, kept, books, reading).await
        })
        .await;
        state.line = self.kept(read.line);
        read.result
    }

    /// Reads for a person. A connection that died while nobody looked is replaced first.
    pub(super) async fn at_desk<T>(
        &self,
        what: &str,
        work: impl AsyncFnOnce(&mut Reading<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut desk = self.desk.lock().await;
        let kept = match desk.take() {
            Some(mut line) => line.is_alive().await.then_some(line),
            None => None,
        };
        let line = match kept {
            Some(line) => line,
            None => Line::open(&self.options).await?,
        };
        let read = reading::read(&self.options, line, self.options.read_within, what, work).await;
        *desk = self.kept(read.line);
        read.result
    }
}

impl Store for PgStore {
    fn poll(&self) -> BoxFuture<'_, Result<Snapshot, StoreError>> {
        Box::pin(self.poll_once())
    }

    fn work_beside(&self) -> BoxFuture<'_, Result<Beside, StoreError>> {
        Box::pin(self.next_piece())
    }

    fn dossier<'a>(&'a self, id: &'a RecordId) -> BoxFuture<'a, Result<Option<Dossier>, StoreError>> {
        Box::pin(dossier::dossier(self, id))
    }

    fn case<'a>(&'a self, id: &'a RecordId) -> BoxFuture<'a, Result<Option<Box<Case>>, StoreError>> {
        Box::pin(case::case(self, id))
    }

    fn others(
        &self,
        cause: Cause,
        since: chrono::DateTime<chrono::Utc>,
    ) -> BoxFuture<'_, Result<Vec<Other>, StoreError>> {
        Box::pin(search::others(self, cause, since))
    }

    fn find<'a>(&'a self, clue: &'a Clue) -> BoxFuture<'a, Result<Vec<Candidate>, StoreError>> {
        Box::pin(search::find(self, clue))
    }

    fn act(&self, armed: Armed) -> BoxFuture<'_, Outcome> {
        Box::pin(act::act(self, armed))
    }

    fn consent(&self, consent: Consent) -> BoxFuture<'_, Outcome> {
        Box::pin(act::consent(self, consent))
    }

    fn begin_lookup<'a>(&'a self, armed: &'a Armed) -> BoxFuture<'a, Result<LogId, StoreError>> {
        Box::pin(act::begin_lookup(self, armed))
    }

    fn keep<'a>(&'a self, armed: Armed, intent: LogId, evidence: &'a Evidence) -> BoxFuture<'a, Outcome> {
        Box::pin(act::keep(self, armed, intent, evidence))
    }

    fn read_back(&self, intent: LogId) -> BoxFuture<'_, Result<Option<LogEntry>, StoreError>> {
        Box::pin(act::read_back(self, intent))
    }

    fn refused<'a>(&'a self, what: &'a RefusedEvent) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(act::refused(self, what))
    }
}
