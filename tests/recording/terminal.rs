//! Recording and playing in a real terminal: the demo is recorded, and played without it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::support::demo::{Place, wait_for_console};
use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::pty::{Ended, Line, Pty};

/// Plays a recording. The address in the environment leads nowhere: whoever used it would hang or complain.
fn replay(file: &Path) -> Pty {
    let file = file.to_str().expect("a name in UTF-8");
    Launch::unstuck(&["replay", file]).env("UNSTUCK_DATABASE_URL", "postgres://nobody@192.0.2.1/none").start()
}

#[track_caller]
fn assert_given_back(pty: &Pty) {
    let view = pty.view();
    assert!(view.modes.restored(), "{:?}\n{}", view.modes, view.text());
    assert_eq!(pty.line(), Line::COOKED);
}

#[test]
fn a_demo_is_recorded_and_played_without_it() {
    let (place, folder) = (Place::new(), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("night.rec");
    let mut pty = place.demo_with("oom-kill", &["--record", file.to_str().expect("a name in UTF-8")]).start();
    wait_for_console(&mut pty);
    pty.wait_for(r"2 Stuck [1-9]");
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Enter);
    pty.wait_for("TIMELINE");
    pty.wait_for("POST /payments");
    pty.press(Key::Char('q'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    place.assert_nothing_left();

    let text = fs::read_to_string(&file).expect("a recording");
    assert_eq!(fs::metadata(&file).expect("a recording").permissions().mode() & 0o777, 0o600);
    assert!(text.lines().count() > 10, "{text}");
    assert!(text.lines().last().is_some_and(|line| line.contains("\"end\"")), "nothing is missing");

    let mut pty = replay(&file);
    pty.wait_for("REPLAY DEMO DATA");
    pty.press(Key::Char('p'));
    pty.wait_for("PAUSED");
    for _ in 0..400 {
        pty.press(Key::Char('c'));
        if pty.screen().contains("POST /payments") {
            break;
        }
    }
    pty.wait_for("POST /payments");
    pty.wait_for("pressed Enter");
    pty.press(Key::Char('5'));
    pty.wait_for("You walk about");
    pty.wait_for(r"\[5 Invar");
    pty.press(Key::Char('f'));
    pty.wait_for("POST /payments");
    pty.press(Key::Char('0'));
    pty.wait_for("playing x1");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    assert_given_back(&pty);

    // A console that was killed in the middle of a line.
    let cut = folder.path().join("cut.rec");
    let (head, _) = text.split_at(text.len() * 2 / 3);
    fs::write(&cut, head).expect("a file");
    let mut pty = replay(&cut);
    pty.wait_for(r"CUT OFF at \d\d:\d\d:\d\dZ: line \d+ is not complete");
    pty.signal(Signal::SIGTERM);
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
    assert_given_back(&pty);
    assert!(pty.screen().contains("The recording is cut off at"), "{}", pty.screen());
}
