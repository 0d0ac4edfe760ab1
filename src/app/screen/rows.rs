//! What screens that are one list share: the rows, or the sentence that stands in their place.

use ratatui::layout::Rect;

use super::not_known;
use crate::app::list::ListState;
use crate::ui::layout::Room;
use crate::ui::widgets::panel::wrapped;
use crate::ui::widgets::table::{self, Column, Form, Table};
use crate::ui::{Canvas, Line, Role, Span};

/// Draws rows by their identities, a sign and one span per column each.
pub fn draw<Id>(
    canvas: &mut Canvas<'_>,
    area: Rect,
    columns: &[Column],
    (ids, selected): (&[Id], Option<usize>),
    form: Form,
    cells: impl Fn(&Id) -> Option<Vec<Span>>,
) {
    let what = Table { columns, rows: ids.len(), selected };
    table::marked(canvas, area, what, form, |index| ids.get(index).and_then(&cells).unwrap_or_default());
}

/// Says in a list's place why it is not known.
pub fn instead(canvas: &mut Canvas<'_>, area: Rect, what: &str, why: Option<&str>) {
    let lines = wrapped(&[not_known(what, why.unwrap_or_default())], usize::from(area.width), canvas);
    canvas.lines(area, &lines);
}

/// Announces rows that wait to be taken in.
pub fn arrived<Id: Clone + PartialEq>(state: &ListState<Id>, said: &str) -> Option<Line> {
    (state.arrived() > 0).then(|| Line::of(Role::Info, format!(" i {} {said}", state.arrived())))
}

/// Cards where rows do not fit.
pub fn form(room: Room) -> Form {
    if room == Room::Card { Form::Cards } else { Form::Rows }
}

/// One cell.
pub fn span(role: Role, text: impl Into<String>) -> Span {
    Span { role, text: text.into() }
}
