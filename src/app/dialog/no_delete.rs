//! The card that says why nothing can be deleted here, and what to do instead.
//!
//! In full the first time in a session; afterwards one line, and the next press brings the card
//! back. Every delete habit leads here: Del, D, x, Ctrl-k, and the commands `:delete` and its kin.

use ratatui::layout::Rect;

use super::super::keymap::{Command, Scope, label};
use super::super::model::{CardSeen, Model};
use super::Dialog;
use crate::app::effect::Effect;
use crate::domain::action::Request;
use crate::domain::ids::RecordId;
use crate::domain::port::RefusedEvent;
use crate::domain::time::Now;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

/// Commands of the command line that lead here.
pub const COMMANDS: &[&str] = &["delete", "del", "rm", "remove", "drop", "purge", "kill", "truncate"];

/// The card.
#[derive(Debug, Clone)]
pub struct Card {
    /// The record under the cursor, if there is one.
    pub on: Option<RecordId>,
    /// First line shown.
    pub from: usize,
}

/// A delete habit was pressed: the card, or one line when it was read before.
pub fn press(model: &mut Model, now: Now) -> Vec<Effect> {
    model.delete_presses = model.delete_presses.saturating_add(1);
    match model.card {
        CardSeen::Never | CardSeen::LineShown => {
            model.card = CardSeen::Once;
            let on = match &model.dialog {
                Some(Dialog::Menu(menu)) => Some(menu.id.clone()),
                // Several are marked: no one of them is meant.
                Some(Dialog::Bulk(_)) => None,
                Some(Dialog::Guard(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => model.target(),
            };
            model.dialog = Some(Dialog::NoDelete(Card { on, from: 0 }));
        }
        CardSeen::Once => {
            model.card = CardSeen::LineShown;
            model.say("Deleting is not possible here; nothing was sent. Del again for the full text.", now);
        }
    }
    vec![]
}

/// A delete command was typed: the card in full, and a line in the audit.
pub fn typed(model: &mut Model, command: &str, now: Now) -> Vec<Effect> {
    model.card = CardSeen::Never;
    let mut effects = press(model, now);
    let context = &model.setup.context;
    effects.push(Effect::Refused(RefusedEvent {
        operator: context.operator.clone(),
        environment: context.environment.name.clone(),
        what: format!(":{command} (deleting does not exist; nothing sent)"),
        target: model.target(),
    }));
    effects
}

fn lines(model: &Model, on: Option<&RecordId>) -> Vec<Line> {
    let what = on.map_or_else(|| "You asked to delete.".to_owned(), |id| format!("You asked to delete {id}."));
    let mut lines = vec![
        Line::plain(what).and(Role::Heading, " Nothing happened and nothing was sent."),
        Line::empty(),
        Line::of(Role::Heading, "Why: ")
            .then("this record is what stops a second charge. If it is gone, the next retry by the client can charge the customer again."),
        Line::empty(),
        Line::plain("This console has no delete, no edit and no forced state. "),
    ];
    if let Some(facts) = &model.facts {
        lines.push(match facts.excess_rights.value() {
            Some(excess) if excess.is_empty() => {
                Line::plain("Its database role has no right to it either (checked at start: DELETE no, TRUNCATE no).")
            }
            Some(_) => Line::of(
                Role::Caution,
                " ! Its database role may more than it should; the console still has no such command.",
            ),
            None => Line::of(
                Role::Unknown,
                " ? Whether its database role could is NOT KNOWN; the console still has no such command.",
            ),
        });
    }
    lines.push(Line::empty());
    lines.push(Line::of(Role::Heading, "What you can do instead:"));
    for (request, says) in [
        (Request::LookUp, "find out what really happened"),
        (Request::Resume, "finish the work from the last safe point"),
        (Request::Note, "leave a note on the record"),
        (Request::HandOver, "give it to a person, with what you saw"),
    ] {
        let key = label(Scope::NoDelete, Command::Ask(request));
        lines.push(
            Line::of(Role::Key, format!(" {key}  ")).and(Role::Heading, format!("{:<23} ", request.title())).then(says),
        );
    }
    lines.push(Line::empty());
    lines.push(Line::of(Role::Dim, "Old records leave by the service's own retention job only: see :retention"));
    lines
}

/// The card as text.
pub fn text(model: &Model, on: Option<&RecordId>) -> String {
    lines(model, on).iter().map(Line::words).collect::<Vec<_>>().join("\n")
}

/// Draws it.
pub fn view(model: &Model, card: &Card, canvas: &mut Canvas<'_>, area: Rect) {
    let title = Line::of(Role::Heading, "Deleting is not possible here");
    dialog(canvas, area, &title, Role::Dialog, &lines(model, card.on.as_ref()), card.from);
}
