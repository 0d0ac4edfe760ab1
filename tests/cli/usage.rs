//! Usage errors, help, and readers that leave.

use std::io::Read as _;
use std::process::Stdio;

use super::{Place, Ran};

#[test]
fn a_usage_error_is_3_everywhere_because_2_pages_somebody() {
    let place = Place::new();
    for words in [
        vec!["--nonsense"],
        vec!["check", "--nonsense"],
        vec!["delete", "shop-eu", "k1"],
        vec!["show"],
        vec!["show", "shop-eu"],
        vec!["--poll", "0"],
        vec!["--poll", "soon"],
        vec!["install"],
        vec!["install", "--apply", "--environment", "prod"],
        vec!["demo", "no-such-incident"],
        vec!["--theme", "pink", "doctor"],
        vec!["--log", "/nowhere/at/all.log", "check"],
    ] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 3, "{words:?}: {ran:?}");
        assert!(!ran.complained.is_empty() && ran.said.is_empty(), "{words:?}: {ran:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    let place = Place::new();
    let help = place.run(&["--help"]);
    assert_eq!(help.code, 0);
    for word in ["demo", "check", "show", "doctor", "install", "--act", "3 not known"] {
        assert!(help.said.contains(word), "{word} in {}", help.said);
    }
    assert_eq!(place.run(&["help", "check"]).code, 0);
    let version = place.run(&["--version"]);
    assert_eq!((version.code, version.said.trim()), (0, concat!("unstuck ", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn hostile_arguments_are_made_visible() {
    let ran = Place::new().run(&["\u{1b}]52;c;x\u{7}\u{202e}"]);
    assert_eq!(ran.code, 3);
    assert!(!ran.complained.contains('\u{1b}') && !ran.complained.contains('\u{202e}'), "{}", ran.complained);
}

#[test]
fn a_reader_that_leaves_is_no_crash() {
    let place = Place::new();
    let mut child =
        place.command(&["install", "--print"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 16];
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut first).unwrap();
    drop(pipe);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.complained.as_str()), (0, ""));
}

#[test]
fn the_script_is_printed_without_any_database() {
    let ran = Place::new().run(&["install", "--print", "--environment", "eu-1", "--kind", "staging"]);
    assert_eq!(ran.code, 0);
    assert!(ran.said.contains("CREATE SCHEMA IF NOT EXISTS unstuck"));
    assert!(ran.said.ends_with("SELECT unstuck.set_environment('eu-1', 'staging');\n"));
    let records = Place::new().run(&["install", "--print", "--profile", "records"]);
    assert_eq!(records.code, 1);
}
