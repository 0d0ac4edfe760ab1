//! What to start in the pseudo-terminal, and in which surroundings.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use portable_pty::CommandBuilder;

use super::pty::Pty;

/// A program to start, with an environment of its own.
///
/// Nothing of the tester's environment comes along but what finds programs and a PostgreSQL
/// for the lab. `UNSTUCK_DATABASE_URL` never does: no test may touch a database of its user.
#[derive(Debug, Clone)]
pub struct Launch {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    pub cols: u16,
    pub rows: u16,
    folder: PathBuf,
}

const PASSED_ON: &[&str] = &[
    "HOME",
    "TMPDIR",
    "RUST_BACKTRACE",
    "UNSTUCK_LAB_SERVER_URL",
    "UNSTUCK_POSTGRES_BIN",
    "UNSTUCK_REQUIRE_FULL_POSTGRES",
];

/// The binary under test.
pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_unstuck"))
}

impl Launch {
    /// The binary under test with these arguments.
    pub fn unstuck(args: &[&str]) -> Self {
        Self::program(binary(), args)
    }

    /// A bash without rc files, prompt `> `, the binary under test first on its PATH.
    pub fn shell() -> Self {
        let args = ["--noprofile", "--norc", "+o", "history", "-i"];
        Self::program(Path::new("bash"), &args).env("PS1", "> ").env("BASH_SILENCE_DEPRECATION_WARNING", "1")
    }

    fn program(program: &Path, args: &[&str]) -> Self {
        let passed_on = PASSED_ON.iter().filter_map(|name| env::var_os(name).map(|value| ((*name).into(), value)));
        let launch = Launch {
            program: program.to_owned(),
            args: args.iter().map(OsString::from).collect(),
            env: passed_on.collect(),
            cols: 80,
            rows: 24,
            folder: env::temp_dir(),
        };
        let path = env::var_os("PATH").unwrap_or_default();
        let ours = binary().parent().map(Path::to_owned);
        let path = env::join_paths(ours.into_iter().chain(env::split_paths(&path)))
            .expect("folders of PATH can be joined again");
        launch.env("PATH", path).env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("TZ", "UTC")
    }

    /// Sets a variable; the last value counts.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn size(mut self, cols: u16, rows: u16) -> Self {
        (self.cols, self.rows) = (cols, rows);
        self
    }

    /// The folder to start in; the temporary folder unless said.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Starts it in a new pseudo-terminal.
    #[track_caller]
    pub fn start(self) -> Pty {
        Pty::start(&self)
    }

    pub fn command(&self) -> CommandBuilder {
        let mut command = CommandBuilder::new(&self.program);
        command.args(&self.args);
        command.env_clear();
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.cwd(&self.folder);
        command
    }
}
