//! Keys: every one on every screen, and every pair, never changes anything; habits of other programs are caught.

use unstuck::app::dialog::Dialog;
use unstuck::app::effect::Effect;
use unstuck::app::key::{Chord, Key, every_key};
use unstuck::app::keymap::KEYMAP;
use unstuck::app::{Acting, Msg, update};
use unstuck::domain::time::Now;

use crate::support::console::Console;
use crate::support::scenario::{incident, noon, stuck_records};

/// Every place a key can be pressed in: keys that lead there from the start.
const PLACES: &[&str] = &[
    "", "2", "3", "4", "5", "5<Enter>", "6", "8", "2<Enter>", "2a", "2<Del>", "?", "2/", ":", "2al", "2an", "2ao",
    "2 ", "2 a", "2 al", "2 ar", "7", "7/", "2v",
];

fn console_at(place: &str) -> Console {
    let mut console = Console::on(incident());
    console.desk = crate::ticket::desk("twice");
    console.keys(place);
    console.now = Now(console.now.0 + chrono::TimeDelta::seconds(1));
    console.send(Msg::Drawn);
    console
}

#[test]
fn no_key_changes_anything() {
    for place in PLACES {
        for key in every_key() {
            let console = console_at_with(place, key);
            assert_eq!(console.acts, 0, "{place:?} {key}: {:?}", console.effects);
            let asked = *place == "2al" && key == Key::Enter.into();
            assert_eq!(console.lookups, usize::from(asked), "{place:?} {key}");
        }
    }
}

/// Keys that differ: every bound one, and of the unbound ones, which are all alike, a letter, a digit and a chord.
fn keys_that_differ() -> Vec<Chord> {
    let bound = |chord: &Chord| KEYMAP.iter().any(|b| b.chords.contains(chord));
    every_key()
        .into_iter()
        .filter(|c| bound(c) || [Chord::char('w'), Chord::char('9'), Chord::ctrl('e')].contains(c))
        .collect()
}

fn no_pair_changes_anything(places: &[&str]) {
    let keys = keys_that_differ();
    for place in places {
        for first in &keys {
            for second in &keys {
                let mut console = console_at_with(place, *first);
                console.key(*second);
                console.settle_reads();
                assert_eq!(console.acts, 0, "{place:?} {first} {second}: {:?}", console.effects);
                // From an open menu or card, a letter and Enter on its plan ask the provider: that is the guard of a look-up.
                let asked =
                    matches!(*place, "2a" | "2<Del>") && (*first, *second) == (Chord::char('l'), Key::Enter.into());
                assert_eq!(console.lookups, usize::from(asked), "{place:?} {first} {second}");
            }
        }
    }
}

#[test]
fn no_pair_of_keys_changes_anything_on_screens() {
    no_pair_changes_anything(&["", "2", "3", "4"]);
}

#[test]
fn no_pair_of_keys_changes_anything_on_more_screens() {
    no_pair_changes_anything(&["5<Enter>", "6", "8", "2<Enter>", "?"]);
}

#[test]
fn no_pair_of_keys_changes_anything_on_the_ticket_screen() {
    no_pair_changes_anything(&["7", "7/", "2v", "2vw"]);
}

#[test]
fn no_pair_of_keys_changes_anything_in_dialogs() {
    no_pair_changes_anything(&["2a", "2<Del>", "2/", ":"]);
}

#[test]
fn no_pair_of_keys_changes_anything_with_marks() {
    no_pair_changes_anything(&["2 ", "2 a", "2 j al", "2 ar"]);
}

#[test]
fn no_pair_of_keys_changes_anything_in_the_guard() {
    no_pair_changes_anything(&["2an", "2ao", "2ao<Enter>"]);
}

/// As [`console_at`], with one more key, and what it asked to read answered.
fn console_at_with(place: &str, first: Chord) -> Console {
    let mut console = console_at(place);
    console.key(first);
    console.settle_reads();
    console
}

#[test]
fn the_delete_habits_open_the_card_and_nothing_is_sent() {
    let habits = [Chord::plain(Key::Delete), Chord::char('D'), Chord::char('x'), Chord::ctrl('k')];
    for place in ["", "2", "3", "4", "5", "6", "8", "2<Enter>", "2a", "2 a"] {
        for habit in habits {
            let mut console = console_at(place);
            let before = console.effects.len();
            console.key(habit);
            assert!(matches!(console.model.dialog, Some(Dialog::NoDelete(_))), "{place:?} {habit}");
            assert_eq!(console.effects.len(), before, "{place:?} {habit}");
            console.key(Key::Esc.into());
            assert!(console.model.dialog.is_none());
            console.key(habit);
            assert!(console.model.dialog.is_none(), "the second time one line is enough");
            let notice = console.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
            assert!(notice.contains("Del again for the full text"), "{notice}");
            console.key(habit);
            assert!(matches!(console.model.dialog, Some(Dialog::NoDelete(_))));
            assert_eq!(console.model.delete_presses, 3);
        }
    }
}

#[test]
fn typed_delete_commands_open_the_card_and_are_written_down() {
    for command in ["delete", "rm", "drop", "purge", "kill", "truncate", "DELETE"] {
        let mut console = console_at("2");
        console.keys(&format!(":{command} 7Q4K91<Enter>"));
        assert!(matches!(console.model.dialog, Some(Dialog::NoDelete(_))), "{command}");
        let refused: Vec<&String> = console.effects.iter().filter(|e| e.starts_with("Refused")).collect();
        assert_eq!(refused.len(), 1, "{command}");
        assert!(refused[0].contains(&format!(":{command} 7Q4K91")), "{refused:?}");
        assert_eq!(console.acts, 0);
    }
}

#[test]
fn d_twice_describes_and_backspace_does_nothing_in_lists() {
    let mut console = console_at("2");
    console.keys("dd");
    assert!(console.model.dialog.is_none());
    assert!(matches!(console.model.place, unstuck::app::model::Place::Record(..)));
    let mut console = console_at("2");
    let before = console.model.place.clone();
    console.keys("<BS>");
    assert_eq!(console.model.place, before);
}

#[test]
fn a_paste_outside_a_field_is_one_notice_and_nothing_else() {
    for place in PLACES.iter().filter(|p| !matches!(**p, "2/" | ":" | "7" | "7/" | "2v")) {
        let mut console = console_at(place);
        let (at, effects) = (console.model.place.clone(), console.effects.len());
        console.send(Msg::Paste("al\n".chars().cycle().take(2000).collect()));
        assert_eq!((&console.model.place, console.effects.len()), (&at, effects), "{place:?}");
        let notice = console.model.notice.as_ref().map(|n| n.text.clone());
        assert_eq!(notice.as_deref(), Some("Ignored pasted text of 2000 characters."), "{place:?}");
    }
}

#[test]
fn a_paste_without_brackets_is_swallowed_as_a_burst() {
    let mut console = console_at("2");
    let start = console.now.0;
    for (i, c) in (0..).zip("al\nar\nsome text about a payment\n".repeat(20).chars()) {
        let chord = if c == '\n' { Key::Enter.into() } else { Chord::char(c) };
        console.now = Now(start + chrono::TimeDelta::milliseconds(i));
        console.send(Msg::Key(chord));
        console.settle_reads();
    }
    assert_eq!(console.acts, 0, "{:?}", console.effects);
    let notice = console.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
    assert!(notice.starts_with("Ignored ") && notice.ends_with("looks like pasted text."), "{notice}");
}

#[test]
fn fifty_newer_records_leave_the_cursor_where_it_was() {
    use unstuck::domain::answer::Answer;
    use unstuck::domain::record::RecoveryPoint;
    let mut console = console_at("2jj");
    let on = console.model.target();
    let mut snapshot = incident();
    let mut records: Vec<_> = (0..50)
        .map(|i| {
            crate::support::scenario::record(
                "shop-eu",
                &format!("new-{i}"),
                "ord_1",
                100,
                5_000 + i,
                RecoveryPoint::ProviderCalled,
            )
        })
        .collect();
    records.extend(stuck_records());
    snapshot.stuck = Answer::known(records, noon());
    console.poll(snapshot);
    assert_eq!(console.model.target(), on, "50 older and newer ones came in");
    assert_eq!(console.model.screens.stuck.list.arrived(), 50);
    console.keys("al");
    assert!(
        console.effects.last().is_some_and(|e| e.contains(&on.as_ref().expect("a record").to_string())),
        "{:?}",
        console.effects
    );
    let mut console = console_at("2jj");
    console.keys("R");
    assert_eq!(console.model.target(), on, "R sorts, the cursor stays on its record");
}

#[test]
fn letters_right_after_focus_do_nothing() {
    let mut console = console_at("2");
    let effects = update(&mut console.model, Msg::Focus, console.now);
    assert!(effects.is_empty());
    let now = Now(console.now.0 + chrono::TimeDelta::milliseconds(100));
    update(&mut console.model, Msg::Key(Chord::char('a')), now);
    assert!(console.model.dialog.is_none());
}

#[test]
fn a_confirm_step_cannot_be_answered_before_it_was_seen() {
    let mut console = console_at("2");
    console.keys("al");
    // The plan is drawn; Enter comes 100 ms later, queued on a slow line.
    let drawn = console.now;
    update(&mut console.model, Msg::Drawn, drawn);
    let soon = Now(drawn.0 + chrono::TimeDelta::milliseconds(100));
    let effects = update(&mut console.model, Msg::Key(Key::Enter.into()), soon);
    assert!(effects.is_empty(), "{effects:?}");
    let later = Now(drawn.0 + chrono::TimeDelta::milliseconds(900));
    let effects = update(&mut console.model, Msg::Key(Key::Enter.into()), later);
    assert!(matches!(effects.as_slice(), [Effect::Check(..)]), "{effects:?}");
}

#[test]
fn without_act_only_look_ups_can_be_planned() {
    for (letter, planned) in [("l", true), ("r", false), ("o", false), ("n", false), ("h", false)] {
        let mut console = Console::with(incident(), "dark", Acting::Off);
        console.keys(&format!("2a{letter}"));
        let prepared = console.effects.iter().any(|e| e.starts_with("Prepare"));
        assert_eq!(prepared, planned, "{letter}");
        if !planned {
            let notice = console.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default();
            assert!(notice.contains("Start with --act"), "{notice}");
        }
    }
}
