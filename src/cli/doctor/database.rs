//! What the doctor says about the database: pure sentences over what was learned.

use std::collections::BTreeMap;

use super::Finding;
use crate::cli::settings::Settings;
use crate::cli::settings::connect::NoStore;
use crate::domain::answer::Answer;
use crate::domain::environment::EnvironmentKind;
use crate::domain::port::StoreError;
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::{self, Instant, Now, Seconds};
use crate::store::profile::{Index, Profile};

/// Nothing could be tried.
pub fn no_store(error: &NoStore, settings: &Settings) -> Finding {
    match error {
        NoStore::Settings(_) => Finding::not_known(
            format!("database: {} is not set", settings.database_variable),
            format!(
                "set {} to an address such as postgres://unstuck_console@host/payments",
                settings.database_variable
            ),
        ),
        NoStore::Store(why) => {
            Finding::wrong(format!("database: {why}"), format!("correct the address in {}", settings.database_variable))
        }
        NoStore::Queries(why) => {
            Finding::wrong(format!("query files: {why}"), "correct the files of --queries, or start without it")
        }
    }
}

/// The server could not be reached, or would not have us.
pub fn no_connection(error: &StoreError, settings: &Settings) -> Finding {
    let variable = &settings.database_variable;
    let fix = match error {
        StoreError::Unreachable { .. } => format!("check the server, the network and the address in {variable}"),
        StoreError::Denied { .. } => "grant the role unstuck_operator (see: unstuck install --print)".to_owned(),
        StoreError::TimedOut { .. } => "try again; if it stays so, ask who holds the locks".to_owned(),
        StoreError::Contract { .. } => "correct the query file, or start without --queries".to_owned(),
        StoreError::CannotAnswer { .. } => {
            "is this the payment service's database? If it is, write a profile for its schema (--queries)".to_owned()
        }
        StoreError::Database { .. } => format!("check user, password and database in {variable}"),
    };
    Finding::not_known(format!("database: {error}"), fix)
}

/// What was learned on connecting.
pub fn facts(facts: &ServerFacts, settings: &Settings) -> Vec<Finding> {
    let mut findings = vec![
        Finding::good(format!("database: {} on {}, as role {}", facts.database, facts.server, facts.role)),
        Finding::good(format!("profile: {}", facts.profile)),
        environment(facts, settings),
        rights(facts),
    ];
    findings.push(match &facts.read_only {
        None => Finding::good("actions: look-up, resume, hold, release, note and hand over are possible"),
        Some(why) => Finding::wrong(format!("actions: not possible. {why}"), fix_of_actions(facts)),
    });
    findings.extend(panels(facts));
    findings
}

/// What brings the actions back. Rights are the reason only where the database says it is production.
fn fix_of_actions(facts: &ServerFacts) -> &'static str {
    let production = facts.environment.as_ref().is_some_and(|place| place.kind == EnvironmentKind::Production);
    if production && facts.excess_rights.value().is_none_or(|rights| !rights.is_empty()) {
        "see rights, above; until then the console reads, and look-ups are not stored"
    } else {
        "an administrator runs: unstuck install --apply --environment NAME --kind KIND; until then the console reads"
    }
}

fn environment(facts: &ServerFacts, settings: &Settings) -> Finding {
    match (&facts.environment, &settings.environment) {
        (Some(theirs), Some(ours)) if theirs == ours => {
            Finding::good(format!("environment: both sides say {ours} ({})", ours.kind.band()))
        }
        (Some(theirs), Some(ours)) => Finding::wrong(
            format!(
                "environment: the database says {theirs} ({}), the configuration {ours} ({})",
                theirs.kind.band(),
                ours.kind.band()
            ),
            "make sure that you are where you think you are; then correct the configuration",
        ),
        (Some(theirs), None) => Finding::wrong(
            format!("environment: the database says {theirs}, the configuration names none"),
            format!("write [environments.{theirs}] with its kind into unstuck.toml"),
        ),
        (None, _) => Finding::not_known(
            "environment: the database does not say what it is",
            "an administrator names it: unstuck install --apply --environment NAME --kind KIND",
        ),
    }
}

fn rights(facts: &ServerFacts) -> Finding {
    match &facts.excess_rights {
        Answer::Known { value, .. } if value.is_empty() => {
            Finding::good(format!("rights: role {} may SELECT and EXECUTE, nothing else", facts.role))
        }
        Answer::Known { value, .. } => Finding::wrong(
            format!("rights: role {} may do more than it needs: {}", facts.role, few(value)),
            "connect as a role that is only a member of unstuck_operator: then the console cannot remove anything, \
             whatever happens",
        ),
        Answer::NotKnown { why } => {
            Finding::not_known(format!("rights: not known ({why})"), "let the role read pg_catalog")
        }
    }
}

/// The first few, and how many more.
fn few(all: &[String]) -> String {
    let shown: Vec<&str> = all.iter().take(5).map(String::as_str).collect();
    match all.len().saturating_sub(shown.len()) {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Questions with the same reason stand in one line.
fn panels(facts: &ServerFacts) -> Vec<Finding> {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for off in &facts.off {
        by_reason.entry(&off.why).or_default().push(&off.question);
    }
    if by_reason.is_empty() {
        return vec![Finding::good("contract: every question and every invariant can be asked")];
    }
    by_reason
        .into_iter()
        .map(|(why, questions)| {
            Finding::not_known(
                format!("contract: {} not asked: {why}", questions.join(", ")),
                "the panels say NOT KNOWN; correct the file or the schema, or live without them",
            )
        })
        .collect()
}

/// The difference of the two clocks: holds, leases and evidence are judged by the database's.
pub fn clock(theirs: Instant, ours: Now, allowed: Seconds) -> Finding {
    let apart = time::age(theirs, ours.0).max(time::until(theirs, ours.0));
    if apart > allowed {
        Finding::wrong(
            format!("clocks: this machine and the database are {} apart", time::words(apart)),
            "set both by NTP: a look-up is dated here and judged there",
        )
    } else {
        Finding::good(format!("clocks: {} apart, {} allowed", time::words(apart), time::words(allowed)))
    }
}

/// Missing indexes, each with the statement that makes it.
pub fn indexes(missing: Option<Vec<Index>>, profile: Option<&Profile>) -> Vec<Finding> {
    let (Some(missing), Some(profile)) = (missing, profile) else {
        return vec![Finding::not_known("indexes: not looked at", "connect first")];
    };
    if missing.is_empty() {
        let count = profile.indexes.len();
        return vec![Finding::good(format!("indexes: all {count} are there"))];
    }
    missing
        .into_iter()
        .map(|index| Finding::wrong(format!("indexes: {} is missing: {}", index.name, index.why), index.definition))
        .collect()
}
