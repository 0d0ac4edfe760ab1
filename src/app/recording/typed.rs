//! What is kept of typing. The recording must replay to the same picture, and must not hold what was typed.

use super::Event;
use crate::app::command;
use crate::app::dialog::Dialog;
use crate::app::dialog::bulk::{self, Bulk, Writing};
use crate::app::dialog::guard::{FieldName, Guard, Phase};
use crate::app::field::Field;
use crate::app::key::{Chord, Key};
use crate::app::keymap;
use crate::app::model::{Model, Place, Typing};
use crate::app::screen::{ScreenId, records};
use crate::domain::ids::RecordId;
use crate::domain::time::Now;

/// A letter that no phrase, no row and no key has: it stands for one that led nowhere.
pub const WRONG: char = '\u{b7}';

/// Longest pasted text of which the length is kept.
const PASTED: usize = 4_096;

/// What is kept of a key.
pub fn key(model: &Model, chord: Chord, now: Now) -> Event {
    if let Some(opened) = opens(model, chord) {
        return Event::Opened(opened);
    }
    let Some(letter) = chord.typed() else { return Event::Key(chord) };
    match field(model) {
        // A letter that means nothing here may be meant for another window.
        InField::None | InField::Box if keymap::lookup(&model.scopes(now), chord).is_none() => {
            Event::Key(Chord::char(WRONG))
        }
        InField::None | InField::Box | InField::Ticket => Event::Key(chord),
        InField::Free => Event::Key(Chord::char(hidden(letter))),
        InField::Command(mut line) => {
            let hash = line.text().starts_with("approve ") && letter.is_ascii_hexdigit();
            line.key(chord);
            let kept = hash || command::is_beginning(line.text());
            Event::Key(if kept { chord } else { Chord::char(hidden(letter)) })
        }
        InField::Phrase if phrase_letter(model) == Some(letter) => Event::PhraseLetter,
        InField::Rows(screen, mut filter) => {
            filter.key(chord);
            let stands_on_screen = records::leaves_any(model, screen, filter.text());
            Event::Key(if stands_on_screen { chord } else { Chord::char(WRONG) })
        }
        InField::Phrase => Event::Key(Chord::char(WRONG)),
    }
}

/// What is kept of a paste.
pub fn paste(model: &Model, text: &str) -> Event {
    let text: String = text.chars().take(PASTED).collect();
    Event::Paste(match field(model) {
        InField::Ticket => text,
        InField::Free | InField::Box | InField::Command(_) => stand_in(&text),
        InField::Rows(screen, mut filter) => {
            filter.paste(&text);
            if records::leaves_any(model, screen, filter.text()) { text } else { nothing(&text) }
        }
        InField::None | InField::Phrase => nothing(&text),
    })
}

/// As many letters that stand for nothing.
fn nothing(text: &str) -> String {
    text.chars().map(|_| WRONG).collect()
}

/// A text of the same shape that says nothing.
pub fn stand_in(text: &str) -> String {
    text.chars().map(hidden).collect()
}

fn hidden(letter: char) -> char {
    if letter.is_alphanumeric() {
        'x'
    } else if letter.is_ascii() && !letter.is_control() {
        letter
    } else {
        WRONG
    }
}

/// What a typed letter goes into.
enum InField {
    /// No field: it is a key.
    None,
    /// A filter: what it has in common with the rows it leaves stands on screen anyway, and nothing else is kept.
    Rows(ScreenId, Field),
    /// No field for keys; a paste goes into the find box.
    Box,
    /// Words of a person's own: reason, owner.
    Free,
    /// The ticket or incident: it has to fit a pattern, and the log of actions shows it to everybody.
    Ticket,
    /// The confirm phrase.
    Phrase,
    /// The command line: its word stays, its arguments do not, except the beginning of a plan's hash.
    Command(Field),
}

fn field(model: &Model) -> InField {
    if let Some(line) = &model.line {
        return match &line.typing {
            Typing::Filter { screen, .. } => InField::Rows(*screen, line.field.clone()),
            Typing::Command => InField::Command(line.field.clone()),
            Typing::Find => InField::Free,
        };
    }
    if model.dialog.is_none() && matches!(model.place, Place::Screen(ScreenId::Ticket) | Place::Ticket(..)) {
        return InField::Box;
    }
    match &model.dialog {
        Some(Dialog::Guard(guard)) => in_guard(guard),
        Some(Dialog::Bulk(bulk)) => in_bulk(bulk),
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => InField::None,
    }
}

fn in_bulk(bulk: &Bulk) -> InField {
    match (&bulk.phase, bulk.form.focus) {
        (bulk::Phase::Reason, Writing::Reason) => InField::Free,
        (bulk::Phase::Reason, Writing::Ticket) => InField::Ticket,
        (bulk::Phase::Phrase, _) => InField::Phrase,
        (
            bulk::Phase::Menu
            | bulk::Phase::Preparing(_)
            | bulk::Phase::Plan
            | bulk::Phase::Running(..)
            | bulk::Phase::Result(_)
            | bulk::Phase::Refused(_),
            _,
        ) => InField::None,
    }
}

fn in_guard(guard: &Guard) -> InField {
    match (&guard.phase, guard.form.focus) {
        (Phase::Reason, FieldName::Reason | FieldName::Owner) => InField::Free,
        (Phase::Reason, FieldName::Ticket | FieldName::Incident) => InField::Ticket,
        (Phase::Phrase, _) => InField::Phrase,
        (
            Phase::Preparing
            | Phase::Plan
            | Phase::Send
            | Phase::Checking
            | Phase::Acting
            | Phase::ActingAskedToLeave
            | Phase::Result(_)
            | Phase::Refused(_),
            _,
        ) => InField::None,
    }
}

/// The letter the confirm phrase has next, after what was typed of it so far.
pub fn phrase_letter(model: &Model) -> Option<char> {
    let (typed, phrase) = match &model.dialog {
        Some(Dialog::Guard(guard)) => (&guard.form.phrase, guard.phrase()?),
        Some(Dialog::Bulk(bulk)) => (&bulk.form.phrase, bulk.plan.as_ref()?.phrase()),
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => return None,
    };
    phrase.shown().strip_prefix(typed.text())?.chars().next()
}

/// The record that Enter on the command line is about to open.
fn opens(model: &Model, chord: Chord) -> Option<RecordId> {
    let line = model.line.as_ref().filter(|_| chord == Chord::plain(Key::Enter))?;
    match line.typing {
        Typing::Command => command::opened(line.field.text()),
        Typing::Filter { .. } | Typing::Find => None,
    }
}
