//! `unstuck doctor`: what the console can and cannot do here. Every line that is not ok says its fix.

mod database;

use super::out::{ExitCode, Out};
use super::settings::{OPERATOR, Settings, connect};
use crate::app::model::Acting;
use crate::domain::port::Store as _;
use crate::provider::OpenError;
use crate::shell::clock;

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// As it should be.
    Good,
    /// Wrong; the fix is known.
    Wrong,
    /// It could not be told.
    NotKnown,
}

/// One line of the doctor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How it stands.
    pub standing: Standing,
    /// What was looked at, and what was seen.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn good(what: impl Into<String>) -> Self {
        Self { standing: Standing::Good, what: what.into(), fix: None }
    }

    /// Wrong, with its fix.
    pub fn wrong(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { standing: Standing::Wrong, what: what.into(), fix: Some(fix.into()) }
    }

    /// Not known, with the way to know it.
    pub fn not_known(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { standing: Standing::NotKnown, what: what.into(), fix: Some(fix.into()) }
    }
}

/// Looks at everything and says what it saw.
pub async fn run(settings: &Settings, variable: &dyn Fn(&str) -> Option<String>, out: &mut Out<'_>) -> ExitCode {
    let mut findings = vec![configuration(settings), person(settings)];
    findings.extend(database(settings).await);
    findings.extend(providers(settings, variable));
    for finding in &findings {
        let sign = match finding.standing {
            Standing::Good => "ok",
            Standing::Wrong => "!!",
            Standing::NotKnown => " ?",
        };
        out.line(&format!("{sign}  {}", finding.what));
        if let Some(fix) = &finding.fix {
            out.line(&format!("      fix: {fix}"));
        }
    }
    code(&findings)
}

/// A finding is sure; only when there is none does what could not be told decide.
fn code(findings: &[Finding]) -> ExitCode {
    let any = |standing| findings.iter().any(|finding| finding.standing == standing);
    if any(Standing::Wrong) {
        ExitCode::Finding
    } else if any(Standing::NotKnown) {
        ExitCode::NotKnown
    } else {
        ExitCode::Ok
    }
}

fn configuration(settings: &Settings) -> Finding {
    let file = settings
        .file
        .as_ref()
        .map_or_else(|| "no file, everything at its default".to_owned(), |file| file.display().to_string());
    match &settings.environment {
        Some(place) => Finding::good(format!("configuration: {file}; environment {place} ({})", place.kind.band())),
        None => Finding::wrong(
            format!("configuration: {file}; it names no environment"),
            "start from unstuck.example.toml and write [environments.NAME]; the database has to agree with the name",
        ),
    }
}

fn person(settings: &Settings) -> Finding {
    let acting = match settings.acting {
        Acting::On => "changes may be planned (--act)",
        Acting::Off => "look-ups only (no --act)",
    };
    if settings.operator.as_str() == "unnamed" {
        Finding::wrong(
            format!("operator: no name; {acting}"),
            format!("set {OPERATOR} to your name: holds and notes carry it"),
        )
    } else {
        Finding::good(format!("operator: {}; {acting}", settings.operator))
    }
}

/// Connects once, and polls once for the clock.
async fn database(settings: &Settings) -> Vec<Finding> {
    let store = match connect::patient_store(settings) {
        Ok(store) => store,
        Err(error) => return vec![database::no_store(&error, settings)],
    };
    let facts = match store.connect().await {
        Ok(facts) => facts,
        Err(error) => return vec![database::no_connection(&error, settings)],
    };
    let mut findings = database::facts(&facts, settings);
    findings.push(match store.poll().await {
        Ok(snapshot) => database::clock(snapshot.db_now, clock::now(), settings.policy.skew),
        Err(error) => {
            Finding::not_known(format!("one poll: {error}"), "read the reason above; a slow poll often lacks an index")
        }
    });
    let profiles = connect::profiles(settings);
    let profile = profiles.iter().flat_map(|all| all.iter()).find(|profile| profile.name == facts.profile);
    findings.extend(database::indexes(store.missing_indexes(), profile));
    findings
}

fn providers(settings: &Settings, variable: &dyn Fn(&str) -> Option<String>) -> Vec<Finding> {
    let opened = connect::providers(settings, variable);
    if opened.is_empty() {
        return vec![Finding::wrong(
            "providers: none is configured, so nobody can be asked what happened to a charge",
            "write [providers.NAME] with the provider's name as the payment service writes it",
        )];
    }
    opened
        .into_iter()
        .map(|(name, opened)| match opened {
            Ok(provider) => Finding::good(match provider.terms().key_retention {
                Some(kept) => format!(
                    "provider {name}: can be asked (GET only); remembers a key for {}",
                    crate::domain::time::words(kept)
                ),
                None => format!(
                    "provider {name}: can be asked (GET only); does not say how long it remembers a key, \
                     so nothing is ever handed back to be charged"
                ),
            }),
            Err(error) => {
                let fix = fix_of(&error);
                Finding::wrong(error.to_string(), fix)
            }
        })
        .collect()
}

fn fix_of(error: &OpenError) -> String {
    match error {
        OpenError::NoAddress(_) | OpenError::BadAddress { .. } => {
            "write an https address as `base_url` of its section".to_owned()
        }
        OpenError::SecretMissing { variable, .. } => {
            format!("set {variable} to a restricted, read-only key of this provider")
        }
        OpenError::SecretTooStrong { variable, .. } | OpenError::SecretUnusable { variable, .. } => {
            format!("make a restricted, read-only key at the provider and set {variable} to it")
        }
        OpenError::BadHeader(_) => "correct `header` in [auth] of its adapter file".to_owned(),
        OpenError::NoTls(_) => "install the system's certificates (package ca-certificates)".to_owned(),
    }
}

#[cfg(test)]
mod tests;
