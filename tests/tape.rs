//! The tape of the demo: its grammar, and the player that runs it against the real binary.

use std::fs;
use std::time::Duration;

use crate::support::demo::Place;
use crate::support::keys::Key;
use crate::support::launch::Launch;
use crate::support::tape::cast::Cast;
use crate::support::tape::parser::parse;
use crate::support::tape::player::{Pace, Played, play};
use crate::support::tape::still;
use crate::support::tape::{Command, On, Setting, Tape};

#[track_caller]
fn good(text: &str) -> Tape {
    parse(text).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:#?}"))
}

#[track_caller]
fn lines_of_mistakes(text: &str) -> Vec<usize> {
    match parse(text) {
        Ok(tape) => panic!("{text} has no mistake: {tape:?}"),
        Err(mistakes) => mistakes.iter().map(|m| m.line).collect(),
    }
}

#[test]
fn a_tape_with_every_command_is_read() {
    let tape = good(
        "# a comment\nOutput demo.gif Output \"frames/\"\nRequire unstuck\nSet Shell bash\nSet FontSize 22\n\
         Set LineHeight 1.2\nSet Theme { \"name\": \"x\" }\nSet Theme \"Dracula\"\nSet TypingSpeed 75ms\n\
         Set WindowBar Colorful\nSet MarginFill \"#6B50FF\"\nSet LoopOffset 60%\nSet CursorBlink false\n\
         Set WaitTimeout 30s\nSet WaitPattern /\\$ $/\nEnv PAGER \"\"\nHide\nType \"a\" 'b' `c`\nType@10ms \"x\" Enter\n\
         Down@100ms 3 Up 2\nSleep .5 Sleep 2s Sleep 500ms Sleep 1m\nShow\nCtrl+C Ctrl+Alt+k Ctrl+[ Ctrl+\\ Ctrl+Right\n\
         Alt+x Shift+Tab Wait Wait+Line /re/ Wait+Screen@10s /a\\/b \\d+/\nCopy \"t\" Paste\nScreenshot a.png\nScrollUp 3",
    );
    let typed: Vec<&str> = tape
        .steps
        .iter()
        .filter_map(|s| if let Command::Type { text, .. } = &s.command { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(typed, ["a b c", "x"]);
    let slept: Vec<Duration> = tape
        .steps
        .iter()
        .filter_map(|s| if let Command::Sleep(time) = &s.command { Some(*time) } else { None })
        .collect();
    assert_eq!(slept, [500, 2000, 500, 60_000].map(Duration::from_millis));
    let keys: Vec<(Key, usize)> = tape
        .steps
        .iter()
        .filter_map(|s| if let Command::Press { key, times, .. } = &s.command { Some((*key, *times)) } else { None })
        .collect();
    assert_eq!(keys[..3], [(Key::Enter, 1), (Key::Down, 3), (Key::Up, 2)]);
    assert_eq!(keys[3..7], [(Key::Ctrl('C'), 1), (Key::CtrlAlt('k'), 1), (Key::Ctrl('['), 1), (Key::Ctrl('\\'), 1)]);
}

#[test]
fn a_wait_knows_what_it_looks_at_and_how_long() {
    let tape = good("Wait+Screen@10s /a\\/b \\d+/");
    let Command::Wait { on, timeout, pattern } = &tape.steps[0].command else {
        panic!("{tape:?}");
    };
    assert_eq!((*on, *timeout), (On::Screen, Some(Duration::from_secs(10))));
    assert!(pattern.as_ref().is_some_and(|p| p.is_match("a/b 12")));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let cases: &[(&str, &[usize])] = &[
        ("Typo \"x\"", &[1]),
        ("\n\nSleep\nEnter", &[3]),
        ("Type \"not closed\nEnter", &[1, 1]),
        ("Wait /not closed\nEnter", &[1]),
        ("Wait+Window /x/", &[1]),
        ("Wait /(/", &[1]),
        ("Type 5", &[1]),
        ("Type Enter", &[1]),
        ("Home", &[1]),
        ("F5", &[1]),
        ("Ctrl+5", &[1]),
        ("Ctrl+Tab", &[1]),
        ("Ctrl C", &[1]),
        ("Output demo.avi", &[1]),
        ("Screenshot a.gif", &[1]),
        ("Source other.txt", &[1]),
        ("Set Columns 80", &[1]),
        ("Set Colour red", &[1]),
        ("Set CursorBlink maybe", &[1]),
        ("Set FontSize large", &[1]),
        ("Enter\nSet FontSize 20\nRequire bash", &[2, 3]),
        ("Env A \"b\"\nSet FontSize 20", &[2]),
        ("Sleep 1.2.3", &[1]),
        ("Enter!\nTypo\nSleep x", &[1, 2, 3]),
        ("Type /tmp/x", &[1]),
        ("Set Theme { no json }", &[1]),
    ];
    for (text, lines) in cases {
        assert_eq!(&lines_of_mistakes(text), lines, "{text}");
    }
}

#[test]
fn typing_speed_may_change_on_the_way() {
    let tape = good("Enter\nSet TypingSpeed 10ms");
    assert!(matches!(tape.steps[1].command, Command::Set(Setting::TypingSpeed(_))));
}

#[test]
fn the_player_types_waits_and_takes_pictures() {
    let tape = good(
        "Env GREETING \"hello\"\nType \"echo $GREETING | tr a-z A-Z\" Enter Wait+Screen /HELLO/\n\
         Copy \"echo pas\" Paste Type \"ted\" Enter Wait+Screen /^(?s:.*)\\npasted/ Wait\n\
         Screenshot a.png\nType \"cat\" Enter Sleep 10m Type \"x\" Ctrl+C Wait",
    );
    let played = play("t.tape", &tape, Launch::shell(), Pace::Test).expect("the tape plays");
    assert_eq!(played.pictures.len(), 1);
    assert!(played.pictures[0].1.text().contains("HELLO"), "{played:?}");
    assert!(played.last.trim_end().ends_with('>'), "{played:?}");
}

#[test]
fn a_film_shows_all_but_what_is_hidden() {
    let tape = good(
        "Type \"echo one\" Enter Wait+Screen /(?m)^one/ Hide Type \"sleep 2; echo t\\wo\" Enter Wait+Screen /two/ Show\n\
         Type \"echo thr\\ee\" Enter Wait+Screen /three/",
    );
    let played = play("t.tape", &tape, Launch::shell(), Pace::Test).expect("the tape plays");
    let text = played.cast.text();
    let read = Cast::read(&text).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(read.text(), text);
    assert!(["one", "two", "three"].iter().all(|word| read.written().contains(word)), "nothing is lost: {text}");
    let at = |word: &str| {
        let line = text.lines().find(|line| line.contains(&format!("{word}\\r"))).unwrap_or_else(|| panic!("{text}"));
        line.trim_start_matches('[').split(',').next().and_then(|at| at.parse::<f64>().ok()).expect("a time")
    };
    // What came while the camera was off has the one moment at which the film goes on.
    assert!(at("one") < at("two") && at("two") < at("three"), "{text}");
    let hidden: Vec<&str> = text.lines().filter(|line| line.contains("sleep") || line.contains("two")).collect();
    let moments: std::collections::BTreeSet<&str> = hidden.iter().filter_map(|line| line.split(',').next()).collect();
    assert_eq!(moments.len(), 1, "{hidden:?}");
}

#[test]
fn a_still_has_the_size_and_the_colours_of_the_screen() {
    let tape = good(
        "Type \"printf '\\033[2J\\033[H\\033[41m      \\033[0m pl\\141in'\" Enter Wait+Screen /plain/ Screenshot a.png",
    );
    let played = play("t.tape", &tape, Launch::shell().size(40, 5), Pace::Test).expect("the tape plays");
    let bytes = still::png(&played.pictures[0].1);
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut pixels).expect("whole");
    let (width, height) = (usize::try_from(info.width).expect("small"), usize::try_from(info.height).expect("small"));
    assert_eq!(pixels.len(), width * height * 3);
    let colours: std::collections::BTreeMap<[u8; 3], usize> =
        pixels.as_chunks::<3>().0.iter().fold(std::collections::BTreeMap::new(), |mut seen, pixel| {
            *seen.entry(*pixel).or_default() += 1;
            seen
        });
    let of = |colour: [u8; 3]| colours.get(&colour).copied().unwrap_or(0);
    let cell = (width - 28) / 40 * ((height - 28) / 5);
    assert_eq!(of([0xf0, 0x71, 0x78]), 6 * cell, "six red cells");
    assert!(of([0x16, 0x18, 0x1d]) > 20 * cell, "the rest is paper");
    assert!(of([0xd7, 0xda, 0xe0]) > 0, "letters are ink");
}

#[test]
fn a_wait_that_fails_names_tape_line_and_screen() {
    let tape = good("Type \"echo here; exit 3\"\nEnter\nWait+Screen /never/");
    let why = play("t.tape", &tape, Launch::shell(), Pace::Test).expect_err("it never comes");
    assert!(why.starts_with("t.tape:3: Wait+Screen /never/"), "{why}");
    assert!(why.contains("| here"), "{why}");
    assert!(why.contains("Code(3)"), "{why}");
}

#[test]
fn a_missing_program_is_told_before_anything_runs() {
    let tape = good("Require no-such-program-here\nEnter");
    let why = play("t.tape", &tape, Launch::shell(), Pace::Test).expect_err("it is missing");
    assert!(why.starts_with("t.tape:1: no-such-program-here"), "{why}");
}

/// A size people can read.
const COLUMNS: u16 = 110;
const ROWS: u16 = 32;

fn demo_tape() -> Tape {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/demo.tape");
    good(&fs::read_to_string(path).expect("demo.tape is there"))
}

/// The seconds of film: pauses and typing. What is waited for comes on top.
fn length(tape: &Tape) -> Duration {
    let mut speed = Duration::from_millis(50);
    let mut length = Duration::ZERO;
    for step in &tape.steps {
        if let Command::Set(Setting::TypingSpeed(time)) = &step.command {
            speed = *time;
        } else if let Command::Sleep(time) = &step.command {
            length += *time;
        } else if let Command::Type { text, speed: own } = &step.command {
            length += own.unwrap_or(speed) * u32::try_from(text.chars().count()).expect("a short text");
        }
    }
    length
}

#[test]
fn the_demo_tape_is_valid_and_its_film_is_short() {
    let tape = demo_tape();
    let Command::Output(output) = &tape.steps[0].command else {
        panic!("it starts with its Output");
    };
    assert_eq!(output, "demo.gif");
    let length = length(&tape);
    assert!((60..=85).contains(&length.as_secs()), "{length:?} of film");
}

/// A screen without what a clock decides: times, ages, numbers that count what happened so far, and hashes over them.
fn timeless(screen: &str) -> String {
    let moving = [
        // Before the ages: a hash may look like one (`12345d`).
        (r"\b(plan|version|on|->)\s+[0-9a-f]{6}\b", "$1 H"),
        (r"\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "T"),
        (r"\+?\b\d+(\.\d+)?(ms|s|m|h|d)(\d+(s|m))?\b", "A"),
        (r"unstuck_lab_\w+", "D"),
        // The line about the provider is read less often than the counts above it.
        (r"(!!|[ !]!)?\s*\blabpay  +unknown.*", "N"),
        (r"\bconsole_\w+", "L"),
        // What the traffic beside the story came to so far.
        (
            r"\d+(\.\d+)?%|\bof \d+\b|\b\d+ (ms|queries)\b|\btransaction \w+|(409 key|422 other|503 outcome|Answers /min).*",
            "N",
        ),
        (r"[▁▂▃▄▅▆▇█]+", "~"),
    ];
    let mut text = screen.to_owned();
    for (pattern, word) in moving {
        text = regex::Regex::new(pattern).expect("a pattern").replace_all(&text, word).into_owned();
    }
    // Columns are as wide as what stands in them, and what happened in the same millisecond has no order of its own.
    let mut rows: Vec<String> = text.lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    rows.sort();
    rows.join("\n")
}

fn played_to_its_end(tape: &Tape, pace: Pace) -> Played {
    let place = Place::new();
    let played = play("demo.tape", tape, place.shell().size(COLUMNS, ROWS), pace).unwrap_or_else(|why| panic!("{why}"));
    assert!(played.last.trim_end().ends_with('>'), "the shell is back:\n{}", played.last);
    assert!(!played.last.contains("Overview"), "and the console gone:\n{}", played.last);
    place.assert_nothing_left();
    played
}

/// The tape's own waits are what is asserted on the way; here, that they are the ones that matter, the end, and
/// that the same seed shows the same at every one of them.
#[test]
fn the_demo_tape_plays_to_its_end_against_the_real_binary_twice_the_same() {
    let tape = demo_tape();
    if std::env::var_os("UNSTUCK_FILM").is_some() {
        film(&tape);
    }
    let waits: Vec<&str> = tape
        .steps
        .iter()
        .filter_map(|s| {
            if let Command::Wait { pattern, .. } = &s.command {
                pattern.as_ref().map(regex::Regex::as_str)
            } else {
                None
            }
        })
        .collect();
    for wanted in ["2 Stuck 6", "ok DONE", "ok yes +CAPTURED", "ok yes +SUCCEEDED", "2 Stuck 5"] {
        assert!(waits.contains(&wanted), "the tape waits for {wanted:?}: {waits:?}");
    }
    let [one, two] = std::thread::scope(|scope| {
        let playing = [(); 2].map(|()| scope.spawn(|| played_to_its_end(&tape, Pace::Test)));
        playing.map(|play| play.join().unwrap_or_else(|why| std::panic::resume_unwind(why)))
    });
    assert!(one.waits.len() >= 15 && one.waits.len() == two.waits.len());
    for ((line, first), (_, second)) in one.waits.iter().zip(&two.waits) {
        let (first, second) = (timeless(first), timeless(second));
        let differing: Vec<(&str, &str)> = first.lines().zip(second.lines()).filter(|(a, b)| a != b).collect();
        assert!(differing.is_empty(), "demo.tape:{line}: {differing:#?}");
    }
}

/// Makes the film and the pictures that the README shows.
fn film(tape: &Tape) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let played = played_to_its_end(tape, Pace::Film);
    fs::create_dir_all(root.join("docs")).expect("a folder");
    fs::write(root.join("docs/demo.cast"), played.cast.text()).expect("the film is written");
    assert!(played.pictures.len() >= 4, "the tape takes pictures of the main screens");
    for (name, view) in &played.pictures {
        fs::write(root.join(name), still::png(view)).expect("a picture is written");
    }
    println!("{:?} of film, {} pictures", played.cast.length(), played.pictures.len());
}
