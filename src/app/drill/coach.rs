//! The coach line: the next useful step, as a question first and as keys last, and a word about what was just done.

use super::super::dialog::Dialog;
use super::super::keymap::{self, AppCommand, Command, Scope};
use super::super::model::Model;
use super::super::screen::{ScreenId, screen};
use super::debrief::minutes;
use super::{Drill, MAY_BE_NOTHING, Plainness, Stage, What};
use crate::domain::action::Request;
use crate::domain::evidence::{Class, LookupOutcome};
use crate::domain::ids::RecordId;
use crate::domain::log::Outcome;
use crate::domain::recovery::Step;
use crate::domain::time::{Now, age};
use crate::ui::{Line, Role};

/// The line above the footer, for a window of so many columns; `None` without a drill.
pub fn line(model: &Model, columns: u16, now: Now) -> Option<Line> {
    let drill = model.drill.as_ref()?;
    let clock = drill.clock(now).map_or_else(|| "--:--".to_owned(), minutes);
    let line = Line::of(Role::Info, format!(" COACH {clock}  ")).then(words(drill, model, now));
    let more = drill.stage() != Stage::Watch && drill.plainness(now) < Plainness::Keys && model.dialog.is_none();
    if !more || drill.just_done(model, now).is_some() {
        return Some(line);
    }
    let key = keymap::label(Scope::Drill, Command::App(AppCommand::Hint));
    let longer = line.clone().then(" (").and(Role::Key, key).then(" says more)");
    // The footer has the key as well: it is not worth a row.
    let fits = longer.width(model.setup.look.charset()) <= usize::from(columns);
    Some(if fits { longer } else { line })
}

fn words(drill: &Drill, model: &Model, now: Now) -> String {
    let about = |deed: &super::Deed| just_done(&deed.what, model, now);
    drill
        .just_done(model, now)
        .and_then(about)
        .or_else(|| in_a_dialog(drill, model, now))
        .unwrap_or_else(|| next(drill, model, now))
}

/// About what was done a moment ago.
fn just_done(what: &What, model: &Model, now: Now) -> Option<String> {
    Some(match what {
        What::Delete => "Nothing was deleted: this record is what stops a second charge.".to_owned(),
        What::Refused { .. } => "Refused, and nothing was sent. The page says why, and the way out.".to_owned(),
        What::Sent { outcome: None, .. } => return None,
        What::Sent { outcome: Some(Outcome::Unknown { .. }), .. } => {
            "What came of it is NOT KNOWN: read it back, never repeat blindly.".to_owned()
        }
        What::Sent { outcome: Some(Outcome::Refused { .. } | Outcome::Conflict { .. }), .. } => {
            "The database said no; nothing changed. Perhaps somebody was first.".to_owned()
        }
        What::Sent { action: "lookup", id, outcome: Some(Outcome::Done { .. }), .. } => found(model, id, now),
        What::Sent {
            action: "adopt" | "fail" | "reverse" | "not_charged",
            outcome: Some(Outcome::Done { .. }),
            ..
        } => "Finished, with no new charge. Compare asked with read back.".to_owned(),
        What::Sent { outcome: Some(Outcome::Done { .. }), .. } => {
            "Done, and written into the log. Nothing about the money changed.".to_owned()
        }
    })
}

/// What a look-up came to.
fn found(model: &Model, id: &RecordId, now: Now) -> String {
    let stored = model.dossiers.get(id).into_iter().flat_map(|dossier| &dossier.evidence);
    let session = model.session_evidence.get(id).into_iter().flatten();
    let newest = stored.chain(session).max_by_key(|evidence| evidence.started_at);
    match newest.map(|evidence| &evidence.outcome) {
        Some(LookupOutcome::Found { observed }) => match observed.as_slice() {
            [one] if one.class == Class::Succeeded => {
                if matches!(model.step(id, now), Some(Step::Adopt { .. })) {
                    "The provider took the money. So charge nothing: finish from there.".to_owned()
                } else {
                    "The provider took the money. NEXT says what that means here.".to_owned()
                }
            }
            [one] if one.class == Class::Failed => {
                "The provider's own no. That is evidence; a time-out never is.".to_owned()
            }
            [] | [..] => "Asking charged nothing. Read the provider's own word.".to_owned(),
        },
        Some(LookupOutcome::NotFound { .. }) => {
            "Not found is not yet absent: one look-up concludes nothing.".to_owned()
        }
        Some(LookupOutcome::Unreachable { .. }) | None => {
            "No answer is no answer: nothing is concluded from it.".to_owned()
        }
    }
}

/// What to do with the page that lies over the screen.
fn in_a_dialog(drill: &Drill, model: &Model, now: Now) -> Option<String> {
    let says = match model.dialog.as_ref()?.scope() {
        Scope::Menu => match drill.stage() {
            Stage::Finish => "The menu says what Resume would do here. r leads to its plan.",
            Stage::NotAlone => "Each line says what it would do. Nothing here can be hurried.",
            Stage::Watch
            | Stage::Open
            | Stage::Choose
            | Stage::Ask
            | Stage::Next
            | Stage::Understand
            | Stage::RestWaits
            | Stage::Done => "l asks the provider, who alone knows. Asking charges nothing.",
        },
        Scope::Marked => "Several at once: each is looked up or adopted one by one.",
        Scope::Plan if is_look_up(model) => "A look-up only reads. Enter asks the provider.",
        Scope::Plan => "Read what will NOT happen, too. Nothing is sent by reading on.",
        Scope::Asked => "Somebody else's plan: look it up on your own before you answer.",
        Scope::Send => "A second person reads all of this before anything may happen.",
        Scope::Reason => "Say what you saw, for whoever reads the log tomorrow. Then Enter.",
        Scope::Answer => "Say why, for whoever asked.",
        Scope::Phrase => "Type what you read. Until it is the same, nothing can be sent.",
        Scope::Waiting | Scope::Running => "On its way. Nothing to press: what was sent cannot be taken back.",
        Scope::Result => "Left is what was asked, right is what was read back. Enter closes.",
        Scope::NoDelete => "A key that is freed is charged again by the retry. Esc goes back.",
        Scope::Leaving => "Something is on its way: stay until its outcome is known.",
        Scope::Reader => "Esc closes this page; y copies it.",
        Scope::Global
        | Scope::List
        | Scope::Record
        | Scope::Find
        | Scope::Ticket
        | Scope::Lost
        | Scope::Line
        | Scope::Replay
        | Scope::Drill => {
            return Some(next(drill, model, now));
        }
    };
    Some(says.to_owned())
}

fn is_look_up(model: &Model) -> bool {
    match &model.dialog {
        Some(Dialog::Guard(guard)) => guard.request == Request::LookUp,
        Some(Dialog::Bulk(bulk)) => bulk.request.request() == Request::LookUp,
        Some(Dialog::Menu(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => false,
    }
}

/// The next useful step, as plainly as it is time for.
fn next(drill: &Drill, model: &Model, now: Now) -> String {
    let shown_on = screen(drill.lesson.shown_on);
    let title = shown_on.titles.first().copied().unwrap_or_default();
    let digit = shown_on.digit;
    let left = Drill::left(model).map_or(0, |left| left.len());
    let [nudge, hint, keys] = match drill.stage() {
        Stage::Watch if drill.times.began.is_some_and(|began| age(began, now.0) >= MAY_BE_NOTHING) => {
            return "Still nothing? Then there may be nothing to do. q ends the drill.".to_owned();
        }
        Stage::Watch => return "Nothing is wrong yet. Watch the first sentence of 1 Overview.".to_owned(),
        Stage::Open => [
            "Something is wrong. What does the first sentence say to do?".to_owned(),
            "Read the numbers in the tabs. Which one leads to it?".to_owned(),
            format!("Press {digit}: {title} shows it."),
        ],
        Stage::Choose => [
            format!("{left} stuck. Which customer has been waiting longest?"),
            "The oldest is on top. Open one that you did not look up yet.".to_owned(),
            if matches!(model.screen(), ScreenId::Stuck | ScreenId::Unknown) {
                "Press Enter on a record that is still open.".to_owned()
            } else {
                "Press 2, then Enter on a record that is still open.".to_owned()
            },
        ],
        Stage::Ask => [
            "Was this customer charged? Who would know for certain?".to_owned(),
            "Only the provider knows. Asking it charges nothing.".to_owned(),
            "Press a, then l, then Enter: a look-up.".to_owned(),
        ],
        Stage::Finish => [
            "Now you know what happened. How does it end without a new charge?".to_owned(),
            "Resume finishes it from the last safe point, with that evidence.".to_owned(),
            "Press a, then r; read the plan, say why, type the phrase.".to_owned(),
        ],
        Stage::NotAlone => [
            "Nothing can be concluded here by you alone. What does NEXT say?".to_owned(),
            "It waits: for time, or for a second person. Leave it as it is.".to_owned(),
            "Press J for the next record, or a n to leave a note.".to_owned(),
        ],
        Stage::Next => [
            format!("This one is finished. {left} left: on to the next."),
            "Esc goes back to the list. The oldest that is left is on top.".to_owned(),
            "Press Esc, then Enter on the oldest that is left.".to_owned(),
        ],
        Stage::Understand => [
            "There it is. Whom does it harm, and what stops it?".to_owned(),
            drill.lesson.should_do.first().map_or_else(String::new, |what| format!("{}.", capital(what))),
            "Looked at it all? Type :debrief and compare.".to_owned(),
        ],
        Stage::RestWaits => [
            format!("{left} left, all looked up: not yours to finish alone."),
            "Type :debrief, or :second to be the second person, too.".to_owned(),
            "Type :debrief: what you did, and what was left.".to_owned(),
        ],
        Stage::Done => return "Nothing is stuck any more. :debrief shows how it went; q leaves.".to_owned(),
    };
    match drill.plainness(now) {
        Plainness::Nudge => nudge,
        Plainness::Hint => hint,
        Plainness::Keys => keys,
    }
}

/// A sentence begins with a capital.
fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
