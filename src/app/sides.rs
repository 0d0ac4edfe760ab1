//! What was asked beside what was read back, line by line.

use crate::domain::promise::Said;
use crate::ui::wide::{Align, Keep, fit, wrap};
use crate::ui::{Charset, Line, Role};

/// Whether what was asked is meant to have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// It is: a "no" is an alarm.
    Done,
    /// It is not: a plain "no" is what is expected.
    NotDone,
}

/// A head and the rows, in two columns of `width` together.
pub fn sides(head: &str, rows: &[(String, Said)], meant: Meant, width: usize) -> Vec<Line> {
    let left = (width * 11 / 20).max(10);
    let right = width.saturating_sub(left + 2).max(10);
    let mut lines = vec![Line::of(Role::Heading, format!("{head:<left$}  CONFIRMED BY READING BACK"))];
    for (place, (asked, said)) in rows.iter().enumerate() {
        let (role, said) = match (said, meant) {
            (Said::Yes(what), _) => (Role::Good, format!("ok yes  {what}")),
            (Said::No(what), Meant::Done) => (Role::Critical, format!("!! no  {what}")),
            (Said::No(what), Meant::NotDone) => (Role::Normal, format!("   no  {what}")),
            (Said::NotKnown(what), _) => (Role::Unknown, format!(" ? NOT KNOWN  {what}")),
        };
        let asked = wrap(&format!("{} {asked}", place.saturating_add(1)), left, Charset::Unicode);
        let said = wrap(&said, right, Charset::Unicode);
        for row in 0..asked.len().max(said.len()) {
            let cell = |side: &[String]| side.get(row).cloned().unwrap_or_default();
            let asked = fit(&cell(&asked), left, Align::Left, Keep::Start, Charset::Unicode);
            lines.push(Line::plain(format!("{asked}  ")).and(role, cell(&said)));
        }
    }
    lines
}
