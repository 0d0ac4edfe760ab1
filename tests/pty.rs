//! What only a terminal shows: modes, signals, the line discipline. First the instrument itself.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::pty::{Ended, Line};

#[test]
fn the_instrument_shows_text_looks_and_modes() {
    let mut pty = Launch::shell().size(60, 10).start();
    pty.wait_for("^> ?$");
    assert!(!pty.view().modes.alternate_screen() && pty.view().modes.cursor_visible());
    pty.type_text(r"printf '\e[?1049h\e[?25l\e[2J\e[H\e[1;31mred\e[0m \e[7mback\e[0m'; sleep 1000");
    pty.press(Key::Enter);
    pty.wait_for("^red back");
    let view = pty.view();
    assert!(view.modes.alternate_screen() && !view.modes.cursor_visible() && !view.modes.restored());
    assert_eq!(view.look_of("red"), "red bold");
    assert_eq!(view.look_of("back"), "default reverse");
    assert_eq!(view.find("back"), Some((0, 4)));
    let written = pty.bytes_written();
    pty.press(Key::Ctrl('c'));
    pty.wait_for("\\^C");
    assert!(pty.bytes_written() > written);
    pty.type_text("clear");
    pty.press(Key::Enter);
    pty.wait_gone("red back");
    assert!(String::from_utf8_lossy(&pty.transcript()).contains("red"));
}

#[test]
fn the_instrument_answers_questions_and_follows_the_size() {
    let mut pty = Launch::shell().size(60, 10).start();
    pty.wait_for("^> ?$");
    // Device attributes, answered into the shell's read.
    pty.type_text(r"printf '\e[c'; read -rs -d c answer; echo ${#answer} answered");
    pty.press(Key::Enter);
    // The answer itself may be echoed before the shell reads it.
    pty.wait_for(r"\d answered$");
    assert_eq!(pty.said().questions, 1);
    pty.resize(100, 30);
    pty.type_text("stty size");
    pty.press(Key::Enter);
    pty.wait_for("^30 100$");
    assert_eq!(pty.view().rows.len(), 30);
}

#[test]
fn the_instrument_sees_the_line_discipline_and_the_end() {
    let mut pty = Launch::shell().start();
    pty.wait_for("^> ?$");
    pty.type_text("stty raw -echo; exec sleep 1000");
    pty.press(Key::Enter);
    let raw = Line { canonical: false, echo: false, signals: false };
    let started = crate::support::now();
    while pty.line() != raw && started.elapsed() < crate::support::PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(pty.line(), raw);
    assert_ne!(raw, Line::COOKED);
    pty.signal(Signal::SIGTERM);
    assert!(matches!(pty.wait_exit(), Ended::Signal(_)));
}

#[test]
fn the_binary_under_test_ends_and_leaves_the_terminal_alone() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let mut pty = Launch::unstuck(&["--version"]).folder(Path::new(folder)).start();
    assert_eq!(pty.wait_exit(), Ended::Code(0));
    assert!(pty.view().modes.restored(), "{}", pty.screen());
    assert_eq!(pty.line(), Line::COOKED);
}
