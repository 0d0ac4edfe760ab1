//! The real binary in real terminals: a hand back nobody answers is withdrawn; and the demo, practised with two.

use std::time::Duration;

use nix::sys::signal::Signal;
use regex::Regex;
use unstuck::lab::service::{Recoverer, ServiceOptions};

use crate::support::cluster::shared;
use crate::support::demo::{Place, Provider, wait_for_console};
use crate::support::handing::{Two, brisk_service, never_arrived};
use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::pty::{Ended, Pty};
use crate::support::scene::Scene;
use crate::support::seat::{Seat, step};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_answers_and_a_colleague_withdraws_it() {
    let down = Recoverer::Down { why: "the node is drained" };
    let options = ServiceOptions { recoverer: down, ..brisk_service() };
    let mut scene = Scene::open("nobody answers", options).await;
    let mut two = Box::pin(Two::at(&mut scene)).await;
    scene.run("SELECT unstuck.set_limit('resume_answer_s', 1)").await;
    let cast = vec![("K001-ABCD".to_owned(), "ord_1".to_owned(), never_arrived())];
    let stuck = scene.stuck_as(cast.into_iter()).await.remove(0);
    two.hand_back(&stuck).await;
    let pats = scene.login_in("pat", "unstuck_operator").await;
    let Some(seat) = Seat::of(shared().await, &scene, &pats, "pat", "demo") else {
        scene.close().await;
        return;
    };
    tokio::task::spawn_blocking(move || {
        let mut pty = seat.sit();
        pty.wait_for(r"! handed back 1 NOBODY ANSWERS · oldest \d+");
        pty.press(Key::Char('2'));
        step(&mut pty, "(?i)rows keep their place");
        pty.wait_for(r"NO ANSWER \d+s|next NO ANSWER");
        pty.press(Key::Enter);
        pty.wait_for(r"! NOBODY ANSWERS +hb_1, handed back \d+m?\d*s by kim: no recoverer took it");
        pty.wait_for("not running: the node is drained. Call platform-team.");
        pty.press(Key::Char('a'));
        step(&mut pty, "Nothing has been sent");
        pty.wait_for(r"because: Handed back at \d\d:\d\d:\d\dZ \(hb_1\): the recoverer may be charging");
        pty.press(Key::Char('w'));
        step(&mut pty, "hb_1 ends: no recoverer takes it up any more");
        pty.press(Key::Enter);
        step(&mut pty, "at least 15 letters");
        pty.type_text("the recoverer does not run today");
        pty.press(Key::Enter);
        step(&mut pty, r"ok DONE +Withdraw the hand back: log");
        pty.wait_for(r"ok yes +hb_1 withdrawn at");
        pty.press(Key::Enter);
        pty.wait_for("withdrawn by operator:pat at .*: the recoverer does not run today");
        pty.press(Key::Char('8'));
        pty.wait_for("hb_1 withdrawn by operator:pat");
        leave(pty);
    })
    .await
    .unwrap();
    assert_eq!(scene.desk().charges(&stuck.order).len(), 0);
    assert_eq!(scene.number("SELECT count(*) FROM unstuck.resume_event WHERE event = 'withdrawn'").await, 1);
    let seen = scene.close().await.transactions;
    assert_eq!(seen.get("outcome withdraw done"), Some(&1), "{seen:?}");
}

#[track_caller]
fn leave(mut pty: Pty) {
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
}

#[track_caller]
fn look_up(pty: &mut Pty) {
    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    pty.press(Key::Char('l'));
    step(pty, "Enter asks the provider now");
    pty.press(Key::Enter);
    step(pty, "ok DONE");
    pty.press(Key::Enter);
}

/// Types what the step asks for, and sends it.
#[track_caller]
fn confirm(pty: &mut Pty, pattern: &str) {
    step(pty, "not yet the same");
    let regex = Regex::new(pattern).expect("a pattern");
    let phrase = regex.find(&pty.screen()).expect("a phrase on the screen").as_str().to_owned();
    pty.type_text(&phrase);
    step(pty, "the same: Enter");
    pty.press(Key::Enter);
}

/// The directory that `:second` names.
#[track_caller]
fn second_seat(pty: &mut Pty) -> String {
    pty.press(Key::Char(':'));
    pty.type_text("second");
    pty.press(Key::Enter);
    step(pty, "run this in another terminal");
    let screen = pty.screen();
    let regex = Regex::new(r"demo --join (\S+)").expect("a pattern");
    let directory = regex.captures(&screen).unwrap_or_else(|| panic!("a command is on the screen:\n{screen}"));
    pty.press(Key::Escape);
    directory[1].to_owned()
}

/// The record whose call never arrived: the one in Kuwait.
#[track_caller]
fn open_the_absent_one(pty: &mut Pty) -> String {
    pty.wait_for("2 Stuck 6");
    pty.press(Key::Char('2'));
    step(pty, "(?i)rows keep their place");
    pty.press(Key::Char('G'));
    pty.press(Key::Enter);
    pty.wait_for("shop-kw/");
    pty.wait_for("TIMELINE");
    let screen = pty.screen();
    Regex::new(r"order (ord_\w+)").expect("a pattern").captures(&screen).expect("an order")[1].to_owned()
}

/// From "stuck" to the recoverer's end, with one person in each of two terminals.
#[test]
fn the_demo_is_practised_with_two_and_the_recoverer_charges_once() {
    let place = Place::new();
    let mut first = place.demo("oom-kill").size(120, 32).env("UNSTUCK_OPERATOR", "dana").start();
    wait_for_console(&mut first);
    let directory = second_seat(&mut first);
    let join = || {
        let launch = Launch::unstuck(&["demo", "--join", &directory]).size(120, 32);
        // An address of somebody's production does not lead anybody astray.
        launch.env("UNSTUCK_DATABASE_URL", "postgres://wrong@127.0.0.1:1/wrong").env("UNSTUCK_OPERATOR", "DANA")
    };
    let mut second = join().start();
    wait_for_console(&mut second);
    second.wait_for("second");

    let order = open_the_absent_one(&mut first);
    let provider = Provider::of(first.pid());
    assert_eq!(provider.charges_that_may_move_money(&order), 0, "the call never arrived");
    loop {
        look_up(&mut first);
        first.wait_for("NEXT");
        first.wait_quiet(Duration::from_millis(300));
        if first.screen().contains("hand back to the service") {
            break;
        }
        // Twice, and apart: not a wait for anything of ours.
        std::thread::sleep(Duration::from_secs(1));
    }
    first.press(Key::Char('a'));
    step(&mut first, "Nothing has been sent");
    first.press(Key::Char('r'));
    step(&mut first, "A second person is needed");
    first.press(Key::Enter);
    step(&mut first, "at least 15 letters");
    first.type_text("two look-ups found nothing");
    first.press(Key::Tab);
    first.type_text("INC-1");
    first.press(Key::Enter);
    step(&mut first, "NOTHING IS CHANGED");
    first.press(Key::Enter);
    step(&mut first, "Alone\\? :second shows how to be the second person");
    let said = first.screen();
    let hash = Regex::new(":approve ([0-9a-f]{6})").expect("a pattern").captures(&said).expect("a hash")[1].to_owned();
    first.press(Key::Enter);

    second.wait_for("plan waits for a second person|asks for a second person");
    second.press(Key::Char(':'));
    second.type_text(&format!("approve {hash}"));
    second.press(Key::Enter);
    step(&mut second, "WAITING");
    look_up(&mut second);
    step(&mut second, "your look-up at");
    second.press(Key::Char('A'));
    confirm(&mut second, r"approve demo shop-kw \S+ KWD [\d.]+");
    step(&mut second, "ok DONE +Approved");
    assert_eq!(provider.charges_that_may_move_money(&order), 0, "a yes charges nothing");

    first.wait_for("approved by second at");
    look_up(&mut first);
    first.wait_for("NEXT");
    first.press(Key::Char('a'));
    step(&mut first, "Nothing has been sent");
    first.press(Key::Char('r'));
    step(&mut first, r"ok ap_\d+ approved by second");
    first.press(Key::Enter);
    step(&mut first, "two look-ups found nothing");
    first.press(Key::Enter);
    confirm(&mut first, r"demo shop-kw \S+ KWD [\d.]+");
    step(&mut first, "ok DONE +Resume");
    // The page follows it to the end, and reads the record back.
    first.wait_for(r"ok FINISHED +hb_1, by recoverer at");
    first.wait_for("at most ONE charge, with key");
    first.wait_for(r"payment SUCCEEDED, KWD 33\.000");
    first.wait_for("ok yes +done, stored answer 201");
    first.press(Key::Enter);
    look_up(&mut first);
    first.wait_for(r"ok yes +one: ch_\w+, KWD 33\.000");
    assert_eq!(provider.charges_that_may_move_money(&order), 1, "one charge, by the provider's own count");
    second.wait_for("2 Stuck 5");

    first.press(Key::Char('1'));
    first.wait_for(r"\[1 Overview\]");
    first.press(Key::Char('q'));
    assert_eq!(first.wait_exit(), Ended::Code(0), "{}", first.screen());
    second.wait_for("DATABASE LOST");
    second.signal(Signal::SIGTERM);
    second.wait_exit();
    place.assert_nothing_left();
    let mut late = join().start();
    assert_eq!(late.wait_exit(), Ended::Code(1), "{}", late.screen());
    late.wait_for("Nobody can sit down: there is no demo in");
}
