//! What lies over a screen. One at a time; each keeps its state, keys and view in one file.

use ratatui::layout::Rect;

use super::effect::{Effect, Run};
use super::field::Field;
use super::keymap::{AppCommand, Command, RowCommand, Scope};
use super::list::moved;
use super::model::Model;
use super::msg::GuardMsg;
use super::screen::ticket;
use crate::domain::action::Request;
use crate::domain::time::Now;
use crate::ui::Canvas;

pub mod bulk;
pub mod guard;
pub mod menu;
pub mod no_delete;
pub mod reader;

/// A dialog.
#[derive(Debug)]
pub enum Dialog {
    /// What can be done with a record.
    Menu(menu::Menu),
    /// The same for several marked records.
    Bulk(Box<bulk::Bulk>),
    /// The one confirm flow.
    Guard(Box<guard::Guard>),
    /// Why nothing is deleted.
    NoDelete(no_delete::Card),
    /// A page to read.
    Reader(reader::Reader),
}

impl Dialog {
    /// Which keys it takes.
    pub fn scope(&self) -> Scope {
        match self {
            Self::Menu(_) => Scope::Menu,
            Self::Bulk(bulk) => bulk.scope(),
            Self::Guard(guard) => guard.scope(),
            Self::NoDelete(_) => Scope::NoDelete,
            Self::Reader(_) => Scope::Reader,
        }
    }
}

/// Whether the console can leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settles {
    /// Nothing is on its way.
    Now,
    /// Something is: its outcome comes first.
    Later,
}

/// Takes a command for the dialog that is open.
pub fn on(model: &mut Model, command: Command, now: Now) -> Vec<Effect> {
    match &mut model.dialog {
        None => vec![],
        Some(Dialog::Bulk(_)) => bulk::on(model, command, now),
        Some(Dialog::Guard(_)) => guard::on(model, command, now),
        Some(Dialog::Menu(menu)) => {
            let id = menu.id.clone();
            match command {
                Command::Ask(request) => match ticket::several(model).filter(|_| request == Request::LookUp) {
                    Some(targets) => bulk::look_up(model, targets, now),
                    None => guard::start(model, request, id, now),
                },
                Command::Row(RowCommand::Move(motion)) => {
                    menu.from = moved(menu.from, motion, 5, 20);
                    vec![]
                }
                Command::Row(RowCommand::Back) => {
                    close(model);
                    guard::read_again(model, &id).unwrap_or_default()
                }
                Command::App(AppCommand::NoDelete) => no_delete::press(model, now),
                Command::Go(_)
                | Command::Ticket(_)
                | Command::Row(_)
                | Command::App(_)
                | Command::Guard(_)
                | Command::Replay(_) => vec![],
            }
        }
        Some(Dialog::NoDelete(card)) => {
            let on = card.on.clone();
            match (command, on) {
                (Command::Ask(request), Some(id)) => guard::start(model, request, id, now),
                (Command::Ask(_), None) => {
                    model.say("Actions belong to one record. 2 or 3 lists them.", now);
                    close(model)
                }
                (Command::Row(RowCommand::Back), _) => close(model),
                (Command::Row(RowCommand::Move(motion)), _) => {
                    if let Some(Dialog::NoDelete(card)) = &mut model.dialog {
                        card.from = moved(card.from, motion, 5, 20);
                    }
                    vec![]
                }
                (Command::App(AppCommand::Copy), on) => vec![Effect::Copy(no_delete::text(model, on.as_ref()))],
                (
                    Command::Go(_)
                    | Command::Ticket(_)
                    | Command::Row(_)
                    | Command::App(_)
                    | Command::Guard(_)
                    | Command::Replay(_),
                    _,
                ) => vec![],
            }
        }
        Some(Dialog::Reader(reader)) => match command {
            Command::Row(RowCommand::Move(motion)) => {
                reader.go(motion, usize::from(model.size.1.saturating_sub(6)));
                vec![]
            }
            Command::Row(RowCommand::Back) => close(model),
            Command::App(AppCommand::Copy) => vec![Effect::Copy(reader.text())],
            Command::Go(_)
            | Command::Ticket(_)
            | Command::Row(_)
            | Command::App(_)
            | Command::Guard(_)
            | Command::Replay(_)
            | Command::Ask(_) => vec![],
        },
    }
}

/// The field that takes typing, if the step of the dialog has one.
pub fn field(model: &mut Model) -> Option<&mut Field> {
    match &mut model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk.field(),
        Some(Dialog::Guard(guard)) => guard.field(),
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => None,
    }
}

/// The frame with the step was written: from a moment later on, a key can be an answer to it.
pub fn drawn(model: &mut Model, now: Now) {
    match &mut model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk.on_screen.drawn(now),
        Some(Dialog::Guard(guard)) => guard.on_screen.drawn(now),
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => {}
    }
}

/// Time passed: plans grow old, a run goes on.
pub fn wake(model: &mut Model, now: Now) -> Vec<Effect> {
    guard::expire(model, now);
    bulk::expire(model, now);
    bulk::tick(model, now)
}

/// A poll came: what it shows may refuse a plan or stop a run.
pub fn watch(model: &mut Model, now: Now) -> Vec<Effect> {
    let mut effects = guard::watch(model, now);
    effects.extend(bulk::watch(model, now));
    effects
}

/// Asked to end: whether something is on its way whose outcome must be waited for. Nothing more is sent after it.
pub fn settles(model: &mut Model) -> Settles {
    match &mut model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk.settle(),
        Some(Dialog::Guard(guard)) if guard.is_acting() => Settles::Later,
        Some(Dialog::Guard(_) | Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => Settles::Now,
    }
}

/// Takes an answer to a run.
pub fn heard(model: &mut Model, run: Run, msg: GuardMsg, now: Now) -> Vec<Effect> {
    match bulk::heard(model, run, msg, now) {
        Ok(effects) => effects,
        Err(msg) => guard::heard(model, run, msg, now),
    }
}

/// Takes the dialog away.
pub fn close(model: &mut Model) -> Vec<Effect> {
    model.dialog = None;
    vec![]
}

/// Draws the dialog over a screen.
pub fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    match &model.dialog {
        None => {}
        Some(Dialog::Menu(menu)) => menu::view(model, menu, canvas, area, now),
        Some(Dialog::Bulk(bulk)) => bulk::view(model, bulk, canvas, area, now),
        Some(Dialog::Guard(guard)) => guard::view(model, guard, canvas, area, now),
        Some(Dialog::NoDelete(card)) => no_delete::view(model, card, canvas, area),
        Some(Dialog::Reader(reader)) => reader::view(reader, canvas, area),
    }
}
