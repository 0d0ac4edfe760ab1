//! The find box, and the records that may be meant.

use ratatui::layout::Rect;

use super::{Finding, open_box};
use crate::app::effect::Effect;
use crate::app::keymap::RowCommand;
use crate::app::model::{Model, Place, Typing};
use crate::app::screen::{ScreenId, not_known, page_rows, rows, sentence};
use crate::domain::ids::RecordId;
use crate::domain::port::{Candidate, MOST_CANDIDATES, Matched};
use crate::domain::time::Now;
use crate::ui::layout::Room;
use crate::ui::wide::wrap;
use crate::ui::widgets::table::Column;
use crate::ui::{Canvas, Line, Role, Span};

/// Rows of typed text that are shown, the last ones.
const TYPED_ROWS: usize = 4;

/// The keys of the find box while nothing is typed.
pub fn on(model: &mut Model, command: RowCommand, now: Now) -> Option<Vec<Effect>> {
    match command {
        RowCommand::Move(motion) => {
            let page = page_rows(model);
            model.screens.ticket.list.go(motion, page);
            Some(vec![])
        }
        RowCommand::Enter => Some(match model.screens.ticket.list.cursor().cloned() {
            Some(id) => model.go(Place::Ticket(id, ScreenId::Ticket), now),
            None => open_box(model, now),
        }),
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

/// The candidate that needs no choice: all that was found is one order of one scope.
pub fn direct(candidates: &[Candidate]) -> Option<&RecordId> {
    let first = candidates.first().filter(|one| one.matched == Matched::Id && candidates.len() < MOST_CANDIDATES)?;
    let same = |one: &Candidate| {
        one.id == first.id || (one.id.scope == first.id.scope && one.order.is_some() && one.order == first.order)
    };
    candidates.iter().all(same).then_some(&first.id)
}

const COLUMNS: &[Column] = &[
    Column::words("MATCHED", 14, 0).up_to(30),
    Column::ids("SCOPE", 8, 0).up_to(18),
    Column::ids("ORDER", 10, 0).up_to(24),
    Column::numbers("AMOUNT", 12, 0).up_to(18),
    Column::words("WHEN (UTC)", 17, 1),
    Column::ids("KEY", 10, 3).up_to(24),
    Column::ids("PAYMENT", 8, 4).up_to(20),
];

/// Draws the box and what was found.
pub fn view(model: &Model, canvas: &mut Canvas<'_>, area: Rect, room: Room, _: Now) {
    let state = &model.screens.ticket;
    let mut lines = vec![
        Line::of(Role::Heading, " Was this customer charged twice? What may I say?"),
        Line::plain(" Paste what the customer gave you, or press ").and(Role::Key, "/").then(
            " and type it: an order, payment, key, provider ref, customer, an amount with its day, or the whole message.",
        ),
    ];
    lines.extend(box_lines(model, area.width, canvas));
    match &state.finding {
        Finding::Nothing => {}
        Finding::Asked | Finding::WordByWord => lines.push(Line::of(Role::Info, " i being looked for")),
        Finding::Failed(why) => lines.push(not_known("whose payment it is", why)),
        Finding::Found(found) if found.is_empty() => {
            lines.push(not_known(
                "whose payment it is",
                "nothing here carries that. Ask the customer for the order, or for what the bank statement says; without a day an amount is looked for in the last week only.",
            ));
            lines.push(Line::plain("   Nothing found does not mean nothing charged: promise nothing."));
        }
        Finding::Found(found) => {
            let many = state.list.order().len();
            lines.push(
                Line::plain(format!(
                    " {many} {} be meant. Choose the one whose order and amount the customer names, then ",
                    if many == 1 { "record may" } else { "records may" }
                ))
                .and(Role::Key, "Enter")
                .then("."),
            );
            if found.iter().any(|one| one.matched == Matched::Amount) {
                lines.push(
                    Line::of(Role::Caution, " ! Found by amount and day only: ")
                        .then("it may be anybody's. Ask for the order, or for what the bank statement says, before you say anything."),
                );
            }
            lines.extend(scopes_line(found));
        }
    }
    let rest = sentence(canvas, area, &lines);
    let Finding::Found(found) = &state.finding else { return };
    if found.is_empty() {
        return;
    }
    let cells = |id: &RecordId| found.iter().find(|candidate| candidate.id == *id).map(cells);
    let list = (state.list.order(), state.list.position());
    rows::draw(canvas, rest, COLUMNS, list, rows::form(room), cells);
}

/// Two clients' orders may have the same name: whoever chooses is told.
fn scopes_line(found: &[Candidate]) -> Option<Line> {
    let mut scopes: Vec<&str> = found.iter().map(|candidate| candidate.id.scope.as_str()).collect();
    scopes.sort_unstable();
    scopes.dedup();
    (scopes.len() > 1).then(|| {
        Line::of(Role::Caution, format!(" ! They are of {} scopes: ", scopes.len()))
            .then("the same order or key in another scope is another client's, and another customer.")
    })
}

fn box_lines(model: &Model, width: u16, canvas: &Canvas<'_>) -> Vec<Line> {
    let typed = model.line.as_ref().filter(|line| matches!(line.typing, Typing::Find));
    let Some(line) = typed else {
        let asked = &model.screens.ticket.asked;
        let shown = if asked.is_empty() { "(nothing yet)" } else { asked.as_str() };
        let mut shown = wrap(shown, usize::from(width.saturating_sub(12)).max(10), canvas.charset());
        if shown.len() > 2 {
            shown.truncate(2);
            shown.push(canvas.look().glyphs.cut.to_owned());
        }
        return labelled(shown, Role::Dim);
    };
    let mut rows = wrap(&line.field.shown(), usize::from(width.saturating_sub(12)).max(10), canvas.charset());
    let hidden = rows.len().saturating_sub(TYPED_ROWS);
    let mut lines = labelled(rows.split_off(hidden), Role::Field);
    lines.push(
        Line::plain("       ")
            .and(Role::Key, "Enter")
            .then(" finds it    ")
            .and(Role::Key, "Esc")
            .then(" leaves the box"),
    );
    lines
}

fn labelled(rows: Vec<String>, role: Role) -> Vec<Line> {
    let label = |nth: usize| if nth == 0 { " FIND  " } else { "       " };
    rows.into_iter().enumerate().map(|(nth, row)| Line::of(Role::Heading, label(nth)).and(role, row)).collect()
}

fn cells(candidate: &Candidate) -> Vec<Span> {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    vec![
        rows::span(Role::Normal, ""),
        rows::span(Role::Normal, candidate.why.clone()),
        rows::span(Role::Normal, candidate.id.scope.to_string()),
        rows::span(Role::Normal, or_dash(candidate.order.as_ref().map(ToString::to_string))),
        match &candidate.money {
            Some(money) => rows::span(Role::Normal, money.to_string()),
            None => rows::span(Role::Unknown, "NOT KNOWN"),
        },
        rows::span(Role::Normal, or_dash(candidate.at.map(|at| at.format("%Y-%m-%d %H:%MZ").to_string()))),
        rows::span(Role::Normal, candidate.id.key.to_string()),
        rows::span(Role::Normal, or_dash(candidate.payment.as_ref().map(ToString::to_string))),
    ]
}
