//! Marks on the lists: making and clearing them, their sign in a row, and the line that says how they stand.

use super::{State, matches};
use crate::app::marks::{MOST, Standing, Toggled};
use crate::app::model::Model;
use crate::app::notice::Notice;
use crate::domain::answer::Answer;
use crate::domain::ids::RecordId;
use crate::domain::record::Record;
use crate::domain::time::Now;
use crate::ui::{Line, Role};

/// Space: marks the record under the cursor as it is on screen, or takes its mark away.
pub fn toggle(model: &mut Model, id: Option<RecordId>, now: Now) {
    let Some(id) = id else { return };
    let Some(record) = model.picture.record(&id).cloned() else {
        model.notice = Some(Notice::caution("This row is not in the picture any more: it cannot be marked.", now));
        return;
    };
    match model.marks.toggle(&record) {
        Toggled::Marked | Toggled::Unmarked => {}
        Toggled::UnmarkedChanged => {
            model.say("Unmarked: it had changed since. Space once more marks it as it is now.", now);
        }
        Toggled::Full => {
            let text = format!("{MOST} are marked: no more at once. Act on these (a) or clear all (U).");
            model.notice = Some(Notice::caution(text, now));
        }
    }
}

/// `U`: no marks any more.
pub fn clear(model: &mut Model, now: Now) {
    match model.marks.clear() {
        0 => model.say("Nothing is marked. Space marks a record.", now),
        count => model.say(format!("{count} unmarked. Nothing is marked now."), now),
    }
}

/// The sign behind a row's own: `*` marked, `~` marked and changed since. Empty: not marked.
pub fn sign(model: &Model, id: &RecordId) -> &'static str {
    match model.marks.of(id).map(|mark| mark.standing(&model.picture)) {
        None => "",
        Some(Standing::Same) => "*",
        Some(Standing::Changed | Standing::Gone | Standing::NotKnown) => "~",
    }
}

/// What is marked, and what of it is not on screen as it was marked. `None` while nothing is.
pub fn line(model: &Model, state: &State, answer: &Answer<Vec<Record>>) -> Option<Line> {
    if model.marks.is_empty() {
        return None;
    }
    let mut line = Line::of(Role::Dim, " Marked: ").and(Role::Heading, summary(model));
    let here = answer.value().map_or(&[][..], Vec::as_slice);
    let row = |id: &RecordId| here.iter().find(|record| record.id == *id);
    let hidden = |id: &RecordId| row(id).is_some_and(|record| !matches(record, &state.filter));
    let hidden = model.marks.iter().filter(|mark| hidden(&mark.target.id)).count();
    let read = answer.value().is_some();
    let elsewhere = |id: &RecordId| read && row(id).is_none() && model.picture.record(id).is_some();
    let elsewhere = model.marks.iter().filter(|mark| elsewhere(&mark.target.id)).count();
    for part in standings(model) {
        line.push(Role::Caution, format!("   {part}"));
    }
    if hidden > 0 {
        line.push(Role::Caution, format!("   {hidden} hidden by the filter"));
    }
    if elsewhere > 0 {
        line.push(Role::Caution, format!("   {elsewhere} not on this list"));
    }
    Some(line)
}

/// How many and how much: `3, EUR 151.90 + JPY 1,200`.
pub fn summary(model: &Model) -> String {
    let mut parts = vec![model.marks.len().to_string()];
    let totals = model.marks.totals();
    if !totals.is_empty() {
        parts.push(totals.to_string());
    }
    match model.marks.unpriced() {
        0 => {}
        unpriced => parts.push(format!("{unpriced} with an amount that is NOT KNOWN")),
    }
    parts.join(", ")
}

/// What is no longer as it was marked, in words.
pub fn standings(model: &Model) -> Vec<String> {
    let count = |standing| model.marks.count(standing, &model.picture);
    let said = [
        (count(Standing::Changed), "changed since (~)"),
        (count(Standing::Gone), "left the lists"),
        (count(Standing::NotKnown), "NOT KNOWN: a list was not read"),
    ];
    said.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}
