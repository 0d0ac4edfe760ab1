//! A table over plain data: only the rows on screen are asked for.
//!
//! Owns column widths (columns leave from the least needed one), scrolling by a first row, and
//! the card form for narrow terminals. Must not know what a row is.

use ratatui::layout::Rect;

use crate::ui::layout::{bottom, top};
use crate::ui::wide::{Align, Keep, columns, cut, fit};
use crate::ui::{Canvas, Charset, Line, Role, Span};

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its title.
    pub title: &'static str,
    /// Fewest columns of the terminal it can live with.
    pub width: u16,
    /// Most it can use.
    pub most: u16,
    /// Numbers to the right.
    pub align: Align,
    /// Which end of a value matters when it is cut.
    pub keep: Keep,
    /// 0 stays always; the highest leaves first when room is short.
    pub leaves: u8,
}

impl Column {
    /// A column of words.
    pub const fn words(title: &'static str, width: u16, leaves: u8) -> Self {
        Self { title, width, most: width, align: Align::Left, keep: Keep::Start, leaves }
    }

    /// A column of numbers or money.
    pub const fn numbers(title: &'static str, width: u16, leaves: u8) -> Self {
        Self { title, width, most: width, align: Align::Right, keep: Keep::Start, leaves }
    }

    /// A column of keys or refs, whose ends differ.
    pub const fn ids(title: &'static str, width: u16, leaves: u8) -> Self {
        Self { title, width, most: width, align: Align::Left, keep: Keep::End, leaves }
    }

    /// May use up to this many when there is room.
    #[must_use]
    pub const fn up_to(mut self, most: u16) -> Self {
        self.most = most;
        self
    }
}

/// What to show of a table.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Columns, in order.
    pub columns: &'a [Column],
    /// How many rows there are.
    pub rows: usize,
    /// The selected one.
    pub selected: Option<usize>,
}

/// Where a table starts so that the selected row is in view.
pub fn first_row(selected: Option<usize>, rows: usize, height: usize) -> usize {
    let last_start = rows.saturating_sub(height);
    let selected = selected.unwrap_or(0);
    // The selected row stays off the edge, so that what comes next is seen.
    selected.saturating_sub(height.saturating_sub(1) * 2 / 3).min(last_start)
}

/// Draws the head and the visible rows. `row` gives a sign and one span per column.
/// Returns how many rows lie below.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, table: Table<'_>, row: impl Fn(usize) -> Vec<Span>) -> usize {
    let charset = canvas.charset();
    let (head, body) = top(area, 1);
    let height = usize::from(body.height);
    let first = first_row(table.selected, table.rows, height);
    let rows: Vec<Vec<Span>> = (first..table.rows).take(height).map(row).collect();
    let content = content(table.columns, &rows, charset);
    let widths = widths(table.columns, &content, area.width.saturating_sub(3));
    let mut line = Line::plain("   ");
    for (column, width) in table.columns.iter().zip(&widths) {
        if *width > 0 {
            line.push(Role::Heading, fit(column.title, usize::from(*width), column.align, Keep::Start, charset));
            line.push(Role::Normal, "  ");
        }
    }
    canvas.line(head, &line);
    for ((y, index), spans) in (body.y..body.bottom()).zip(first..table.rows).zip(rows) {
        let place = Rect { y, height: 1, ..body };
        let mut spans = spans.into_iter();
        let sign = spans.next();
        let mut line = Line::empty();
        if let Some(sign) = sign {
            line.push(sign.role, sign_of(&sign.text, charset));
        }
        for ((column, width), span) in table.columns.iter().zip(&widths).zip(spans) {
            if *width > 0 {
                line.push(span.role, fit(&span.text, usize::from(*width), column.align, column.keep, charset));
                line.push(Role::Normal, "  ");
            }
        }
        canvas.line(place, &line);
        if table.selected == Some(index) {
            canvas.tint(place, Role::Selected);
        }
    }
    table.rows.saturating_sub(first + height)
}

/// Draws rows as cards of two lines, for narrow terminals. Returns how many rows lie below.
pub fn cards(canvas: &mut Canvas<'_>, area: Rect, table: Table<'_>, row: impl Fn(usize) -> Vec<Span>) -> usize {
    let fit_rows = usize::from(area.height / 2).max(1);
    let first = first_row(table.selected, table.rows, fit_rows);
    let mut y = area.y;
    for index in (first..table.rows).take(fit_rows) {
        let mut lines = card(table.columns, row(index), area.width, canvas.charset()).into_iter();
        for line in lines.by_ref().take(2) {
            if y >= area.bottom() {
                break;
            }
            let place = Rect { y, height: 1, ..area };
            canvas.line(place, &line);
            if table.selected == Some(index) {
                canvas.tint(place, Role::Selected);
            }
            y = y.saturating_add(1);
        }
    }
    table.rows.saturating_sub(first + fit_rows)
}

/// How the rows of a table are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One row each, under a head.
    Rows,
    /// Two rows each, for narrow terminals.
    Cards,
}

/// A table that says when there is more of it than fits.
pub fn marked(canvas: &mut Canvas<'_>, area: Rect, table: Table<'_>, form: Form, row: impl Fn(usize) -> Vec<Span>) {
    let fits = match form {
        Form::Rows => area.height.saturating_sub(1),
        Form::Cards => area.height / 2,
    };
    let (list, mark) =
        if table.rows > usize::from(fits) && area.height > 4 { bottom(area, 1) } else { (area, Rect::default()) };
    let below = match form {
        Form::Rows => draw(canvas, list, table, row),
        Form::Cards => cards(canvas, list, table, row),
    };
    let said =
        if below > 0 { format!("   {below} more below (G = last).") } else { "   More above (g = first).".to_owned() };
    canvas.line(mark, &Line::of(Role::Dim, said));
}

fn card(titles: &[Column], spans: Vec<Span>, width: u16, charset: Charset) -> Vec<Line> {
    let mut spans = spans.into_iter();
    let sign = spans.next();
    let mut first = Line::empty();
    if let Some(sign) = sign {
        first.push(sign.role, sign_of(&sign.text, charset));
    }
    let mut below: Vec<(usize, &Column, Span)> = Vec::new();
    for (place, (column, span)) in titles.iter().zip(spans).enumerate() {
        let text = cut(&span.text, usize::from(column.most), column.keep, charset);
        if column.leaves <= 1 {
            if first.0.len() > 1 {
                first.push(Role::Normal, " ");
            }
            first.push(span.role, text);
        } else {
            below.push((place, column, Span { role: span.role, text }));
        }
    }
    // What is needed most gets its room first; what fits stands in the order of the columns.
    below.sort_by_key(|(_, column, _)| column.leaves);
    let mut room = usize::from(width).saturating_sub(3);
    below.retain(|(_, column, span)| {
        let needs = columns(&span.text, charset) + column.title.len() + 3;
        let fits = needs <= room;
        room = if fits { room.saturating_sub(needs) } else { room };
        fits
    });
    below.sort_by_key(|(place, _, _)| *place);
    let mut second = Line::plain("   ");
    for (_, column, span) in below {
        second.push(Role::Dim, format!("{} ", column.title.to_lowercase()));
        second.push(span.role, span.text);
        second.push(Role::Normal, "  ");
    }
    vec![first, second]
}

/// A sign of two columns, and behind it, where a row is marked, the mark.
fn sign_of(text: &str, charset: Charset) -> String {
    if columns(text, charset) <= 2 {
        return format!("{} ", fit(text, 2, Align::Right, Keep::Start, charset));
    }
    fit(text, 3, Align::Left, Keep::Start, charset)
}

/// The widest value of each column among the visible rows.
fn content(titles: &[Column], rows: &[Vec<Span>], charset: Charset) -> Vec<u16> {
    let widest = |place: usize| {
        let values = rows.iter().filter_map(|row| row.get(place.saturating_add(1)));
        values.map(|span| columns(&span.text, charset)).max().unwrap_or(0)
    };
    (0..titles.len()).map(|place| u16::try_from(widest(place)).unwrap_or(u16::MAX)).collect()
}

/// The width of each column, 0 for one that had to leave. A column grows no further than its values need.
fn widths(columns: &[Column], content: &[u16], room: u16) -> Vec<u16> {
    let mut widths: Vec<u16> = columns.iter().map(|c| c.width).collect();
    let need =
        |widths: &[u16]| widths.iter().filter(|w| **w > 0).map(|w| w.saturating_add(2)).sum::<u16>().saturating_sub(2);
    while need(&widths) > room {
        let leaving = columns
            .iter()
            .zip(&widths)
            .enumerate()
            .filter(|(_, (c, w))| c.leaves > 0 && **w > 0)
            .max_by_key(|(_, (c, _))| c.leaves)
            .map(|(i, _)| i);
        match leaving.and_then(|i| widths.get_mut(i)) {
            Some(width) => *width = 0,
            None => break,
        }
    }
    let mut spare = room.saturating_sub(need(&widths));
    // What is needed most grows first.
    let mut growing: Vec<((&Column, &u16), &mut u16)> = columns.iter().zip(content).zip(&mut widths).collect();
    growing.sort_by_key(|((column, _), _)| column.leaves);
    for ((column, content), width) in growing {
        if *width > 0 {
            let most = column.most.min(*content);
            let more = most.saturating_sub(*width).min(spare);
            *width = width.saturating_add(more);
            spare = spare.saturating_sub(more);
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_needed_column_leaves_first() {
        let columns = [Column::ids("KEY", 8, 0).up_to(12), Column::words("NEXT", 8, 1), Column::words("ORDER", 8, 2)];
        assert_eq!(widths(&columns, &[20, 8, 8], 40), [12, 8, 8]);
        assert_eq!(widths(&columns, &[20, 8, 8], 20), [10, 8, 0]);
        assert_eq!(widths(&columns, &[20, 8, 8], 9), [9, 0, 0]);
        assert_eq!(widths(&columns, &[20, 8, 8], 3), [8, 0, 0], "the key stays, cut by the edge");
    }

    #[test]
    fn a_column_grows_only_as_far_as_its_values_need() {
        let columns = [Column::ids("KEY", 8, 0).up_to(30), Column::words("NEXT", 8, 1).up_to(30)];
        assert_eq!(widths(&columns, &[14, 20], 80), [14, 20]);
        assert_eq!(widths(&columns, &[3, 3], 80), [8, 8]);
    }

    #[test]
    fn the_selected_row_is_in_view() {
        assert_eq!(first_row(Some(0), 50, 10), 0);
        assert_eq!(first_row(Some(49), 50, 10), 40);
        assert_eq!(first_row(Some(20), 50, 10), 14);
        assert_eq!(first_row(None, 5, 10), 0);
        for selected in 0..50 {
            let first = first_row(Some(selected), 50, 7);
            assert!((first..first + 7).contains(&selected), "{selected}");
        }
    }
}
