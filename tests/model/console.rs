//! What a person at a console may see, plan and do, as the console and the functions of `install.sql` do it.

use super::decide::{Held, Next, Situation};
use super::protocol::{Action, Protocol, Twist, table};
use super::state::{Broken, Change, Class, Console, KeyAge, Lease, Point, Request, Seen, Since, State};

impl Protocol {
    /// What a look-up may see now. While a charge may still be settling, a look-up may miss any of them.
    pub fn sights(self, state: &State, sights: &mut Vec<Seen>) {
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
            // An index may miss a charge at any age.
            sights.push(Seen::MaybeNothing);
            if state.others {
                for sight in sights.iter_mut() {
                    *sight = match *sight {
                        Seen::Nothing | Seen::MaybeNothing => Seen::OthersOnly,
                        Seen::Yes => Seen::YesAndOthers,
                        other @ (Seen::None
                        | Seen::Silence
                        | Seen::No
                        | Seen::Pending
                        | Seen::YesAndPending
                        | Seen::TwoYes
                        | Seen::OthersOnly
                        | Seen::YesAndOthers) => other,
                    };
                }
            }
        }
        sights.sort_unstable();
        sights.dedup();
    }

    pub fn console_actions(self, state: &State, console: usize, actions: &mut Vec<Action>) {
        if let Console::Plan(..) = state.consoles[console] {
            actions.push(Action::Act(console));
            return;
        }
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
        if matches!(decided(state, console), Some(Next::Adopt { .. } | Next::Fail | Next::HandBack | Next::NotCharged))
        {
            actions.push(Action::Plan(console));
        }
        if lease == Lease::Over || lease == me(console) {
            actions.push(Action::Hold(console));
        }
        if matches!(lease, Lease::Person(_)) {
            actions.push(Action::Release(console));
        }
        if state.request == Request::Live {
            actions.push(Action::Withdraw);
        }
    }

    /// The console's change, with the checks of `unstuck.resume` under its locks.
    pub fn act(self, state: &mut State, console: usize) {
        let Console::Plan(change, since) = std::mem::replace(&mut state.consoles[console], Console::Idle) else {
            return;
        };
        let Some(record) = state.record else { return };
        let free = record.lease == Lease::Over || record.lease == me(console);
        let owner = since != Since::Taken;
        let mine = state.evidence.by & (1 << console) != 0;
        let reads = self.twist != Twist::AdoptWithoutReread || change != Change::Adopt;
        if reads && (since != Since::Nothing || record.point.is_done() || !free) {
            return;
        }
        match change {
            Change::Adopt if !reads || (mine && state.evidence.latest == Seen::Yes) => {
                state.write(owner, Point::Succeeded);
                state.take(Lease::Over);
            }
            Change::Fail if mine && state.evidence.latest == Seen::No => {
                state.write_failed(owner, false);
                state.take(Lease::Over);
            }
            Change::HandBack
                if state.request == Request::None && record.lease == Lease::Over && state.key == KeyAge::Fresh =>
            {
                state.request = Request::Live;
            }
            Change::NotCharged if decided(state, console) == Some(Next::NotCharged) => {
                state.write_failed(owner, false);
                state.take(Lease::Over);
            }
            Change::Adopt | Change::Fail | Change::HandBack | Change::NotCharged => {}
        }
    }
}

/// The product's decision for a console.
pub fn decided(state: &State, console: usize) -> Option<Next> {
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
        before: state.evidence.before,
        key: state.key,
    }))
}

/// The lease as this console holds it.
pub fn me(console: usize) -> Lease {
    Lease::Person(u8::from(console == 1))
}

/// A look-up, stored.
pub fn look(state: &mut State, console: usize, seen: Seen) {
    let before = if state.evidence.latest == seen { state.evidence.by } else { 0 };
    state.evidence.latest = seen;
    // Whose look-up it was matters only where the database asks for one's own.
    state.evidence.by = if matches!(seen, Seen::Yes | Seen::No) { before | 1 << console } else { 0 };
}

/// A plan for what `next_step` names, if that is a change.
pub fn plan(state: &mut State, console: usize) -> Option<()> {
    let change = match decided(state, console)? {
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
    Some(())
}
