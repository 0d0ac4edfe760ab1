//! Line 1 of every screen: where we are, what is possible, how old the picture is, the time.
//!
//! Owns the order in which the parts give way on a narrow terminal: the environment and the age
//! of the data are the last to go. Must not know how age is judged.

use ratatui::layout::Rect;

use crate::ui::{Canvas, Line, Role};

/// What the band says.
#[derive(Debug, Clone)]
pub struct Band {
    /// The environment's name, and its role.
    pub environment: (String, Role),
    /// The database.
    pub database: String,
    /// READ-ONLY, or what is writable.
    pub mode: (String, Role),
    /// Extra facts for wide terminals.
    pub extra: Vec<String>,
    /// Age of the data.
    pub age: (String, Role),
    /// The time now.
    pub clock: String,
    /// The key that opens help.
    pub help: String,
}

/// Draws it.
pub fn draw(canvas: &mut Canvas<'_>, area: Rect, band: &Band) {
    let glyphs = canvas.look().glyphs;
    let (left, right) = glyphs.band;
    let (name, role) = &band.environment;
    let mut start = Line::of(*role, format!("{left}{name}{right}"));
    let mode = Line::of(band.mode.1, band.mode.0.clone());
    let age = Line::of(band.age.1, band.age.0.clone());
    let charset = canvas.charset();
    let width = usize::from(area.width);

    // Most telling first; the rest only where it fits.
    let mut end = age;
    let room = |start: &Line, end: &Line, more: usize| start.width(charset) + end.width(charset) + more + 2 <= width;
    let clock = Line::plain(format!("  {}", band.clock));
    if room(&start, &end, mode.width(charset) + 2) {
        start = start.then("  ").join(mode);
    }
    if room(&start, &end, clock.width(charset)) {
        end = end.join(clock);
    }
    let database = format!(" {}", band.database);
    if room(&start, &end, database.chars().count()) {
        start.0.insert(1, crate::ui::Span { role: Role::Normal, text: database });
    }
    let help = format!("  {} help", band.help);
    if room(&start, &end, help.len()) {
        end = end.and(Role::Key, format!("  {}", band.help)).then(" help");
    }
    for fact in &band.extra {
        let fact = format!(" · {fact}");
        if room(&start, &end, fact.chars().count()) {
            start.push(Role::Normal, fact);
        }
    }
    canvas.line(area, &start);
    canvas.line_right(area, &end);
}
