//! Keys of the flow over several records. Enter never answers a step that was not seen.

use super::{Doing, Phase, Wish, Writing, bulk_of, menu, run, view};
use crate::app::dialog::{close, no_delete};
use crate::app::effect::Effect;
use crate::app::keymap::{AppCommand, Command, GuardCommand, RowCommand};
use crate::app::list::moved;
use crate::app::model::{Leave, Model, Place};
use crate::app::screen::ticket;
use crate::domain::guard::{BulkRequest, Refused};
use crate::domain::log::Outcome;
use crate::domain::time::Now;
use crate::ui::Line;

/// How wide a copied page is.
const COPY_WIDTH: usize = 100;
/// How far a page scrolls.
const LONGEST: usize = 200;

/// Takes a command.
pub fn on(model: &mut Model, command: Command, now: Now) -> Vec<Effect> {
    let in_menu = bulk_of(model).is_some_and(|bulk| matches!(bulk.phase, Phase::Menu));
    match command {
        Command::Ask(request) if in_menu => menu::start(model, request, now),
        Command::Row(RowCommand::Unmark) if in_menu => menu::unmark(model, now),
        Command::App(AppCommand::NoDelete) if in_menu => no_delete::press(model, now),
        Command::Row(RowCommand::Enter) => enter(model, now),
        Command::Row(RowCommand::Back) => back(model, now),
        Command::Row(RowCommand::Move(motion)) => {
            if let Some(bulk) = bulk_of(model) {
                bulk.from = moved(bulk.from, motion, 5, LONGEST);
            }
            vec![]
        }
        Command::App(AppCommand::Copy) => copy(model, now),
        Command::Guard(GuardCommand::NextField) => {
            if let Some(bulk) = bulk_of(model) {
                bulk.form.focus = other(bulk.form.focus);
            }
            vec![]
        }
        Command::Guard(GuardCommand::PreviousField) => {
            previous(model);
            vec![]
        }
        Command::Guard(GuardCommand::Again) => again(model, now),
        Command::Guard(GuardCommand::ReadBack) => read_back(model, now),
        Command::Guard(GuardCommand::LeaveAnyway) => {
            model.leave = Leave::Now;
            vec![Effect::Quit]
        }
        Command::Guard(
            GuardCommand::Approve | GuardCommand::Refuse | GuardCommand::TakeBack | GuardCommand::BreakGlass,
        ) => {
            // What needs a second person is not on the list.
            model.say("That is for one record's plan: close this, open the record, then a.", now);
            vec![]
        }
        Command::Go(_)
        | Command::Ticket(_)
        | Command::Row(_)
        | Command::App(_)
        | Command::Replay(_)
        | Command::Ask(_) => vec![],
    }
}

fn enter(model: &mut Model, now: Now) -> Vec<Effect> {
    super::expire(model, now);
    let context = model.setup.context.clone();
    let Some(bulk) = bulk_of(model) else { return vec![] };
    let seen = bulk.on_screen.can_be_answered(now);
    match bulk.phase {
        Phase::Plan if !seen => vec![],
        Phase::Plan => {
            if bulk.plan.as_ref().is_none_or(|plan| plan.plans().is_empty()) {
                return close(model);
            }
            match bulk.request {
                BulkRequest::LookUp => bulk.go(Phase::Phrase),
                BulkRequest::Adopt => bulk.go(Phase::Reason),
            }
            vec![]
        }
        Phase::Reason => {
            let words = bulk.words();
            let verdict = match &bulk.plan {
                Some(plan) => plan.accepts_reason(&words, &context),
                None => Err(Refused::new("There is no plan.", "Make a new plan.")),
            };
            match verdict {
                Ok(()) => {
                    bulk.form.trouble = None;
                    bulk.form.phrase.clear();
                    bulk.go(Phase::Phrase);
                }
                Err(refused) => {
                    // Enter in the first field is how people go to the next one.
                    if bulk.form.reason.text().trim().is_empty() {
                        bulk.form.focus = Writing::Reason;
                    } else if bulk.form.ticket.text().trim().is_empty() {
                        bulk.form.focus = Writing::Ticket;
                    }
                    bulk.form.trouble = Some(refused);
                }
            }
            vec![]
        }
        Phase::Phrase => {
            let typed = bulk.form.phrase.text();
            let exact = bulk.plan.as_ref().is_some_and(|plan| plan.phrase().is(typed));
            if exact && seen { run::begin(model, now) } else { vec![] }
        }
        Phase::Running(doing, Wish::Leave) => {
            bulk.phase = Phase::Running(doing, Wish::Stop);
            vec![]
        }
        Phase::Menu | Phase::Preparing(_) | Phase::Running(..) | Phase::Result(_) | Phase::Refused(_) => vec![],
    }
}

fn back(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    match bulk.phase {
        Phase::Menu => close(model),
        Phase::Preparing(_) | Phase::Plan | Phase::Reason | Phase::Phrase => {
            let marks = if matches!(model.place, Place::Ticket(..)) { "" } else { " The marks stay." };
            model.say(format!("Cancelled. Nothing was sent.{marks}"), now);
            close(model)
        }
        Phase::Running(doing @ Doing::Acting(_), wish) => {
            // Once: stop after this one. Twice: leave, which is asked. And back.
            let wish = match wish {
                Wish::GoOn | Wish::Leave => Wish::Stop,
                Wish::Stop => Wish::Leave,
            };
            bulk.phase = Phase::Running(doing, wish);
            vec![]
        }
        Phase::Running(Doing::Pausing(_) | Doing::Checking, _) => {
            run::end(model, Refused::new("You stopped it.", "What was not started is still marked."))
        }
        Phase::Result(_) | Phase::Refused(_) => {
            close(model);
            vec![Effect::PollNow]
        }
    }
}

fn other(focus: Writing) -> Writing {
    match focus {
        Writing::Reason => Writing::Ticket,
        Writing::Ticket => Writing::Reason,
    }
}

fn previous(model: &mut Model) {
    let Some(bulk) = bulk_of(model) else { return };
    match (&bulk.phase, bulk.request, bulk.form.focus) {
        (Phase::Phrase, BulkRequest::Adopt, _) => bulk.go(Phase::Reason),
        (Phase::Phrase, BulkRequest::LookUp, _) | (Phase::Reason, _, Writing::Reason) => {
            bulk.go(Phase::Plan);
        }
        (Phase::Reason, _, Writing::Ticket) => bulk.form.focus = Writing::Reason,
        (
            Phase::Menu | Phase::Preparing(_) | Phase::Plan | Phase::Running(..) | Phase::Result(_) | Phase::Refused(_),
            _,
            _,
        ) => {}
    }
}

fn again(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    match bulk.phase {
        Phase::Result(_) | Phase::Refused(_) => {
            let request = bulk.request.request();
            match ticket::several(model) {
                Some(records) => menu::look_up(model, records, now),
                None => menu::start(model, request, now),
            }
        }
        Phase::Menu | Phase::Preparing(_) | Phase::Plan | Phase::Reason | Phase::Phrase | Phase::Running(..) => vec![],
    }
}

/// Asks the log once more what came of the record whose outcome is not known.
fn read_back(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(bulk) = bulk_of(model) else { return vec![] };
    if !matches!(bulk.phase, Phase::Result(_)) {
        return vec![];
    }
    let run = bulk.run;
    match bulk.unknown().map(|finished| &finished.outcome) {
        Some(Outcome::Unknown { intent: Some(intent), .. }) => vec![Effect::ReadBack(run, *intent)],
        Some(_) => {
            model.say("No intent was written, so there is nothing to ask for. 8 shows the log.", now);
            vec![]
        }
        None => {
            model.say("Every outcome is known: it is on this page.", now);
            vec![]
        }
    }
}

fn copy(model: &mut Model, now: Now) -> Vec<Effect> {
    let lines = view::page(model, COPY_WIDTH, now);
    let text: Vec<String> = lines.iter().map(Line::words).collect();
    vec![Effect::Copy(text.join("\n"))]
}
