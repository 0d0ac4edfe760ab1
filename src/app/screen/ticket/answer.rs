//! The answer: what it is, how sure, what to do, what to say, and what it rests on.

use ratatui::layout::Rect;

use super::{Answered, State, charges, others, words};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::list::moved;
use crate::app::model::{Model, Place};
use crate::app::screen::not_known;
use crate::domain::ids::RecordId;
use crate::domain::time::{Now, clock};
use crate::ui::layout::{Room, columns, top};
use crate::ui::widgets::lanes;
use crate::ui::widgets::panel::{more_lines, panel, wrapped};
use crate::ui::{Canvas, Charset, Line, Role};

/// Words are read in lines no longer than this.
const WIDEST: usize = 116;

/// The keys of the answer.
pub fn on_answer(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    let Place::Ticket(id, from) = model.place.clone() else { return None };
    if model.screens.ticket.others.is_some() {
        return others::on(model, command, now);
    }
    match command {
        RowCommand::Move(motion) => {
            let last = most_lines(model, &id).saturating_sub(3);
            let page = usize::from(model.size.1.saturating_sub(6));
            let state = &mut model.screens.ticket;
            state.from = moved(state.from, motion, page, last);
            Some(vec![])
        }
        RowCommand::Enter => Some(model.go(Place::Record(id, from), now)),
        RowCommand::Back
        | RowCommand::Only
        | RowCommand::Sort
        | RowCommand::Reverse
        | RowCommand::Next
        | RowCommand::Previous
        | RowCommand::Raw
        | RowCommand::Mark
        | RowCommand::Unmark => None,
    }
}

/// How many rows the answer may take at most: a bound for scrolling; drawing knows it exactly.
fn most_lines(model: &Model, id: &RecordId) -> usize {
    let Some(answered) = model.screens.ticket.answer_of(id) else { return 0 };
    let width = usize::from(model.size.0.min(120)).max(20);
    let lines = lines(answered, &model.screens.ticket, width, Charset::Unicode, Timeline::Below);
    lines.iter().map(|line| line.wrap(width, 0, Charset::Unicode).len()).sum()
}

/// Where the timeline stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timeline {
    /// Under the words.
    Below,
    /// In a panel of its own.
    Beside,
}

/// Draws the answer about a record, or the others like it.
pub fn view_answer(model: &Model, id: &RecordId, canvas: &mut Canvas<'_>, area: Rect, room: Room, now: Now) {
    let state = &model.screens.ticket;
    let Some(answered) = state.answer_of(id) else {
        let why = state.trouble.as_ref().filter(|(of, _)| of == id).map_or("being read", |(_, why)| why.as_str());
        let rows = wrapped(&[not_known("the answer", why)], usize::from(area.width), canvas);
        canvas.lines(area, &rows);
        return;
    };
    if let Some(others) = &state.others {
        others.view(model, canvas, area, room, now);
        return;
    }
    let charset = canvas.charset();
    if room == Room::Two {
        // Wide and tall enough for real lanes, side by side, under the words.
        let width = usize::from(area.width);
        let words = lines(answered, state, width.min(WIDEST), charset, Timeline::Beside);
        let rows: usize = wrapped(&words, width.min(WIDEST), canvas).len();
        let most = area.height.saturating_sub(area.height / 3);
        let (upper, lower) = top(area, u16::try_from(rows).unwrap_or(most).min(most));
        scrolled(
            canvas,
            Rect { width: upper.width.min(u16::try_from(WIDEST).unwrap_or(u16::MAX)), ..upper },
            &words,
            state.from,
        );
        let inside = panel(canvas, lower, "TIMELINE  (UTC)");
        scrolled(canvas, inside, &lanes::lines(&answered.lanes, usize::from(inside.width), charset), state.from);
    } else if room.has_preview() {
        let (left, right) = columns(area, 58);
        let width = usize::from(left.width);
        scrolled(canvas, left, &lines(answered, state, width, charset, Timeline::Beside), state.from);
        let inside = panel(canvas, right, "TIMELINE  (UTC)");
        scrolled(canvas, inside, &lanes::lines(&answered.lanes, usize::from(inside.width), charset), state.from);
    } else {
        let width = usize::from(area.width);
        scrolled(canvas, area, &lines(answered, state, width, charset, Timeline::Below), state.from);
    }
}

fn scrolled(canvas: &mut Canvas<'_>, area: Rect, lines: &[Line], from: usize) {
    let rows = wrapped(lines, usize::from(area.width), canvas);
    let (body, foot) = top(area, area.height.saturating_sub(u16::from(rows.len() > usize::from(area.height))));
    let hidden = rows.len().saturating_sub(usize::from(body.height));
    let from = from.min(hidden);
    let shown: Vec<Line> = rows.into_iter().skip(from).collect();
    canvas.lines(body, &shown);
    let below = hidden.saturating_sub(from);
    if below > 0 {
        canvas.line_right(foot, &Line::of(Role::Key, format!(" {}: j ", more_lines(below))));
    }
}

/// The page, top to bottom.
fn lines(answered: &Answered, state: &State, width: usize, charset: Charset, timeline: Timeline) -> Vec<Line> {
    let mut lines = head(answered);
    if let Some((_, why)) = state.trouble.as_ref().filter(|(of, _)| *of == answered.id) {
        lines.push(not_known("whether it is still so", why));
    }
    lines.push(Line::empty());
    lines.extend(charges::lines(&answered.case, width, charset));
    lines.push(Line::empty());
    let (language, other) = words::languages(state.language);
    lines.push(
        Line::of(Role::Heading, " TELL THE CUSTOMER")
            .then(format!(" ({language})  "))
            .and(Role::Key, "y")
            .then(" copies it, ")
            .and(Role::Key, "t")
            .then(format!(" {other}")),
    );
    lines.push(Line::plain(format!("   {}", words::to_customer(answered, state.language))));
    lines.push(Line::empty());
    if let Some(story) = &answered.triage.story {
        lines.push(Line::of(Role::Heading, " WHAT HAPPENED  ").then(story.clone()));
        lines.push(Line::empty());
    }
    if timeline == Timeline::Below {
        lines.push(Line::of(Role::Heading, " TIMELINE (UTC)"));
        lines.extend(lanes::lines(&answered.lanes, width, charset));
        lines.push(Line::empty());
    }
    lines.push(Line::of(Role::Heading, " WHAT SHOWS IT"));
    lines.extend(answered.triage.because.iter().map(|because| Line::plain(format!("   {because}"))));
    if answered.triage.because.is_empty() {
        lines.push(Line::of(Role::Dim, "   nothing"));
    }
    if !answered.triage.missing.is_empty() {
        lines.push(Line::of(Role::Heading, " WHAT WE DO NOT HAVE"));
        lines
            .extend(answered.triage.missing.iter().map(|missing| Line::of(Role::Unknown, " ? ").then(missing.clone())));
    }
    lines.push(Line::empty());
    let read = format!(" Read at {}.", clock(answered.read_at));
    lines.push(Line::of(Role::Dim, read).then("  ").and(Role::Key, "R").then(" reads it again."));
    lines
}

/// The answer, how sure, why, and what to do: what has to be on the first screen.
fn head(answered: &Answered) -> Vec<Line> {
    let triage = &answered.triage;
    let (role, said, means) = words::verdict(triage);
    let note = triage.note.map_or(means, words::note);
    let mut lines = vec![Line::of(Role::Heading, " ANSWER  ").and(role, said).then(format!(" {note}"))];
    if !triage.too_much.is_empty() {
        lines.push(Line::plain("         taken too much: ").and(Role::Critical, triage.too_much.to_string()));
    }
    if let Some(cause) = triage.cause {
        lines.push(Line::of(Role::Heading, " WHY     ").then(format!("{}.", words::cause(cause))));
    }
    let (role, sure, rests) = words::confidence(triage.confidence);
    lines.push(Line::of(Role::Heading, " SURE?   ").and(role, sure).then(format!(": {rests}")));
    let mut next = Line::of(Role::Heading, " NEXT    ");
    for (nth, piece) in words::next(triage.next).iter().enumerate() {
        next.push(if nth % 2 == 1 { Role::Key } else { Role::Normal }, *piece);
    }
    lines.push(next);
    lines
}
