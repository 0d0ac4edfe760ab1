//! What the console's connections did, as the server saw it.
//!
//! Two witnesses, because neither sees everything: the statement log ([`LogGuard`]) shows every statement
//! that was sent, and triggers on every table ([`witness`]) show what the functions behind them changed.
//! A guard that is dropped looks at everything since the last look, so that every test which opens a
//! console ends with the whole run so far being looked at.

pub mod log;
pub mod shapes;
pub mod witness;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use unstuck::lab::cluster::Cluster;
use unstuck::store::options::APPLICATION;

use log::{Entry, Follower};
use shapes::{Control, Shape};

/// What the servers of this test run were sent, by log file.
static WATCHED: Mutex<BTreeMap<PathBuf, Watch>> = Mutex::new(BTreeMap::new());

/// How a session of the console stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Session {
    Idle,
    ReadOnly,
    /// A pooler's transaction around one guarded call.
    Open,
}

/// One log, read so far.
pub struct Watch {
    follower: Follower,
    application: String,
    sessions: HashMap<u32, Session>,
    judged: HashMap<String, Result<Shape, String>>,
    /// Statements of the application, and its guarded calls by database and function.
    pub statements: usize,
    pub calls: BTreeMap<(String, String), usize>,
    pub broken: Vec<String>,
}

impl Watch {
    pub fn new(path: PathBuf, application: &str) -> Self {
        Self {
            follower: Follower::new(path),
            application: application.to_owned(),
            sessions: HashMap::new(),
            judged: HashMap::new(),
            statements: 0,
            calls: BTreeMap::new(),
            broken: Vec::new(),
        }
    }

    /// Reads what was written since the last look.
    pub fn look(&mut self) {
        for entry in self.follower.entries() {
            if entry.level == "LOG" && entry.text.starts_with("connection received") {
                self.sessions.remove(&entry.pid);
            }
            if entry.application == self.application
                && let Some(statement) = entry.statement()
            {
                self.judge(&entry, statement);
            }
        }
    }

    fn judge(&mut self, entry: &Entry, statement: &str) {
        self.statements += 1;
        let known = self.judged.get(statement).cloned();
        let shape = known.unwrap_or_else(|| shapes::shape(statement));
        self.judged.insert(statement.to_owned(), shape.clone());
        let session = self.sessions.entry(entry.pid).or_insert(Session::Idle);
        // A failed statement is repeated in the log below its error: it is judged by its words, not by its place.
        let echo = entry.level == "STATEMENT";
        let broken = match shape {
            Err(why) => Some(why),
            Ok(_) if echo => None,
            Ok(Shape::Control(control)) => {
                *session = match control {
                    Control::BeginReadOnly => Session::ReadOnly,
                    Control::Begin => Session::Open,
                    Control::End => Session::Idle,
                };
                None
            }
            Ok(Shape::Read) if *session == Session::ReadOnly => None,
            Ok(Shape::Read) => Some("a read outside a read-only transaction".to_owned()),
            Ok(Shape::Call(_)) if *session == Session::ReadOnly => {
                Some("a guarded call inside a read-only transaction".to_owned())
            }
            Ok(Shape::Call(function)) => {
                *self.calls.entry((entry.database.clone(), function)).or_default() += 1;
                None
            }
            Ok(Shape::Anywhere) => None,
        };
        if let Some(why) = broken {
            let one = format!("{why}: db={} user={} pid={}\n  {statement}", entry.database, entry.user, entry.pid);
            self.broken.push(one);
        }
    }
}

/// Looks at a server's statement log when it is dropped: every statement the console's connections sent
/// to that server, in this test or another, is of an allowed shape.
pub struct LogGuard {
    /// `None`: a server somebody else looks after, whose log is not ours to read.
    path: Option<PathBuf>,
}

impl LogGuard {
    pub fn over(cluster: &Cluster) -> Self {
        Self { path: cluster.statement_log().ok() }
    }

    /// Looks now; panics on the first thing that must not be.
    #[track_caller]
    pub fn look<T>(&self, tell: impl FnOnce(&Watch) -> T) -> Option<T> {
        let path = self.path.clone()?;
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = watched.entry(path.clone()).or_insert_with(|| Watch::new(path, APPLICATION));
        watch.look();
        let shown = watch.broken.get(..watch.broken.len().min(5)).unwrap_or_default().join("\n");
        assert!(watch.broken.is_empty(), "{} statements of the console are not allowed:\n{shown}", watch.broken.len());
        Some(tell(watch))
    }

    /// How often the console called a guarded function in a database; `None` when the log cannot be read.
    pub fn calls(&self, database: &str, function: &str) -> Option<usize> {
        let wanted = (database.to_owned(), function.to_owned());
        self.look(|watch| watch.calls.get(&wanted).copied().unwrap_or(0))
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.look(|_| ());
        }
    }
}
