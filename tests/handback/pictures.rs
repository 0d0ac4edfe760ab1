//! What each state of a hand back looks like: on the record, in the list, on the Overview, and on its result page.

use std::fmt::Write as _;

use unstuck::app::msg::Msg;
use unstuck::domain::approval::ResumeState;
use unstuck::domain::evidence::{Absence, LookupOutcome};

use super::{console, finish, handed_back, id, shows, turns, with};
use crate::support::console::Console;
use crate::support::picture::picture;
use crate::support::scenario::incident;
use crate::support::second::sits_down;

const STATES: [ResumeState; 7] = [
    ResumeState::Waiting,
    ResumeState::Unanswered,
    ResumeState::Taken,
    ResumeState::Finished,
    ResumeState::Refused,
    ResumeState::Withdrawn,
    ResumeState::Expired,
];

fn check(name: &str, scenes: impl IntoIterator<Item = (String, Console)>) {
    let mut out = String::new();
    for (scene, mut console) in scenes {
        for (width, height) in [(80, 24), (120, 32)] {
            console.send(Msg::Resized(width, height));
            let picture = picture(&console.model, width, height, console.now);
            writeln!(out, "=== {scene}, {width}x{height}\n{picture}").expect("a string");
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, out);
    });
}

/// A console on which dana has just handed the record back, with lee's yes: the result page.
fn made() -> Console {
    const PHRASE: &str = "prod shop-eu 7Q4K91 EUR 128.40";
    const LOOK: &str = "al<Enter><Enter>";
    let mut console = Console::on(incident());
    console.provider = LookupOutcome::NotFound { absence: Absence::Consistent, why: "no charge with this key".into() };
    console.keys("2<Enter>").keys(LOOK);
    console.wait(310);
    console.poll_now();
    console.keys(LOOK).keys("ar<Enter>").write("two look-ups found nothing").keys("<Tab>").write("INC-2291");
    console.keys("<Enter><Enter>");
    sits_down(&mut console, "lee");
    console.keys("8<Enter>").keys(LOOK).keys("A").write(&format!("approve {PHRASE}")).keys("<Enter>");
    sits_down(&mut console, "dana");
    console.keys("2<Enter>").keys(LOOK).keys("ar<Enter><Enter>").write(PHRASE).keys("<Enter>");
    assert_eq!(console.effects.iter().filter(|e| e.contains("hand_back")).count(), 1, "{:?}", console.effects);
    let resumes = console.records[&id()].resumes.clone();
    console.poll(with(&resumes, console.now.0));
    console.settle();
    console
}

#[test]
fn the_record_in_every_state() {
    check(
        "handback_record",
        STATES.map(|state| {
            let mut console = console(state);
            if state == ResumeState::Finished {
                finish(&mut console);
            }
            console.keys("2");
            console.model.dossiers.clear();
            console.keys(":open shop-eu ord-88213-7Q4K91<Enter>");
            (format!("{state:?}"), console)
        }),
    );
}

#[test]
fn the_list_the_overview_and_the_audit_screen() {
    let scenes = [ResumeState::Waiting, ResumeState::Unanswered, ResumeState::Taken].into_iter().flat_map(|state| {
        [("list", "2"), ("overview", "1"), ("audit", "8"), ("menu", "2<Enter>a")].map(|(name, keys)| {
            let mut console = console(state);
            console.keys(keys);
            (format!("{name}, {state:?}"), console)
        })
    });
    check("handback_lists", scenes);
}

#[test]
fn the_result_page_follows_to_the_end() {
    let page = |state: Option<ResumeState>| {
        let mut console = made();
        console.wait(12);
        if state == Some(ResumeState::Finished) {
            finish(&mut console);
        }
        if let Some(state) = state {
            turns(&mut console, state);
        }
        console.wait(1);
        (format!("result, {state:?}"), console)
    };
    let mut lost = made();
    for _ in 0..3 {
        lost.wait(2);
        lost.fail();
    }
    let scenes = vec![
        page(None),
        page(Some(ResumeState::Unanswered)),
        page(Some(ResumeState::Taken)),
        page(Some(ResumeState::Finished)),
        page(Some(ResumeState::Refused)),
        page(Some(ResumeState::Expired)),
        ("result, database lost".to_owned(), lost),
    ];
    check("handback_result", scenes);
}

#[test]
fn withdrawing_page_by_page() {
    let page = |name: &str, keys: &str, words: &str, more: &str| {
        let mut console = console(ResumeState::Unanswered);
        console.keys(keys).write(words).keys(more);
        (name.to_owned(), console)
    };
    let words = "the recoverer is switched off";
    let scenes = [
        page("plan", "2<Enter>aw", "", ""),
        page("reason", "2<Enter>aw<Enter>", words, ""),
        page("result", "2<Enter>aw<Enter>", words, "<Enter>"),
    ];
    check("handback_withdraw", scenes);
}

#[test]
fn the_page_reads_the_record_again_while_it_is_open() {
    let mut console = made();
    console.keys("<Esc>");
    shows(&console, "Handed back");
    let (before, acts) = (console.effects.len(), console.acts);
    console.wait(7);
    console.poll(with(&[handed_back(ResumeState::Taken)], console.now.0));
    assert!(console.effects.split_at(before).1.iter().any(|e| e.starts_with("Open(")), "{:?}", console.effects);
    assert_eq!(console.acts, acts, "reading is all it does");
}
