//! The action menu of the marked records: what can be done with all of them, and why not more.

use super::{Bulk, Phase, Reading, bulk_of, next_run};
use crate::app::dialog::{Dialog, close};
use crate::app::effect::Effect;
use crate::app::keymap::{AppCommand, Command, Scope, label};
use crate::app::marks::{Mark, Standing};
use crate::app::model::Model;
use crate::app::notice::Notice;
use crate::app::screen::records;
use crate::domain::action::Request;
use crate::domain::guard::BulkRequest;
use crate::domain::ids::Target;
use crate::domain::time::Now;
use crate::ui::{Line, Role};

/// Opens the menu, or says why there is none. Sends nothing.
pub fn open(model: &mut Model, now: Now) -> Vec<Effect> {
    if let Some(why) = model.picture.why_no_action(model.setup.poll_every, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    model.dialog = Some(Dialog::Bulk(Box::new(Bulk::new(BulkRequest::LookUp, &model.last_ticket))));
    vec![]
}

/// Starts the flow: the marked records are read one after another, to draw up a plan. Sends nothing.
pub(super) fn start(model: &mut Model, request: Request, now: Now) -> Vec<Effect> {
    let Some(bulk) = BulkRequest::of(request) else {
        model.say(format!("{}: one record at a time.", request.title()), now);
        return vec![];
    };
    if let Some(why) = model.why_not(request, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    let waiting: Vec<_> = model.marks.iter().map(|mark| mark.target.clone()).collect();
    if waiting.is_empty() {
        model.say("Nothing is marked any more. Space marks a record.", now);
        return close(model);
    }
    read_all(model, bulk, waiting)
}

/// Starts a look-up of the records of one case, which nobody has to mark. Sends nothing.
pub fn look_up(model: &mut Model, records: Vec<Target>, now: Now) -> Vec<Effect> {
    if let Some(why) = model.why_not(Request::LookUp, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    read_all(model, BulkRequest::LookUp, records)
}

fn read_all(model: &mut Model, bulk: BulkRequest, waiting: Vec<Target>) -> Vec<Effect> {
    let Some(id) = waiting.first().map(|first| first.id.clone()) else { return close(model) };
    let run = next_run(model);
    let mut fresh = Bulk::new(bulk, &model.last_ticket);
    fresh.run = run;
    fresh.go(Phase::Preparing(Reading { waiting, read: Vec::new() }));
    model.dialog = Some(Dialog::Bulk(Box::new(fresh)));
    vec![Effect::Prepare(run, id)]
}

/// `U` in the menu.
pub(super) fn unmark(model: &mut Model, now: Now) -> Vec<Effect> {
    let count = model.marks.clear();
    model.say(format!("{count} unmarked. Nothing was sent."), now);
    if bulk_of(model).is_some() { close(model) } else { vec![] }
}

/// The lines of the menu.
pub(super) fn lines(model: &Model, now: Now) -> Vec<Line> {
    let mut lines = vec![Line::of(Role::Dim, "   MARKED  ").and(Role::Heading, records::summary(model))];
    for said in records::standings(model) {
        lines.push(Line::of(Role::Caution, format!(" ! {said}: left out of a plan.")));
    }
    lines.push(Line::empty());
    let mut off = None;
    for request in Request::ALL {
        let Some(bulk) = BulkRequest::of(request) else { continue };
        let key = label(Scope::Marked, Command::Ask(request));
        let line = Line::of(Role::Key, format!("{key}  ")).and(Role::Heading, bulk.title());
        match model.why_not(request, now) {
            Some(why) => {
                off = Some(why);
                lines.push(line.and(Role::Caution, "  off"));
            }
            None => lines.push(line.then(format!("  {}", says(bulk)))),
        }
    }
    if let Some(why) = off {
        lines.push(Line::of(Role::Caution, format!(" ! off: {why}")));
    }
    let alone: Vec<&str> =
        Request::ALL.into_iter().filter(|r| BulkRequest::of(*r).is_none()).map(Request::title).collect();
    lines.push(Line::of(Role::Dim, "-  ").and(Role::Heading, alone.join(", ")));
    lines.push(Line::of(Role::Caution, "   not for several").then(": each is about what you saw on one record."));
    lines.push(Line::empty());
    lines.push(Line::plain("   For one record instead: Esc, Enter on its row, then a."));
    lines.push(
        Line::of(Role::Dim, "-  Delete, edit an amount, set a state by hand: ")
            .and(Role::Heading, "do not exist here."),
    );
    let del = label(Scope::Marked, Command::App(AppCommand::NoDelete));
    lines.push(Line::plain("   Press ").and(Role::Key, del).then(" for the reason and the safe way."));
    lines.push(Line::of(Role::Dim, "Nothing has been sent. Esc closes this menu. The marks:"));
    lines.extend(model.marks.iter().map(|mark| row(model, mark)));
    lines
}

fn says(request: BulkRequest) -> &'static str {
    match request {
        BulkRequest::LookUp => "2 a second, at most 25. No charge, no change of state.",
        BulkRequest::Adopt => "at most 10: one canary first. No new charge. What needs more is left out.",
    }
}

fn row(model: &Model, mark: &Mark) -> Line {
    let money = mark.money.as_ref().map_or_else(|| "amount NOT KNOWN".to_owned(), ToString::to_string);
    let line = Line::plain(format!("   {}", mark.target.id)).and(Role::Heading, format!("  {money}"));
    match mark.standing(&model.picture) {
        Standing::Same => line,
        Standing::Changed => line.and(Role::Caution, "  changed since"),
        Standing::Gone => line.and(Role::Caution, "  left the lists"),
        Standing::NotKnown => line.and(Role::Unknown, "  NOT KNOWN"),
    }
}
