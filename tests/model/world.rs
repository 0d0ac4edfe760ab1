//! What nobody decides: time, leases that end, the provider; and what a write or a charge does to the state.

use super::protocol::{Action, Protocol, Twist, Who};
use super::state::{
    At, Broken, Class, Console, Evidence, Key, KeyAge, Lease, Point, Request, Seen, Since, State, Worker,
};

impl Protocol {
    pub fn event_actions(self, state: &State, actions: &mut Vec<Action>) {
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

    pub fn time_passes(self, state: &mut State) {
        state.plans(Since::Changed);
        let latest = state.evidence.latest;
        let before = if matches!(latest, Seen::Nothing | Seen::MaybeNothing) { latest } else { Seen::None };
        state.evidence = Evidence { before, ..Evidence::NONE };
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

impl State {
    pub fn worker(&mut self, who: Who) -> &mut Worker {
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

    pub fn fail(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
    }

    /// One more attempt: whoever had an older one has lost the record.
    pub fn take(&mut self, lease: Lease) {
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

    pub fn plans(&mut self, event: Since) {
        for console in &mut self.consoles {
            if let Console::Plan(_, since) = console {
                *since = (*since).max(event);
            }
        }
    }

    /// A write of any kind. `owner`: nobody took the lease since the writer had it.
    pub fn touch(&mut self, owner: bool) {
        if !owner || self.is_done() {
            self.fail(Broken::FormerOwnerWrote);
        }
        self.plans(Since::Changed);
    }

    pub fn write(&mut self, owner: bool, point: Point) {
        self.touch(owner);
        if let Some(record) = &mut self.record {
            record.point = point;
        }
        if point.is_done() {
            self.evidence = Evidence::NONE;
            self.request = Request::None;
        }
        if point == Point::Succeeded && self.took(Class::Succeeded) == 0 {
            self.fail(Broken::SucceededWithoutCharge);
        }
    }

    /// Written by somebody who has the provider's word, or none: then it must be proven that nothing was charged.
    pub fn write_failed(&mut self, owner: bool, by_the_service: bool) {
        self.write(owner, Point::Failed);
        let said_no = self.took(Class::Failed) > 0;
        let absent = self.charges == [None; 2] && !self.flying && !by_the_service;
        let moved = self.took(Class::Succeeded) + self.took(Class::Pending) > 0;
        if moved || !(said_no || absent) {
            self.fail(Broken::FailedWithoutProof);
        }
    }

    /// The provider gets a call: with a key it remembers it repeats itself, otherwise it decides anew.
    pub fn charge(&mut self, key: Key, class: Class) {
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
