//! The input line: a filter while it is typed, or a command.

use super::command;
use super::effect::Effect;
use super::field::Field;
use super::keymap::{Command, RowCommand};
use super::model::{LineInput, Model, Place, Typing};
use super::screen::{ScreenId, records, ticket};
use crate::domain::time::Now;

/// Longest line.
const LIMIT: usize = 200;

/// Opens the filter of a list, or says that the screen has none.
pub fn open_filter(model: &mut Model, now: Now) -> Vec<Effect> {
    if matches!(model.place, Place::Screen(ScreenId::Ticket) | Place::Ticket(..)) {
        return ticket::open_box(model, now);
    }
    let Place::Screen(screen @ (ScreenId::Stuck | ScreenId::Unknown)) = model.place else {
        let said = match model.place {
            Place::Screen(ScreenId::Reconciliation) => {
                "Words do not filter breaks: f shows one kind of them at a time."
            }
            Place::Screen(_) | Place::Record(..) | Place::Ticket(..) => {
                "This screen has no filter. Stuck and Unknown have one."
            }
        };
        model.say(said, now);
        return vec![];
    };
    let before = filter_of(model, screen).clone();
    let field = Field::with(LIMIT, &before);
    model.line = Some(LineInput { typing: Typing::Filter { screen, before }, field });
    vec![]
}

/// Opens the command line.
pub fn open_command(model: &mut Model) {
    model.line = Some(LineInput { typing: Typing::Command, field: Field::new(LIMIT) });
}

/// Shows rows as they are filtered, while typing.
pub fn typed(model: &mut Model) {
    let Some(line) = &model.line else { return };
    if let Typing::Filter { screen, .. } = line.typing {
        let text = line.field.text().to_owned();
        set_filter(model, screen, text);
    }
}

/// Takes a command for the line.
pub fn on(model: &mut Model, asked: Command, now: Now) -> Vec<Effect> {
    match asked {
        Command::Row(RowCommand::Enter) => match model.line.take() {
            Some(LineInput { typing: Typing::Command, field }) => command::run(model, field.text(), now),
            Some(LineInput { typing: Typing::Find, field }) => ticket::ask(model, field.text(), now),
            Some(LineInput { typing: Typing::Filter { .. }, .. }) | None => vec![],
        },
        Command::Row(RowCommand::Back) => {
            if let Some(LineInput { typing: Typing::Filter { screen, before }, .. }) = model.line.take() {
                set_filter(model, screen, before);
            }
            vec![]
        }
        Command::Go(_)
        | Command::Ticket(_)
        | Command::Row(_)
        | Command::App(_)
        | Command::Guard(_)
        | Command::Replay(_)
        | Command::Ask(_) => vec![],
    }
}

fn filter_of(model: &mut Model, screen: ScreenId) -> &mut String {
    match screen {
        ScreenId::Unknown => &mut model.screens.unknown.filter,
        ScreenId::Overview
        | ScreenId::Stuck
        | ScreenId::Conflicts
        | ScreenId::Invariants
        | ScreenId::Reconciliation
        | ScreenId::Ticket
        | ScreenId::Audit => &mut model.screens.stuck.filter,
    }
}

fn set_filter(model: &mut Model, screen: ScreenId, text: String) {
    *filter_of(model, screen) = text;
    records::resync(model, screen);
}
