//! The action menu: what can be done with this record, and why not more.
//!
//! What cannot be done stays visible with its reason and the way out. One line says that deleting
//! does not exist. Opening the menu sends nothing; a letter leads to a plan, never to an act.

use ratatui::layout::Rect;

use super::super::keymap::{Command, Scope, label};
use super::super::model::{Model, Place};
use super::super::screen::ScreenId;
use super::super::screen::record::next_lines;
use super::{Dialog, bulk};
use crate::app::effect::Effect;
use crate::app::notice::Notice;
use crate::domain::action::{Request, resume_title};
use crate::domain::approval::Need;
use crate::domain::guard::draw;
use crate::domain::ids::RecordId;
use crate::domain::time::Now;
use crate::ui::widgets::panel::dialog;
use crate::ui::{Canvas, Line, Role};

/// The menu of one record.
#[derive(Debug, Clone)]
pub struct Menu {
    /// Which.
    pub id: RecordId,
    /// Scroll position.
    pub from: usize,
}

/// Opens the menu of the record a key acts on, or says why there is none. On a list with marks the menu is theirs.
pub fn open(model: &mut Model, now: Now) -> Vec<Effect> {
    let on_list = matches!(model.place, Place::Screen(ScreenId::Stuck | ScreenId::Unknown));
    if on_list && !model.marks.is_empty() {
        return bulk::open(model, now);
    }
    let Some(id) = model.target() else {
        let said = match model.place {
            Place::Screen(ScreenId::Reconciliation) => {
                "No record of ours is known for this break: there is nothing to act on. y copies it."
            }
            Place::Screen(_) | Place::Record(..) | Place::Ticket(..) => {
                "Actions belong to one record. 2 or 3 lists them; Enter opens one."
            }
        };
        model.say(said, now);
        return vec![];
    };
    if let Some(why) = model.picture.why_no_action(model.setup.poll_every, now) {
        model.notice = Some(Notice::caution(why, now));
        return vec![];
    }
    model.reading = None;
    model.dialog = Some(Dialog::Menu(Menu { id: id.clone(), from: 0 }));
    // The reasons in the menu need the record whole, as it is now.
    vec![Effect::Open(id)]
}

fn says(model: &Model, id: &RecordId, request: Request, now: Now) -> &'static str {
    match request {
        Request::LookUp => "asks what happened. No charge, no change of state.",
        Request::Resume => model.step(id, now).map_or("goes on from the last safe point.", |step| resume_title(&step)),
        Request::Hold => "keeps sweepers and retries off for a while.",
        Request::Release => "gives the lease back.",
        Request::Withdraw => "no recoverer takes it up any more.",
        Request::Note => "visible to everyone on this record.",
        Request::HandOver => "sets an owner; sends nothing to the provider.",
    }
}

/// What stands in the way of a request for this record, as the guard would say it.
fn why_not(model: &Model, id: &RecordId, request: Request, now: Now) -> Option<String> {
    let dossier = model.dossiers.get(id)?;
    match draw(request, dossier, &model.setup.context, now) {
        Err(refused) => Some(format!("{} {}", refused.why, refused.way_out)),
        Ok(_) => None,
    }
}

/// Without a hand back of this record there is nothing to say about withdrawing one.
fn was_handed_back(model: &Model, id: &RecordId) -> bool {
    model.dossiers.get(id).is_some_and(|dossier| !dossier.resumes.is_empty())
}

/// Whether a request for this record would need a second person.
fn needs_second(model: &Model, id: &RecordId, request: Request, now: Now) -> bool {
    let plan = model.dossiers.get(id).map(|dossier| draw(request, dossier, &model.setup.context, now));
    matches!(plan, Some(Ok(plan)) if *plan.need() != Need::No)
}

/// Draws it.
pub fn view(model: &Model, menu: &Menu, canvas: &mut Canvas<'_>, area: Rect, now: Now) {
    let context = &model.setup.context;
    let mut lines = vec![Line::of(Role::Dim, "   RECORD  ").then(menu.id.to_string())];
    lines.extend(next_lines(model, &menu.id, now));
    lines.push(Line::empty());
    let mut off: Vec<String> = Vec::new();
    let mut off_because = None;
    let mut said: Option<String> = None;
    for request in Request::ALL {
        if request == Request::Withdraw && !was_handed_back(model, &menu.id) {
            continue;
        }
        let key = label(Scope::Menu, Command::Ask(request));
        let mut line = Line::of(Role::Key, format!("{key}  ")).and(Role::Heading, request.title());
        if let Some(why) = model.why_not(request, now) {
            // The same for all: said once, below.
            off.push(key);
            off_because = Some(why);
            lines.push(line.and(Role::Caution, "  off"));
            continue;
        }
        match why_not(model, &menu.id, request, now) {
            None => {
                let second =
                    if needs_second(model, &menu.id, request, now) { "; a second person approves it" } else { "" };
                line.push(Role::Normal, format!("  {}{second}", says(model, &menu.id, request, now)));
                lines.push(line);
            }
            Some(why) => {
                lines.push(line.and(Role::Caution, "  not possible now"));
                // The same reason twice in a row is said once.
                let because = if said.as_ref() == Some(&why) { "the same." } else { &why };
                lines.push(Line::of(Role::Dim, format!("     because: {because}")));
                said = Some(why);
            }
        }
    }
    if let Some(why) = off_because {
        lines.push(Line::of(Role::Caution, format!(" ! {} are off: ", off.join(", "))).then(why));
    }
    lines.push(Line::empty());
    lines.push(
        Line::of(Role::Dim, "-  Delete, edit an amount, set a state by hand: ")
            .and(Role::Heading, "do not exist here."),
    );
    let del = label(Scope::Menu, Command::App(super::super::keymap::AppCommand::NoDelete));
    lines.push(Line::plain("   Press ").and(Role::Key, del).then(" for the reason and the safe way."));
    lines.push(Line::empty());
    lines.push(Line::of(Role::Dim, "Nothing has been sent. Esc closes this menu."));
    let title = Line::of(Role::Heading, format!("Actions for {} ({})", menu.id, context.environment.kind.band()));
    dialog(canvas, area, &title, Role::Dialog, &lines, menu.from);
}
