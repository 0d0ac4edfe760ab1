//! A drill in a real terminal, on the real lab, to the debrief.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::demo::{Place, wait_for_console};
use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::pty::{Ended, Line, Pty};

/// A step that asks for a key takes it only after it was on screen for a moment.
const READING: Duration = Duration::from_millis(700);

#[track_caller]
fn step(pty: &mut Pty, pattern: &str) {
    pty.wait_for(pattern);
    thread::sleep(READING);
}

#[test]
fn the_oom_kill_drill_is_played_to_its_debrief() {
    let (place, folder) = (Place::new(), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("debrief.md");
    let name = file.to_str().expect("a name in UTF-8");
    let launch = Launch::unstuck(&["demo", "--drill", "oom-kill", "--debrief", name]);
    let mut pty = place.at_home(launch).size(80, 24).start();
    wait_for_console(&mut pty);
    pty.wait_for(r"COACH \d\d:\d\d  Something is wrong\.");
    pty.wait_for("2 Stuck 6");
    pty.press(Key::Char('2'));
    step(&mut pty, "6 stuck. Which customer has been waiting longest");
    pty.press(Key::Enter);
    pty.wait_for("TIMELINE");
    pty.wait_for("Was this customer charged");
    pty.press(Key::Delete);
    pty.wait_for("Nothing was deleted: this record is what stops a second charge");
    pty.press(Key::Escape);
    pty.wait_gone("Deleting is not possible here");
    pty.press(Key::Char('a'));
    // The coach's line takes one from the menu: its last line may be below.
    step(&mut pty, "Provider look-up +asks what happened");
    pty.press(Key::Char('l'));
    step(&mut pty, "Enter asks the provider now");
    pty.press(Key::Enter);
    step(&mut pty, "The provider took the money. So charge nothing");
    pty.press(Key::Enter);
    pty.wait_for("NEXT +resume");
    pty.type_text(":debrief");
    pty.press(Key::Enter);
    pty.wait_for("Debrief: oom-kill");
    pty.press(Key::Escape);
    pty.wait_gone("Debrief: oom-kill");
    // From the record to the list, and out.
    pty.press(Key::Char('q'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    assert_eq!(pty.line(), Line::COOKED);
    place.assert_nothing_left();

    let text = fs::read_to_string(&file).expect("a debrief");
    for said in [
        "# Debrief: oom-kill",
        "- to see it (2 Stuck opened): 0",
        "- to the first look-up: 0",
        "- to the first resume: never",
        "Delete, once: nothing was deleted",
        "look-up of `",
        "the charge could have been adopted",
        "never looked up",
        "- I5: No payment within the key's retention has lost its record",
        "## What the provider knew",
        "1 charge that took money, or still may; still stuck",
        "no charge that took money; still stuck",
    ] {
        assert!(text.contains(said), "not in the debrief: {said:?}\n{text}");
    }
}

#[test]
fn a_drill_that_cannot_be_played_says_why_before_there_is_a_world() {
    let place = Place::new();
    let taken = tempfile::NamedTempFile::new().expect("a file");
    let taken = taken.path().to_str().expect("a name in UTF-8");
    for (words, says) in [
        (vec!["demo", "--drill", "flood"], "oom-kill"),
        (vec!["demo", "oom-kill", "--drill", "oom-kill"], "cannot be used with"),
        (vec!["demo", "--debrief", "x.md"], "--drill"),
        (vec!["demo", "--drill", "oom-kill", "--debrief", taken], "nothing is overwritten"),
    ] {
        let mut pty = place.at_home(Launch::unstuck(&words)).start();
        pty.wait_for(says);
        assert_ne!(pty.wait_exit(), Ended::Code(0), "{words:?}");
    }
    place.assert_nothing_left();
}
