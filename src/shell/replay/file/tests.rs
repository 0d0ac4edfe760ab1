use std::io::Write as _;

use super::*;
use crate::app::recording::Event;

const HEADER: &str = r#"{"format":"unstuck recording","version":1,"tool":"0.1.0","started_at":"2026-11-30T14:03:27Z",
"environment":{"name":"prod","kind":"production"},"operator":"dana","acting":"off","poll_every":2,"normals":{},
"policy":{"stuck_after":300,"plan_life":120,"evidence_freshness":300,"not_found_gap":300,"not_found_gap_max":1800,
"key_margin":3600,"skew":120,"hold_max":900,"mode":null,"ticket_pattern":"[A-Z]+-[0-9]+","reason_min":15,
"approval_limits":{},"rules":{}},"terms":[]}"#;

const KEY: &str = r#"{"ms":1500,"event":{"key":{"key":{"char":"2"},"held":"nothing"}}}"#;
const END: &str = r#"{"ms":2000,"event":"end"}"#;

fn header() -> String {
    HEADER.replace('\n', "")
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn loaded(text: &str) -> Result<Found, Refused> {
    load(file(text.as_bytes()).path())
}

#[test]
fn a_whole_recording_is_read_and_read_again() {
    let mut found = loaded(&format!("{}\n{KEY}\n{END}\nanything after the end\n", header())).unwrap();
    assert_eq!((found.length, found.cut), (2_000, None));
    for _ in 0..2 {
        assert!(matches!(found.lines.next(), Next::Event(1_500, event) if matches!(*event, Event::Key(_))));
        assert!(matches!(found.lines.next(), Next::Event(2_000, event) if *event == Event::End));
        assert!(matches!(found.lines.next(), Next::Over));
        found.lines.rewind();
    }
}

#[test]
fn what_breaks_off_is_read_up_to_there_and_says_why() {
    for (rest, why) in [
        (format!("{KEY}\n"), "killed, or still writes"),
        (format!("{KEY}\n{END}"), "line 3 is not complete"),
        (format!("{KEY}\n{}", END.split_at(9).0), "line 3 is not complete"),
        (format!("{KEY}\nnot json\n{END}\n"), "line 3 cannot be read"),
        (format!("{KEY}\n{{\"ms\":-1,\"event\":\"end\"}}\n"), "line 3 cannot be read"),
        (format!("{KEY}\n{}\n{END}\n", "[".repeat(100_000)), "line 3 cannot be read"),
        (format!("{KEY}\n\n{END}\n"), "line 3 cannot be read"),
    ] {
        let found = loaded(&format!("{}\n{rest}", header())).unwrap();
        let cut = found.cut.expect("it breaks off");
        assert!(cut.why.contains(why), "{rest}: {}", cut.why);
        assert_eq!((found.length, cut.at), (1_500, moment(found.header.started_at, 1_500)));
        let mut lines = found.lines;
        assert!(matches!(lines.next(), Next::Event(1_500, _)));
        assert!(matches!(lines.next(), Next::Over));
    }
    let found = loaded(&header()).unwrap();
    assert!(found.cut.is_some() && found.length == 0, "a first line is a recording of nothing");
}

#[test]
fn a_line_without_end_does_not_fill_the_memory() {
    let mut text = format!("{}\n{KEY}\n", header()).into_bytes();
    text.extend(std::iter::repeat_n(b'x', LONGEST_PICTURE + 4_096));
    let found = load(file(&text).path()).unwrap();
    assert!(found.cut.unwrap().why.contains("longer than any console writes"));
}

#[test]
fn an_event_that_is_none_is_noticed_when_it_is_its_turn() {
    let mut found = loaded(&format!("{}\n{KEY}\n{{\"ms\":1,\"event\":{{\"delete\":1}}}}\n{END}\n", header())).unwrap();
    assert!(matches!(found.lines.next(), Next::Event(..)));
    assert!(matches!(found.lines.next(), Next::Unreadable(why) if why.starts_with("line 3 cannot be read")));
}

#[test]
fn what_is_no_recording_is_refused_in_a_sentence() {
    for text in [
        "",
        "\n",
        "hello\n",
        "{}\n",
        "[1]\n",
        "{\"format\":\"asciicast\",\"version\":2}\n",
        &"x".repeat(LONGEST_LINE + 9),
    ] {
        assert!(matches!(loaded(text), Err(Refused::NoRecording(_))), "{text:.40}");
    }
    assert!(matches!(load(file(b"\xff\xfe\x00\x01").path()), Err(Refused::NoRecording(_))));
    let newer =
        loaded("{\"format\":\"unstuck recording\",\"version\":9,\"tool\":\"3.1.0\"}\n").unwrap_err().to_string();
    assert!(
        newer.contains("unstuck 3.1.0") && newer.contains("version 9") && newer.contains("up to version 1"),
        "{newer}"
    );
    let damaged = loaded("{\"format\":\"unstuck recording\",\"version\":1}\n").unwrap_err().to_string();
    assert!(damaged.contains("first line is damaged"), "{damaged}");
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(load(folder.path()), Err(Refused::NoFile(_))));
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(matches!(load(&pipe), Err(Refused::NoFile(_))), "and it does not wait for somebody to write");
    assert!(matches!(load(&folder.path().join("none")), Err(Refused::Unreadable { .. })));
}
