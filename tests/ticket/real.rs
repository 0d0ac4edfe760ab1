//! Three customers write. Somebody who was never told anything but what stands on the screen answers them: the real
//! binary in a real terminal, a real database, and a provider that keeps its own count of charges.

use regex::Regex;
use unstuck::domain::ids::RecordId;
use unstuck::lab::provider::{Answer, Fate, Mood, Reach};

use crate::support::cluster::shared;
use crate::support::keys::Key;
use crate::support::pty::{Ended, Pty};
use crate::support::scene::{Scene, Stuck, by_hand};
use crate::support::seat::{Seat, step};

fn order(key: &str, order: &str) -> Stuck {
    Stuck { id: RecordId::new("shop-eu", key), order: order.to_owned(), amount: 4_250 }
}

/// One charge; the client's retry was given the stored answer.
async fn once(scene: &Scene) {
    let paid = order("ONCE-0001", "ord_once");
    assert_eq!(scene.pay(0, &paid).await, Some(201));
    assert_eq!(scene.told(1, &paid).await.map(|told| told.fresh), Some(false), "a replay");
}

/// The provider charged, and its answer was lost.
async fn lost(scene: &Scene, key: &str, order: &str) {
    let fate = Fate { answer: Answer::Lost, ..Fate::default() };
    scene.stuck_as(std::iter::once((key.to_owned(), order.to_owned(), fate))).await;
}

/// The answer to the first attempt was lost, and the second attempt came with another key.
async fn twice(scene: &Scene) {
    lost(scene, "TWIC-0001", "ord_twice").await;
    scene.desk().destine("ord_twice", Fate::default());
    assert_eq!(scene.pay(0, &order("TWIC-0002", "ord_twice")).await, Some(201));
    assert_eq!(scene.desk().charges_for_order("ord_twice"), 2, "the provider took it twice");
}

/// What follows a label at the start of a row.
#[track_caller]
fn said(pty: &Pty, label: &str) -> String {
    let screen = pty.screen();
    let row = Regex::new(&format!(r"(?m)^ *{label} +(\S.*)$")).expect("a pattern");
    row.captures(&screen).unwrap_or_else(|| panic!("{label} is not on the screen:\n{screen}"))[1].to_owned()
}

/// Presses what the screen says after NEXT, until it no longer says to ask the provider; the answer.
#[track_caller]
fn answer(pty: &mut Pty, what: &str) -> String {
    pty.press(Key::Char('7'));
    step(pty, "Paste what the customer gave you, or press /");
    pty.press(Key::Char('/'));
    step(pty, "Enter finds it");
    pty.type_text(what);
    pty.press(Key::Enter);
    step(pty, "ANSWER +");
    if said(pty, "NEXT").contains("a l") {
        pty.press(Key::Char('a'));
        step(pty, "Nothing has been sent");
        pty.press(Key::Char('l'));
        step(pty, "WHAT WILL NOT HAPPEN|Enter asks the provider now");
        pty.press(Key::Enter);
        if pty.screen().contains("One by one") {
            // Several records: the page asks for their number.
            step(pty, "(?s)Type to confirm.*not yet the same");
            let count = Regex::new(r"(\d+) records?,").expect("a pattern");
            let screen = pty.screen();
            let count = count.captures(&screen).unwrap_or_else(|| panic!("{screen}"))[1].to_owned();
            pty.type_text(&count);
            step(pty, "the same: Enter");
            pty.press(Key::Enter);
        }
        step(pty, "DONE|STOPPED|NOT KNOWN");
        pty.press(Key::Escape);
        step(pty, "ANSWER +");
        pty.press(Key::Char('R'));
        step(pty, "ANSWER +");
    }
    said(pty, "ANSWER")
}

/// What `y` put on the clipboard, as far as the screen repeats it.
#[track_caller]
fn reply(pty: &mut Pty) -> String {
    pty.press(Key::Char('y'));
    pty.wait_for("Copied by OSC 52");
    let screen = pty.screen();
    let rows = screen.lines().skip_while(|line| !line.contains("Copied by OSC 52")).map(str::trim);
    rows.collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_customers_are_answered_by_following_the_words_on_the_screen() {
    let mut scene = Scene::open("three customers", by_hand()).await;
    once(&scene).await;
    twice(&scene).await;
    lost(&scene, "DARK-0001", "ord_dark").await;
    let login = scene.login("kim").await;
    let Some(seat) = Seat::at(shared().await, &scene, &login) else { return scene.close().await.broken.clear() };
    let mut pty = seat.sit();

    let first = answer(&mut pty, "ord_once");
    assert!(first.starts_with("Charged ONCE."), "{first}\n{}", pty.screen());
    let text = reply(&mut pty);
    assert!(text.contains("charged once, EUR 42.50"), "{text}");

    let second = answer(&mut pty, "Why was I charged twice? It was order ord_twice.");
    assert!(second.starts_with("Charged TWICE."), "{second}\n{}", pty.screen());
    assert!(said(&pty, "NEXT").contains("a h"), "{}", pty.screen());
    let text = reply(&mut pty);
    assert!(text.contains("more than one charge") && !text.contains("refund"), "{text}");
    pty.press(Key::Char('w'));
    step(&mut pty, r"1 in the last 24 hours\. At risk: EUR 42\.50\.");
    pty.press(Key::Escape);
    step(&mut pty, "ANSWER +");

    // The provider no longer answers: nobody can know.
    scene.desk().set_mood(Mood { reading: Reach::Unavailable, ..Mood::default() });
    let third = answer(&mut pty, "ord_dark");
    assert!(third.starts_with("IN DOUBT.") || third.starts_with("NOT KNOWN."), "{third}\n{}", pty.screen());
    let text = reply(&mut pty);
    assert!(text.contains("cannot yet say"), "{text}");
    hand_over(&mut pty);
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    pty.wait_for(r"Handed over, unclaimed +1");
    let check = seat.check(&["--json"]);
    assert!(check.contains("handed"), "{check}");

    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    let charges = ["ord_once", "ord_twice", "ord_dark"].map(|order| scene.desk().charges_for_order(order));
    assert_eq!(charges, [1, 2, 1], "answering charged nobody");
    scene.close().await;
}

/// `a h`, to whoever takes it, with what was seen.
#[track_caller]
fn hand_over(pty: &mut Pty) {
    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    pty.press(Key::Char('h'));
    step(pty, "Hand over");
    pty.press(Key::Enter);
    step(pty, "To whom");
    pty.press(Key::Tab);
    pty.type_text("customer asks, provider does not answer");
    pty.press(Key::Enter);
    step(pty, "ok DONE");
    pty.press(Key::Enter);
    step(pty, "ANSWER +");
}
