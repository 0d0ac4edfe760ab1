//! The configuration, seen from outside.

use super::Place;

#[test]
fn all_mistakes_come_at_once_with_file_and_line() {
    let place = Place::new().file("unstuck.toml", "poll = \"5\"\ncolour = 1\n\n[policy]\nskew = 7\nhold = \"1m\"\n");
    for words in [vec!["check"], vec!["doctor"], vec!["show", "s", "k"], vec![]] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 3, "{ran:?}");
        for line in ["unstuck.toml:1:", "unstuck.toml:2:", "unstuck.toml:5:", "unstuck.toml:6:", "4 mistakes"] {
            assert!(ran.complained.contains(line), "{line} in {}", ran.complained);
        }
    }
}

#[test]
fn monitoring_gets_its_one_line_whatever_is_wrong() {
    let place = Place::new().file("unstuck.toml", "colour = 1\n");
    let line = place.run(&["check"]);
    assert!(line.said.starts_with("NOT KNOWN: ") && line.said.lines().count() == 1, "{line:?}");
    let json: serde_json::Value = serde_json::from_str(&place.run(&["check", "--json"]).said).unwrap();
    assert_eq!((&json["level"], &json["exit_code"]), (&"not_known".into(), &3.into()), "{json}");
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let ran = Place::new().run(&["--config", "gone.toml", "check"]);
    assert_eq!(ran.code, 3);
    assert!(ran.complained.contains("gone.toml: there is no such file"), "{}", ran.complained);
}

#[test]
fn without_a_database_the_way_out_is_said() {
    let ran = Place::new().run(&["check"]);
    assert_eq!(ran.code, 3);
    assert!(ran.said.starts_with("NOT KNOWN: no database") && ran.said.contains("UNSTUCK_DATABASE_URL"), "{ran:?}");
    assert_eq!(ran.said.lines().count(), 1, "check is one line");
    let console = Place::new().run(&[]);
    assert_eq!(console.code, 3);
    assert!(console.complained.contains("unstuck demo"), "{}", console.complained);
}

#[test]
fn a_database_that_is_away_is_not_known_and_its_password_is_not_told() {
    let away = Place::new().with("UNSTUCK_DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/payments");
    let check = away.run(&["check", "--json"]);
    assert_eq!(check.code, 3, "{check:?}");
    let json: serde_json::Value = serde_json::from_str(&check.said).unwrap();
    assert_eq!(json["level"], "not_known");
    assert_eq!(json["exit_code"], 3);
    for unknown in ["environment", "as_of", "alarms"] {
        assert!(json[unknown].is_null(), "{unknown} is not known, not empty: {json}");
    }
    let doctor = away.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "it has findings of its own: {doctor:?}");
    assert!(doctor.said.contains(" ?  database:") && doctor.said.contains("fix:"), "{}", doctor.said);
    let show = away.run(&["show", "shop-eu", "k1"]);
    assert_eq!(show.code, 3);
    for ran in [check, doctor, show] {
        assert!(!format!("{ran:?}").contains("hunter2"), "{ran:?}");
    }
}

#[test]
fn the_environment_is_never_guessed() {
    let two = "[environments.prod]\nkind = \"production\"\n[environments.dev]\nkind = \"development\"\n";
    let place = Place::new().file("unstuck.toml", two);
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, 3);
    assert!(ran.complained.contains("dev, prod") && ran.complained.contains("--environment NAME"), "{ran:?}");
    let nowhere = Place::new().with("UNSTUCK_DATABASE_URL", "postgres://127.0.0.1:1/x").run(&["--act"]);
    assert!(nowhere.code == 3 && nowhere.complained.contains("[environments.NAME]"), "{nowhere:?}");
    let odd = place.run(&["check", "--environment", "qa"]);
    assert!(odd.code == 3 && odd.complained.contains("no environment qa"), "{odd:?}");
}
