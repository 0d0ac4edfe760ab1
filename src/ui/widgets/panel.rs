//! A titled box, and a dialog: a box over a screen that is still visible around it.

use ratatui::layout::Rect;

use crate::ui::layout::centred;
use crate::ui::{Canvas, Line, Role};

/// A box with a heading; returns its inside.
pub fn panel(canvas: &mut Canvas<'_>, area: Rect, title: &str) -> Rect {
    canvas.frame(area, &Line::of(Role::Heading, title), Role::Dim)
}

/// A dialog of wrapped lines, as tall as they need; `from` scrolls when they do not fit.
/// Returns how many lines could not be shown below.
pub fn dialog(canvas: &mut Canvas<'_>, area: Rect, title: &Line, frame: Role, lines: &[Line], from: usize) -> usize {
    let width = area.width.min(100);
    let wrapped = wrapped(lines, usize::from(width.saturating_sub(4)), canvas);
    let height = u16::try_from(wrapped.len()).unwrap_or(u16::MAX).saturating_add(2);
    let place = centred(area, width, height);
    canvas.clear(place, Role::Normal);
    let inside = canvas.frame(place, title, frame);
    let hidden = wrapped.len().saturating_sub(usize::from(inside.height));
    let from = from.min(hidden);
    let shown: Vec<Line> = wrapped.into_iter().skip(from).collect();
    canvas.lines(inside, &shown);
    let below = hidden.saturating_sub(from);
    if below > 0 {
        let more = Line::of(Role::Key, format!(" {}: j or Down ", more_lines(below)));
        let row =
            Rect { y: place.bottom().saturating_sub(1), height: 1, width: place.width.saturating_sub(2), ..place };
        canvas.line_right(row, &more);
    }
    below
}

/// Lines broken to a width, continuation rows indented as their line is.
pub fn wrapped(lines: &[Line], width: usize, canvas: &Canvas<'_>) -> Vec<Line> {
    lines.iter().flat_map(|line| line.wrap(width, hang(line, width), canvas.charset())).collect()
}

/// Where the rows after the first begin: under the words, not under the sign, number or label.
fn hang(line: &Line, width: usize) -> usize {
    let label = match line.0.as_slice() {
        [first, _, ..] if first.text.ends_with(' ') && first.text.len() <= 24 => first.text.chars().count(),
        [] | [..] => 0,
    };
    let words = line.words();
    if words.starts_with("ok ") {
        return 3;
    }
    let lead = words.chars().take_while(|c| c.is_ascii_digit() || matches!(c, ' ' | '!' | '?')).count();
    label.max(lead).min(width / 3)
}

/// How much lies below, in words.
pub fn more_lines(below: usize) -> String {
    if below == 1 { "1 more line".to_owned() } else { format!("{below} more lines") }
}
