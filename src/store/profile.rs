//! Profiles: one folder of query files per schema dialect, every file through the gate at load.
//!
//! Owns what a profile must have: an answer or a reason for every question, a header for every rule,
//! all ten guarded calls or none. Every mistake names its file, and all of them are told at once.
//! Knows no connection.

mod header;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use super::contract::Question;
use super::gate::{self, CALLS, Checked};
use super::library::{Library, Source};
use crate::domain::rule::Rule;

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

/// The head of `profile.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    description: String,
    recognise: Recognise,
    #[serde(default)]
    status: BTreeMap<String, Vec<String>>,
    install: Option<Install>,
    #[serde(default)]
    cannot: BTreeMap<String, String>,
    #[serde(default)]
    partly: BTreeMap<String, String>,
    #[serde(default)]
    index: Vec<Index>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recognise {
    columns: Vec<String>,
}

/// What a schema has no answer for, and why.
#[derive(Default)]
struct Cannot {
    questions: BTreeMap<Question, String>,
    calls: BTreeMap<&'static str, String>,
    rules: Vec<(String, String)>,
}

/// Loads every profile of the library.
///
/// # Errors
/// Every mistake of every file.
pub fn load(library: &Library) -> Result<Vec<Profile>, Mistakes> {
    let mut mistakes = Vec::new();
    let mut loaded = Vec::new();
    for name in library.profiles() {
        let loading = Loading { name: name.clone(), files: library.of_profile(&name), mistakes: Vec::new() };
        match loading.run() {
            Ok(profile) => loaded.push(profile),
            Err(more) => mistakes.extend(more),
        }
    }
    // A rule that is not judged here is shown all the same, in the words of the profile that has it.
    let known: BTreeMap<String, Rule> = loaded
        .iter()
        .flat_map(|(profile, _)| profile.rules.iter().map(|file| (file.rule.id.clone(), file.rule.clone())))
        .collect();
    let mut profiles = Vec::new();
    for (mut profile, cannot_judge) in loaded {
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

/// One profile on its way in.
struct Loading {
    name: String,
    files: BTreeMap<String, Source>,
    mistakes: Vec<Mistake>,
}

impl Loading {
    fn run(mut self) -> Result<(Profile, Vec<(String, String)>), Vec<Mistake>> {
        let place = format!("{}/profile.toml", self.name);
        let Some(source) = self.files.remove("profile.toml") else {
            return Err(vec![Mistake::new(place, "is missing")]);
        };
        let head: Head = match toml::from_str(&source.text) {
            Ok(head) => head,
            Err(error) => return Err(vec![Mistake::new(source.file, error.to_string().trim())]),
        };
        if head.name != self.name {
            let why = format!("is named {:?}, its folder {:?}", head.name, self.name);
            self.mistakes.push(Mistake::new(&source.file, why));
        }
        let Cannot { questions: cannot, calls: cannot_call, rules: cannot_judge } = self.cannot(&source.file, &head);
        let needs = head.install.as_ref().map(|install| install.needs_schema.clone()).unwrap_or_default();
        for word in needs.iter().chain(head.partly.keys()).filter(|word| Question::from_word(word).is_none()) {
            self.mistakes.push(Mistake::new(&source.file, format!("{word} is not a question the console asks")));
        }
        for question in Question::ALL {
            let path = format!("{}.sql", question.word());
            if !self.files.contains_key(&path) && !cannot.contains_key(&question) {
                let why = "is missing; answer it, or say in [cannot] why not";
                self.mistakes.push(Mistake::new(format!("{}/{path}", self.name), why));
            }
        }
        let questions = self.questions("", &cannot);
        let without = head.install.as_ref().and_then(|install| install.without.clone());
        let uninstalled = without.map(|folder| self.questions(&format!("{folder}/"), &cannot)).unwrap_or_default();
        let rules = self.rules();
        let calls = self.calls(head.install.as_ref(), &cannot_call);
        self.script(head.install.as_ref());
        self.files.remove("schema.sql");
        for source in self.files.values() {
            self.mistakes.push(Mistake::new(&source.file, "is not a file the console knows"));
        }
        let recognise = self.recognise(&source.file, &head.recognise.columns);
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let profile = Profile {
            name: head.name,
            description: head.description,
            recognise,
            status: head.status,
            install: head.install,
            partly: head.partly,
            indexes: head.index,
            rules,
            rules_off: Vec::new(),
            cannot_call,
            cannot,
            questions,
            uninstalled,
            calls,
        };
        Ok((profile, cannot_judge))
    }

    /// Sorts what has no answer. A word that is neither question nor call must be a rule of another profile.
    fn cannot(&mut self, file: &str, head: &Head) -> Cannot {
        let mut cannot = Cannot::default();
        for (word, why) in &head.cannot {
            if let Some(question) = Question::from_word(word) {
                cannot.questions.insert(question, why.clone());
            } else if let Some(call) = CALLS.iter().find(|call| *call == word) {
                cannot.calls.insert(call, why.clone());
            } else if word.starts_with("get_") || word.starts_with("do_") {
                self.mistakes.push(Mistake::new(file, format!("{word} is not a question the console asks")));
            } else {
                cannot.rules.push((word.clone(), why.clone()));
            }
        }
        cannot
    }

    fn questions(&mut self, folder: &str, cannot: &BTreeMap<Question, String>) -> BTreeMap<Question, Checked> {
        let mut found = BTreeMap::new();
        for question in Question::ALL {
            let Some(source) = self.files.remove(&format!("{folder}{}.sql", question.word())) else {
                continue;
            };
            if cannot.contains_key(&question) {
                self.mistakes.push(Mistake::new(&source.file, "answers a question that [cannot] says has no answer"));
            }
            match gate::read(&source.file, &source.text) {
                Ok(checked) => drop(found.insert(question, checked)),
                Err(refused) => self.mistakes.push(refused.into()),
            }
        }
        found
    }

    fn rules(&mut self) -> Vec<RuleFile> {
        let paths: Vec<String> = self.files.keys().filter(|path| path.starts_with("rules/")).cloned().collect();
        let mut rules = Vec::new();
        let mut ids = BTreeSet::new();
        for source in paths.iter().filter_map(|path| self.files.remove(path)).collect::<Vec<_>>() {
            match (header::parse(&source.file, &source.text), gate::read(&source.file, &source.text)) {
                (Ok((rule, needs)), Ok(checked)) => {
                    if !ids.insert(rule.id.clone()) {
                        let why = format!("there is another rule {}", rule.id);
                        self.mistakes.push(Mistake::new(&source.file, why));
                    }
                    rules.push(RuleFile { rule, needs, checked });
                }
                (header, gate) => {
                    self.mistakes.extend(header.err().into_iter().flatten());
                    self.mistakes.extend(gate.err().map(Mistake::from));
                }
            }
        }
        // I2 before I10.
        rules.sort_by_key(|file| (file.rule.id.len(), file.rule.id.clone()));
        rules
    }

    fn calls(
        &mut self,
        install: Option<&Install>,
        cannot: &BTreeMap<&'static str, String>,
    ) -> BTreeMap<&'static str, Checked> {
        let mut calls = BTreeMap::new();
        for name in CALLS {
            let path = format!("{name}.sql");
            match self.files.remove(&path) {
                Some(source) if install.is_none() => {
                    self.mistakes.push(Mistake::new(&source.file, "a profile without [install] cannot act"));
                }
                Some(source) => match gate::change(&source.file, &source.text) {
                    Ok(checked) => drop(calls.insert(*name, checked)),
                    Err(refused) => self.mistakes.push(refused.into()),
                },
                None if install.is_some() && !cannot.contains_key(name) => {
                    self.mistakes.push(Mistake::new(format!("{}/{path}", self.name), "is missing"));
                }
                None => {}
            }
        }
        calls
    }

    fn script(&mut self, install: Option<&Install>) {
        let Some(install) = install else { return };
        match self.files.remove(&install.file) {
            Some(source) => {
                if let Err(refused) = gate::install(&source.file, &source.text) {
                    self.mistakes.push(refused.into());
                }
            }
            None => self.mistakes.push(Mistake::new(format!("{}/{}", self.name, install.file), "is missing")),
        }
    }

    fn recognise(&mut self, file: &str, columns: &[String]) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for column in columns {
            match column.split_once('.') {
                Some((table, name)) => pairs.push((table.to_owned(), name.to_owned())),
                None => self.mistakes.push(Mistake::new(file, format!("{column} is not table.column"))),
            }
        }
        if pairs.is_empty() {
            self.mistakes.push(Mistake::new(file, "says nothing to recognise the schema by"));
        }
        pairs
    }
}

impl From<gate::Refused> for Mistake {
    fn from(refused: gate::Refused) -> Self {
        Self { why: refused.reason.to_string(), file: refused.file }
    }
}

#[cfg(test)]
mod tests {
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
