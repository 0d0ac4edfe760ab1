//! The protocol as transitions: what the service, the recoverer, the consoles, the provider and time may do next.
//!
//! A step here is what is atomic there: one transaction, or one call to the provider. A crash may come between any two.

use std::sync::OnceLock;

use stateright::{Model, Property};

use super::decide::{Held, Next, Situation, Table};
use super::state::{
    Answer, At, Broken, Change, Class, Console, Evidence, Key, KeyAge, Lease, Point, Record, Request, Seen, Since,
    State, Worker,
};

/// What is different from the protocol as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twist {
    None,
    /// Writes do not ask whether the attempt is still theirs.
    NoFence,
    /// A job removes records whose lease is over.
    DeleteInsteadOfTake,
    /// A recovery charges under a key of its own.
    NewKeyOnRetry,
    /// No answer in time is stored as FAILED.
    TimeoutIsFailure,
    /// A console acts on its plan without reading the record again.
    AdoptWithoutReread,
    /// The recoverer decides on the record as it is after its own take, not as it found it.
    DecideAfterTake,
    /// A call may leave a pod that slept for longer than its lease, the settle time and the life of the key.
    CallAtAnyAge,
}

/// A size and a twist.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    pub twist: Twist,
    /// Charges may stay pending before they are decided.
    pub pending: bool,
    /// The order may carry somebody else's charge; look-ups may be an index that misses.
    pub strangers: bool,
    /// The recoverer also takes expired leases by itself.
    pub sweeps: bool,
    /// Count states that differ only in names once.
    pub fold: bool,
}

impl Protocol {
    pub const SMALL: Self = Self { twist: Twist::None, pending: false, strangers: true, sweeps: false, fold: true };
    pub const DEEP: Self = Self { pending: true, sweeps: true, ..Self::SMALL };

    /// Broken on purpose, with names kept so that a trace can be told.
    pub fn with(twist: Twist) -> Self {
        Self { twist, strangers: false, fold: false, ..Self::SMALL }
    }
}

/// A worker by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Pod(usize),
    Recoverer,
}

/// How a call to charge ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The provider decides, or says again what it decided, and is heard or not.
    Decided {
        class: Class,
        heard: bool,
    },
    /// The caller gives up; the request arrives later, or not at all.
    Late,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Requested(usize),
    WriteCalled(Who),
    Call(Who, Outcome),
    Save(Who),
    Finish(Who),
    WorkerLooks(Who, Seen),
    Crash(Who),
    PickUp,
    RefuseHandBack,
    Sweep,
    Look(usize, Seen),
    Plan(usize),
    Act(usize),
    Hold(usize),
    Release(usize),
    Withdraw,
    LeaseEnds,
    TimePasses,
    HandBackExpires,
    KeyCloses,
    KeyForgotten,
    Settles(Class),
    Lands(Class),
    Delete,
}

impl Action {
    /// Whether it needs a client or a pod: what must not be needed for a record to be finished.
    pub fn is_of_the_service(self) -> bool {
        match self {
            Self::Requested(_) | Self::Sweep => true,
            Self::WriteCalled(who)
            | Self::Call(who, _)
            | Self::Save(who)
            | Self::Finish(who)
            | Self::WorkerLooks(who, _) => who != Who::Recoverer,
            _ => false,
        }
    }
}

/// `next_step` for every situation, asked once.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(Table::ask)
}

impl State {
    fn worker(&mut self, who: Who) -> &mut Worker {
        match who {
            Who::Pod(pod) => &mut self.pods[pod],
            Who::Recoverer => &mut self.recoverer,
        }
    }

    pub fn of(&self, who: Who) -> Worker {
        match who {
            Who::Pod(pod) => self.pods[pod],
            Who::Recoverer => self.recoverer,
        }
    }

    fn fail(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
    }

    /// One more attempt: whoever had an older one has lost the record.
    fn take(&mut self, lease: Lease) {
        if let Some(record) = &mut self.record {
            record.lease = lease;
        }
        for who in [Who::Pod(0), Who::Pod(1), Who::Recoverer] {
            self.worker(who).current = false;
        }
        self.plans(Since::Taken);
        if self.request == Request::Live {
            self.request = Request::Dead;
        }
    }

    fn plans(&mut self, event: Since) {
        for console in &mut self.consoles {
            if let Console::Plan(_, since) = console {
                *since = (*since).max(event);
            }
        }
    }

    fn write(&mut self, point: Point) {
        if let Some(record) = &mut self.record {
            record.point = point;
        }
        self.plans(Since::Changed);
        if point.is_done() {
            self.evidence = Evidence::NONE;
            self.request = Request::None;
        }
        if point == Point::Succeeded && self.took(Class::Succeeded) == 0 {
            self.fail(Broken::SucceededWithoutCharge);
        }
    }

    /// Written by somebody who has the provider's word, or none: then it must be proven that nothing was charged.
    fn write_failed(&mut self, by_the_service: bool) {
        self.write(Point::Failed);
        let said_no = self.took(Class::Failed) > 0;
        let absent = self.charges == [None; 2] && !self.flying && !by_the_service;
        let moved = self.took(Class::Succeeded) + self.took(Class::Pending) > 0;
        if moved || !(said_no || absent) {
            self.fail(Broken::FailedWithoutProof);
        }
    }

    /// The provider gets a call: with a key it remembers it repeats itself, otherwise it decides anew.
    fn charge(&mut self, key: Key, class: Class) {
        if key == Key::Own && self.key.is_honoured() && self.charges[0].is_some() {
            return;
        }
        let moved = self.took(Class::Succeeded) + self.took(Class::Pending);
        if let Some(free) = self.charges.iter_mut().find(|charge| charge.is_none()) {
            *free = Some(class);
        }
        if class == Class::Failed {
            return;
        }
        if moved > 0 && (self.key.is_honoured() || key == Key::New) {
            self.fail(Broken::TwoCharges);
        }
        if self.record.is_some_and(|record| record.point == Point::Failed) {
            self.fail(Broken::ChargedAfterFailed);
        }
    }
}

impl Protocol {
    /// What a look-up may see now. While a charge may still be settling, a look-up may miss any of them.
    pub fn sights(&self, state: &State, sights: &mut Vec<Seen>) {
        let summed = |charges: &[Class]| {
            let count = |class| charges.iter().filter(|charge| **charge == class).count();
            match (count(Class::Succeeded), count(Class::Pending), count(Class::Failed)) {
                (0, 0, 0) => Seen::Nothing,
                (0, 0, _) => Seen::No,
                (0, _, _) => Seen::Pending,
                (1, 0, _) => Seen::Yes,
                (1, _, _) => Seen::YesAndPending,
                _ => Seen::TwoYes,
            }
        };
        let [first, second] = state.charges;
        let all: Vec<Class> = first.into_iter().chain(second).collect();
        sights.push(summed(&all));
        if state.quiet == 0 && !all.is_empty() {
            sights.push(Seen::Nothing);
            sights.extend(all.iter().map(|one| summed(&[*one])));
        }
        if self.strangers {
            if all.is_empty() || state.quiet == 0 {
                sights.push(Seen::MaybeNothing);
            }
            if state.others {
                for sight in sights.iter_mut() {
                    *sight = match *sight {
                        Seen::Nothing | Seen::MaybeNothing => Seen::OthersOnly,
                        Seen::Yes => Seen::YesAndOthers,
                        other => other,
                    };
                }
            }
        }
        sights.sort_unstable();
        sights.dedup();
    }

    /// The product's decision for a console.
    fn decided(&self, state: &State, console: usize) -> Option<Next> {
        let record = state.record?;
        let held = match record.lease {
            Lease::Over => Held::Over,
            Lease::Person(person) if usize::from(person) == console => Held::ByMe,
            Lease::Person(_) | Lease::Worker => Held::ByAnother,
        };
        Some(table().next(Situation {
            point: record.point,
            held,
            quiet: state.quiet,
            latest: state.evidence.latest,
            nothing_before: state.evidence.nothing_before,
            key: state.key,
        }))
    }

    /// The product's decision for the recoverer, which took the lease a moment ago.
    fn recoverers_step(&self, state: &State, seen: Seen) -> Next {
        let after = self.twist == Twist::DecideAfterTake;
        table().next(Situation {
            point: state.record.map_or(Point::Created, |record| record.point),
            held: if after { Held::ByMe } else { Held::Over },
            quiet: if after { 0 } else { state.quiet },
            latest: seen,
            nothing_before: state.evidence.nothing_before,
            key: state.key,
        })
    }

    /// `WHERE status = 'processing' AND attempt = $n`: whether the write goes through, and whether it ought to.
    fn guarded(&self, state: &mut State, who: Who) -> bool {
        let theirs = state.of(who).current && !state.is_done();
        if !theirs && self.twist == Twist::NoFence && state.record.is_some() {
            state.fail(Broken::FormerOwnerWrote);
            return true;
        }
        theirs
    }

    fn worker_actions(&self, state: &State, who: Who, actions: &mut Vec<Action>) {
        match state.of(who).at {
            At::Idle => return,
            At::ToCharge(_) => actions.push(Action::WriteCalled(who)),
            At::BeforeCall(key) => {
                let repeats = key == Key::Own && state.key.is_honoured();
                let decided: &[Class] = match state.charges[0].filter(|_| repeats) {
                    Some(Class::Succeeded) => &[Class::Succeeded],
                    Some(Class::Failed) => &[Class::Failed],
                    Some(Class::Pending) => &[Class::Pending],
                    None if self.pending => &[Class::Succeeded, Class::Failed, Class::Pending],
                    None => &[Class::Succeeded, Class::Failed],
                };
                for class in decided {
                    for heard in [true, false] {
                        actions.push(Action::Call(who, Outcome::Decided { class: *class, heard }));
                    }
                }
                actions.push(Action::Call(who, Outcome::Never));
                if key == Key::Own {
                    actions.push(Action::Call(who, Outcome::Late));
                }
            }
            At::Answered(_) => actions.push(Action::Save(who)),
            At::ToFinish => actions.push(Action::Finish(who)),
            At::ToLookUp | At::HandedBack => {
                let mut sights = vec![Seen::Silence];
                self.sights(state, &mut sights);
                actions.extend(sights.into_iter().map(|seen| Action::WorkerLooks(who, seen)));
            }
        }
        actions.push(Action::Crash(who));
    }

    fn console_actions(&self, state: &State, console: usize, actions: &mut Vec<Action>) {
        if let Console::Plan(..) = state.consoles[console] {
            actions.push(Action::Act(console));
            return;
        }
        let me = Lease::Person(u8::from(console == 1));
        let lease = state.lease();
        if state.record.is_none() || state.is_done() {
            return;
        }
        if lease != Lease::Worker {
            // What is seen under a worker's lease is overtaken when it ends, and decides nothing before.
            let mut sights = Vec::new();
            self.sights(state, &mut sights);
            if state.evidence.latest == Seen::None {
                sights.push(Seen::Silence);
            }
            actions.extend(sights.into_iter().map(|seen| Action::Look(console, seen)));
        }
        if matches!(
            self.decided(state, console),
            Some(Next::Adopt { .. } | Next::Fail | Next::HandBack | Next::NotCharged)
        ) {
            actions.push(Action::Plan(console));
        }
        if lease == Lease::Over || lease == me {
            actions.push(Action::Hold(console));
        }
        if matches!(lease, Lease::Person(_)) {
            actions.push(Action::Release(console));
        }
        if state.request == Request::Live {
            actions.push(Action::Withdraw);
        }
    }

    fn event_actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.flying {
            let honoured = state.key.is_honoured();
            match state.charges[0].filter(|_| honoured) {
                Some(class) => actions.push(Action::Lands(class)),
                None => actions.extend([Action::Lands(Class::Succeeded), Action::Lands(Class::Failed)]),
            }
        }
        if state.charges.contains(&Some(Class::Pending)) {
            actions.extend([Action::Settles(Class::Succeeded), Action::Settles(Class::Failed)]);
        }
        if state.record.is_none() || state.is_done() {
            return;
        }
        if state.lease() != Lease::Over {
            actions.push(Action::LeaseEnds);
        } else if self.twist == Twist::DeleteInsteadOfTake {
            actions.push(Action::Delete);
        }
        actions.push(Action::TimePasses);
        if state.request == Request::Live {
            actions.push(Action::HandBackExpires);
        }
        // The margin is longer than it takes from the check of the key's age to the call's arrival.
        let calls = |worker: &Worker| matches!(worker.at, At::BeforeCall(_));
        let on_its_way = state.pods.iter().any(calls) || calls(&state.recoverer) || state.flying;
        match state.key {
            KeyAge::Fresh => actions.push(Action::KeyCloses),
            KeyAge::Closing if !on_its_way || self.twist == Twist::CallAtAnyAge => actions.push(Action::KeyForgotten),
            KeyAge::Closing | KeyAge::Forgotten | KeyAge::LongForgotten => {}
        }
    }

    fn call(&self, state: &mut State, who: Who, outcome: Outcome) {
        let At::BeforeCall(key) = state.of(who).at else { return };
        let answer = match outcome {
            Outcome::Decided { class, heard } => {
                state.charge(key, class);
                if heard { Answer::Charge(class) } else { Answer::Lost }
            }
            Outcome::Late => {
                state.flying = true;
                Answer::Lost
            }
            Outcome::Never => Answer::Lost,
        };
        state.worker(who).at = At::Answered(answer);
    }

    fn save(&self, state: &mut State, who: Who) {
        let At::Answered(answer) = state.of(who).at else { return };
        let through = self.guarded(state, who);
        let mut then = Worker::IDLE;
        match answer {
            Answer::Charge(Class::Succeeded) if through => {
                state.write(Point::Charged);
                then = Worker { at: At::ToFinish, ..state.of(who) };
            }
            Answer::Charge(Class::Failed) if through => state.write_failed(true),
            Answer::Lost if through && self.twist == Twist::TimeoutIsFailure => state.write_failed(true),
            Answer::Charge(Class::Pending) | Answer::Lost if through => state.plans(Since::Changed),
            Answer::Charge(_) | Answer::Lost => {}
        }
        *state.worker(who) = then;
    }

    fn worker_looks(&self, state: &mut State, who: Who, seen: Seen) {
        let retry = if self.twist == Twist::NewKeyOnRetry { Key::New } else { Key::Own };
        let worker = state.of(who);
        let then = if worker.at == At::HandedBack {
            let step = self.recoverers_step(state, seen);
            let in_time = state.request == Request::Live;
            state.request = Request::None;
            state.evidence = Evidence::NONE;
            match step {
                Next::Adopt { own } => {
                    if !own {
                        state.fail(Broken::SucceededWithoutCharge);
                    }
                    At::Answered(Answer::Charge(Class::Succeeded))
                }
                Next::Fail => At::Answered(Answer::Charge(Class::Failed)),
                Next::HandBack if in_time => At::ToCharge(retry),
                Next::HandBack | Next::NotCharged | Next::LookUp | Next::Wait | Next::Nothing | Next::Refuse(_) => {
                    At::Idle
                }
            }
        } else {
            match seen {
                Seen::Yes | Seen::YesAndOthers => At::Answered(Answer::Charge(Class::Succeeded)),
                Seen::No => At::Answered(Answer::Charge(Class::Failed)),
                // A stored ref is verified by itself; without one, what is absent is charged, with the same key.
                Seen::Nothing | Seen::MaybeNothing | Seen::OthersOnly
                    if state.record.is_some_and(|record| record.point != Point::Charged) =>
                {
                    At::ToCharge(retry)
                }
                _ => At::Answered(Answer::Lost),
            }
        };
        *state.worker(who) = Worker::at(then, worker.current);
    }

    /// The console's change, with the checks of `unstuck.resume` under its locks.
    fn act(&self, state: &mut State, console: usize) {
        let Console::Plan(change, since) = std::mem::replace(&mut state.consoles[console], Console::Idle) else {
            return;
        };
        let Some(record) = state.record else { return };
        let me = Lease::Person(u8::from(console == 1));
        let free = record.lease == Lease::Over || record.lease == me;
        let mine = state.evidence.by & (1 << console) != 0;
        let reads = self.twist != Twist::AdoptWithoutReread || change != Change::Adopt;
        if reads && (since != Since::Nothing || record.point.is_done() || !free) {
            return;
        }
        if !reads && (since == Since::Taken || record.point.is_done()) {
            state.fail(Broken::FormerOwnerWrote);
        }
        match change {
            Change::Adopt if !reads || (mine && state.evidence.latest == Seen::Yes) => {
                state.take(Lease::Over);
                state.write(Point::Succeeded);
            }
            Change::Fail if mine && state.evidence.latest == Seen::No => {
                state.take(Lease::Over);
                state.write_failed(false);
            }
            Change::HandBack
                if state.request == Request::None && record.lease == Lease::Over && state.key == KeyAge::Fresh =>
            {
                state.request = Request::Live;
            }
            Change::NotCharged if self.decided(state, console) == Some(Next::NotCharged) => {
                state.take(Lease::Over);
                state.write_failed(false);
            }
            Change::Adopt | Change::Fail | Change::HandBack | Change::NotCharged => {}
        }
    }

    fn time_passes(&self, state: &mut State) {
        state.plans(Since::Changed);
        state.evidence = Evidence { nothing_before: state.evidence.latest == Seen::Nothing, ..Evidence::NONE };
        // The recoverer's own lease does not count while it decides on the record as it found it.
        let own = state.recoverer.at == At::HandedBack && state.recoverer.current;
        if state.lease() != Lease::Worker || own {
            state.quiet = (state.quiet + 1).min(2);
            // Nothing is in flight for longer than the settle time, and a call that did not leave in time never does.
            state.flying = false;
            if self.twist != Twist::CallAtAnyAge {
                for who in [Who::Pod(0), Who::Pod(1), Who::Recoverer] {
                    if matches!(state.of(who).at, At::BeforeCall(_)) {
                        *state.worker(who) = Worker::IDLE;
                    }
                }
            }
        }
        if state.key == KeyAge::Forgotten {
            state.key = KeyAge::LongForgotten;
        }
    }
}

impl Protocol {
    fn possible(&self, state: &State, actions: &mut Vec<Action>) {
        for pod in 0..2 {
            let open = state.record.is_none_or(|record| !record.point.is_done() && record.lease == Lease::Over);
            if state.pods[pod].at == At::Idle && open {
                actions.push(Action::Requested(pod));
            }
            self.worker_actions(state, Who::Pod(pod), actions);
        }
        self.worker_actions(state, Who::Recoverer, actions);
        if state.recoverer.at == At::Idle && state.record.is_some() && !state.is_done() {
            if state.request == Request::Dead {
                actions.push(Action::RefuseHandBack);
            }
            if state.lease() == Lease::Over {
                if state.request == Request::Live {
                    actions.push(Action::PickUp);
                }
                if self.sweeps {
                    actions.push(Action::Sweep);
                }
            }
        }
        for console in 0..2 {
            self.console_actions(state, console, actions);
        }
        self.event_actions(state, actions);
    }

    /// The state after an action, with names kept; `None` when nothing changed.
    pub fn step(&self, before: &State, action: Action) -> Option<State> {
        let mut state = *before;
        match action {
            Action::Requested(pod) => {
                let at = match state.record {
                    None => {
                        state.record = Some(Record { point: Point::Created, lease: Lease::Worker });
                        At::ToCharge(Key::Own)
                    }
                    Some(_) => At::ToLookUp,
                };
                state.take(Lease::Worker);
                state.evidence = Evidence::NONE;
                state.quiet = 0;
                state.pods[pod] = Worker { at, current: true };
            }
            Action::Sweep => {
                state.take(Lease::Worker);
                state.evidence = Evidence::NONE;
                state.quiet = 0;
                state.recoverer = Worker { at: At::ToLookUp, current: true };
            }
            Action::WriteCalled(who) => {
                let At::ToCharge(key) = state.of(who).at else { return None };
                let through = self.guarded(&mut state, who);
                if through && state.key != KeyAge::Fresh && self.twist != Twist::CallAtAnyAge {
                    // A key the provider may have forgotten protects from nothing.
                    state.plans(Since::Changed);
                    *state.worker(who) = Worker::IDLE;
                } else if through {
                    state.write(Point::Called);
                    state.evidence = Evidence::NONE;
                    state.quiet = 0;
                    state.worker(who).at = At::BeforeCall(key);
                } else {
                    *state.worker(who) = Worker::IDLE;
                }
            }
            Action::Call(who, outcome) => self.call(&mut state, who, outcome),
            Action::Save(who) => self.save(&mut state, who),
            Action::Finish(who) => {
                if self.guarded(&mut state, who) {
                    state.write(Point::Succeeded);
                }
                *state.worker(who) = Worker::IDLE;
            }
            Action::WorkerLooks(who, seen) => self.worker_looks(&mut state, who, seen),
            Action::Crash(who) => {
                if state.of(who).at == At::HandedBack {
                    state.request = Request::None;
                }
                *state.worker(who) = Worker::IDLE;
            }
            Action::PickUp => {
                state.take(Lease::Worker);
                state.request = Request::Live;
                state.recoverer = Worker { at: At::HandedBack, current: true };
            }
            Action::RefuseHandBack | Action::Withdraw => state.request = Request::None,
            Action::Look(console, seen) => {
                let same = state.evidence.latest == seen;
                state.evidence.by = if same { state.evidence.by } else { 0 } | 1 << console;
                state.evidence.latest = seen;
                if !matches!(seen, Seen::Yes | Seen::No) {
                    state.evidence.by = 0;
                }
            }
            Action::Plan(console) => {
                let change = match self.decided(&state, console)? {
                    Next::Adopt { own } => {
                        if !own {
                            state.fail(Broken::SucceededWithoutCharge);
                        }
                        Change::Adopt
                    }
                    Next::Fail => Change::Fail,
                    Next::HandBack => Change::HandBack,
                    Next::NotCharged => Change::NotCharged,
                    Next::LookUp | Next::Wait | Next::Nothing | Next::Refuse(_) => return None,
                };
                state.consoles[console] = Console::Plan(change, Since::Nothing);
            }
            Action::Act(console) => self.act(&mut state, console),
            Action::Hold(console) => {
                state.take(Lease::Person(u8::from(console == 1)));
            }
            Action::Release(_) | Action::LeaseEnds => {
                if state.lease() == Lease::Worker {
                    state.evidence = Evidence::NONE;
                }
                if let Some(record) = &mut state.record {
                    record.lease = Lease::Over;
                }
                if action != Action::LeaseEnds {
                    state.plans(Since::Changed);
                }
                state.quiet = 0;
            }
            Action::TimePasses => self.time_passes(&mut state),
            Action::HandBackExpires => state.request = Request::Dead,
            Action::KeyCloses => {
                state.key = KeyAge::Closing;
                if state.request == Request::Live {
                    state.request = Request::Dead;
                }
            }
            Action::KeyForgotten => state.key = KeyAge::Forgotten,
            Action::Settles(class) => {
                if let Some(charge) = state.charges.iter_mut().find(|charge| **charge == Some(Class::Pending)) {
                    *charge = Some(class);
                }
            }
            Action::Lands(class) => {
                state.flying = false;
                state.charge(Key::Own, class);
            }
            Action::Delete => {
                state.record = None;
                state.fail(Broken::RecordLost);
            }
        }
        (state != *before).then_some(state)
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let alone = State::start(false);
        if self.strangers { vec![alone, State::start(true)] } else { vec![alone] }
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_none() {
            self.possible(state, actions);
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let after = self.step(before, action)?;
        Some(if self.fold { after.representative() } else { after })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(TWO_CHARGES, |_, state: &State| state.broken != Some(Broken::TwoCharges)),
            Property::always(FENCE, |_, state: &State| state.broken != Some(Broken::FormerOwnerWrote)),
            Property::always(LOST, |_, state: &State| state.broken != Some(Broken::RecordLost)),
            Property::always(SUCCEEDED, |_, state: &State| state.broken != Some(Broken::SucceededWithoutCharge)),
            Property::always(FAILED, |_, state: &State| state.broken != Some(Broken::FailedWithoutProof)),
            Property::always(AFTERWARDS, |_, state: &State| state.broken != Some(Broken::ChargedAfterFailed)),
        ]
    }
}

pub const TWO_CHARGES: &str = "never two charges while the provider honours keys";
pub const FENCE: &str = "no write by a former owner after a take";
pub const LOST: &str = "no record is lost";
pub const SUCCEEDED: &str = "SUCCEEDED only with a charge of its own";
pub const FAILED: &str = "FAILED only with a final no or proven absence";
pub const AFTERWARDS: &str = "nothing is charged after FAILED";
