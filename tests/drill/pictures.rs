//! What a drill looks like, at 80x24 and wider, and in a narrow window.

use std::fmt::Write as _;

use unstuck::app::drill::Job;
use unstuck::app::msg::Msg;
use unstuck::app::screen::ScreenId;

use super::{drilled, finish_the_oldest, finishing, lesson, practice, started};
use crate::support::console::Console;
use crate::support::picture::{draw, picture, words};
use crate::support::scenario::{calm, incident};

/// Name, how to get there.
type Scene = (&'static str, fn() -> Console);

const SCENES: &[Scene] = &[
    ("nothing to see yet", || {
        let mut console = started(lesson(Job::Finish, ScreenId::Stuck));
        console.poll(calm());
        console
    }),
    ("it shows", finishing),
    ("the list, asked for more", || {
        let mut console = finishing();
        console.keys("2H");
        console
    }),
    ("delete pressed", || {
        let mut console = finishing();
        console.keys("2<Enter><Del>");
        console
    }),
    ("resume refused", || {
        let mut console = finishing();
        console.keys("2<Enter>ar");
        console
    }),
    ("finished one", || {
        let mut console = finishing();
        finish_the_oldest(&mut console);
        console
    }),
    ("debrief", || {
        let mut console = finishing();
        console.keys("2<Enter><Del><Esc>ar<Esc><Esc>");
        finish_the_oldest(&mut console);
        console.keys("<Enter>:debrief<Enter>");
        console
    }),
    ("to understand", || {
        let mut console = drilled(Job::Understand, ScreenId::Invariants);
        console.keys("5");
        console
    }),
    ("learn", || {
        let mut console = Console::on(incident());
        console.model.setup.practice = practice(None);
        console.keys(":learn<Enter>");
        console
    }),
];

#[test]
fn a_drill_at_each_of_its_moments() {
    let mut out = String::new();
    for (name, scene) in SCENES {
        let mut console = scene();
        for (width, height) in [(80, 24), (120, 32)] {
            console.send(Msg::Resized(width, height));
            let picture = picture(&console.model, width, height, console.now);
            writeln!(out, "=== {name}, {width}x{height}\n{picture}").expect("a string");
        }
        let narrow = words(&draw(&console.model, 60, 20, console.now));
        writeln!(out, "=== {name}, 60x20\n{narrow}").expect("a string");
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("drill_pictures", out);
    });
}
