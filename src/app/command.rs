//! The command line: screens and records by name. Never a shell, never an action.

use super::dialog::{Dialog, guard, no_delete, reader};
use super::drill;
use super::effect::Effect;
use super::model::{Leave, Model, Place};
use super::screen::SCREENS;
use crate::domain::approval::{ApprovalRequest, ApprovalState};
use crate::domain::ids::RecordId;
use crate::domain::time::Now;

/// Every command, for the help. The screens' names come from the screens.
pub const COMMANDS: &[(&str, &str)] = &[
    ("overview …", "a screen by its name: overview, stuck, unknown, conflicts, invariants, audit"),
    ("open SCOPE KEY", "open a record by its identity"),
    ("approve HASH", "a plan that waits for a second person, by the beginning of its hash: yes or no"),
    ("find TEXT", "find records by order, payment, key, provider ref or customer"),
    ("second", "in a demo: how to sit down as the second person, in another terminal"),
    ("learn", "the drills there are, and how to start one"),
    ("debrief", "in a drill: how it went so far, to read and to copy"),
    ("retention", "how old records leave"),
    ("help", "this page"),
    ("quit", "leave"),
];

/// Whether a text is the beginning of a command that exists, or all of it: what follows are its arguments.
pub fn is_beginning(text: &str) -> bool {
    let screens = SCREENS.iter().map(|screen| screen.word);
    let others = COMMANDS.iter().filter_map(|(command, _)| command.split(' ').next());
    screens.chain(others).chain(no_delete::COMMANDS.iter().copied()).any(|word| word.starts_with(text))
}

/// The record that a command opens by its identity, if it is such a command.
pub fn opened(text: &str) -> Option<RecordId> {
    let (word, rest) = text.trim().split_once(char::is_whitespace)?;
    let (scope, key) = rest.trim().split_once(char::is_whitespace).filter(|_| word == "open")?;
    Some(RecordId::new(scope, key.trim()))
}

/// Runs a command that was typed.
pub fn run(model: &mut Model, text: &str, now: Now) -> Vec<Effect> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    if let Some(screen) = SCREENS.iter().find(|s| s.word == word) {
        return model.go(Place::Screen(screen.id), now);
    }
    if no_delete::COMMANDS.contains(&word.to_lowercase().as_str()) {
        return no_delete::typed(model, text, now);
    }
    match word {
        "" => vec![],
        "open" => match opened(text) {
            Some(id) => {
                let from = model.screen();
                model.go(Place::Record(id, from), now)
            }
            None if rest.is_empty() => {
                model.say("Type :open SCOPE KEY. A key is unique only within its scope.", now);
                vec![]
            }
            None => vec![Effect::Find(rest.to_owned())],
        },
        "approve" => approve(model, rest, now),
        "find" if !rest.is_empty() => vec![Effect::Find(rest.to_owned())],
        "help" => {
            model.dialog = Some(Dialog::Reader(reader::help(model, now)));
            vec![]
        }
        "q" | "quit" => {
            model.leave = Leave::Now;
            vec![Effect::Quit]
        }
        "second" => {
            match reader::second(model) {
                Ok(page) => model.dialog = Some(Dialog::Reader(page)),
                Err(why) => model.say(why, now),
            }
            vec![]
        }
        "learn" => {
            model.dialog = Some(Dialog::Reader(drill::learn::page(model)));
            vec![]
        }
        "debrief" => {
            drill::open_debrief(model, now);
            vec![]
        }
        "retention" => {
            model.say("Old records leave by the service's own retention job only, after the key's retention. Never from here.", now);
            vec![]
        }
        _ => {
            model.say(format!("There is no command :{word}. ? lists them."), now);
            vec![]
        }
    }
}

/// Opens the one request whose plan begins so; one that waits comes before those that are over. Answers nothing.
fn approve(model: &mut Model, text: &str, now: Now) -> Vec<Effect> {
    let start = text.to_ascii_lowercase();
    if start.is_empty() {
        model.say("Type :approve and the beginning of the plan's hash. 8 lists what waits.", now);
        return vec![];
    }
    let Some(all) = model.picture.snapshot().and_then(|snapshot| snapshot.approvals.value()) else {
        model.say("Which plans wait for a second person is not known here. 8 says why.", now);
        return vec![];
    };
    let begins = |request: &&ApprovalRequest| request.plan_hash.as_str().to_ascii_lowercase().starts_with(&start);
    let found: Vec<&ApprovalRequest> = all.iter().filter(begins).collect();
    let waits: Vec<&ApprovalRequest> =
        found.iter().copied().filter(|request| request.state == ApprovalState::Waiting).collect();
    let one = match (waits.as_slice(), found.as_slice()) {
        ([one], _) | ([], [one]) => Some((one.id.clone(), one.number)),
        ([], []) => {
            model.say(format!("No plan that was asked for begins with {text}. 8 lists what waits."), now);
            None
        }
        ([], several) | (several, _) => {
            let many = several.len();
            model.say(format!("{many} plans begin with {text}: type more of it, or choose on screen 8."), now);
            None
        }
    };
    one.map_or_else(Vec::new, |(id, number)| guard::read_request(model, id, number))
}
