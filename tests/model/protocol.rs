//! The protocol as transitions: what the service, the recoverer, the consoles, the provider and time may do next.
//!
//! A step here is what is atomic there: one transaction, or one call to the provider. A crash may come between any two.

use std::sync::OnceLock;

use stateright::{Model, Property};

use super::console::{look, me, plan};
use super::decide::Table;
use super::state::{
    At, Broken, Class, Evidence, Key, KeyAge, Lease, Point, Record, Request, Seen, Since, State, Worker,
};
use super::worker::call;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Small,
    /// Charges may stay pending before they are decided, and the recoverer also takes expired leases by itself.
    Deep,
}

/// A size and a twist.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    pub twist: Twist,
    pub size: Size,
    /// The order may carry somebody else's charge; look-ups may be of an index that misses.
    pub strangers: bool,
    /// Count states that behave alike once.
    pub fold: bool,
}

impl Protocol {
    pub const SMALL: Self = Self { twist: Twist::None, size: Size::Small, strangers: true, fold: true };
    pub const DEEP: Self = Self { size: Size::Deep, ..Self::SMALL };

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
            Self::Crash(_)
            | Self::PickUp
            | Self::RefuseHandBack
            | Self::Look(..)
            | Self::Plan(_)
            | Self::Act(_)
            | Self::Hold(_)
            | Self::Release(_)
            | Self::Withdraw
            | Self::LeaseEnds
            | Self::TimePasses
            | Self::HandBackExpires
            | Self::KeyCloses
            | Self::KeyForgotten
            | Self::Settles(_)
            | Self::Lands(_)
            | Self::Delete => false,
        }
    }
}

/// `next_step` for every situation, asked once.
pub fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(Table::ask)
}

impl Protocol {
    fn possible(self, state: &State, actions: &mut Vec<Action>) {
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
                if self.size == Size::Deep {
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
    pub fn step(self, before: &State, action: Action) -> Option<State> {
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
            Action::WriteCalled(who) => self.write_called(&mut state, who),
            Action::Call(who, outcome) => call(&mut state, who, outcome),
            Action::Save(who) => self.save(&mut state, who),
            Action::Finish(who) => self.finish(&mut state, who),
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
            Action::Look(console, seen) => look(&mut state, console, seen),
            Action::Plan(console) => plan(&mut state, console)?,
            Action::Act(console) => self.act(&mut state, console),
            Action::Hold(console) => state.take(me(console)),
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
