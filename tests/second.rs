//! The second person at the console: asking, reading, answering, and what comes of it.

mod answering;
mod asking;
mod seats;

use unstuck::app::key::{Chord, Key, every_key};
use unstuck::app::keymap::KEYMAP;

use crate::support::console::Console;
use crate::support::picture::{draw, words};

fn picture(console: &Console) -> String {
    words(&draw(&console.model, 100, 40, console.now))
}

/// Rows joined, as they are read: a sentence that goes on in the next row is one.
fn read(picture: &str) -> String {
    let rows = picture.lines().map(|row| row.trim_matches(|c: char| c == '│' || c.is_whitespace()));
    rows.collect::<Vec<&str>>().join(" ")
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(picture.contains(text) || read(&picture).contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn shows_not(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(!picture.contains(text), "should not be on screen: {text:?}\n{picture}");
}

/// The consents that were sent, in words: `ask`, `approve`.
fn sent(console: &Console) -> Vec<&str> {
    let consents = console.effects.iter().filter_map(|effect| effect.strip_prefix("Consent("));
    consents.filter_map(|rest| rest.split(' ').nth(1)).collect()
}

/// Every bound key, and a few that are not.
fn keys() -> Vec<Chord> {
    let bound = |chord: &Chord| KEYMAP.iter().any(|b| b.chords.contains(chord));
    every_key().into_iter().filter(|c| bound(c) || [Chord::char('z'), Chord::ctrl('e')].contains(c)).collect()
}

/// No key sends anything from `page`, but Enter where it is `finished`.
#[track_caller]
fn only_enter_sends(page: impl Fn() -> Console, finished: Option<&str>) {
    for key in keys() {
        let mut console = page();
        let before = console.acts;
        console.key(key);
        console.settle();
        let wanted = if key == Key::Enter.into() { finished } else { None };
        assert_eq!(console.acts - before, usize::from(wanted.is_some()), "{key}: {:?}", console.effects);
        if let Some(word) = wanted {
            assert_eq!(sent(&console).last(), Some(&word), "{:?}", console.effects);
        }
    }
}
