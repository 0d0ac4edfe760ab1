//! Whatever ends the console, the terminal is as it was before, and nothing of the demo is left behind.

use std::io::Read;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use portable_pty::{MasterPty, PtySize, native_pty_system};

use crate::support::demo::{Place, wait_for_console};
use crate::support::keys::Key;
use crate::support::pty::{Ended, Line, Pty};
use crate::support::{PATIENCE, now};

const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

/// A demo with its console open and everything switched on.
#[track_caller]
fn open(place: &Place) -> Pty {
    open_with(place, "UNSTUCK_NOTHING", "")
}

#[track_caller]
fn open_with(place: &Place, name: &str, value: &str) -> Pty {
    let mut pty = place.demo("oom-kill").env(name, value).start();
    wait_for_console(&mut pty);
    assert_taken_over(&pty);
    assert_eq!(pty.line(), Line { canonical: false, echo: false, signals: false });
    place.assert_in_use();
    pty
}

#[track_caller]
fn assert_taken_over(pty: &Pty) {
    let modes = pty.view().modes;
    assert!(modes.alternate_screen() && modes.bracketed_paste() && modes.focus_reports(), "{modes:?}");
    assert!(!modes.cursor_visible() && !modes.mouse(), "{modes:?}");
}

/// The program has ended: terminal, processes and folder are as they were.
#[track_caller]
fn assert_all_given_back(pty: &Pty, place: &Place) {
    let view = pty.view();
    assert!(view.modes.restored(), "{:?}\n{}", view.modes, view.text());
    assert_eq!(pty.line(), Line::COOKED);
    place.assert_nothing_left();
}

#[test]
fn ctrl_c_twice_leaves() {
    let place = Place::new();
    let mut pty = open(&place);
    let written = pty.bytes_written();
    thread::sleep(Duration::from_secs(3));
    // Reported only: the clock in the first line ticks, and little else.
    println!("bytes to the terminal in 3 s of a console nobody touches: {}", pty.bytes_written() - written);
    pty.press(Key::Ctrl('c'));
    pty.wait_for("Ctrl-c once more");
    assert_eq!(pty.ended(), None);
    pty.press(Key::Ctrl('c'));
    assert_eq!(pty.wait_exit(), Ended::Code(0));
    assert_all_given_back(&pty, &place);
}

#[test]
fn a_signal_from_outside_ends_it_in_order() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT] {
        let place = Place::new();
        let mut pty = open(&place);
        pty.signal(signal);
        assert_eq!(pty.wait_exit(), Ended::Code(0), "{signal}: {}", pty.screen());
        assert_all_given_back(&pty, &place);
    }
}

#[test]
fn a_panic_of_the_drawing_thread_is_readable_afterwards() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::new();
    let mut pty = open_with(&place, "UNSTUCK_PANIC", "ui");
    pty.press(Key::Ctrl('l'));
    assert_eq!(pty.wait_exit(), Ended::Code(101));
    assert_all_given_back(&pty, &place);
    let written = String::from_utf8_lossy(&pty.transcript()).into_owned();
    let (_, after) = written.rsplit_once("\x1b[?1049l").expect("the alternate screen was left");
    assert!(after.contains("UNSTUCK_PANIC asked for a panic"), "the report stands on the main screen: {after}");
}

#[test]
fn a_panic_in_a_background_task_is_a_notice_and_the_console_goes_on() {
    if !cfg!(debug_assertions) {
        return;
    }
    let place = Place::new();
    let mut pty = open_with(&place, "UNSTUCK_PANIC", "task");
    pty.press(Key::Ctrl('l'));
    pty.wait_for("A background task died");
    assert_taken_over(&pty);
    assert!(!pty.screen().contains("asked for a panic"), "not over the picture:\n{}", pty.screen());
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0));
    assert_all_given_back(&pty, &place);
}

#[test]
fn a_demo_that_is_killed_leaves_no_server_and_no_folder() {
    let place = Place::new();
    let mut pty = open(&place);
    pty.signal(Signal::SIGKILL);
    assert!(matches!(pty.wait_exit(), Ended::Signal(_)));
    place.assert_nothing_left();
}

#[test]
fn ctrl_z_stops_it_and_fg_brings_it_back() {
    let place = Place::new();
    let mut pty = shell(&place);
    enter(&pty, "unstuck demo oom-kill");
    wait_for_console(&mut pty);
    assert_taken_over(&pty);
    pty.press(Key::Ctrl('z'));
    pty.wait_for("Stopped");
    assert!(pty.view().modes.restored(), "{:?}\n{}", pty.view().modes, pty.screen());
    assert_cooked(&mut pty, "stopped");
    enter(&pty, "fg");
    // The whole picture again, with nothing of the shell on it, and new numbers.
    wait_for_console(&mut pty);
    pty.wait_for("s SQL|q quit|p pause");
    assert_taken_over(&pty);
    assert!(!pty.screen().contains("Stopped"), "{}", pty.screen());
    // Whoever comes back types on: letters count a moment later.
    thread::sleep(Duration::from_millis(600));
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Char('q'));
    pty.wait_for("^> $|^>$");
    assert!(pty.view().modes.restored(), "{:?}\n{}", pty.view().modes, pty.screen());
    assert_cooked(&mut pty, "left");
    place.assert_nothing_left();
}

#[test]
fn ctrl_z_without_a_shell_to_return_to_changes_nothing() {
    let place = Place::new();
    let mut pty = open(&place);
    pty.press(Key::Ctrl('z'));
    pty.wait_quiet(Duration::from_millis(300));
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    assert_taken_over(&pty);
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0));
    assert_all_given_back(&pty, &place);
}

#[test]
fn a_screen_that_cannot_be_written_any_more_is_an_error_in_words() {
    let place = Place::new();
    let mut pty = shell(&place);
    // Keys come from this terminal, the picture goes to another, which is then gone.
    let other = native_pty_system().openpty(SIZE).expect("a second terminal");
    let name = other.master.tty_name().expect("it has a name");
    enter(&pty, &format!("unstuck demo oom-kill > {}", name.display()));
    read_until_drawn(&*other.master);
    drop(other);
    pty.wait_for("(?i)input/output error|os error 5");
    pty.wait_for("^> $|^>$");
    enter(&pty, "echo ended with $?");
    pty.wait_for("^ended with [1-9]");
    assert_cooked(&mut pty, "failed");
    assert!(pty.view().modes.restored(), "{:?}\n{}", pty.view().modes, pty.screen());
    place.assert_nothing_left();
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let place = Place::new();
    let terminal = native_pty_system().openpty(SIZE).expect("a terminal");
    let mut demo = terminal.slave.spawn_command(place.demo("oom-kill").command()).expect("the demo starts");
    drop(terminal.slave);
    read_until_drawn(&*terminal.master);
    place.assert_in_use();
    drop(terminal.master);
    let deadline = now() + PATIENCE;
    while demo.try_wait().expect("it can be waited for").is_none() {
        assert!(now() < deadline, "it runs on without a terminal");
        thread::sleep(Duration::from_millis(50));
    }
    place.assert_nothing_left();
}

/// Reads what is drawn until the console is there. Not with a thread: nothing else may hold the terminal open.
#[track_caller]
fn read_until_drawn(master: &dyn MasterPty) {
    let mut reader = master.try_clone_reader().expect("the terminal can be read");
    let (mut buffer, mut drawn) = ([0_u8; 4096], Vec::new());
    while !String::from_utf8_lossy(&drawn).contains("Overview") {
        let count = reader.read(&mut buffer).unwrap_or(0);
        assert!(count > 0, "it ended before it drew: {}", String::from_utf8_lossy(&drawn));
        drawn.extend_from_slice(&buffer[..count]);
    }
}

/// A shell whose own line editor changes no mode of the terminal that is looked at here.
#[track_caller]
fn shell(place: &Place) -> Pty {
    let mut pty = place.shell().start();
    pty.wait_for("^> ?$");
    enter(&pty, "bind 'set enable-bracketed-paste off'; clear");
    pty.wait_gone("clear");
    pty.wait_for("^> ?$");
    pty
}

fn enter(pty: &Pty, line: &str) {
    pty.type_text(line);
    pty.press(Key::Enter);
}

/// What a program started by the shell finds: lines, echo, signals, output as usual.
#[track_caller]
fn assert_cooked(pty: &mut Pty, when: &str) {
    let wrong = r"stty -a | grep -Eo -- '-(icanon|echo|isig|opost|icrnl)\b' | wc -l";
    enter(pty, &format!("echo \"wrong when {when}:\" $({wrong})"));
    pty.wait_for(&format!("^wrong when {when}: 0$"));
}
