//! Line 2: the screens with their counts, or where in them one is.
//!
//! Owns shortening: full titles where they fit, short ones at 80 columns; then screens with nothing to count
//! keep their number only, one by one, and at last all but the one shown.

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
    let mut rows = vec![row(tabs, 0, "   "), row(tabs, 0, " ")];
    rows.extend((0..=uncounted(tabs).count()).map(|bare| row_of(tabs, 1, " ", bare)));
    rows.push(numbers(tabs));
    let charset = canvas.charset();
    let fits = |line: &&Line| line.width(charset) <= usize::from(area.width);
    let line = rows.iter().find(fits).or(rows.last());
    if let Some(line) = line {
        canvas.line(area, line);
    }
}

/// The places of the tabs that can do without their title: nothing is counted there, and nobody is there.
fn uncounted(tabs: &[Tab]) -> impl Iterator<Item = usize> + '_ {
    let can = |tab: &Tab| tab.here == Here::No && matches!(tab.count.as_str(), "" | "0");
    tabs.iter().enumerate().filter(move |(_, tab)| can(tab)).map(|(place, _)| place)
}

fn row(tabs: &[Tab], length: usize, gap: &str) -> Line {
    row_of(tabs, length, gap, 0)
}

/// A row in which the first so many tabs that can do without their title stand as a number.
fn row_of(tabs: &[Tab], length: usize, gap: &str, bare: usize) -> Line {
    let bare: Vec<usize> = uncounted(tabs).take(bare).collect();
    let mut line = Line::empty();
    for (index, tab) in tabs.iter().enumerate() {
        if index > 0 {
            line.push(Role::Normal, gap);
        }
        if bare.contains(&index) {
            line.push(Role::Dim, tab.digit.to_string());
            continue;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs::Charset;

    fn tab(digit: char, titles: [&'static str; 2], count: &str) -> Tab {
        let here = if digit == '1' { Here::Yes } else { Here::No };
        Tab { digit, titles, count: count.to_owned(), role: Role::Normal, here }
    }

    fn eight(stuck: &str, rules: &str) -> Vec<Tab> {
        vec![
            tab('1', ["Overview", "Overview"], ""),
            tab('2', ["Stuck", "Stuck"], stuck),
            tab('3', ["Unknown", "Unkn"], "12"),
            tab('4', ["Conflicts 409/422", "409/422"], ""),
            tab('5', ["Invariants", "Invar"], rules),
            tab('6', ["Reconciliation", "Recon"], "4"),
            tab('7', ["Ticket triage", "Ticket"], ""),
            tab('8', ["Audit", "Audit"], ""),
        ]
    }

    #[test]
    fn eight_screens_fit_at_eighty_columns() {
        let line = row(&eight("31", "1"), 1, " ");
        let said = "[1 Overview] 2 Stuck 31 3 Unkn 12 4 409/422 5 Invar 1 6 Recon 4 7 Ticket 8 Audit";
        assert_eq!((line.words().as_str(), line.width(Charset::Unicode)), (said, 80));
    }

    #[test]
    fn screens_with_nothing_to_count_lose_their_titles_first() {
        let tabs = eight("1000", "13");
        let line = row_of(&tabs, 1, " ", 1);
        assert!(line.width(Charset::Unicode) <= 80, "{}", line.words());
        assert_eq!(line.words(), "[1 Overview] 2 Stuck 1000 3 Unkn 12 4 5 Invar 13 6 Recon 4 7 Ticket 8 Audit");
        let all = row_of(&tabs, 1, " ", uncounted(&tabs).count());
        assert_eq!(all.words(), "[1 Overview] 2 Stuck 1000 3 Unkn 12 4 5 Invar 13 6 Recon 4 7 8");
    }
}
