//! What a pod or the recoverer does next, as `src/lab/service` does it, or less carefully: here the recoverer takes an
//! expired lease before it has looked, and charges what it does not find, as a pod does; the lab's own looks twice first.

use super::decide::{Held, Next, Situation};
use super::protocol::{Action, Outcome, Protocol, Size, Twist, Who, table};
use super::state::{Answer, At, Broken, Class, Evidence, Key, KeyAge, Point, Request, Seen, State, Worker};

impl Protocol {
    /// `WHERE status = 'processing' AND attempt = $n`: whether a write goes through.
    fn guarded(self, state: &State, who: Who) -> bool {
        let theirs = state.of(who).current && !state.is_done();
        theirs || (self.twist == Twist::NoFence && state.record.is_some())
    }

    /// `provider_called` is written before the first byte goes out.
    pub fn write_called(self, state: &mut State, who: Who) {
        let At::ToCharge(key) = state.of(who).at else { return };
        let then = if !self.guarded(state, who) {
            At::Idle
        } else if state.key != KeyAge::Fresh && self.twist != Twist::CallAtAnyAge {
            // A key the provider may have forgotten protects from nothing.
            state.touch(state.of(who).current);
            At::Idle
        } else {
            state.write(state.of(who).current, Point::Called);
            state.evidence = Evidence::NONE;
            state.quiet = 0;
            At::BeforeCall(key)
        };
        *state.worker(who) = Worker::at(then, state.of(who).current);
    }

    pub fn finish(self, state: &mut State, who: Who) {
        if self.guarded(state, who) {
            state.write(state.of(who).current, Point::Succeeded);
        }
        *state.worker(who) = Worker::IDLE;
    }

    pub fn worker_actions(self, state: &State, who: Who, actions: &mut Vec<Action>) {
        match state.of(who).at {
            At::Idle => return,
            At::ToCharge(_) => actions.push(Action::WriteCalled(who)),
            At::BeforeCall(key) => {
                let repeats = key == Key::Own && state.key.is_honoured();
                let decided: &[Class] = match state.charges[0].filter(|_| repeats) {
                    Some(Class::Succeeded) => &[Class::Succeeded],
                    Some(Class::Failed) => &[Class::Failed],
                    Some(Class::Pending) => &[Class::Pending],
                    None if self.size == Size::Deep => &[Class::Succeeded, Class::Failed, Class::Pending],
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

    pub fn save(self, state: &mut State, who: Who) {
        let At::Answered(answer) = state.of(who).at else { return };
        let through = self.guarded(state, who);
        let owner = state.of(who).current;
        let mut then = Worker::IDLE;
        match answer {
            Answer::Charge(Class::Succeeded) if through => {
                state.write(owner, Point::Charged);
                then = Worker { at: At::ToFinish, ..state.of(who) };
            }
            Answer::Charge(Class::Failed) if through => state.write_failed(owner, true),
            Answer::Lost if through && self.twist == Twist::TimeoutIsFailure => state.write_failed(owner, true),
            Answer::Charge(Class::Pending) | Answer::Lost if through => state.touch(owner),
            Answer::Charge(_) | Answer::Lost => {}
        }
        *state.worker(who) = then;
    }

    /// The product's decision for the recoverer, which took the lease a moment ago.
    pub fn recoverers_step(self, state: &State, seen: Seen) -> Next {
        let after = self.twist == Twist::DecideAfterTake;
        table().next(Situation {
            point: state.record.map_or(Point::Created, |record| record.point),
            held: if after { Held::ByMe } else { Held::Over },
            quiet: if after { 0 } else { state.quiet },
            latest: seen,
            before: state.evidence.before,
            key: state.key,
        })
    }

    pub fn worker_looks(self, state: &mut State, who: Who, seen: Seen) {
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
                Seen::Nothing | Seen::MaybeNothing | Seen::OthersOnly => At::Answered(Answer::Lost),
                Seen::None | Seen::Silence | Seen::Pending | Seen::YesAndPending | Seen::TwoYes => {
                    At::Answered(Answer::Lost)
                }
            }
        };
        *state.worker(who) = Worker::at(then, worker.current);
    }
}

pub fn call(state: &mut State, who: Who, outcome: Outcome) {
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
