//! One moment of the protocol: the record, who is at work on it, what the provider knows, what has gone by.
//!
//! An attempt number grows for ever, so it is kept as what matters about it: whether the one a worker, a plan or
//! a hand back was given is still the record's. Time is kept the same way: see `quiet` and [`KeyAge`].

/// How far the record is known to have got, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    Created,
    Called,
    Charged,
    Succeeded,
    Failed,
}

impl Point {
    pub fn is_done(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// Who owns the record now. Who owned it last does not matter once the lease is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lease {
    Over,
    Worker,
    Person(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    pub point: Point,
    pub lease: Lease,
}

/// What a charge has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Succeeded,
    Failed,
    Pending,
}

/// Under which key a call goes out. `New` exists only where the protocol is broken on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Own,
    New,
}

/// What a worker learned from the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    Charge(Class),
    Lost,
}

/// Where a worker is in its program: `src/lab/service/flow.rs` and `recover.rs`, one await each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    Idle,
    ToCharge(Key),
    BeforeCall(Key),
    Answered(Answer),
    ToFinish,
    ToLookUp,
    /// The recoverer, with a hand back in its hands: the lease is taken, the look-up still to be made.
    HandedBack,
}

/// A pod with a request, or the recoverer. `current`: the attempt it was given is still the record's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worker {
    pub at: At,
    pub current: bool,
}

impl Worker {
    pub const IDLE: Self = Self { at: At::Idle, current: false };

    pub fn at(at: At, current: bool) -> Self {
        if at == At::Idle { Self::IDLE } else { Self { at, current } }
    }
}

/// The change a person planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    Adopt,
    Fail,
    HandBack,
    NotCharged,
}

/// What has happened to the record since a plan was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Since {
    Nothing,
    /// It was written to, or the plan and its look-up are too old.
    Changed,
    /// Somebody else took the lease.
    Taken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Console {
    Idle,
    Plan(Change, Since),
}

/// What a look-up saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    None,
    /// No answer that means anything.
    Silence,
    Nothing,
    /// Nothing, from an index that may have missed it.
    MaybeNothing,
    /// One final yes, beside it only final noes.
    Yes,
    No,
    Pending,
    YesAndPending,
    TwoYes,
    /// A charge of the order with another key, and none of ours.
    OthersOnly,
    /// The same beside a yes of ours.
    YesAndOthers,
}

/// Evidence that can still decide something: the newest, and the one before it, a gap earlier, if it saw nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Evidence {
    pub latest: Seen,
    /// Which consoles stored a look-up that saw this: bit 0 and bit 1.
    pub by: u8,
    pub before: Seen,
}

impl Evidence {
    pub const NONE: Self = Self { latest: Seen::None, by: 0, before: Seen::None };
}

/// `unstuck.resume_request`: `Dead` when its attempt was overtaken or `not_after` has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    None,
    Live,
    Dead,
}

/// How old the provider key is, by what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyAge {
    Fresh,
    /// Within the margin before the end of retention: still honoured, no longer relied on.
    Closing,
    Forgotten,
    /// Forgotten for longer than the settle time.
    LongForgotten,
}

impl KeyAge {
    pub fn is_honoured(self) -> bool {
        matches!(self, Self::Fresh | Self::Closing)
    }
}

/// What went wrong. Set by the transition that did it; nothing happens afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    TwoCharges,
    FormerOwnerWrote,
    RecordLost,
    SucceededWithoutCharge,
    FailedWithoutProof,
    ChargedAfterFailed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    pub record: Option<Record>,
    pub pods: [Worker; 2],
    pub recoverer: Worker,
    pub consoles: [Console; 2],
    pub evidence: Evidence,
    pub request: Request,
    /// Charges with our key, in the order they were made.
    pub charges: [Option<Class>; 2],
    /// A call nobody waits for any more is still on its way to the provider.
    pub flying: bool,
    /// A charge of the same order that carries nothing of ours.
    pub others: bool,
    pub key: KeyAge,
    /// Settle times gone by, two at most, since a charge may last have been sent: a call, or a service lease's end.
    pub quiet: u8,
    pub broken: Option<Broken>,
}

impl State {
    pub fn start(others: bool) -> Self {
        Self {
            record: None,
            pods: [Worker::IDLE; 2],
            recoverer: Worker::IDLE,
            consoles: [Console::Idle; 2],
            evidence: Evidence::NONE,
            request: Request::None,
            charges: [None; 2],
            flying: false,
            others,
            key: KeyAge::Fresh,
            quiet: 0,
            broken: None,
        }
    }

    pub fn is_done(&self) -> bool {
        self.record.is_some_and(|record| record.point.is_done())
    }

    pub fn lease(&self) -> Lease {
        self.record.map_or(Lease::Over, |record| record.lease)
    }

    pub fn took(&self, class: Class) -> usize {
        self.charges.iter().filter(|charge| **charge == Some(class)).count()
    }

    /// One of the states that behave alike: which pod and which console is which makes no difference, nor does what
    /// exactly it is that will be refused, nor what has gone by when all is done.
    pub fn representative(mut self) -> Self {
        let done = self.is_done();
        for worker in self.pods.iter_mut().chain([&mut self.recoverer]) {
            if !matches!(worker.at, At::Idle | At::BeforeCall(_)) && (done || !worker.current) {
                *worker = Worker { at: At::ToFinish, current: false };
            }
        }
        for console in &mut self.consoles {
            if let Console::Plan(change, since) = console
                && (done || *since != Since::Nothing)
            {
                (*change, *since) = (Change::Adopt, Since::Changed);
            }
        }
        if done {
            self.quiet = 0;
            if let Some(record) = &mut self.record {
                record.lease = Lease::Over;
            }
        }
        self.pods.sort_unstable();
        let mut other = self;
        other.consoles.swap(0, 1);
        other.evidence.by = (self.evidence.by & 1) << 1 | self.evidence.by >> 1;
        if let Some(Record { lease: Lease::Person(person), .. }) = &mut other.record {
            *person = 1 - *person;
        }
        self.min(other)
    }
}
