//! A picture of the model as text, with its styles as runs of theme roles.

use std::fmt::Write as _;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use unstuck::app::{Model, view};
use unstuck::domain::time::Now;
use unstuck::ui::{Role, Theme};

/// Draws the model at a size.
pub fn draw(model: &Model, width: u16, height: u16, now: Now) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| view(model, frame, now)).expect("a frame");
    terminal.backend().buffer().clone()
}

/// The words alone, without trailing blanks.
pub fn words(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut row = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            if skip > 0 {
                skip -= 1;
                continue;
            }
            row.push_str(symbol);
            skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
        }
        writeln!(out, "{}", row.trim_end()).expect("a string");
    }
    out
}

/// The words, then one line per row that has a style: `row: from..=to role`.
pub fn picture(model: &Model, width: u16, height: u16, now: Now) -> String {
    styled(&draw(model, width, height, now), model)
}

/// The same of a buffer that was drawn in the model's look.
pub fn styled(buffer: &Buffer, model: &Model) -> String {
    let names = names(&model.setup.look.theme);
    let mut out = words(buffer);
    out.push_str("--\n");
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in buffer.area.left()..buffer.area.right() {
            let Some(name) = name_of(&buffer[(x, y)], &names) else { continue };
            match runs.last_mut() {
                Some((_, to, last)) if *last == name && *to + 1 == x => *to = x,
                _ => runs.push((x, x, name)),
            }
        }
        if !runs.is_empty() {
            let said: Vec<String> = runs.iter().map(|(from, to, name)| format!("{from}..={to} {name}")).collect();
            writeln!(out, "{y}: {}", said.join(", ")).expect("a string");
        }
    }
    out
}

type Resolved = (Color, Color, Modifier);

fn resolved(style: Style) -> Resolved {
    (style.fg.unwrap_or(Color::Reset), style.bg.unwrap_or(Color::Reset), style.add_modifier)
}

fn names(theme: &Theme) -> Vec<(Resolved, String)> {
    let mut names: Vec<(Resolved, String)> =
        Role::ALL.iter().map(|role| (resolved(theme.style(*role)), role.name().to_owned())).collect();
    for over in [Role::Selected, Role::Old] {
        for role in Role::ALL {
            let style = theme.style(*role).patch(theme.style(over));
            names.push((resolved(style), format!("{}+{}", role.name(), over.name())));
        }
    }
    for role in Role::ALL {
        let style = theme.style(*role).patch(theme.style(Role::Old)).patch(theme.style(Role::Selected));
        names.push((resolved(style), format!("{}+old+selected", role.name())));
    }
    names
}

fn name_of(cell: &Cell, names: &[(Resolved, String)]) -> Option<String> {
    let style = (cell.fg, cell.bg, cell.modifier);
    if style == (Color::Reset, Color::Reset, Modifier::empty()) {
        return None;
    }
    let known = names.iter().find(|(known, _)| *known == style);
    Some(known.map_or_else(|| format!("{style:?}"), |(_, name)| name.clone()))
}
