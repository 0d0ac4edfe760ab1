//! How a recording is played: the viewer's keys, and what the pictures say.

use unstuck::app::key::{Chord, Key, every_key};
use unstuck::app::model::Place;
use unstuck::app::replay::{Cut, Motion, Wish};
use unstuck::app::screen::ScreenId;
use unstuck::domain::ids::RecordId;

use super::{a_night, ended, recorded};
use crate::support::console::Console;
use crate::support::recorded::{Keep, Lines, played, player as player_of, player_cut};
use crate::support::scenario::incident;

type Player = unstuck::app::replay::Player<Lines>;

fn press(player: &mut Player, keys: &str) -> Vec<Wish> {
    keys.chars().flat_map(|c| player.key(if c == '\n' { Key::Enter.into() } else { Chord::char(c) })).collect()
}

#[track_caller]
fn shows(player: &Player, text: &str) {
    let picture = played(player, 120, 32);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

/// A short watch: a list, a record that was read, back to the list.
fn a_watch() -> Console {
    let mut console = recorded(incident());
    console.wait(2);
    console.keys("2j<Enter>");
    console.wait(3);
    console.keys("<Esc>");
    console.wait(5);
    console
}

fn watching() -> Player {
    player_of(&ended(a_watch()).lines)
}

#[test]
fn time_goes_as_fast_as_it_is_told_and_stands_still_when_paused() {
    let mut player = watching();
    let start = player.now().0;
    let passed = |player: &Player| player.now().0.signed_duration_since(start).num_milliseconds();
    player.advance(1_000);
    assert_eq!(passed(&player), 1_000);
    press(&mut player, ">");
    player.advance(1_000);
    assert_eq!(passed(&player), 3_000);
    press(&mut player, ">>>>>>p");
    player.advance(1_000);
    assert_eq!((passed(&player), player.motion()), (3_000, Motion::Paused));
    shows(&player, "PAUSED");
    press(&mut player, "<<<<<<p");
    player.advance(500);
    assert_eq!(passed(&player), 3_500);
    player.advance(60_000);
    assert_eq!(player.motion(), Motion::Ended);
    let end = passed(&player);
    player.advance(60_000);
    assert_eq!(passed(&player), end, "at the end time stands still");
    shows(&player, "END");
    press(&mut player, "p");
    assert_eq!((passed(&player), player.motion()), (0, Motion::Playing));
}

#[test]
fn the_next_change_is_a_key_an_answer_or_another_picture_and_never_just_the_time() {
    let mut console = recorded(incident());
    for _ in 0..30 {
        console.wait(2);
        let mut same = incident();
        same.db_now = console.now.0;
        console.poll(same);
    }
    console.keys("2");
    let mut player = player_of(&ended(console).lines);
    press(&mut player, "pcc");
    shows(&player, "00:00 of 01:02");
    press(&mut player, "c");
    shows(&player, "pressed 2");
    shows(&player, "01:01 of 01:02");
}

#[test]
fn walking_about_begins_where_the_operator_is_and_f_leads_back() {
    let mut player = watching();
    player.advance(5_000);
    let on = player.operator().target();
    assert!(matches!(player.operator().place, Place::Record(..)));
    press(&mut player, "t");
    assert_eq!(player.viewer().target(), on);
    shows(&player, "You walk about.");
    shows(&player, "RAW");
    press(&mut player, "5");
    assert_eq!(player.viewer().place, Place::Screen(ScreenId::Invariants));
    assert!(matches!(player.operator().place, Place::Record(..)), "the operator's console is what it was");
    // The recording goes on meanwhile, with the same pictures.
    player.advance(4_000);
    assert_eq!(player.operator().picture.as_of(), player.viewer().picture.as_of());
    press(&mut player, "f");
    shows(&player, "[2 Stuck");
}

#[test]
fn letters_typed_into_the_viewers_own_fields_do_not_steer() {
    let mut player = watching();
    player.advance(3_000);
    press(&mut player, "2/npcf0\n");
    assert_eq!(player.viewer().screens.stuck.filter, "npcf0");
    assert_eq!(player.motion(), Motion::Playing);
    press(&mut player, "/");
    player.key(Chord::ctrl('u'));
    press(&mut player, "\n?p");
    assert_eq!(player.motion(), Motion::Playing, "help is a page of its own");
    player.key(Key::Esc.into());
    press(&mut player, "p");
    assert_eq!(player.motion(), Motion::Paused);
}

#[test]
fn many_keys_while_time_stands_still_are_not_taken_for_a_paste() {
    let mut player = watching();
    player.advance(3_000);
    press(&mut player, "p1234512345123451234");
    assert_eq!(player.viewer().place, Place::Screen(ScreenId::Conflicts));
}

#[test]
fn a_record_that_was_read_is_there_and_one_that_was_not_says_so() {
    let mut player = watching();
    player.advance(9_000);
    press(&mut player, "2g\n");
    shows(&player, "not in the recording: nobody had opened this record by then");
    press(&mut player, "J");
    assert_eq!(player.viewer().target(), Some(RecordId::new("shop-eu", "ord-88219-2MZ017")));
    shows(&player, "POST /payments");
}

#[test]
fn actions_are_off_with_the_reason_and_no_key_asks_for_anything() {
    let mut player = watching();
    player.advance(9_000);
    press(&mut player, "2a");
    shows(&player, "Actions are off: this is a recording.");
    press(&mut player, "r");
    assert!(player.viewer().guard().is_none());
    let watch = ended(a_watch());
    for first in every_key() {
        let mut player = player_of(&watch.lines);
        player.advance(5_000);
        for second in ["", "a", "2", "\n"] {
            let mut wishes = player.key(first);
            wishes.extend(press(&mut player, second));
            assert!(player.viewer().guard().is_none(), "{first} {second}");
            for wish in wishes {
                assert!(matches!(wish, Wish::Quit | Wish::Redraw | Wish::Copy(_)), "{first} {second}");
            }
        }
    }
}

#[test]
fn q_leaves_and_from_a_record_of_ones_own_it_goes_back() {
    let mut player = watching();
    player.advance(9_000);
    assert_eq!(press(&mut player, "q"), [Wish::Quit]);
    assert_eq!(press(&mut player, "2g\nq"), []);
    assert_eq!(player.viewer().place, Place::Screen(ScreenId::Stuck));
    assert_eq!(press(&mut player, "q"), [Wish::Quit]);
}

#[test]
fn what_a_recording_cannot_answer_it_says() {
    let mut player = watching();
    player.advance(3_000);
    press(&mut player, ":find ord_88213\n");
    shows(&player, "a recording cannot be asked");
    press(&mut player, "s");
    shows(&player, "The SQL is not in a recording");
}

#[test]
fn a_recording_of_an_outage_offers_no_database_to_try() {
    let mut console = recorded(incident());
    for _ in 0..3 {
        console.wait(2);
        console.fail();
    }
    let mut player = player_of(&ended(console).lines);
    player.advance(6_900);
    press(&mut player, "r");
    shows(&player, "DATABASE LOST");
    shows(&player, "This is a recording: there is no database to try.");
}

/// Name, and a player at that moment.
fn scenes() -> Vec<(&'static str, Player)> {
    let night = a_night(Keep::Pictures);
    let at = |ms: u64| {
        let mut player = player_of(&night.lines);
        player.advance(ms);
        player
    };
    let after = |ms: u64, keys: &str| {
        let mut player = at(ms);
        press(&mut player, keys);
        player
    };
    let outage = night
        .pictures
        .iter()
        .find(|(_, picture)| picture.contains("DATABASE LOST"))
        .map(|(ms, _)| *ms)
        .expect("the database was lost");
    let phrase = night
        .pictures
        .iter()
        .find(|(_, picture)| picture.contains("not yet the same (5 to go)"))
        .map(|(ms, _)| *ms)
        .expect("the phrase was typed");
    let mut broken = player_cut(&night.lines[..40], |last| Cut { at: last, why: "line 41 is not complete".into() });
    broken.advance(2_000);
    vec![
        ("playing", at(3_000)),
        ("faster and paused", after(4_000, ">>p")),
        ("the phrase is typed", at(phrase)),
        ("the database was lost", at(outage + 1)),
        ("walking about", after(6_000, "5")),
        ("actions are off", after(6_000, "2a")),
        ("at the end", at(u64::MAX)),
        ("cut off", broken),
    ]
}

#[test]
fn what_a_replay_looks_like() {
    for (width, height) in [(80, 24), (120, 32)] {
        for (name, player) in scenes() {
            let picture = played(&player, width, height);
            assert!(picture.lines().next().is_some_and(|band| band.contains("REPLAY PROD")), "{picture}");
            insta::assert_snapshot!(format!("{name} {width}x{height}"), picture);
        }
    }
}
