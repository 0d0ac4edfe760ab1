//! `:learn`: the drills there are, and how to start one.

use super::super::dialog::reader::Reader;
use super::super::model::{Model, SecondSeat};
use crate::ui::{Line, Role};

/// The page. It starts nothing: a drill brings its own throw-away world, and this console stays where it is.
pub fn page(model: &Model) -> Reader {
    let practice = &model.setup.practice;
    let program = if practice.program.is_empty() { "unstuck" } else { practice.program.as_str() };
    let here = match (&practice.lesson, &model.setup.second) {
        (Some(lesson), _) => format!("This is the drill {}. :debrief shows how it goes; q ends it.", lesson.name),
        (None, SecondSeat::Free(_) | SecondSeat::Here) => {
            "This is a demo without a coach. Leave it (q) and start one of these:".to_owned()
        }
        (None, SecondSeat::None) => {
            "This console starts nothing. A drill has a throw-away world of its own: in another terminal,".to_owned()
        }
    };
    let mut lines = vec![
        Line::plain(here),
        Line::empty(),
        Line::of(Role::Key, format!("  {program} demo --drill NAME")),
        Line::empty(),
        Line::plain("A coach says what to do next, a clock runs, and a debrief says how it went."),
        Line::empty(),
        Line::of(Role::Heading, "NAME is one of these:"),
    ];
    for drill in &practice.drills {
        lines.push(Line::of(Role::Key, format!("  {:<18} ", drill.name)).then(drill.sentence.clone()));
    }
    if practice.drills.is_empty() {
        lines.push(Line::of(Role::Dim, "  (not told here: unstuck demo --drill lists them)"));
    }
    Reader::new("Drills", lines)
}
