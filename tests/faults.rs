//! A fault at every await of every action: before it, while it is under way, after it. Then the restart, and the
//! same again: done once, charged once, and the log knows.
//!
//! The console is a process of its own (this binary again, the product's hands and store in it) that stops at every
//! moment of an action until it is told to go on; a run without faults shows which moments there are.

mod cast;
mod pipe;
mod plan;
mod play;
mod pods;
mod round;
mod scan;
mod stage;
mod terminal;
mod worker;

use cast::Action;
use plan::{Depth, Part};
use round::Rounds;
use stage::Stage;

/// How long the provider remembers a key: a day, or a time that is over.
const DAY: u64 = 86_400;
const OVER: u64 = 300;

async fn play(purpose: &str, retention: u64, actions: &[Action], part: Part) {
    let Some(stage) = Box::pin(Stage::open(purpose, retention)).await else {
        println!("{purpose}: skipped, this server has no loopback port of ours");
        return;
    };
    Box::pin(Rounds::new(stage).all(actions, part)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_a_look_up() {
    play("faults: look-up", DAY, &[Action::LookUp], Part::Acting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_adopt_and_fail() {
    play("faults: adopt", DAY, &[Action::Adopt, Action::Fail], Part::Acting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_a_hand_back_and_of_taking_it_back() {
    play("faults: hand back", DAY, &[Action::HandBack, Action::TakeBack], Part::Acting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_the_other_endings() {
    play("faults: reverse", DAY, &[Action::Reverse], Part::Acting).await;
    play("faults: not charged", OVER, &[Action::NotCharged], Part::Acting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_holds_and_words() {
    let actions = [Action::Hold, Action::Release, Action::Note, Action::HandOver];
    play("faults: holds", DAY, &actions, Part::Acting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_asking_and_answering() {
    let actions = [Action::Ask, Action::Withdraw, Action::Approve, Action::Refuse];
    play("faults: asking", DAY, &actions, Part::Acting).await;
}

/// The record is read back by the same questions after every action: one shows them all, unless more is asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_every_await_of_reading_back() {
    if Depth::asked() == Depth::Deep {
        let others: Vec<Action> = cast::ALL.iter().copied().filter(|action| *action != Action::NotCharged).collect();
        play("faults: reading", DAY, &others, Part::Reading).await;
        play("faults: reading after not charged", OVER, &[Action::NotCharged], Part::Reading).await;
    } else {
        play("faults: reading", DAY, &[Action::Adopt], Part::Reading).await;
    }
}
