//! `--record` and `replay` on the command line: what is refused, with which words and which code.

use std::fs;

use super::Place;

const NEWER: &str = "{\"format\":\"unstuck recording\",\"version\":7,\"tool\":\"2.0.0\"}\n";

#[test]
fn what_is_no_recording_is_refused_with_1_and_what_cannot_be_read_is_3() {
    let place = Place::new()
        .file("notes.txt", "not a recording\n")
        .file("empty", "")
        .file("other.cast", "{\"version\": 2, \"width\": 80}\n")
        .file("newer.rec", NEWER)
        .file("damaged.rec", "{\"format\":\"unstuck recording\",\"version\":1,\"tool\":\"0.1.0\"}\n");
    fs::create_dir(place.path().join("folder")).unwrap();
    nix::unistd::mkfifo(&place.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (file, code, words) in [
        ("notes.txt", 1, "is not a recording of unstuck"),
        ("empty", 1, "is not a recording of unstuck"),
        ("other.cast", 1, "is not a recording of unstuck"),
        ("newer.rec", 1, "was recorded by unstuck 2.0.0"),
        ("damaged.rec", 1, "first line is damaged"),
        ("folder", 3, "is not a file"),
        ("pipe", 3, "is not a file"),
        ("none.rec", 3, "cannot be read"),
    ] {
        let ran = place.run(&["replay", file]);
        assert_eq!(ran.code, code, "{file}: {ran:?}");
        assert!(ran.complained.contains(words) && ran.said.is_empty(), "{file}: {ran:?}");
    }
    assert_eq!(place.run(&["replay"]).code, 3);
    assert_eq!(place.run(&["replay", "newer.rec", "--theme", "pink"]).code, 3);
}

#[test]
fn a_hostile_version_is_made_visible() {
    let place = Place::new()
        .file("evil.rec", "{\"format\":\"unstuck recording\",\"version\":2,\"tool\":\"\\u001b[2J\\u202e\"}\n");
    let ran = place.run(&["replay", "evil.rec"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.complained.contains(['\u{1b}', '\u{202e}']), "{}", ran.complained);
}

#[test]
fn record_belongs_to_the_consoles_and_overwrites_nothing() {
    let place =
        Place::new().file("night.rec", "mine\n").with("UNSTUCK_DATABASE_URL", "postgres://nobody@127.0.0.1:9/none");
    for words in [vec!["--record", "night.rec"], vec!["demo", "--record", "night.rec"]] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 1, "{words:?}: {ran:?}");
        assert!(ran.complained.contains("never overwrites"), "{words:?}: {ran:?}");
    }
    for words in [vec!["--record", "new.rec"], vec!["demo", "--record", "new.rec"]] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 3, "{words:?}: {ran:?}");
        assert!(ran.complained.contains("without a terminal"), "{words:?}: {ran:?}");
        assert!(!place.path().join("new.rec").exists(), "a start that fails leaves no file");
    }
    for other in ["check", "doctor"] {
        let ran = place.run(&[other, "--record", "other.rec"]);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.complained.contains("--record belongs to the console and to demo"), "{ran:?}");
    }
    assert_eq!(fs::read_to_string(place.path().join("night.rec")).unwrap(), "mine\n");
    assert!(!place.path().join("other.rec").exists());
}
