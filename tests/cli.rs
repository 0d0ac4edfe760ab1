//! The real binary on the command line: exit codes, mistakes, plain output.

mod candidates;
mod configuration;
mod database;
mod replay;
mod triage;
mod usage;

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::launch::binary;

/// A folder and an environment of its own: nothing of the tester's configuration or databases comes along.
pub struct Place {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), variables: vec![("USER".into(), "dana".into())] }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path().join(name), text).unwrap();
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(words)
            .env_clear()
            .env("HOME", self.path())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().unwrap())
    }
}

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub said: String,
    pub complained: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code().expect("ended by itself"),
            said: String::from_utf8(output.stdout).unwrap(),
            complained: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
