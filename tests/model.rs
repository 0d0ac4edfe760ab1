//! The recovery protocol, every interleaving of it: two clients, two pods, the recoverer, two consoles, a provider
//! that loses answers and is slow to show a charge, holds and hand backs that expire, a death between any two steps.
//!
//! Every decision of a console and of the recoverer is the product's own `next_step`, asked for each situation the
//! model can be in. What the service, the recoverer and the functions of `install.sql` do is written down in `worker.rs`,
//! `console.rs` and `world.rs`, one atomic step each.
//!
//! What it takes for granted, and what happens without it:
//! - A call reaches the provider within the settle time after its lease, or never, and nobody starts one with a key near the
//!   end of its retention. [`Twist::CallAtAnyAge`]: what was finished as FAILED is charged afterwards.
//! - The recoverer decides on the record as it was before its own take. [`Twist::DecideAfterTake`]: its own live lease counts
//!   as a call that may be under way, "not found" never becomes proof, and no hand back ends in a charge.
//!
//! Approval is left out: it only forbids more.

mod console;
mod decide;
mod explore;
mod protocol;
mod state;
mod words;
mod worker;
mod world;

use std::collections::BTreeSet;

use stateright::{Checker, HasDiscoveries, Model};

use explore::Graph;
use protocol::{AFTERWARDS, FAILED, FENCE, LOST, Protocol, TWO_CHARGES, Twist};
use state::{Broken, State};
use words::DEEDS;

/// Set it to run the deeper size too.
const DEEP: &str = "UNSTUCK_MODEL_DEEP";

type Trace = Vec<(State, Option<protocol::Action>)>;

fn told(trace: &Trace) -> Vec<String> {
    trace.windows(2).filter_map(|pair| Some(pair[0].1?.tell(&pair[0].0, &pair[1].0))).collect()
}

fn print(title: &str, lines: &[String]) {
    println!("{title}");
    for (number, line) in (1..).zip(lines) {
        println!("  {number:2}. {line}");
    }
}

/// Checks every reachable state; the number of them.
fn holds_everywhere(model: Protocol) -> usize {
    let checker = model.checker().threads(2).spawn_bfs().join();
    for (property, path) in checker.discoveries() {
        print(&format!("broken: {property}"), &told(&path.into_vec()));
    }
    checker.assert_properties();
    assert!(checker.is_done());
    println!("{} states, {} steps: every property holds", checker.unique_state_count(), checker.state_count());
    checker.unique_state_count()
}

/// Finds the shortest way to break a property, and tells it.
fn shortest(twist: Twist, property: &'static str) -> (Vec<String>, State) {
    let model = Protocol::with(twist);
    let found = || HasDiscoveries::AnyOf(BTreeSet::from([property]));
    // Within one depth the checker keeps the last trace it meets, across depths not the shortest: so depth by depth.
    let trace = (2..20).find_map(|depth| {
        let checker = model.checker().threads(1).target_max_depth(depth).finish_when(found()).spawn_bfs().join();
        checker.discovery(property)
    });
    let trace = trace.unwrap_or_else(|| panic!("{twist:?} was not found out")).into_vec();
    let lines = told(&trace);
    print(&format!("{twist:?} breaks: {property}"), &lines);
    (lines, trace.last().expect("a state").0)
}

fn explored(model: Protocol, least: usize) -> Graph {
    let graph = Graph::of(model);
    let (states, edges) = (graph.states.len(), graph.edges);
    println!("{states} states, {edges} steps, {} of them ends", graph.quiescent);
    for (deed, times) in DEEDS.iter().zip(graph.deeds) {
        println!("{times:9} {deed}");
    }
    assert!(states >= least, "{states} states: the model has become smaller than what it is meant to show");
    graph
}

fn can_end_everywhere(graph: &Graph) {
    assert_eq!(graph.stuck.first(), None, "from here no way leads to done or to a person");
    assert_eq!(graph.stuck_without_the_service.first(), None, "from here the operators alone cannot end it");
}

#[test]
fn no_interleaving_breaks_a_promise() {
    let states = holds_everywhere(Protocol::SMALL);
    assert!(states >= 200_000, "{states} states: the model has become smaller than what it is meant to show");
}

#[test]
fn from_everywhere_the_record_can_be_finished_even_without_the_service() {
    let graph = explored(Protocol::SMALL, 200_000);
    can_end_everywhere(&graph);
    for (deed, times) in DEEDS.iter().zip(graph.deeds) {
        assert!(times > 0, "never seen: {deed}");
    }
}

#[test]
fn the_same_at_a_deeper_size() {
    if std::env::var_os(DEEP).is_none() {
        println!("not run: set {DEEP}=1");
        return;
    }
    let states = holds_everywhere(Protocol::DEEP);
    can_end_everywhere(&explored(Protocol::DEEP, states));
}

#[test]
fn without_the_fence_a_former_owner_writes() {
    let (lines, last) = shortest(Twist::NoFence, FENCE);
    assert_eq!(last.broken, Some(Broken::FormerOwnerWrote));
    assert!(lines.last().is_some_and(|line| line.ends_with("it is no longer the owner")), "{lines:?}");
}

#[test]
fn deleting_instead_of_taking_loses_the_record() {
    let (lines, last) = shortest(Twist::DeleteInsteadOfTake, LOST);
    assert_eq!((last.broken, last.record), (Some(Broken::RecordLost), None));
    assert_eq!(lines.last().map(String::as_str), Some("a job deletes the stuck record"));
}

#[test]
fn a_new_provider_key_charges_twice() {
    let (_, last) = shortest(Twist::NewKeyOnRetry, TWO_CHARGES);
    assert_eq!(last.broken, Some(Broken::TwoCharges));
    assert_eq!(last.took(state::Class::Succeeded), 2);
}

#[test]
fn a_time_out_taken_for_a_failure_denies_a_charge() {
    let (_, last) = shortest(Twist::TimeoutIsFailure, FAILED);
    assert_eq!(last.broken, Some(Broken::FailedWithoutProof));
    assert!(last.is_done());
}

#[test]
fn adopting_without_reading_again_writes_over_another_owner() {
    let (lines, last) = shortest(Twist::AdoptWithoutReread, FENCE);
    assert_eq!(last.broken, Some(Broken::FormerOwnerWrote));
    assert!(lines.last().is_some_and(|line| line.contains("acts on the plan to Adopt")), "{lines:?}");
}

#[test]
fn a_recoverer_that_decides_on_its_own_take_never_charges() {
    let graph = explored(Protocol { fold: true, ..Protocol::with(Twist::DecideAfterTake) }, 100_000);
    let seen = |name| graph.deeds[DEEDS.iter().position(|deed| *deed == name).expect("listed")];
    assert!(seen("a hand back is taken") > 0);
    assert_eq!(seen("a hand back ends in a charge"), 0, "its own live lease counts as a possible call");
}

#[test]
fn a_call_that_leaves_at_any_age_charges_after_failed() {
    let (_, last) = shortest(Twist::CallAtAnyAge, AFTERWARDS);
    assert_eq!(last.broken, Some(Broken::ChargedAfterFailed));
}
