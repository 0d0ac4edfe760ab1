//! THE key table: scope, keys, command, description. Help, footers and the README are made from it.
//!
//! Owns which key means what, where. Must not know what a command does. No key in this table
//! sends anything anywhere: actions lie behind `a`, a letter, a plan and a confirmation. A test
//! refuses a clash, a binding without description and the keys other programs own.

use std::fmt::Write as _;

use super::key::Chord;
use crate::ui::widgets::footer::Hint;

mod commands;
mod table;

pub use commands::{AppCommand, Command, GuardCommand, Motion, ReplayCommand, RowCommand, TicketCommand};
pub use table::KEYMAP;

/// Where a binding is valid. Inner scopes win over outer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Everywhere outside dialogs and fields.
    Global,
    /// A screen with rows.
    List,
    /// One record.
    Record,
    /// The find box of a customer's question.
    Find,
    /// The answer to a customer's question.
    Ticket,
    /// The database does not answer.
    Lost,
    /// The action menu.
    Menu,
    /// The action menu of the marked records.
    Marked,
    /// The guard: reading the plan.
    Plan,
    /// The guard: reading somebody's request for approval.
    Asked,
    /// The guard: what goes to a second person.
    Send,
    /// The guard: writing the reason.
    Reason,
    /// The guard: refusing a request, or taking it back.
    Answer,
    /// The guard: typing the phrase.
    Phrase,
    /// The guard: waiting for an answer.
    Waiting,
    /// The marked records are being done, one by one.
    Running,
    /// The guard: reading the result.
    Result,
    /// The card that says why nothing is deleted.
    NoDelete,
    /// A page to read: help, SQL.
    Reader,
    /// The filter or the command line.
    Line,
    /// Leave, although something is open.
    Leaving,
    /// A recording is played.
    Replay,
    /// A drill runs.
    Drill,
}

impl Scope {
    /// Every scope, in the order of the help.
    pub const ALL: &'static [Self] = &[
        Self::Global,
        Self::List,
        Self::Record,
        Self::Find,
        Self::Ticket,
        Self::Lost,
        Self::Menu,
        Self::Marked,
        Self::Plan,
        Self::Asked,
        Self::Send,
        Self::Reason,
        Self::Answer,
        Self::Phrase,
        Self::Waiting,
        Self::Running,
        Self::Result,
        Self::NoDelete,
        Self::Reader,
        Self::Line,
        Self::Leaving,
        Self::Drill,
        Self::Replay,
    ];

    /// Its heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::List => "Lists",
            Self::Record => "Record detail",
            Self::Find => "Ticket: find the customer's payment",
            Self::Ticket => "Ticket: the answer",
            Self::Lost => "While the database is lost",
            Self::Menu => "Action menu (a)",
            Self::Marked => "Action menu of the marked records (a)",
            Self::Plan => "Guard: plan",
            Self::Asked => "Guard: a request for approval",
            Self::Send => "Guard: asking a second person",
            Self::Reason => "Guard: reason and ticket",
            Self::Answer => "Guard: refusing, or taking back",
            Self::Phrase => "Guard: type to confirm",
            Self::Waiting => "Guard: waiting",
            Self::Running => "Marked records, one by one",
            Self::Result => "Guard: result",
            Self::NoDelete => "The no-delete card",
            Self::Reader => "Help and SQL pages",
            Self::Line => "Filter and command line",
            Self::Leaving => "Leaving with something open",
            Self::Drill => "While a drill runs (unstuck demo --drill)",
            Self::Replay => "While a recording is played (unstuck replay)",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Where.
    pub scope: Scope,
    /// Which keys, the one to print first.
    pub chords: &'static [Chord],
    /// What it asks for.
    pub command: Command,
    /// What it does, in a sentence.
    pub says: &'static str,
    /// In the footer: a word or two and a rank, smallest first. `None` keeps it to the help.
    pub footer: Option<(u8, &'static str)>,
}

/// What a key asks for, given the scopes in force, innermost first.
pub fn lookup(scopes: &[Scope], chord: Chord) -> Option<Command> {
    scopes
        .iter()
        .find_map(|scope| KEYMAP.iter().find(|b| b.scope == *scope && b.chords.contains(&chord)).map(|b| b.command))
}

/// The label of a command's first key in a scope.
pub fn label(scope: Scope, command: Command) -> String {
    let binding = KEYMAP.iter().find(|b| b.scope == scope && b.command == command);
    binding.and_then(|b| b.chords.first()).map(Chord::to_string).unwrap_or_default()
}

/// Footer hints for the scopes in force, by rank.
pub fn footer(scopes: &[Scope]) -> Vec<Hint> {
    let mut ranked: Vec<(u8, Hint)> = KEYMAP
        .iter()
        .filter(|b| scopes.contains(&b.scope))
        .filter_map(|b| {
            let (rank, does) = b.footer?;
            Some((rank, Hint { key: b.chords.first()?.to_string(), does }))
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut hints: Vec<Hint> = Vec::new();
    for (_, hint) in ranked {
        // A key that two scopes have for the same thing is said once.
        if !hints.iter().any(|said| said.key == hint.key) {
            hints.push(hint);
        }
    }
    hints
}

/// All labels of a binding, as printed.
pub fn labels(binding: &Binding) -> String {
    binding.chords.iter().map(Chord::to_string).collect::<Vec<_>>().join(" ")
}

/// The table as Markdown, for the README.
pub fn markdown() -> String {
    let mut out = String::new();
    for scope in Scope::ALL {
        let _ = write!(out, "\n**{}**\n\n| Key | Does |\n|---|---|\n", scope.title());
        for binding in KEYMAP.iter().filter(|b| b.scope == *scope) {
            let keys: Vec<String> = binding.chords.iter().map(|c| format!("`{c}`")).collect();
            let _ = writeln!(out, "| {} | {} |", keys.join(" "), binding.says);
        }
    }
    out.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_bindings_clash() {
        let mut seen = HashSet::new();
        for binding in KEYMAP {
            assert!(!binding.chords.is_empty());
            for chord in binding.chords {
                assert!(seen.insert((binding.scope, *chord)), "{:?} {chord} is bound twice", binding.scope);
            }
        }
    }

    #[test]
    fn scopes_that_are_in_force_together_do_not_hide_each_other() {
        // Screens add List, Record or Lost to Global; nothing in them may take a key of Global.
        for inner in [Scope::List, Scope::Record, Scope::Find, Scope::Ticket, Scope::Lost, Scope::Drill, Scope::Replay]
        {
            for binding in KEYMAP.iter().filter(|b| b.scope == inner) {
                for chord in binding.chords {
                    // The same word for the same thing is no hiding.
                    let hidden = lookup(&[Scope::Global], *chord).filter(|hidden| *hidden != binding.command);
                    assert_eq!(hidden, None, "{inner:?} hides {chord}");
                }
            }
        }
    }

    #[test]
    fn every_binding_is_described_and_every_scope_is_used() {
        for binding in KEYMAP {
            assert!(binding.says.len() > 1, "{binding:?}");
        }
        for scope in Scope::ALL {
            assert!(KEYMAP.iter().any(|b| b.scope == *scope), "{scope:?}");
        }
    }

    #[test]
    fn keys_that_belong_to_others_are_never_bound() {
        for taken in ['a', 'b', 's', 'q', 'z', '\\', 'w'] {
            for binding in KEYMAP {
                assert!(!binding.chords.contains(&Chord::ctrl(taken)), "Ctrl-{taken}");
            }
        }
        for binding in KEYMAP {
            assert!(binding.chords.iter().all(|c| c.held != super::super::key::Held::Alt));
        }
    }

    #[test]
    fn no_letter_outside_the_menu_prepares_an_action() {
        for binding in KEYMAP {
            let prepares = match binding.command {
                Command::Ask(_) => true,
                Command::Go(_)
                | Command::Ticket(_)
                | Command::Row(_)
                | Command::App(_)
                | Command::Guard(_)
                | Command::Replay(_) => false,
            };
            assert!(!prepares || matches!(binding.scope, Scope::Menu | Scope::Marked | Scope::NoDelete), "{binding:?}");
        }
    }

    #[test]
    fn the_readme_table_has_every_binding() {
        let table = markdown();
        for binding in KEYMAP {
            assert!(table.contains(&format!("| {} |", binding.says)), "{}", binding.says);
        }
        assert!(table.starts_with("**Everywhere**"));
    }
}
