//! What is learned on connecting: which profile fits, what its files answer here, what our role may do.
//!
//! Everything is asked on a connection of its own that is closed afterwards. The result is a [`Bound`]:
//! a profile with a standing for every question, which polls and actions share until the next connect.

mod rights;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::contract::{self, Question, Signature, Type, compare};
use super::gate::{Checked, plan};
use super::install;
use super::options::{Pooling, StoreOptions};
use super::profile::{Index, Installed, Profile, RuleFile};
use super::reading::{self, Given, Line, Reading};
use super::rows::Reader;
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::port::StoreError;
use crate::domain::snapshot::{PanelOff, ServerFacts};

/// How well a look around went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// Every question can be asked, or the profile says why not.
    Whole,
    /// Something does not fit the tables: somebody may put it right.
    Unfit,
    /// A lock or a time limit came first.
    CutShort,
}

impl Standing {
    fn of(trouble: &StoreError) -> Self {
        match trouble {
            StoreError::TimedOut { .. } => Self::CutShort,
            StoreError::Contract { .. } | StoreError::Database { .. } => Self::Unfit,
            // A right is tried again by the polls; what a profile cannot answer stays so.
            StoreError::Unreachable { .. } | StoreError::Denied { .. } | StoreError::CannotAnswer { .. } => Self::Whole,
        }
    }
}

/// A profile bound to one database: what can be asked here, and why the rest cannot.
pub(super) struct Bound {
    /// The profile.
    pub(super) profile: Arc<Profile>,
    /// What was learned.
    pub(super) facts: ServerFacts,
    questions: BTreeMap<Question, Result<Checked, StoreError>>,
    rules: Vec<(RuleFile, Option<StoreError>)>,
    missing_indexes: Vec<Index>,
}

impl Bound {
    /// The statement that answers, or why there is no answer.
    pub(super) fn question(&self, question: Question) -> Result<&Checked, StoreError> {
        match self.questions.get(&question) {
            Some(Ok(checked)) => Ok(checked),
            Some(Err(why)) => Err(why.clone()),
            None => Err(StoreError::CannotAnswer { why: format!("{} was not looked at", question.word()) }),
        }
    }

    /// Every rule, with the reason when it cannot be judged here.
    pub(super) fn rules(&self) -> &[(RuleFile, Option<StoreError>)] {
        &self.rules
    }

    /// The guarded call, when anything may be changed here.
    pub(super) fn call(&self, name: &str) -> Result<&Checked, String> {
        if let Some(why) = &self.facts.read_only {
            return Err(why.clone());
        }
        self.profile.call(name).ok_or_else(|| format!("profile {} has no {name}.sql", self.profile.name))
    }

    /// Whether the look should be taken again, and how soon.
    pub(super) fn standing(&self) -> Standing {
        let questions = self.questions.values().filter_map(|standing| standing.as_ref().err());
        let troubles = questions.chain(self.rules.iter().filter_map(|(_, why)| why.as_ref()));
        troubles.map(Standing::of).max().unwrap_or(Standing::Whole)
    }

    /// The profile's indexes that are not in the database.
    pub(super) fn missing_indexes(&self) -> &[Index] {
        &self.missing_indexes
    }
}

// The catalogue, asked by ourselves: which profile fits is not for a profile to say.
const COLUMNS: &str = "SELECT c.relname::text AS relation, a.attname::text AS name \
    FROM pg_catalog.pg_class c \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.pg_table_is_visible(c.oid) AND c.relname = ANY ($1)";

const SERVER: &str = "SELECT pg_catalog.current_setting('server_version') AS version, \
    pg_catalog.current_database()::text AS database, session_user::text AS role, \
    pg_catalog.pg_is_in_recovery() AS standby, \
    EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname = 'unstuck') AS installed";

const INDEXES: &str = "SELECT c.relname::text AS name FROM pg_catalog.pg_class c \
    WHERE c.relkind IN ('i', 'I') AND c.relname = ANY ($1)";

/// Connects, looks around, says goodbye.
pub(super) async fn look_around(options: &StoreOptions) -> Result<Bound, StoreError> {
    let line = Line::open(options).await?;
    let time = options.connect_within.saturating_mul(3);
    let read = reading::read(options, line, time, "looking around", async |reading: &mut Reading<'_>| {
        let bound = bind(options, reading).await?;
        if options.pooling == Pooling::Transaction {
            // Preparing names statements on a server connection that others get after us.
            reading.forget_statements().await?;
        }
        Ok(bound)
    })
    .await;
    if let Some(line) = read.line {
        line.close().await;
    }
    read.result
}

/// What the server says about itself.
struct Server {
    version: String,
    database: String,
    role: String,
    standby: bool,
    installed: Installed,
}

async fn bind(options: &StoreOptions, reading: &mut Reading<'_>) -> Result<Bound, StoreError> {
    let server = server(reading).await?;
    let profile = Arc::new(recognise(options, reading).await?);
    let questions = questions(&profile, server.installed, reading).await?;
    let mut rules = Vec::new();
    for file in &profile.rules {
        let standing = standing(&file.checked, &contract::rule_signature(), reading).await;
        only_about_the_file(reading, &standing)?;
        rules.push((file.clone(), standing.err()));
    }
    let environment = named(&questions, reading).await;
    let excess_rights = rights::read(&questions, reading).await;
    let read_only = match read_only(options, &profile, &server, &environment, reading).await? {
        None => {
            environment.as_ref().ok().and_then(Option::as_ref).and_then(|place| rights::too_many(place, &excess_rights))
        }
        why => why,
    };
    let missing_indexes = missing_indexes(&profile, reading).await?;
    let off = off(&questions, &rules);
    let facts = ServerFacts {
        profile: profile.name.clone(),
        server: format!("PostgreSQL {}", server.version.split(' ').next().unwrap_or("")),
        database: server.database,
        role: server.role,
        environment: environment.ok().flatten(),
        excess_rights,
        off,
        sql: texts(&questions, &profile),
        read_only,
    };
    Ok(Bound { profile, facts, questions, rules, missing_indexes })
}

/// What is sent for each question that is answered, and for each rule.
fn texts(questions: &BTreeMap<Question, Result<Checked, StoreError>>, profile: &Profile) -> BTreeMap<String, String> {
    let asked = questions.values().flatten().map(|checked| (checked.file().to_owned(), checked.sql().to_owned()));
    let judged = profile.rules.iter().map(|rule| {
        let name = format!("rules {}: {}", rule.rule.id, rule.rule.sentence);
        (name, rule.checked.sql().to_owned())
    });
    asked.chain(judged).collect()
}

async fn server(reading: &mut Reading<'_>) -> Result<Server, StoreError> {
    let rows = reading.ask_own("the server", sqlx::query(SERVER)).await?;
    let unreadable = || StoreError::Unreachable { why: "the server says nothing about itself".to_owned() };
    let row = rows.first().ok_or_else(unreadable)?;
    let reader = Reader::new("the server", row);
    Ok(Server {
        version: reader.text("version")?,
        database: reader.text("database")?,
        role: reader.text("role")?,
        standby: reader.flag("standby")?,
        installed: if reader.flag("installed")? { Installed::Yes } else { Installed::No },
    })
}

/// The profile all of whose columns are there. The one with most columns wins: it is the most particular.
async fn recognise(options: &StoreOptions, reading: &mut Reading<'_>) -> Result<Profile, StoreError> {
    if let Some(name) = &options.profile {
        let named = options.profiles.iter().find(|profile| profile.name == *name);
        return named.cloned().ok_or_else(|| StoreError::CannotAnswer { why: format!("there is no profile {name}") });
    }
    let tables: BTreeSet<&String> =
        options.profiles.iter().flat_map(|profile| profile.recognise.iter().map(|(table, _)| table)).collect();
    let tables: Vec<String> = tables.into_iter().cloned().collect();
    let rows = reading.ask_own("the catalogue", sqlx::query(COLUMNS).bind(tables)).await?;
    let found = rows
        .iter()
        .map(|row| {
            let reader = Reader::new("the catalogue", row);
            Ok((reader.text("relation")?, reader.text("name")?))
        })
        .collect::<Result<BTreeSet<(String, String)>, StoreError>>()?;
    fitting(&options.profiles, &found).cloned()
}

fn fitting<'p>(profiles: &'p [Profile], found: &BTreeSet<(String, String)>) -> Result<&'p Profile, StoreError> {
    let missing = |profile: &Profile| profile.recognise.iter().filter(|column| !found.contains(*column)).count();
    if let Some(profile) = profiles.iter().filter(|p| missing(p) == 0).max_by_key(|p| p.recognise.len()) {
        return Ok(profile);
    }
    let nearest = profiles.iter().min_by_key(|profile| missing(profile));
    let why = match nearest {
        None => "there is no profile".to_owned(),
        Some(nearest) => {
            let lacks: Vec<String> = nearest
                .recognise
                .iter()
                .filter(|column| !found.contains(*column))
                .take(3)
                .map(|(table, column)| format!("{table}.{column}"))
                .collect();
            format!(
                "no profile fits the tables of this database; {} comes nearest and lacks {}{}",
                nearest.name,
                lacks.join(", "),
                if missing(nearest) > lacks.len() { " …" } else { "" }
            )
        }
    };
    Err(StoreError::CannotAnswer { why })
}

async fn questions(
    profile: &Profile,
    installed: Installed,
    reading: &mut Reading<'_>,
) -> Result<BTreeMap<Question, Result<Checked, StoreError>>, StoreError> {
    let mut questions = BTreeMap::new();
    for question in Question::ALL {
        let standing = match profile.question(question, installed) {
            Ok(checked) => standing(checked, &question.signature(), reading).await.map(|()| checked.clone()),
            Err(why) => Err(StoreError::CannotAnswer { why }),
        };
        only_about_the_file(reading, &standing)?;
        questions.insert(question, standing);
    }
    Ok(questions)
}

/// Prepares one statement, compares it with the contract, and reads the server's plan of it.
async fn standing(checked: &Checked, signature: &Signature, reading: &mut Reading<'_>) -> Result<(), StoreError> {
    let described = reading.describe(checked).await?;
    compare(checked.file(), signature, &described)?;
    let samples: Vec<Given> = signature.parameters.iter().map(|field| sample(field.kind)).collect();
    let plan = reading.plan(checked, &samples).await?;
    plan::only_reads(&plan).map_err(|not| StoreError::CannotAnswer { why: format!("{}: {not}", checked.file()) })
}

/// A file's own fault switches its panel off; a lost connection or a used-up time fails the connect,
/// because the rest was never looked at.
fn only_about_the_file<T>(reading: &Reading<'_>, standing: &Result<T, StoreError>) -> Result<(), StoreError> {
    match standing {
        Err(error) if reading.is_lost() || matches!(error, StoreError::Unreachable { .. }) => Err(error.clone()),
        Err(_) | Ok(_) => Ok(()),
    }
}

/// Values to plan with: none of them selects everything.
fn sample(kind: Type) -> Given {
    match kind {
        Type::Int4 | Type::Int8 | Type::Float8 => Given::Int(60),
        Type::Text | Type::Bool => Given::Text("sample".to_owned()),
        Type::Timestamptz => Given::At(chrono::DateTime::from_timestamp(1_700_000_000, 0)),
        Type::Jsonb => Given::Json(serde_json::json!({
            "retention_s": 60, "retry_window_s": 60, "provider_timeout_s": 60,
            "outbox_limit_s": 60, "saga_limit_s": 60, "grace_s": 1,
        })),
    }
}

async fn ask(
    questions: &BTreeMap<Question, Result<Checked, StoreError>>,
    question: Question,
    reading: &mut Reading<'_>,
) -> Result<(String, Vec<PgRow>), StoreError> {
    match questions.get(&question) {
        Some(Ok(checked)) => Ok((checked.file().to_owned(), reading.ask(checked, &[]).await?)),
        Some(Err(why)) => Err(why.clone()),
        None => Err(StoreError::CannotAnswer { why: "not asked".to_owned() }),
    }
}

/// What the database says it is; `None` when it says nothing.
async fn named(
    questions: &BTreeMap<Question, Result<Checked, StoreError>>,
    reading: &mut Reading<'_>,
) -> Result<Option<Environment>, StoreError> {
    let (file, rows) = ask(questions, Question::Environment, reading).await?;
    rows.first().map(|row| environment(&file, row)).transpose()
}

fn environment(file: &str, row: &PgRow) -> Result<Environment, StoreError> {
    let reader = Reader::new(file, row);
    let word = reader.text("kind")?;
    let kinds =
        [EnvironmentKind::Production, EnvironmentKind::Staging, EnvironmentKind::Development, EnvironmentKind::Demo];
    let Some(kind) = kinds.into_iter().find(|kind| install::kind_word(*kind) == word) else {
        return Err(reader.wrong("kind", "production, staging, development or demo", word));
    };
    Ok(Environment { name: reader.text("name")?, kind })
}

/// The reason why nothing can be changed here; `None` = guarded changes are possible.
async fn read_only(
    options: &StoreOptions,
    profile: &Profile,
    server: &Server,
    environment: &Result<Option<Environment>, StoreError>,
    reading: &mut Reading<'_>,
) -> Result<Option<String>, StoreError> {
    if let Some(why) = profile.only_reads() {
        return Ok(Some(why));
    }
    if server.installed == Installed::No {
        return Ok(Some("This database has no schema unstuck. See: unstuck install --print".to_owned()));
    }
    if server.standby {
        return Ok(Some("This server is a standby: it only reads.".to_owned()));
    }
    let environment = match environment {
        Ok(Some(environment)) => environment,
        Ok(None) => {
            let why = "This database does not say which environment it is. See: unstuck install";
            return Ok(Some(why.to_owned()));
        }
        Err(why) => return Ok(Some(why.to_string())),
    };
    if let Some(ours) = options.environment.as_ref().filter(|ours| *ours != environment) {
        return Ok(Some(format!(
            "The database says it is {} ({}), the configuration says {} ({}).",
            environment.name,
            environment.kind.band(),
            ours.name,
            ours.kind.band()
        )));
    }
    for (_, checked) in profile.calls() {
        let described = reading.describe(checked).await;
        only_about_the_file(reading, &described)?;
        let fits =
            described.and_then(|described| Ok(compare(checked.file(), &contract::call_signature(), &described)?));
        if let Err(why) = fits {
            return Ok(Some(why.to_string()));
        }
    }
    Ok(None)
}

async fn missing_indexes(profile: &Profile, reading: &mut Reading<'_>) -> Result<Vec<Index>, StoreError> {
    let names: Vec<String> = profile.indexes.iter().map(|index| index.name.clone()).collect();
    let rows = reading.ask_own("the catalogue", sqlx::query(INDEXES).bind(names)).await?;
    let found: BTreeSet<String> = rows.iter().filter_map(|row| row.try_get("name").ok()).collect();
    Ok(profile.indexes.iter().filter(|index| !found.contains(&index.name)).cloned().collect())
}

fn off(
    questions: &BTreeMap<Question, Result<Checked, StoreError>>,
    rules: &[(RuleFile, Option<StoreError>)],
) -> Vec<PanelOff> {
    let of_questions = questions.iter().filter_map(|(question, standing)| {
        let why = standing.as_ref().err()?.to_string();
        Some(PanelOff { question: question.word().to_owned(), why })
    });
    let of_rules = rules
        .iter()
        .filter_map(|(file, why)| Some(PanelOff { question: file.rule.id.clone(), why: why.as_ref()?.to_string() }));
    of_questions.chain(of_rules).collect()
}

impl From<contract::Mismatch> for StoreError {
    fn from(mismatch: contract::Mismatch) -> Self {
        Self::Contract {
            file: mismatch.file,
            column: mismatch.column,
            expected: mismatch.expected,
            found: mismatch.found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::library::Library;

    fn profiles() -> Vec<Profile> {
        crate::store::profile::load(&Library::shipped()).unwrap()
    }

    #[test]
    fn a_profile_fits_when_all_its_columns_are_there() {
        let profiles = profiles();
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        let found: BTreeSet<(String, String)> = reference.recognise.iter().cloned().collect();
        assert_eq!(fitting(&profiles, &found).unwrap().name, "reference");
    }

    #[test]
    fn when_none_fits_the_nearest_says_what_it_lacks() {
        let profiles = profiles();
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        let found: BTreeSet<(String, String)> = reference.recognise.iter().skip(1).cloned().collect();
        let why = fitting(&profiles, &found).unwrap_err().to_string();
        assert!(why.contains("reference comes nearest and lacks idempotency_keys.scope"), "{why}");
        assert!(fitting(&[], &found).is_err());
    }
}
