//! Configurations, good and bad.

use std::path::{Path, PathBuf};

use super::*;

fn parse(text: &str) -> Result<Config, ConfigError> {
    read(Path::new("/c/unstuck.toml"), text, &|path| Err(ConfigError::Missing(path.to_owned())))
}

#[track_caller]
fn mistakes(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn the_example_is_a_configuration_and_names_the_defaults() {
    let config = parse(include_str!("../../../unstuck.example.toml")).unwrap();
    assert_eq!(config.environments.len(), 2);
    assert_eq!(config.providers.len(), 3);
    let (ours, default) = (&config.policy, Policy::default());
    let lengths = |p: &Policy| {
        [
            p.stuck_after,
            p.plan_life,
            p.evidence_freshness,
            p.not_found_gap,
            p.not_found_gap_max,
            p.key_margin,
            p.skew,
            p.hold_max,
        ]
    };
    assert_eq!(lengths(ours), lengths(&default), "the example promises to show the defaults");
    assert_eq!(ours.reason_min, default.reason_min);
    assert_eq!(ours.rules.retention_s, Some(86_400));
    let prod = &config.environments[0];
    assert_eq!(prod.environment.kind.band(), "PROD");
    assert_eq!(prod.mode, Some(Mode::Live));
    let acquirer = config.providers.iter().find(|p| p.name.as_str() == "acquirer").unwrap();
    assert_eq!(acquirer.terms.key_retention, Some(Seconds(86_400)));
    assert_eq!(config.normals.get("pending"), Some(&5));
}

#[test]
fn every_default_is_documented() {
    let example = include_str!("../../../unstuck.example.toml");
    for key in ["profile", "pooling", "file", "settle", "handed_over", "grace", "skew", "hold_max"] {
        assert!(example.contains(key), "{key}");
    }
}

#[test]
fn an_empty_file_is_all_defaults() {
    let config = parse("").unwrap();
    assert!(config.environments.is_empty() && config.providers.is_empty());
    assert_eq!(config.poll, None);
}

#[test]
fn all_mistakes_are_reported_at_once_with_file_and_line() {
    let said = mistakes(
        r#"environment = "nowhere"
poll = "500ms"
theme = "pink"
colour = 1
[environments.prod]
kind = "prod"
databse_url_env = "X"
providers = ["stirpe"]
[environments."Prod EU"]
kind = "production"
[policy]
hold_max = "2h"
not_found_gap = "1h"
ticket_pattern = "("
stuck_after = 300
[policy.rules]
retention_s = 5
[normal]
stuk = 0
stuck = -1
[providers.adyen]
base_url = "http://example.com"
"#,
    );
    for part in [
        "/c/unstuck.toml:1: `environment` names none",
        "/c/unstuck.toml:2: `poll`",
        "/c/unstuck.toml:3: `theme`",
        "/c/unstuck.toml:4: unknown key `colour` at the top of the file",
        "/c/unstuck.toml:6: `environments.prod.kind`",
        "/c/unstuck.toml:7: unknown key `databse_url_env` in [environments.prod]; did you mean `database_url_env`?",
        "/c/unstuck.toml:8: there is no section [providers.stirpe]",
        "/c/unstuck.toml:9: an environment's name",
        "/c/unstuck.toml:12: `policy.hold_max`",
        "no two look-ups could ever agree",
        "/c/unstuck.toml:14: `policy.ticket_pattern`",
        "/c/unstuck.toml:15: `policy.stuck_after` must be a text in quotes",
        "/c/unstuck.toml:17: unknown key `retention_s` in [policy.rules]",
        "/c/unstuck.toml:19: `stuk` in [normal] is not a signal",
        "/c/unstuck.toml:20: `normal.stuck` must be a whole number",
        "/c/unstuck.toml:21: there is no built-in adapter",
        "/c/unstuck.toml:22: `providers.adyen.base_url`",
        "17 mistakes in the configuration; nothing was started.",
    ] {
        assert!(said.contains(part), "{part}\nin\n{said}");
    }
}

#[test]
fn a_syntax_error_does_not_hide_the_rest() {
    let said = mistakes("poll = \n[policy]\nskew = 5\n[normal\n");
    assert!(said.contains(":1:") && said.contains(":3: `policy.skew`") && said.contains(":4:"), "{said}");
}

#[test]
fn secrets_in_the_file_are_refused_and_never_repeated() {
    for secret in [
        "[environments.a]\nkind = \"demo\"\ndatabase_url = \"postgres://me:hunter2@db/x\"\n",
        "[environments.a]\nkind = \"demo\"\ndatabase_url_env = \"postgres://me:hunter2@db/x\"\n",
        "[environments.a]\nkind = \"demo\"\npassword = \"hunter2\"\n",
        "[providers.stripe]\nsecret_env = \"sk_live_hunter2\"\n",
        "[providers.stripe]\nbase_url = \"https://me:hunter2@api.example.com\"\n",
        "database_url = \"postgres://db/x?password=hunter2\"\n",
    ] {
        let said = mistakes(secret);
        assert!(!said.contains("hunter2"), "{said}");
        assert!(said.contains("/c/unstuck.toml:"), "{said}");
    }
}

#[test]
fn adapter_files_report_their_own_lines() {
    let text = "[providers.mine]\nfile = \"mine.toml\"\n[providers.other]\nfile = \"gone.toml\"\n";
    let error = read(Path::new("/c/unstuck.toml"), text, &|path| {
        if path.ends_with("mine.toml") {
            Ok("name = \"x\"\namounts = \"float\"\n".to_owned())
        } else {
            Err(ConfigError::Missing(path.to_owned()))
        }
    })
    .unwrap_err()
    .to_string();
    assert!(error.contains("/c/mine.toml:2: `amounts`"), "{error}");
    assert!(error.contains("/c/unstuck.toml:4: /c/gone.toml: there is no such file"), "{error}");
}

#[test]
fn files_that_are_no_configuration_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let none = |_: &str| None;
    let around = Surroundings { variable: &none, here: folder.path(), system: folder.path() };
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let of = |path: &Path| load(Some(path), &around).unwrap_err();
    assert!(matches!(of(&folder.path().join("none.toml")), ConfigError::Missing(_)));
    assert!(matches!(of(folder.path()), ConfigError::Unreadable(..)));
    assert!(matches!(of(&write("latin.toml", b"a = 1\n# caf\xe9\n")), ConfigError::NotText(_, 2)));
    assert!(matches!(of(&write("huge.toml", &vec![b'#'; 300_000])), ConfigError::TooLarge(_)));
    assert!(matches!(of(Path::new("/dev/zero")), ConfigError::TooLarge(_)));
}

#[test]
fn files_are_looked_for_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let put = |path: PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        path
    };
    let home = at("home").display().to_string();
    let xdg = at("xdg").display().to_string();
    let (here, system) = (at("here"), at("etc"));
    let found = |xdg: Option<&str>, asked: Option<&Path>| {
        let variable = |name: &str| match name {
            "HOME" => Some(home.clone()),
            "XDG_CONFIG_HOME" => xdg.map(str::to_owned),
            _ => None,
        };
        find(asked, &Surroundings { variable: &variable, here: &here, system: &system })
    };
    assert_eq!(found(None, None), None);
    let etc = put(at("etc/unstuck/unstuck.toml"));
    assert_eq!(found(None, None), Some(etc));
    let dot = put(at("home/.config/unstuck/unstuck.toml"));
    assert_eq!(found(None, None), Some(dot.clone()));
    assert_eq!(found(Some("not/absolute"), None), Some(dot.clone()));
    assert_eq!(found(Some(""), None), Some(dot));
    let own = put(at("xdg/unstuck/unstuck.toml"));
    assert_eq!(found(Some(&xdg), None), Some(own));
    let local = put(at("here/unstuck.toml"));
    assert_eq!(found(Some(&xdg), None), Some(local));
    let asked = at("asked.toml");
    assert_eq!(found(None, Some(&asked)), Some(asked.clone()), "also when it is not there");
}
