//! The whole graph, for what a property of single states cannot say: whether the end can still be reached.

use std::collections::HashMap;

use stateright::Model;

use super::decide::{Held, Next, Situation};
use super::protocol::{Protocol, table};
use super::state::{Lease, Seen, State};
use super::words::{DEEDS, deed};

/// What was found.
#[derive(Debug)]
pub struct Graph {
    pub states: Vec<State>,
    pub edges: usize,
    pub quiescent: usize,
    /// How often each of [`DEEDS`] was seen.
    pub deeds: [usize; DEEDS.len()],
    /// States from which neither `done` nor a hand over can be reached.
    pub stuck: Vec<State>,
    /// The same when no client comes back and no pod does anything more.
    pub stuck_without_the_service: Vec<State>,
}

impl Graph {
    pub fn of(model: Protocol) -> Self {
        let mut numbers: HashMap<State, u32> = HashMap::new();
        let mut states = Vec::new();
        for state in model.init_states() {
            numbers.insert(state, u32::try_from(states.len()).expect("few"));
            states.push(state);
        }
        let mut back: Vec<(u32, u32, bool)> = Vec::new();
        let mut deeds = [0; DEEDS.len()];
        let (mut next, mut quiescent) = (0, 0);
        let mut actions = Vec::new();
        while next < states.len() {
            let state = states[next];
            let from = u32::try_from(next).expect("few enough");
            actions.clear();
            model.actions(&state, &mut actions);
            quiescent += usize::from(actions.is_empty());
            for action in actions.drain(..) {
                let Some(named) = model.step(&state, action) else { continue };
                if let Some(deed) = deed(&state, action, &named) {
                    deeds[deed] += 1;
                }
                let after = if model.fold { named.representative() } else { named };
                let fresh = u32::try_from(states.len()).expect("few enough");
                let to = *numbers.entry(after).or_insert_with(|| {
                    states.push(after);
                    fresh
                });
                back.push((to, from, action.is_of_the_service()));
            }
            next += 1;
        }
        let stuck = unreached(&states, &back, model, |_| true);
        // Before a client ever came there is no record, and nothing to finish.
        let mut stuck_without_the_service = unreached(&states, &back, model, |service| !service);
        stuck_without_the_service.retain(|state| state.record.is_some());
        Self { edges: back.len(), states, quiescent, deeds, stuck, stuck_without_the_service }
    }
}

fn unreached(
    states: &[State],
    back: &[(u32, u32, bool)],
    model: Protocol,
    counts: impl Fn(bool) -> bool,
) -> Vec<State> {
    let place = |number: u32| usize::try_from(number).expect("a place");
    let mut starts = vec![0_usize; states.len() + 1];
    for (to, _, service) in back {
        starts[place(*to) + 1] += usize::from(counts(*service));
    }
    for one in 1..starts.len() {
        starts[one] += starts[one - 1];
    }
    let mut free = starts.clone();
    let mut sources = vec![0_u32; starts[states.len()]];
    for (to, from, service) in back {
        if counts(*service) {
            sources[free[place(*to)]] = *from;
            free[place(*to)] += 1;
        }
    }
    let mut reached: Vec<bool> = states.iter().map(|state| ends(model, state)).collect();
    let mut work: Vec<usize> = (0..states.len()).filter(|one| reached[*one]).collect();
    while let Some(one) = work.pop() {
        for source in &sources[starts[one]..starts[one + 1]] {
            let source = place(*source);
            if !reached[source] {
                reached[source] = true;
                work.push(source);
            }
        }
    }
    states.iter().zip(reached).filter(|(_, reached)| !reached).map(|(state, _)| *state).collect()
}

/// Done; or a person has it: a look-up that sees everything there is ends in a refusal with a way out.
fn ends(model: Protocol, state: &State) -> bool {
    let Some(record) = state.record else { return false };
    if record.point.is_done() {
        return true;
    }
    if record.lease != Lease::Over || state.quiet == 0 {
        return false;
    }
    let mut sights = Vec::new();
    model.sights(state, &mut sights);
    let decided = |latest: Seen| {
        table().next(Situation {
            point: record.point,
            held: Held::Over,
            quiet: state.quiet,
            latest,
            before: state.evidence.before,
            key: state.key,
        })
    };
    sights.into_iter().all(|latest| matches!(decided(latest), Next::Refuse(row) if row > 1))
}
