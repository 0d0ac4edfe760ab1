//! Keys of the guard: from step to step, and back. Enter never answers a step that was not seen.

use super::{FieldName, Guard, Phase, Way, guard_of, read_again, read_request, second, start};
use crate::app::dialog::menu::Menu;
use crate::app::dialog::{Dialog, close};
use crate::app::effect::Effect;
use crate::app::keymap::{AppCommand, Command, GuardCommand, RowCommand};
use crate::app::list::moved;
use crate::app::model::{Leave, Model};
use crate::app::notice::Notice;
use crate::domain::action::Ladder;
use crate::domain::guard::Refused;
use crate::domain::log::Outcome;
use crate::domain::time::Now;

/// How wide a copied page is.
const COPY_WIDTH: usize = 100;

/// Takes a command.
pub fn on(model: &mut Model, command: Command, now: Now) -> Vec<Effect> {
    match command {
        Command::Row(RowCommand::Enter) => enter(model, now),
        Command::Row(RowCommand::Back) => back(model, now),
        Command::Row(RowCommand::Move(motion)) => {
            if let Some(guard) = guard_of(model) {
                guard.from = moved(guard.from, motion, 5, 60);
            }
            vec![]
        }
        Command::App(AppCommand::Copy) => copy(model, now),
        Command::Guard(GuardCommand::NextField) => {
            if let Some(guard) = guard_of(model) {
                next_field(guard);
            }
            vec![]
        }
        Command::Guard(GuardCommand::PreviousField) => {
            if let Some(guard) = guard_of(model) {
                previous(guard);
            }
            vec![]
        }
        Command::Guard(GuardCommand::Again) => again(model, now),
        Command::Guard(GuardCommand::ReadBack) => read_back(model, now),
        Command::Guard(
            turn @ (GuardCommand::Approve | GuardCommand::Refuse | GuardCommand::TakeBack | GuardCommand::BreakGlass),
        ) => second::turn(model, turn, now),
        Command::App(AppCommand::Actions) => actions(model),
        Command::Guard(GuardCommand::LeaveAnyway) => {
            model.leave = Leave::Now;
            vec![Effect::Quit]
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
    let Some(guard) = guard_of(model) else { return vec![] };
    let seen = guard.on_screen.can_be_answered(now);
    match &guard.phase {
        Phase::Plan if !seen => vec![],
        Phase::Plan if guard.answers.is_some() => vec![],
        Phase::Plan => match (guard.way_on(), guard.ladder()) {
            (None, _) => {
                model.say("It waits for a second person. Nothing was sent; 8 lists it.", now);
                close(model)
            }
            (Some(_), Ladder::PlanLine) => check(model, now),
            (Some(way), Ladder::Reason | Ladder::Phrase) => {
                guard.way = way;
                guard.go(Phase::Reason);
                vec![]
            }
        },
        Phase::Reason => reason_done(model, now),
        Phase::Send if seen => check(model, now),
        Phase::Phrase => {
            let exact = guard.phrase().is_some_and(|phrase| phrase.is(guard.form.phrase.text()));
            if exact && seen { check(model, now) } else { vec![] }
        }
        Phase::ActingAskedToLeave => {
            guard.phase = Phase::Acting;
            vec![]
        }
        Phase::Preparing | Phase::Send | Phase::Checking | Phase::Acting | Phase::Result(_) | Phase::Refused(_) => {
            vec![]
        }
    }
}

fn reason_done(model: &mut Model, now: Now) -> Vec<Effect> {
    let policy = model.setup.context.policy.clone();
    let Some(guard) = guard_of(model) else { return vec![] };
    let words = guard.words();
    let verdict = match (guard.way, &guard.plan) {
        // No is as easy as yes, and needs no explanation.
        (Way::Refuse | Way::TakeBack, _) => Ok(()),
        (Way::BreakGlass, Some(_)) if !policy.ticket_pattern.accepts(words.incident.trim()) => {
            Err(Refused::new("The incident is not an incident or ticket id.", "Type it like INC-2291."))
        }
        (_, Some(plan)) => plan.accepts_reason(&words, &policy),
        (_, None) => Err(Refused::new("There is no plan.", "Make a new plan.")),
    };
    if let Err(refused) = verdict {
        let filled = |name: &FieldName| match name {
            FieldName::Reason => !words.reason.trim().is_empty(),
            FieldName::Ticket => !words.ticket.trim().is_empty(),
            FieldName::Incident => !words.incident.trim().is_empty(),
            FieldName::Owner => true,
        };
        // Enter in the first field is how people go to the next one.
        if let Some(empty) = guard.fields().iter().find(|name| !filled(name)) {
            guard.form.focus = *empty;
        }
        guard.form.trouble = Some(refused);
        return vec![];
    }
    guard.form.trouble = None;
    match (guard.way, guard.ladder()) {
        (Way::Ask, _) => {
            guard.go(Phase::Send);
            vec![]
        }
        (Way::Refuse | Way::TakeBack, _) if guard.on_screen.can_be_answered(now) => check(model, now),
        (Way::Refuse | Way::TakeBack, _) => vec![],
        (_, Ladder::Phrase) => {
            guard.form.phrase.clear();
            guard.go(Phase::Phrase);
            vec![]
        }
        (_, Ladder::Reason) if guard.on_screen.can_be_answered(now) => check(model, now),
        (_, Ladder::Reason | Ladder::PlanLine) => vec![],
    }
}

/// The last step before anything is sent: the record is read again.
fn check(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(request) = guard_of(model).map(|g| g.request) else { return vec![] };
    if let Some(why) = model.why_not(request, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    let Some(guard) = guard_of(model) else { return vec![] };
    guard.go(Phase::Checking);
    vec![Effect::Check(guard.run, guard.id.clone())]
}

fn back(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(guard) = guard_of(model) else { return vec![] };
    match &guard.phase {
        Phase::Acting => {
            guard.phase = Phase::ActingAskedToLeave;
            vec![]
        }
        Phase::ActingAskedToLeave => {
            guard.phase = Phase::Acting;
            vec![]
        }
        Phase::Plan if guard.answers.is_some() => {
            model.reading = None;
            close(model)
        }
        Phase::Preparing | Phase::Plan | Phase::Reason | Phase::Send | Phase::Phrase | Phase::Checking => {
            model.reading = None;
            model.say("Cancelled. Nothing was sent.", now);
            close(model)
        }
        Phase::Result(_) | Phase::Refused(_) => {
            let (id, answered) = (guard.id.clone(), guard.answers.is_some());
            close(model);
            if answered {
                model.reading = None;
            } else if let Some(effects) = read_again(model, &id) {
                // The look-up was for the request that was being read.
                return effects;
            }
            vec![Effect::Open(id)]
        }
    }
}

fn next_field(guard: &mut Guard) {
    let fields = guard.fields();
    let at = fields.iter().position(|f| *f == guard.form.focus).unwrap_or(0);
    let next = fields.get(at.saturating_add(1)).or(fields.first());
    guard.form.focus = next.copied().unwrap_or(FieldName::Reason);
}

fn previous(guard: &mut Guard) {
    match guard.phase {
        Phase::Phrase if guard.way == Way::Approve => guard.go(Phase::Plan),
        Phase::Phrase | Phase::Send => guard.go(Phase::Reason),
        Phase::Reason => {
            let fields = guard.fields();
            let at = fields.iter().position(|f| *f == guard.form.focus).unwrap_or(0);
            match at.checked_sub(1).and_then(|before| fields.get(before)) {
                Some(before) => guard.form.focus = *before,
                None => guard.go(Phase::Plan),
            }
        }
        Phase::Preparing
        | Phase::Plan
        | Phase::Checking
        | Phase::Acting
        | Phase::ActingAskedToLeave
        | Phase::Result(_)
        | Phase::Refused(_) => {}
    }
}

fn again(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(guard) = guard_of(model) else { return vec![] };
    match &guard.phase {
        Phase::Refused(_) | Phase::Result(_) => {
            let (request, id) = (guard.request, guard.id.clone());
            if let Some(number) = guard.answers {
                return read_request(model, id, number);
            }
            start(model, request, id, now)
        }
        Phase::Preparing
        | Phase::Plan
        | Phase::Reason
        | Phase::Send
        | Phase::Phrase
        | Phase::Checking
        | Phase::Acting
        | Phase::ActingAskedToLeave => vec![],
    }
}

/// From a request that is read to the actions of its record: the approver's own look-up is one of them.
fn actions(model: &mut Model) -> Vec<Effect> {
    let Some(guard) = guard_of(model) else { return vec![] };
    let id = guard.id.clone();
    model.dialog = Some(Dialog::Menu(Menu { id: id.clone(), from: 0 }));
    vec![Effect::Open(id)]
}

fn read_back(model: &mut Model, now: Now) -> Vec<Effect> {
    let Some(guard) = guard_of(model) else { return vec![] };
    let Phase::Result(finished) = &guard.phase else { return vec![] };
    match &finished.outcome {
        Outcome::Unknown { intent: Some(intent), .. } => vec![Effect::ReadBack(guard.run, *intent)],
        Outcome::Unknown { intent: None, .. } => {
            model.say("No intent was written, so there is nothing to ask for. 8 shows the log.", now);
            vec![]
        }
        Outcome::Done { .. } | Outcome::Refused { .. } | Outcome::Conflict { .. } => {
            model.say("The outcome is known: it is on this page.", now);
            vec![]
        }
    }
}

fn copy(model: &Model, now: Now) -> Vec<Effect> {
    let lines = match &model.dialog {
        Some(Dialog::Guard(guard)) => super::view::whole_page(model, guard, COPY_WIDTH, now),
        Some(Dialog::Menu(_) | Dialog::Bulk(_) | Dialog::NoDelete(_) | Dialog::Reader(_)) | None => vec![],
    };
    let text: Vec<String> = lines.iter().map(crate::ui::Line::words).collect();
    vec![Effect::Copy(text.join("\n"))]
}
