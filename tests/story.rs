//! The main job, from the first sentence to "done", as a person does it: the real binary in a real
//! terminal, on a real PostgreSQL, with a provider that keeps its own count of charges.
//!
//! What a person would read off the screen is read off the screen here: what to do next, the order, the phrase.

use std::thread;
use std::time::Duration;

use regex::Regex;

use crate::support::demo::{Place, Provider, wait_for_console};
use crate::support::keys::Key;
use crate::support::pty::{Ended, Line, Pty};

/// A step that asks for a key takes it only after it was on screen for a moment.
const READING: Duration = Duration::from_millis(700);

/// What the first group of `pattern` is on the screen right now.
#[track_caller]
fn read(pty: &Pty, pattern: &str) -> String {
    let screen = pty.screen();
    let regex = Regex::new(pattern).expect("a valid pattern");
    let found = regex.captures(&screen).unwrap_or_else(|| panic!("/{pattern}/ is not on the screen:\n{screen}"));
    found[1].to_owned()
}

/// How many records are stuck, by the tab.
#[track_caller]
fn stuck(pty: &Pty) -> usize {
    read(pty, r"2 Stuck (\d+)").parse().expect("a number")
}

/// Waits for a step of a dialog, and reads it.
#[track_caller]
fn step(pty: &mut Pty, pattern: &str) {
    pty.wait_for(pattern);
    thread::sleep(READING);
}

/// The phrase: the first words in the dialog after the line that asks for it.
#[track_caller]
fn phrase(pty: &Pty) -> String {
    let screen = pty.screen();
    let words = screen.lines().map(|line| line.trim_matches(|c: char| c == '│' || c.is_whitespace()));
    let mut after = words.skip_while(|line| !line.ends_with("it:")).skip(1).filter(|line| !line.is_empty());
    after.next().unwrap_or_else(|| panic!("a phrase is on the screen:\n{screen}")).to_owned()
}

/// The sentence says how bad, how much money, since when and what next; gives the key it names.
#[track_caller]
fn sentence_says_where_to_go(pty: &mut Pty) -> char {
    pty.wait_for("2 Stuck 6");
    pty.wait_quiet(Duration::from_millis(150));
    read(pty, r"(?m)^!! CRITICAL +(\d+ .*)$");
    read(pty, r"At risk ((?:EUR|JPY|KWD) [\d.,]+)");
    read(pty, r"since (\d\d:\d\dZ)");
    let screen = read(pty, r"Do next: (\d) then Enter on the oldest");
    screen.chars().next().expect("a key")
}

/// Look up, resume and type the phrase; gives the order it was about.
#[track_caller]
fn finish_the_oldest(pty: &mut Pty, screen: char) -> (String, usize) {
    pty.press(Key::Char(screen));
    step(pty, "(?i)rows keep their place");
    pty.press(Key::Enter);
    pty.wait_for("TIMELINE");
    let order = read(pty, r"order (ord_\w+)");
    let provider = Provider::of(pty.pid());
    let before = provider.charges_that_may_move_money(&order);

    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    assert!(pty.screen().contains("Do l first"), "resume says why it cannot be done yet:\n{}", pty.screen());
    pty.press(Key::Char('l'));
    step(pty, "Enter asks the provider now");
    pty.press(Key::Enter);
    step(pty, "ok DONE");
    pty.wait_for("ASKED +CONFIRMED BY READING BACK");
    pty.wait_for("ok yes +CAPTURED");
    pty.press(Key::Enter);
    pty.wait_for("NEXT +resume");

    pty.press(Key::Char('a'));
    step(pty, "r +Resume +adopt the charge, no new charge");
    pty.press(Key::Char('r'));
    step(pty, "NO new charge");
    pty.wait_for("WHAT WILL NOT HAPPEN");
    pty.press(Key::Enter);
    step(pty, "Reason");
    pty.type_text("the pod died after the charge");
    pty.press(Key::Tab);
    pty.type_text("INC-1");
    pty.press(Key::Enter);
    step(pty, "not yet the same");
    let phrase = phrase(pty);
    assert!(phrase.starts_with("demo ") && phrase.ends_with(char::is_numeric), "{phrase}");
    // One letter short, Enter does nothing.
    let (last, rest) = phrase.chars().next_back().zip(phrase.get(..phrase.len() - 1)).expect("a phrase");
    pty.type_text(rest);
    pty.wait_for(r"not yet the same \(1 to go\)");
    pty.press(Key::Enter);
    pty.wait_quiet(READING);
    assert!(!pty.screen().contains("DONE"), "nothing was sent yet:\n{}", pty.screen());
    pty.press(Key::Char(last));
    step(pty, "the same: Enter runs it");
    pty.press(Key::Enter);

    step(pty, "ok DONE");
    pty.wait_for("ASKED +CONFIRMED BY READING BACK");
    pty.wait_for("(?s)payment SUCCEEDED.*ok yes +SUCCEEDED");
    pty.wait_for("record done.*ok yes +done, 201");
    pty.press(Key::Enter);
    pty.wait_for("Payment SUCCEEDED");
    (order, before)
}

/// Opens the demo, does the job, and sees the counters fall and the provider's count stay.
#[track_caller]
fn the_job(pty: &mut Pty) {
    wait_for_console(pty);
    let screen = sentence_says_where_to_go(pty);
    let before = stuck(pty);
    let (order, charges_before) = finish_the_oldest(pty, screen);
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    pty.wait_for(&format!("2 Stuck {}\\b", before - 1));
    let charges = Provider::of(pty.pid()).charges_that_may_move_money(&order);
    assert_eq!((charges_before, charges), (1, 1), "{order} was charged once, before and after");
}

#[track_caller]
fn leave(mut pty: Pty, place: &Place) {
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    assert!(pty.view().modes.restored(), "{}", pty.screen());
    assert_eq!(pty.line(), Line::COOKED);
    place.assert_nothing_left();
}

#[test]
fn the_whole_story_at_120_by_32() {
    let place = Place::new();
    let mut pty = place.demo("oom-kill").size(120, 32).start();
    the_job(&mut pty);
    place.assert_in_use();
    leave(pty, &place);
}

#[test]
fn the_whole_story_at_80_by_24_and_what_hands_do_by_mistake() {
    let place = Place::new();
    let mut pty = place.demo("oom-kill").size(80, 24).start();
    the_job(&mut pty);
    let left = stuck(&pty);
    habits_of_deleting_meet_the_card(&mut pty);
    a_paste_is_one_notice(&mut pty);
    every_size_is_drawn(&mut pty);
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    assert_eq!(stuck(&pty), left, "none of it changed anything:\n{}", pty.screen());
    leave(pty, &place);
}

/// Delete, D, x and ctrl-k open the card or its one line; dd opens the record; Backspace does nothing.
#[track_caller]
fn habits_of_deleting_meet_the_card(pty: &mut Pty) {
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    for key in [Key::Delete, Key::Char('D'), Key::Char('x'), Key::Ctrl('k')] {
        pty.press(key);
        pty.wait_for("Deleting is not possible here");
        pty.press(Key::Escape);
        pty.wait_gone("Deleting is not possible here");
    }
    pty.press(Key::Backspace);
    pty.press(Key::Char('d'));
    pty.press(Key::Char('d'));
    pty.wait_for("TIMELINE");
    pty.press(Key::Escape);
    pty.wait_for(r"\[2 Stuck");
}

/// 2,000 characters, action keys and Enter among them, come to one notice.
#[track_caller]
fn a_paste_is_one_notice(pty: &mut Pty) {
    // No q: its first few keys may count where there are no brackets, and leaving would be right.
    let text: String = "alr\n2xj".chars().cycle().take(2_000).collect();
    assert!(pty.view().modes.bracketed_paste());
    pty.paste(&text);
    pty.wait_for("Ignored pasted text of 2000 characters");
    assert!(pty.screen().contains("[2 Stuck"), "still the list:\n{}", pty.screen());
    // The same from a terminal that knows no brackets: fast keys.
    pty.raw(text.replace('\n', "\r").as_bytes());
    pty.wait_for(r"Ignored \d+ fast keys");
    pty.wait_quiet(Duration::from_millis(500));
    // What was taken before the guard woke (a few keys) may have opened something: nothing that acts.
    for _ in 0..4 {
        pty.press(Key::Escape);
    }
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
}

/// Small, large, too small, and back.
#[track_caller]
fn every_size_is_drawn(pty: &mut Pty) {
    for (cols, rows, shows) in
        [(60, 20, "Stuck"), (200, 60, r"\[2 Stuck"), (1, 1, ""), (80, 24, r"(?s)\[2 Stuck.*s SQL|q quit|p pause")]
    {
        pty.resize(cols, rows);
        pty.wait_quiet(Duration::from_millis(300));
        pty.wait_for(shows);
        assert_eq!(pty.ended(), None);
        let view = pty.view();
        assert!(view.modes.alternate_screen() && !view.modes.cursor_visible(), "{}", view.text());
    }
}
