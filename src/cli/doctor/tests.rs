//! What the doctor says, and with which exit code.

use std::path::Path;

use super::*;
use crate::cli::args::Common;
use crate::cli::config;
use crate::domain::answer::Answer;
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::snapshot::{PanelOff, ServerFacts};
use crate::domain::time::{Now, Seconds};
use crate::store::library::Library;
use crate::store::profile;

fn settings(text: &str) -> Settings {
    let config = config::read(Path::new("unstuck.toml"), text, &|_| unreachable!()).unwrap();
    Settings::settle(&Common::default(), config, &|name| (name == "USER").then(|| "ada".to_owned())).unwrap()
}

const PROD: &str = "[environments.prod]\nkind = \"production\"\n";

fn facts() -> ServerFacts {
    ServerFacts {
        profile: "reference".into(),
        server: "PostgreSQL 15.18".into(),
        database: "payments".into(),
        role: "console".into(),
        environment: Some(Environment { name: "prod".into(), kind: EnvironmentKind::Production }),
        excess_rights: Answer::known(Vec::new(), clock::now().0),
        off: Vec::new(),
        sql: std::collections::BTreeMap::new(),
        read_only: None,
    }
}

#[track_caller]
fn one(findings: &[Finding], part: &str) -> Standing {
    let found: Vec<&Finding> = findings.iter().filter(|finding| finding.what.contains(part)).collect();
    assert_eq!(found.len(), 1, "{part} in {findings:?}");
    let good = found[0].standing == Standing::Good;
    assert_eq!(found[0].fix.is_none(), good, "what is not ok has a fix: {:?}", found[0]);
    found[0].standing
}

#[test]
fn a_healthy_place_is_all_ok() {
    let all = database::facts(&facts(), &settings(PROD));
    assert!(all.iter().all(|finding| finding.standing == Standing::Good), "{all:?}");
    assert_eq!(code(&all), ExitCode::Ok);
}

#[test]
fn rights_environments_and_panels_are_told_apart() {
    let mut odd = facts();
    odd.excess_rights = Answer::known((0..9).map(|n| format!("INSERT on t{n}")).collect(), clock::now().0);
    odd.read_only = Some("This database has no schema unstuck. See: unstuck install --print".into());
    odd.environment = Some(Environment { name: "prod".into(), kind: EnvironmentKind::Staging });
    odd.off = ["get_log", "get_evidence"]
        .map(|question| PanelOff { question: question.into(), why: "no schema unstuck".into() })
        .into();
    let all = database::facts(&odd, &settings(PROD));
    assert_eq!(one(&all, "and 4 more"), Standing::Wrong);
    assert_eq!(one(&all, "actions: not possible"), Standing::Wrong);
    assert_eq!(one(&all, "the database says prod (STAGING), the configuration prod (PROD)"), Standing::Wrong);
    assert_eq!(one(&all, "get_log, get_evidence not asked: no schema unstuck"), Standing::NotKnown);
    assert_eq!(code(&all), ExitCode::Finding, "a finding is sure");
    odd.excess_rights = Answer::not_known("permission denied");
    odd.environment = None;
    let all = database::facts(&odd, &settings(""));
    assert_eq!(one(&all, "rights: not known"), Standing::NotKnown);
    assert_eq!(one(&all, "does not say what it is"), Standing::NotKnown);
}

#[test]
fn what_could_not_be_told_is_not_ok() {
    assert_eq!(code(&[Finding::good("a"), Finding::not_known("b", "c")]), ExitCode::NotKnown);
}

#[test]
fn clocks_and_indexes_have_their_fix() {
    let here = clock::now();
    let apart = |seconds: u64| database::clock(Seconds(seconds).after(here.0), Now(here.0), Seconds(120)).standing;
    assert_eq!((apart(5), apart(600)), (Standing::Good, Standing::Wrong));
    let profiles = profile::load(&Library::shipped()).unwrap();
    let reference = profiles.iter().find(|profile| profile.name == "reference");
    let missing = database::indexes(
        Some(reference.unwrap().indexes.iter().filter(|index| index.name == "ix_keys_processing").cloned().collect()),
        reference,
    );
    assert_eq!(missing.len(), 1);
    assert!(missing[0].fix.as_ref().unwrap().starts_with("CREATE INDEX CONCURRENTLY ix_keys_processing"));
    assert_eq!(database::indexes(Some(Vec::new()), reference)[0].standing, Standing::Good);
    assert_eq!(database::indexes(None, None)[0].standing, Standing::NotKnown);
}

#[test]
fn providers_are_opened_and_their_secrets_missed() {
    let text =
        "[providers.stripe]\n[providers.lab]\n[providers.x]\nadapter = \"lab\"\nbase_url = \"http://127.0.0.1:1\"\n";
    let found =
        providers(&settings(text), &|name| (name == "UNSTUCK_STRIPE_KEY").then(|| "sk_live_hunter2".to_owned()));
    assert_eq!(one(&found, "begins with sk_live_"), Standing::Wrong);
    assert_eq!(one(&found, "lab has no address"), Standing::Wrong);
    assert_eq!(one(&found, "provider x: can be asked"), Standing::Good);
    assert!(!format!("{found:?}").contains("hunter2"));
    assert_eq!(one(&providers(&settings(""), &|_| None), "none is configured"), Standing::Wrong);
}
