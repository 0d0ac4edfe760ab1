//! `unstuck triage --from`: every shared case through the real binary, and whatever a bundle may hold.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use super::Place;

const SHARED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/triage/shared");

fn verdict(place: &Place, words: &[&str]) -> Value {
    let ran = place.run(words);
    assert_eq!(ran.said.lines().count(), 1, "one object and nothing else: {ran:?}");
    serde_json::from_str(&ran.said).unwrap_or_else(|why| panic!("{why}: {ran:?}"))
}

#[test]
fn every_shared_case_is_answered_as_expected_and_again_from_its_export() {
    let mut seen = 0;
    for entry in fs::read_dir(SHARED).unwrap() {
        let file = entry.unwrap().path();
        let place = Place::new();
        let expect: toml::Table = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let expect = expect["expect"].as_table().unwrap().clone();
        let name = file.to_str().unwrap();
        let is = verdict(&place, &["triage", "--from", name, "--json", "--export", "case.json"]);
        for field in ["verdict", "cause", "note", "charges", "next", "confidence", "because", "story", "missing"] {
            assert!(is.get(field).is_some(), "{field} is left out: {is}");
        }
        for (field, wanted) in &expect {
            let wanted: Value = serde_json::to_value(wanted).unwrap();
            assert_eq!(&is[field], &wanted, "{name}: {field}");
        }
        for field in ["cause", "note"].iter().filter(|field| !expect.contains_key(**field)) {
            assert_eq!(is[field], Value::Null, "{name}: {field}");
        }
        let again = verdict(&place, &["triage", "--from", "case.json", "--json"]);
        assert_eq!(is, again, "{name}: the export says the same");
        let code = match is["verdict"].as_str().unwrap() {
            "charged_once" => 0,
            "charged_twice" | "latent_double" | "paid_not_recorded" => 1,
            other => panic!("{other}"),
        };
        assert_eq!(place.run(&["triage", "--from", name]).code, code, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 9);
}

#[test]
fn the_answer_comes_as_text_as_markdown_and_as_a_picture() {
    let place = Place::new();
    let case = format!("{SHARED}/01-new-key-per-attempt.toml");
    let text = place.run(&["triage", "--from", &case]);
    let first = text.said.lines().nth(1).unwrap();
    assert_eq!(first, "ANSWER  CHARGED TWICE. Confidence HIGH.");
    assert!(text.said.contains("settlement we do not have this source"), "{}", text.said);
    assert!(text.said.contains("Tell the customer:\n  You are right: we see more than one charge"), "{}", text.said);
    let md = place.run(&["triage", "--from", &case, "--md", "--language", "vi"]);
    assert!(md.said.starts_with("# Charged twice\n") && md.said.contains("> Quý khách nói đúng"), "{}", md.said);
    let svg = place.run(&["triage", "--from", &case, "--svg"]);
    assert!(svg.said.starts_with("<svg ") && svg.said.trim_end().ends_with("</svg>"), "{}", svg.said);
    assert_eq!(place.run(&["triage", "--from", &case, "--svg", "--md"]).code, 3, "one form at a time");
    assert_eq!(place.run(&["triage"]).code, 3);
    assert_eq!(place.run(&["triage", "order A1", "--from", &case]).code, 3);
}

#[test]
fn customers_are_masked_in_everything_that_leaves() {
    let case = "asked = \"customer 90210-X\"\ncharge = []\n[[payment]]\nid = \"p\"\ncustomer = \"90210-X\"\nstatus = \"failed\"\n\
        [[transition]]\npayment = \"p\"\nby = \"api for lan@example.test\"\n";
    let place = Place::new().file("case.toml", case);
    for form in [&["--json"][..], &["--md"], &["--svg"], &[]] {
        let ran = place.run(&[&["triage", "--from", "case.toml"], form].concat());
        assert!(!ran.said.contains("90210") && !ran.said.contains("lan@"), "{form:?}: {}", ran.said);
    }
    place.run(&["triage", "--from", "case.toml", "--export", "out.json"]);
    let out = fs::read_to_string(place.path().join("out.json")).unwrap();
    assert!(out.contains("<customer 1>") && !out.contains("90210") && !out.contains("lan@"), "{out}");
    let again = place.run(&["triage", "--from", "case.toml", "--export", "out.json"]);
    assert_eq!(again.code, 3, "what is there stays: {again:?}");
    assert_eq!(fs::read_to_string(place.path().join("out.json")).unwrap(), out);
}

#[test]
fn a_hostile_bundle_is_a_clear_error_or_a_cautious_verdict() {
    let evil = "\\u001b[2J\\u202e\\u0000\\u009b31m";
    let hostile = format!(
        "{{\"asked\": \"{evil}\", \"charge\": [{{\"ref\": \"{evil}\", \"class\": \"succeeded\", \"amount\": 1, \"currency\": \"{evil}\"}}], \
         \"payment\": [{{\"id\": \"{evil}\", \"order\": \"{evil}\", \"status\": \"{evil}\"}}], \
         \"request\": [{{\"at\": \"9999-12-31T23:59:59Z\", \"path\": \"{evil}\", \"status\": 201}}]}}"
    );
    let place = Place::new()
        .file("evil.json", &hostile)
        .file("empty.toml", "")
        .file("types.toml", "[[charge]]\nref = \"a\"\namount = \"EUR 5\"\n")
        .file("fraction.json", "{\"charge\": [{\"ref\": \"a\", \"amount\": 1e400}]}")
        .file("deep.json", &format!("{{\"charge\": {}", "[".repeat(200_000)))
        .file("many.toml", &"[[payment]]\n".repeat(1_000_000))
        .file(
            "negative.toml",
            "payment = []\n[[charge]]\nref = \"a\"\nclass = \"succeeded\"\namount = -5\ncurrency = \"EUR\"\n",
        );
    fs::write(place.path().join("latin.toml"), b"asked = \"caf\xe9\"\n[[charge]]\n").unwrap();
    fs::create_dir(place.path().join("folder")).unwrap();
    nix::unistd::mkfifo(&place.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    // A hundred megabytes without writing them.
    fs::File::create(place.path().join("huge.toml")).unwrap().set_len(100 * 1024 * 1024).unwrap();
    for (file, words) in [
        ("empty.toml", "is empty"),
        ("types.toml", "amount"),
        ("fraction.json", "not a case"),
        ("deep.json", "not a case"),
        ("many.toml", "more than 1000000 values"),
        ("latin.toml", "byte 12 is not UTF-8"),
        ("folder", "is not a file"),
        ("pipe", "is not a file"),
        ("huge.toml", "larger than 64 MiB"),
        ("none.toml", "cannot be read"),
    ] {
        let ran = place.run(&["triage", "--from", file, "--json"]);
        assert_eq!((ran.code, ran.said.as_str()), (3, ""), "{file}: {ran:?}");
        assert!(ran.complained.contains(words), "{file}: {ran:?}");
    }
    let negative = verdict(&place, &["triage", "--from", "negative.toml", "--json"]);
    assert_eq!((negative["verdict"].as_str(), negative["next"].as_str()), (Some("not_known"), Some("hand_over")));
    for form in ["--json", "--md", "--svg", "--language=vi"] {
        let ran = place.run(&["triage", "--from", "evil.json", form]);
        assert!(ran.code <= 3 && !ran.said.is_empty(), "{form}: {ran:?}");
        let raw = ran.said.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}');
        assert!(!raw && !ran.complained.contains('\u{1b}'), "{form}: {ran:?}");
    }
}

#[test]
fn what_is_misspelt_is_told_and_the_answer_stays_one_object() {
    let place = Place::new().file("case.toml", "payments = []\ncharge = []\n[[request]]\n\"ke\\u001by\" = 1\n");
    let ran = place.run(&["triage", "--from", "case.toml", "--json"]);
    assert_eq!(ran.said.lines().count(), 1, "{ran:?}");
    assert!(ran.complained.contains("the whole document has payments, which no case has"), "{ran:?}");
    assert!(ran.complained.contains("[[request]] row 1 has ke") && !ran.complained.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn ids_that_stand_twice_and_times_without_quotes_are_evidence() {
    let row =
        "[[charge]]\nref = \"a\"\nclass = \"succeeded\"\namount = 5\ncaptured = 5\ncurrency = \"EUR\"\ncreated_at = ";
    let text = format!("{row}9999-12-31T23:59:59Z\n{row}-9999-01-01T00:00:00Z\n");
    let place = Place::new().file("late.toml", &text.replace("-9999-01-01T00:00:00Z", "\"-9999-01-01T00:00:00Z\""));
    let is = verdict(&place, &["triage", "--from", "late.toml", "--json"]);
    assert_eq!(is["charges"].as_array().unwrap().len(), 1, "one ref is one charge: {is}");
    for form in ["--md", "--svg", "--language=vi"] {
        assert!(place.run(&["triage", "--from", "late.toml", form]).code <= 3);
    }
}

#[test]
fn a_pipe_that_never_ends_is_cut() {
    let place = Place::new();
    let zero = fs::File::open("/dev/zero").unwrap();
    let ran = place.command(&["triage", "--from", "-", "--json"]).stdin(zero).output().unwrap();
    assert_eq!(ran.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("larger than 64 MiB") && ran.stdout.is_empty());
    let device = place.run(&["triage", "--from", "/dev/zero", "--json"]);
    assert!(device.code == 3 && device.complained.contains("is not a file"), "{device:?}");
}

#[test]
fn without_a_database_it_is_not_known() {
    let none = Place::new().run(&["triage", "order A1", "--json"]);
    assert_eq!((none.code, none.said.as_str()), (3, ""), "{none:?}");
    let away = Place::new().with("UNSTUCK_DATABASE_URL", "postgres://nobody@127.0.0.1:9/none");
    let away = away.run(&["triage", "order A1"]);
    assert_eq!(away.code, 3, "{away:?}");
    assert!(away.complained.contains("NOT KNOWN"), "{away:?}");
}

#[test]
fn a_bundle_may_come_from_a_pipe() {
    let place = Place::new();
    let mut child = place
        .command(&["triage", "--from", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let case = fs::read(format!("{SHARED}/08-replayed.toml")).unwrap();
    child.stdin.take().unwrap().write_all(&case).unwrap();
    let said = child.wait_with_output().unwrap();
    let is: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!((is["verdict"].as_str(), is["note"].as_str()), (Some("charged_once"), Some("replayed")));
}
