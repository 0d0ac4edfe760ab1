//! Marks stay on the record and the version that was seen, whatever the list does.

use unstuck::app::Acting;
use unstuck::app::dialog::Dialog;
use unstuck::domain::answer::Answer;
use unstuck::domain::ids::Version;
use unstuck::domain::record::RecoveryPoint;
use unstuck::domain::snapshot::Snapshot;

use super::{flow, nth, shows, three_marked};
use crate::support::console::Console;
use crate::support::scenario::{dossier, hostile, incident, noon, record};

/// A console on thirty stuck records.
pub fn thirty() -> Console {
    let stuck: Vec<_> = (0..30_u64)
        .map(|nth| {
            let (key, order) = (format!("K{nth:03}-ABCD"), format!("ord_{nth}"));
            record("shop-eu", &key, &order, 4_250, 1_000 + nth, RecoveryPoint::ProviderCalled)
        })
        .collect();
    let mut console = Console::blank("dark", Acting::On);
    console.records = stuck.iter().map(|r| (r.id.clone(), dossier(r, noon()))).collect();
    console.send(unstuck::app::Msg::Connected(Box::new(crate::support::scenario::facts())));
    console.poll(Snapshot { stuck: Answer::known(stuck, noon()), ..incident() });
    console
}

fn change(console: &mut Console, spoil: impl FnOnce(&mut Snapshot)) {
    let mut world = incident();
    spoil(&mut world);
    console.poll(world);
}

#[test]
fn marks_outlive_polls_sorting_filters_and_other_screens() {
    let mut console = three_marked("dark");
    shows(&console, "Marked: 3, EUR 789.40");
    console.poll(incident());
    console.keys("oOR");
    shows(&console, "Marked: 3, EUR 789.40");
    console.keys("/at:charged<Enter>");
    shows(&console, "3 hidden by the filter");
    console.keys("g /<C-u><Enter>3");
    shows(&console, "Marked: 4");
    shows(&console, "1 not on this list");
    console.keys("12");
    shows(&console, "Marked: 4");
    console.keys("U");
    shows(&console, "4 unmarked. Nothing is marked now.");
    assert!(console.model.marks.is_empty());
}

#[test]
fn a_mark_whose_record_changed_or_left_is_said_to_be_so_and_not_moved() {
    let mut console = three_marked("dark");
    change(&mut console, |world| {
        let Answer::Known { value, .. } = &mut world.stuck else { panic!("known") };
        value[0].version = Version::new("e".repeat(64));
        value.remove(1);
        let Answer::Known { value, .. } = &mut world.unknown else { panic!("known") };
        value.remove(1);
    });
    shows(&console, "Marked: 3, EUR 789.40   1 changed since (~)   1 left the lists");
    shows(&console, "!!~shop-eu");
    let mark = console.model.marks.of(&nth(0)).expect("still marked");
    assert_ne!(mark.target.version, Version::new("e".repeat(64)), "as it was seen");
    console.keys("g ");
    shows(&console, "Unmarked: it had changed since. Space once more marks it as it is now.");
    console.keys(" ");
    assert_eq!(console.model.marks.of(&nth(0)).map(|m| m.target.version.clone()), Some(Version::new("e".repeat(64))));
    change(&mut console, |world| {
        world.stuck = Answer::not_known("the role may not read it");
        world.unknown = Answer::known(vec![], noon());
    });
    shows(&console, "NOT KNOWN: a list was not read");
    assert_eq!(console.model.marks.len(), 3, "nothing is dropped");
}

#[test]
fn twenty_five_are_the_most() {
    let mut console = thirty();
    console.keys("2");
    for _ in 0..26 {
        console.keys(" j");
    }
    assert_eq!(console.model.marks.len(), 25);
    shows(&console, "25 are marked: no more at once. Act on these (a) or clear all (U).");
    console.keys("k ");
    assert_eq!(console.model.marks.len(), 25, "the 26th row has no mark to take away");
    console.keys("k ");
    assert_eq!(console.model.marks.len(), 24);
}

#[test]
fn with_marks_the_menu_is_theirs_and_a_record_page_still_acts_on_one() {
    let mut console = three_marked("dark");
    console.keys("a");
    shows(&console, "Actions for the 3 MARKED (PROD)");
    shows(&console, "For one record instead: Esc, Enter on its row, then a.");
    shows(&console, "not for several");
    console.keys("<Enter>o");
    assert!(matches!(flow(&console).phase, unstuck::app::dialog::bulk::Phase::Menu), "Enter confirms nothing");
    console.keys("<Esc><Enter>a");
    assert!(matches!(console.model.dialog, Some(Dialog::Menu(_))));
    console.keys("<Esc><Esc>aU");
    assert!(console.model.marks.is_empty() && console.model.dialog.is_none());
    console.keys("a");
    assert!(matches!(console.model.dialog, Some(Dialog::Menu(_))));
    assert_eq!((console.acts, console.lookups), (0, 0));
}

#[test]
fn marks_belong_to_the_two_lists() {
    let mut console = Console::on(incident());
    for screen in ["1", "4", "5", "8"] {
        console.keys(screen).keys(" U");
        shows(&console, "Marks are for records on 2 and 3.");
    }
    console.keys("2U");
    shows(&console, "Nothing is marked. Space marks a record.");
}

#[test]
fn hostile_text_is_marked_and_planned_and_shown_safely() {
    let mut console = Console::on(hostile());
    console.keys("2 al");
    shows(&console, "TOTAL  1 record, EUR 128.40");
    for width in [60, 80, 120] {
        let picture =
            crate::support::picture::words(&crate::support::picture::draw(&console.model, width, 24, console.now));
        assert!(!picture.contains(['\u{202e}', '\u{1b}', '\u{7}', '\u{200b}']), "{picture}");
    }
}
