//! Pasted text: into a field that takes it, into the find box of the ticket screen, or nowhere.

use super::dialog::{self, Dialog};
use super::effect::Effect;
use super::keymap::Scope;
use super::line;
use super::model::{Model, Place};
use super::notice::Notice;
use super::screen::{ScreenId, ticket};
use crate::domain::time::Now;

/// Takes pasted text.
pub fn take(model: &mut Model, text: &str, now: Now) -> Vec<Effect> {
    if let Some(line) = &mut model.line {
        line.field.paste(text);
        line::typed(model);
        return vec![];
    }
    let scope = model.dialog.as_ref().map(Dialog::scope);
    if scope.is_none() && matches!(model.place, Place::Screen(ScreenId::Ticket) | Place::Ticket(..)) {
        return ticket::pasted(model, text, now);
    }
    if matches!(scope, Some(Scope::Reason | Scope::Answer)) {
        if let Some(field) = dialog::field(model) {
            field.paste(text);
        }
        return vec![];
    }
    let count = text.chars().count();
    let said = if scope == Some(Scope::Phrase) {
        "Pasting is off here: type what you read.".to_owned()
    } else {
        format!("Ignored pasted text of {count} characters.")
    };
    model.notice = Some(Notice::caution(said, now));
    vec![]
}
