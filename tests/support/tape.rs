//! `demo.tape` read strictly: the grammar of charmbracelet's VHS, every mistake with its line.
//!
//! VHS itself warns about some mistakes and passes over others; here all of them are mistakes,
//! so that a tape which passes the tests also renders where VHS is installed.

pub mod cast;
mod lexer;
mod names;
pub mod parser;
pub mod player;
pub mod still;

use std::time::Duration;

use regex::Regex;

use super::keys::Key;

/// A tape that has no mistakes.
#[derive(Debug)]
pub struct Tape {
    pub steps: Vec<Step>,
}

#[derive(Debug)]
pub struct Step {
    pub line: usize,
    pub command: Command,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub what: String,
}

#[derive(Debug)]
pub enum Command {
    Output(String),
    Require(String),
    Env {
        name: String,
        value: String,
    },
    /// Another tape, played in place; it may hold no `Source` itself.
    Source(String),
    Screenshot(String),
    Copy(String),
    Paste,
    Camera(Camera),
    /// Scrolling matters to the picture, not to the program.
    Scroll,
    Sleep(Duration),
    Type {
        text: String,
        speed: Option<Duration>,
    },
    Press {
        key: Key,
        speed: Option<Duration>,
        times: usize,
    },
    Wait {
        on: On,
        timeout: Option<Duration>,
        pattern: Option<Regex>,
    },
    Set(Setting),
}

/// Whether the film shows what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Camera {
    Hide,
    Show,
}

/// What a `Wait` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The row of the cursor.
    Line,
    /// All rows.
    Screen,
}

#[derive(Debug)]
pub enum Setting {
    Shell(String),
    TypingSpeed(Duration),
    WaitTimeout(Duration),
    WaitPattern(Regex),
    /// How the picture looks: fonts, colours, sizes.
    Picture,
}
