//! One profile on its way in: its files are taken one by one, through the gate, and what is left over is a mistake.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::super::contract::Question;
use super::super::gate::{self, CALLS, Checked};
use super::super::library::{Library, Source};
use super::{Index, Install, Mistake, Profile, RuleFile, header};

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

/// A profile, and the rules of other profiles it says it cannot be judged by, with the reason.
pub(super) struct Loaded {
    pub(super) profile: Profile,
    pub(super) cannot_judge: Vec<(String, String)>,
}

/// One profile on its way in.
pub(super) struct Loading {
    name: String,
    files: BTreeMap<String, Source>,
    mistakes: Vec<Mistake>,
}

impl Loading {
    pub(super) fn new(library: &Library, name: &str) -> Self {
        Self { name: name.to_owned(), files: library.of_profile(name), mistakes: Vec::new() }
    }

    pub(super) fn run(mut self) -> Result<Loaded, Vec<Mistake>> {
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
        Ok(Loaded { profile, cannot_judge })
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
