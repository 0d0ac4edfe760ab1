//! Profiles: one folder of query files per schema dialect, every file through the gate at load.
//!
//! Owns what a profile must have: an answer or a reason for every question, a header for every rule,
//! all ten guarded calls or none. Every mistake names its file, and all of them are told at once.
//! Knows no connection.

mod header;
mod loading;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::contract::Question;
use super::gate::{self, Checked};
use super::library::Library;
use crate::domain::rule::Rule;
use loading::{Loaded, Loading};

/// A mistake in a profile, with the file it is in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct Mistake {
    /// The file.
    pub file: String,
    /// What is wrong.
    pub why: String,
}

impl Mistake {
    /// A mistake in `file`.
    pub fn new(file: impl fmt::Display, why: impl Into<String>) -> Self {
        Self { file: file.to_string(), why: why.into() }
    }
}

/// All mistakes of all profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}

impl From<Vec<Mistake>> for Mistakes {
    fn from(mistakes: Vec<Mistake>) -> Self {
        Self(mistakes)
    }
}

/// One invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFile {
    /// What its header says.
    pub rule: Rule,
    /// The policy values it cannot be judged without.
    pub needs: Vec<String>,
    /// The query whose result must be empty.
    pub checked: Checked,
}

/// What acting needs: the schema with the log and the functions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The schema.
    pub schema: String,
    /// The script that makes it.
    pub file: String,
    /// The folder whose files take the place of the others while the schema is absent.
    pub without: Option<String>,
    /// Questions that have no answer while it is absent.
    #[serde(default)]
    pub needs_schema: Vec<String>,
}

/// An index the questions are paid with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// The table it is on.
    pub table: String,
    /// The statement that makes it.
    pub definition: String,
    /// Which questions it serves.
    pub why: String,
}

/// Whether schema `unstuck` is in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    /// It is.
    Yes,
    /// It is not: the console only reads.
    No,
}

/// One schema dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its folder's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// `table.column` of everything it is recognised by.
    pub recognise: Vec<(String, String)>,
    /// What this schema calls the statuses of the contract, for people.
    pub status: BTreeMap<String, Vec<String>>,
    /// What acting needs; `None` = a profile that only reads.
    pub install: Option<Install>,
    /// Questions that are answered in part, and what is missing.
    pub partly: BTreeMap<String, String>,
    /// The indexes.
    pub indexes: Vec<Index>,
    /// The invariants, by id.
    pub rules: Vec<RuleFile>,
    /// Invariants of other profiles that this schema cannot be judged by, and why.
    pub rules_off: Vec<(Rule, String)>,
    cannot_call: BTreeMap<&'static str, String>,
    cannot: BTreeMap<Question, String>,
    questions: BTreeMap<Question, Checked>,
    uninstalled: BTreeMap<Question, Checked>,
    calls: BTreeMap<&'static str, Checked>,
}

impl Profile {
    /// The query that answers, or the reason why there is none.
    pub fn question(&self, question: Question, installed: Installed) -> Result<&Checked, String> {
        if let Some(why) = self.cannot.get(&question) {
            return Err(why.clone());
        }
        if installed == Installed::No
            && let Some(install) = &self.install
        {
            if install.needs_schema.iter().any(|word| word == question.word()) {
                return Err(format!("This database has no schema {}. See: unstuck install --print", install.schema));
            }
            if let Some(other) = self.uninstalled.get(&question) {
                return Ok(other);
            }
        }
        self.questions.get(&question).ok_or_else(|| format!("profile {} has no {}.sql", self.name, question.word()))
    }

    /// The guarded call of this name.
    pub fn call(&self, name: &str) -> Option<&Checked> {
        self.calls.get(name)
    }

    /// Why nothing can be changed through this profile; `None` when it has the guarded calls.
    pub fn only_reads(&self) -> Option<String> {
        if self.install.is_some() {
            return None;
        }
        let why = self.cannot_call.get("do_adopt").or_else(|| self.cannot_call.values().next());
        let why = why.map_or("its schema has no guarded functions", |why| why.trim_start_matches("read only: "));
        Some(format!("Profile {} only reads: {why}.", self.name))
    }

    /// Every guarded call.
    pub fn calls(&self) -> impl Iterator<Item = (&'static str, &Checked)> {
        self.calls.iter().map(|(name, checked)| (*name, checked))
    }
}

/// Loads every profile of the library.
///
/// # Errors
/// Every mistake of every file.
pub fn load(library: &Library) -> Result<Vec<Profile>, Mistakes> {
    let mut mistakes = Vec::new();
    let mut loaded = Vec::new();
    for name in library.profiles() {
        match Loading::new(library, &name).run() {
            Ok(profile) => loaded.push(profile),
            Err(more) => mistakes.extend(more),
        }
    }
    // A rule that is not judged here is shown all the same, in the words of the profile that has it.
    let known: BTreeMap<String, Rule> = loaded
        .iter()
        .flat_map(|loaded| loaded.profile.rules.iter().map(|file| (file.rule.id.clone(), file.rule.clone())))
        .collect();
    let mut profiles = Vec::new();
    for Loaded { mut profile, cannot_judge } in loaded {
        for (id, why) in cannot_judge {
            match known.get(&id) {
                Some(rule) => profile.rules_off.push((rule.clone(), why)),
                None if mistakes.is_empty() => {
                    let place = format!("{}/profile.toml", profile.name);
                    mistakes.push(Mistake::new(place, format!("{id} in [cannot] is no question, call or rule")));
                }
                None => {}
            }
        }
        profile.rules_off.sort_by_key(|(rule, _)| (rule.id.len(), rule.id.clone()));
        profiles.push(profile);
    }
    if mistakes.is_empty() { Ok(profiles) } else { Err(Mistakes(mistakes)) }
}

impl From<gate::Refused> for Mistake {
    fn from(refused: gate::Refused) -> Self {
        Self { why: refused.reason.to_string(), file: refused.file }
    }
}

#[cfg(test)]
mod tests {
    use super::super::gate::CALLS;
    use super::*;

    fn shipped_with(path: &str, text: Option<&str>) -> Result<Vec<Profile>, Mistakes> {
        let shipped = Library::shipped();
        let mut files: BTreeMap<String, String> = shipped
            .of_profile("reference")
            .into_iter()
            .map(|(name, source)| (format!("reference/{name}"), source.text))
            .collect();
        match text {
            Some(text) => drop(files.insert(path.to_owned(), text.to_owned())),
            None => drop(files.remove(path)),
        }
        load(&Library::of(files.iter().map(|(path, text)| (path.as_str(), text.as_str()))))
    }

    fn only_mistake(path: &str, text: Option<&str>) -> String {
        let mistakes = shipped_with(path, text).unwrap_err();
        assert_eq!(mistakes.0.len(), 1, "{mistakes}");
        mistakes.to_string()
    }

    #[test]
    fn the_shipped_profiles_load() {
        let profiles = load(&Library::shipped()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        assert_eq!(reference.calls().count(), CALLS.len());
        for question in Question::ALL {
            assert!(reference.question(question, Installed::Yes).is_ok(), "{question:?}");
        }
        assert!(reference.question(Question::Log, Installed::No).unwrap_err().contains("unstuck install --print"));
        let without = reference.question(Question::Stuck, Installed::No).unwrap();
        assert_eq!(without.file(), "reference/uninstalled/get_stuck.sql");
    }

    #[test]
    fn a_missing_file_is_named() {
        assert_eq!(
            only_mistake("reference/get_stuck.sql", None),
            "reference/get_stuck.sql: is missing; answer it, or say in [cannot] why not"
        );
        assert_eq!(only_mistake("reference/do_adopt.sql", None), "reference/do_adopt.sql: is missing");
    }

    #[test]
    fn an_unknown_file_is_named() {
        assert_eq!(
            only_mistake("reference/get_everything.sql", Some("-- x\nSELECT 1")),
            "reference/get_everything.sql: is not a file the console knows"
        );
        assert!(only_mistake("reference/do_erase.sql", Some("SELECT 1")).contains("reference/do_erase.sql"));
    }

    #[test]
    fn a_file_the_gate_refuses_is_named_with_the_reason() {
        assert_eq!(
            only_mistake("reference/get_stuck.sql", Some("SELECT pg_sleep(1)")),
            "reference/get_stuck.sql: the function pg_sleep is not on the list"
        );
        let script = "CREATE SCHEMA unstuck; DELETE FROM payments";
        assert!(only_mistake("reference/install.sql", Some(script)).contains("not on the list"));
    }

    #[test]
    fn a_wrong_profile_file_says_where() {
        let text = "name = \"reference\"\ndescription = \"x\"\ncolour = 3\n[recognise]\ncolumns = [\"a.b\"]\n";
        let said = only_mistake("reference/profile.toml", Some(text));
        assert!(said.starts_with("reference/profile.toml: TOML parse error at line 3"), "{said}");
    }

    #[test]
    fn a_question_cannot_both_have_an_answer_and_none() {
        let text = Library::shipped()
            .text("reference/profile.toml")
            .unwrap()
            .replace("[cannot]", "[cannot]\nget_stuck = \"no\"\nget_weather = \"no\"");
        let mistakes = shipped_with("reference/profile.toml", Some(&text)).unwrap_err().to_string();
        assert!(mistakes.contains("get_weather is not a question"), "{mistakes}");
        assert!(mistakes.contains("reference/get_stuck.sql: answers a question"), "{mistakes}");
    }
}
