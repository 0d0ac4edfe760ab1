//! The SQL gate: what a query file may say, decided before any server hears it.
//!
//! Owns the promise "no file changes anything outside a guard": reads are exactly one SELECT made
//! of listed parts; a `do_*` file is one call of its own listed function; an install script is a
//! closed list of statement kinds without a word of removal. Everything else is refused, and so is
//! everything a parser does not understand. Knows text only: no connection, no profile.
//!
//! Three readings follow each other, each alone enough to refuse: `lex` (our own alphabet, so
//! that no two parsers disagree about where a comment or a string ends), sqlparser's tree against
//! `grammar`, and on connect the server's own plan ([`plan`]).

mod call;
#[cfg(test)]
mod evasions;
mod grammar;
mod install;
mod lex;
mod names;
pub mod plan;
mod walk;

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

pub use call::CALLS;
pub use install::{Script, install};

/// A statement that passed the gate. Nothing else reaches a server from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    file: String,
    sql: String,
    parameters: u16,
}

impl Checked {
    /// The file it came from, as messages name it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The statement, without comments.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// How many parameters it takes.
    pub fn parameters(&self) -> u16 {
        self.parameters
    }
}

/// A file that did not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct Refused {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// Why a file did not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The alphabet is not the plain one.
    #[error("line {line}: {why}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// The end of the sentence.
        why: String,
    },
    /// The parser gave up.
    #[error("not understood: {why}")]
    NotUnderstood {
        /// In the parser's words.
        why: String,
    },
    /// Not exactly one statement.
    #[error("{count} statements where exactly one SELECT is allowed")]
    Count {
        /// How many.
        count: usize,
    },
    /// A part of SQL that is not on the list.
    #[error("{what} is not allowed here")]
    NotAllowed {
        /// The part.
        what: String,
    },
    /// The tree is not one the gate has read about.
    #[error("the statement has an unexpected form ({what})")]
    Shape {
        /// What was expected and found.
        what: String,
    },
    /// A function that is not on the list.
    #[error("the function {name} is not on the list")]
    Function {
        /// As written.
        name: String,
    },
    /// A system relation that is not on the list.
    #[error("the relation {name} is not on the list")]
    Relation {
        /// As written.
        name: String,
    },
    /// A type that is not on the list.
    #[error("the type {name} is not on the list")]
    Type {
        /// As written.
        name: String,
    },
    /// Parameters with a gap.
    #[error("the parameters must be $1 to ${highest} without a gap")]
    Parameters {
        /// The highest number used.
        highest: u16,
    },
    /// Not the one call a `do_*` file may be.
    #[error(
        "a do_ file is exactly: SELECT d.outcome, d.why, d.log_id, d.version, d.read_back FROM unstuck.{name}($1::jsonb) AS d"
    )]
    Call {
        /// The file's own function.
        name: String,
    },
}

/// Reads a `get_*` or rule file: one SELECT of listed parts.
pub fn read(file: &str, text: &str) -> Result<Checked, Refused> {
    check_read(text).map(|(sql, parameters)| Checked { file: file.to_owned(), sql, parameters }).map_err(named(file))
}

/// Reads a `do_*` file: the one call of the function that carries the file's name.
pub fn change(file: &str, text: &str) -> Result<Checked, Refused> {
    call::check(file, text).map(|sql| Checked { file: file.to_owned(), sql, parameters: 1 }).map_err(named(file))
}

fn named(file: &str) -> impl FnOnce(Reason) -> Refused {
    let file = file.to_owned();
    |reason| Refused { file, reason }
}

fn check_read(text: &str) -> Result<(String, u16), Reason> {
    let lexed = lex::lex(text, lex::Dress::Query)?;
    one_statement(&lexed.tokens)?;
    no_verbs(&lexed.tokens)?;
    let parameters = parameters(&lexed.tokens)?;
    check_tree(&lexed.bare)?;
    Ok((lexed.bare.trim().trim_end_matches(';').trim_end().to_owned(), parameters))
}

/// The parser's reading, against the grammar table.
fn check_tree(bare: &str) -> Result<(), Reason> {
    let trees = Parser::parse_sql(&PostgreSqlDialect {}, bare)
        .map_err(|error| Reason::NotUnderstood { why: error.to_string() })?;
    let [statement] = trees.as_slice() else {
        return Err(Reason::Count { count: trees.len() });
    };
    let tree = serde_json::to_value(statement).map_err(|error| Reason::NotUnderstood { why: error.to_string() })?;
    walk::check(&tree)
}

/// A semicolon only as the very last word: PostgreSQL could not find a second statement either.
fn one_statement(tokens: &[lex::Token]) -> Result<(), Reason> {
    let inner = tokens.split_last().map_or(tokens, |(_, before)| before);
    let more = inner.iter().filter(|token| token.kind == lex::Kind::Mark(';')).count();
    match (tokens, more) {
        ([], _) => Err(Reason::Count { count: 0 }),
        (_, 0) => Ok(()),
        (_, more) => Err(Reason::Count { count: more.saturating_add(1) }),
    }
}

/// Words of change that no read needs, not even as a name. The grammar refuses their statements
/// anyway; this also refuses a text that only looks like one (`SELECT 1 delete FROM t` names a column).
const VERBS: &[&str] =
    &["call", "copy", "delete", "do", "execute", "insert", "into", "merge", "prepare", "truncate", "update"];

fn no_verbs(tokens: &[lex::Token]) -> Result<(), Reason> {
    tokens.iter().try_for_each(|token| match &token.kind {
        lex::Kind::Word(word) if VERBS.contains(&word.as_str()) => {
            Err(Reason::NotAllowed { what: format!("the word {}", word.to_ascii_uppercase()) })
        }
        lex::Kind::Word(_)
        | lex::Kind::Quoted(_)
        | lex::Kind::Number(_)
        | lex::Kind::Text(_)
        | lex::Kind::Body(_)
        | lex::Kind::Param(_)
        | lex::Kind::Op(_)
        | lex::Kind::Mark(_) => Ok(()),
    })
}

/// The highest parameter, when all below it are used too.
fn parameters(tokens: &[lex::Token]) -> Result<u16, Reason> {
    let mut used: Vec<u16> = tokens
        .iter()
        .filter_map(|token| if let lex::Kind::Param(number) = token.kind { Some(number) } else { None })
        .collect();
    used.sort_unstable();
    used.dedup();
    let highest = used.last().copied().unwrap_or(0);
    if usize::from(highest) == used.len() { Ok(highest) } else { Err(Reason::Parameters { highest }) }
}

impl From<lex::Unreadable> for Reason {
    fn from(unreadable: lex::Unreadable) -> Self {
        Self::Text { line: unreadable.line, why: unreadable.why }
    }
}
