//! Line 2: the screens with their counts, or where in them one is.
//!
//! Owns shortening: full titles where they fit, short ones at 80 columns, numbers below that.

use ratatui::layout::Rect;

use crate::ui::{Canvas, Line, Role};

/// One screen's tab.
#[derive(Debug, Clone)]
pub struct Tab {
    /// The digit that opens it.
    pub digit: char,
    /// Titles, longest first.
    pub titles: [&'static str; 2],
    /// A count, or `?` when not known; empty for none.
    pub count: String,
    /// How the count should look.
    pub role: Role,
    /// Whether this is the screen shown.
    pub here: Here,
}

/// Whether a tab is the one shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// Draws the row of tabs.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, tabs: &[Tab]) {
    let rows = [row(tabs, 0, "   "), row(tabs, 0, " "), row(tabs, 1, " "), numbers(tabs)];
    let charset = canvas.charset();
    let fits = |line: &&Line| line.width(charset) <= usize::from(area.width);
    let line = rows.iter().find(fits).or(rows.last());
    if let Some(line) = line {
        canvas.line(area, line);
    }
}

fn row(tabs: &[Tab], length: usize, gap: &str) -> Line {
    let mut line = Line::empty();
    for (index, tab) in tabs.iter().enumerate() {
        if index > 0 {
            line.push(Role::Normal, gap);
        }
        let title = tab.titles.get(length).copied().unwrap_or_default();
        push(&mut line, tab, title);
    }
    line
}

fn numbers(tabs: &[Tab]) -> Line {
    let mut line = Line::empty();
    for tab in tabs {
        match tab.here {
            Here::Yes => push(&mut line, tab, tab.titles.get(1).copied().unwrap_or_default()),
            Here::No => line.push(Role::Dim, tab.digit.to_string()),
        }
        line.push(Role::Normal, " ");
    }
    line
}

fn push(line: &mut Line, tab: &Tab, title: &str) {
    let words = format!("{} {title}", tab.digit);
    let count = if tab.count.is_empty() { String::new() } else { format!(" {}", tab.count) };
    match tab.here {
        Here::Yes => line.push(Role::Selected, format!("[{words}{count}]")),
        Here::No => {
            line.push(Role::Normal, words);
            line.push(tab.role, count);
        }
    }
}
