//! A walk along the chain, row by row, in the order of the numbers.

use std::collections::BTreeMap;
use std::fmt;

use super::{ChainRow, Head};
use crate::domain::ids::{LogId, RecordId};
use crate::domain::time::Instant;

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Numbers are missing: this one, and those up to the next that is there.
    Missing {
        /// The last of them.
        up_to: LogId,
    },
    /// There is no row at all, in a log that must have one.
    Emptied,
    /// The number does not come after the one before.
    OutOfOrder,
    /// It does not carry the hash of the row before it.
    Unlinked {
        /// The row before; `None` for the first.
        before: Option<LogId>,
    },
    /// Its fields do not give its hash.
    Altered,
}

/// The first row where the chain breaks, and everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Which row.
    pub id: LogId,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said: Vec<String> = self.faults.iter().map(|fault| sentence(self.id, fault)).collect();
        f.write_str(&said.join("; "))
    }
}

fn sentence(id: LogId, fault: &Fault) -> String {
    match fault {
        Fault::Missing { up_to } if *up_to == id => format!("{id} is missing: a row was removed"),
        Fault::Missing { up_to } => format!("{id} to {up_to} are missing: rows were removed"),
        Fault::Emptied => format!("{id} is missing: the log is empty, and naming the environment wrote its first row"),
        Fault::OutOfOrder => format!("{id} is no number that can stand here: a row was put in or numbered anew"),
        Fault::Unlinked { before: None } => format!("{id} does not begin the chain: it was rewritten"),
        Fault::Unlinked { before: Some(before) } => {
            format!("{id} does not carry the hash of {before}: one of the two was rewritten or moved")
        }
        Fault::Altered => format!("{id} was altered: its fields do not give its hash"),
    }
}

/// An intent without an outcome: what came of it is Unknown until it is read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The intent.
    pub id: LogId,
    /// When it was written.
    pub at: Option<Instant>,
    /// The action's word.
    pub action: String,
    /// On which record.
    pub target: Option<RecordId>,
    /// By whom.
    pub operator: String,
}

/// Whether a head that was noted earlier is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// None was given.
    NotAsked,
    /// It is the hash of this row; `None`: of the empty log.
    At(Option<LogId>),
    /// No row has it: the tail was cut off, or the log was written anew.
    Missing,
}

/// What a walk came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walked {
    /// Rows read.
    pub rows: u64,
    /// The last row.
    pub last: Option<LogId>,
    /// The hash the last row carries.
    pub head: String,
    /// Where the chain breaks; rows after it were read and not judged.
    pub broken: Option<Broken>,
    /// The head that was noted earlier.
    pub noted: Noted,
    /// Intents without an outcome, oldest first.
    pub open: Vec<Open>,
}

impl Walked {
    /// The same for a log that cannot be empty, because something is there that wrote a row when it was made.
    #[must_use]
    pub fn never_empty(mut self) -> Self {
        if self.rows == 0 {
            self.broken = Some(Broken { id: LogId(1), faults: vec![Fault::Emptied] });
        }
        self
    }

    /// Nothing was altered, removed, put in, moved or cut off, as far as the chain can tell.
    pub fn is_intact(&self) -> bool {
        self.broken.is_none() && self.noted != Noted::Missing
    }
}

/// A walk that goes on.
#[derive(Debug, Clone)]
pub struct Walk {
    noted: Option<Head>,
    seen: Noted,
    rows: u64,
    last: Option<LogId>,
    head: String,
    broken: Option<Broken>,
    open: BTreeMap<LogId, Open>,
}

impl Walk {
    /// Begins at the start of a log; `noted` is a head that must be met on the way.
    pub fn new(noted: Option<Head>) -> Self {
        let start = Head::start();
        let seen = match &noted {
            None => Noted::NotAsked,
            Some(head) if *head == start => Noted::At(None),
            Some(_) => Noted::Missing,
        };
        let head = start.as_str().to_owned();
        Self { noted, seen, rows: 0, last: None, head, broken: None, open: BTreeMap::new() }
    }

    /// Takes the next row.
    pub fn step(&mut self, row: &ChainRow) {
        if self.broken.is_none() {
            self.broken = self.judge(row);
        }
        self.rows = self.rows.saturating_add(1);
        self.last = Some(row.id);
        // A hash that is absent is told by `judge`; no later row can carry it.
        self.head = row.hash.clone().unwrap_or_default();
        if self.noted.as_ref().is_some_and(|noted| noted.as_str() == self.head) {
            self.seen = Noted::At(Some(row.id));
        }
        if row.is_intent() {
            self.open.insert(row.id, open(row));
        } else if let Some(intent) = row.intent {
            self.open.remove(&intent);
        }
    }

    /// Ends the walk.
    pub fn finish(self) -> Walked {
        Walked {
            rows: self.rows,
            last: self.last,
            head: self.head,
            broken: self.broken,
            noted: self.seen,
            open: self.open.into_values().collect(),
        }
    }

    fn judge(&self, row: &ChainRow) -> Option<Broken> {
        let due = LogId(self.last.map_or(0, |last| last.0).saturating_add(1));
        if row.id > due {
            let up_to = LogId(row.id.0.saturating_sub(1));
            return Some(Broken { id: due, faults: vec![Fault::Missing { up_to }] });
        }
        let mut faults = Vec::new();
        if row.id < due {
            faults.push(Fault::OutOfOrder);
        }
        if row.prev_hash.as_deref() != Some(self.head.as_str()) {
            faults.push(Fault::Unlinked { before: self.last });
        }
        if row.hash.is_none() || row.computed() != row.hash {
            faults.push(Fault::Altered);
        }
        if faults.is_empty() { None } else { Some(Broken { id: row.id, faults }) }
    }
}

fn open(row: &ChainRow) -> Open {
    Open {
        id: row.id,
        at: row.at,
        action: row.action.clone().unwrap_or_default(),
        target: row.target(),
        operator: row.operator.clone().unwrap_or_default(),
    }
}
