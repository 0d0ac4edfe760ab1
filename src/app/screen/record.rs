//! Record detail: what happened to this one, in order, with evidence; and what may be done next.
//!
//! ```text
//! !! UNKNOWN  We asked acme-psp to charge EUR 128.40. We have no final answer.
//!    The customer may or may not have been charged. Do not charge again by hand.
//!    NEXT  look up first (a l): No look-up has been made.
//!    TIMELINE (UTC)  WHO  WHAT
//! ```

use ratatui::layout::Rect;

use super::not_known;
use crate::app::effect::Effect;
use crate::app::hand_backs::handed;
use crate::app::keymap::RowCommand;
use crate::app::list::moved;
use crate::app::model::{Model, Place};
use crate::domain::ids::RecordId;
use crate::domain::time::Now;
use crate::ui::layout::{Room, columns, top};
use crate::ui::widgets::panel::{more_lines, panel, wrapped};
use crate::ui::{Canvas, Line, Role};

mod facts;
mod story;
mod words;

use story::LookUps;

pub use words::{next_lines, preview_lines, sentence_of};

/// Words or raw values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// In words.
    #[default]
    Words,
    /// As stored.
    Raw,
}

/// Scroll position and form.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// First line shown.
    pub from: usize,
    /// Words or raw values.
    pub shown: Shown,
    /// Why the record could not be read, the last time.
    pub trouble: Option<(RecordId, String)>,
}

/// The keys of the record detail.
pub fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    let Place::Record(id, from) = model.place.clone() else { return None };
    match command {
        RowCommand::Move(motion) => {
            let last = lines(model, &id, now).len().saturating_sub(3);
            let page = usize::from(model.size.1.saturating_sub(6));
            model.screens.record.from = moved(model.screens.record.from, motion, page, last);
        }
        RowCommand::Next | RowCommand::Previous => {
            let order = model.screens.records(from);
            let step = if command == RowCommand::Next { 1 } else { -1 };
            let place = order.iter().position(|other| *other == id);
            let next = place.and_then(|p| p.checked_add_signed(step)).and_then(|p| order.get(p)).cloned();
            match next {
                Some(next) => return Some(model.replace(Place::Record(next, from), now)),
                None => model.say("There is no further record in this list.", now),
            }
        }
        RowCommand::Raw => {
            model.screens.record.shown = match model.screens.record.shown {
                Shown::Words => Shown::Raw,
                Shown::Raw => Shown::Words,
            };
            model.screens.record.from = 0;
        }
        RowCommand::Enter
        | RowCommand::Back
        | RowCommand::Sort
        | RowCommand::Reverse
        | RowCommand::Mark
        | RowCommand::Unmark
        | RowCommand::Only => return None,
    }
    Some(vec![])
}

/// Draws a record.
pub fn view(model: &Model, id: &RecordId, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let state = &model.screens.record;
    if room == Room::Two && state.shown == Shown::Words && model.record(id).is_some() {
        let head = wrapped(&head_lines(model, id, now), usize::from(area.width), canvas);
        let height = u16::try_from(head.len()).unwrap_or(u16::MAX).min(area.height / 2);
        let (head_area, rest) = top(area, height);
        canvas.lines(head_area, &head);
        let (_, rest) = top(rest, 1);
        let (left, right) = columns(rest, 64);
        let inside = panel(canvas, left, "TIMELINE  (UTC)");
        scrolled(canvas, inside, &story::timeline_lines(model, id), state.from);
        let inside = panel(canvas, right, "FACTS");
        let mut lines = handed::came_of_lines(model, id, usize::from(inside.width), now);
        if !lines.is_empty() {
            lines.push(Line::empty());
        }
        lines.extend(facts::fact_lines(model, id, now));
        lines.push(Line::empty());
        lines.extend(story::provider_lines(model, id, LookUps::All, now));
        scrolled(canvas, inside, &lines, 0);
    } else {
        scrolled(canvas, area, &lines(model, id, now), state.from);
    }
}

fn scrolled(canvas: &mut Canvas<'_>, area: Rect, lines: &[Line], from: usize) {
    let rows = wrapped(lines, usize::from(area.width), canvas);
    let hidden = rows.len().saturating_sub(usize::from(area.height));
    let from = from.min(hidden);
    let below = hidden.saturating_sub(from);
    let shown: Vec<Line> = rows.into_iter().skip(from).collect();
    canvas.lines(area, &shown);
    if below > 0 && area.height > 1 {
        let row = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        canvas.line_right(row, &Line::of(Role::Key, format!(" {}: j ", more_lines(below.saturating_add(1)))));
    }
}

/// Why a record could not be read whole, the last time that was tried.
fn trouble_of<'m>(model: &'m Model, id: &RecordId) -> Option<&'m str> {
    model.screens.record.trouble.as_ref().filter(|(of, _)| of == id).map(|(_, why)| why.as_str())
}

fn head_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let Some(record) = model.record(id) else {
        let why = trouble_of(model, id).unwrap_or("being read");
        let mut lines = vec![not_known(&format!("record {id}"), why)];
        if trouble_of(model, id).is_some() {
            lines.push(Line::plain(
                "   v judges what else our books know of it: requests, payments, the provider's word.",
            ));
        }
        return lines;
    };
    let mut lines = words::head(model, record, now);
    lines.extend(handed::state_lines(model, id, now));
    lines.extend(next_lines(model, id, now));
    lines
}

/// Everything about a record, top to bottom.
pub fn lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    let mut lines = head_lines(model, id, now);
    if model.record(id).is_none() {
        return lines;
    }
    match model.screens.record.shown {
        Shown::Words => {
            lines.extend(facts::short_lines(model, id, now));
            lines.extend(handed::came_of_lines(model, id, usize::from(model.size.0.min(100)), now));
            lines.push(Line::empty());
            lines.extend(story::provider_lines(model, id, LookUps::Newest, now));
            lines.push(Line::empty());
            lines.push(Line::of(Role::Heading, " TIMELINE (UTC)"));
            lines.extend(story::timeline_lines(model, id));
            lines.push(Line::empty());
            lines.extend(story::provider_lines(model, id, LookUps::Earlier, now));
            lines.push(Line::empty());
            lines.push(Line::of(Role::Heading, " FACTS"));
            lines.extend(facts::fact_lines(model, id, now));
        }
        Shown::Raw => {
            lines.push(Line::empty());
            lines.push(Line::of(Role::Heading, " RAW  as stored, made safe to show"));
            lines.extend(facts::raw_lines(model, id));
        }
    }
    lines
}
