//! Drills: what the coach says, what the clock counts, and what the debrief tells, from the model alone.

use unstuck::app::dialog::Dialog;
use unstuck::app::drill::{Caught, Drill, Job, Lesson, Offer, Plainness, Practice, Stage, debrief};
use unstuck::app::model::{Place, SecondSeat};
use unstuck::app::msg::Msg;
use unstuck::app::screen::ScreenId;
use unstuck::app::{Acting, Model};
use unstuck::domain::answer::Answer;
use unstuck::domain::evidence::{Absence, LookupOutcome};
use unstuck::domain::ids::LogId;
use unstuck::domain::log::Outcome;
use unstuck::domain::snapshot::Snapshot;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::recorded::{Keep, Recorded, as_it_was, player};
use crate::support::scenario::{calm, facts, hostile, incident, look, setup, stuck_records};

mod pictures;
mod terminal;

const PHRASE: &str = "prod shop-eu 7Q4K91 EUR 128.40";

fn lesson(job: Job, shown_on: ScreenId) -> Lesson {
    let words = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    Lesson {
        name: "oom-kill".into(),
        sentence: "pod-b was killed after the provider had charged.".into(),
        shown_on,
        job,
        must_see: words(&["six stuck records, most at provider_called"]),
        should_do: words(&["look up each record and adopt the charge"]),
        must_not: words(&["free a record by removing it: the retry would charge again"]),
        caught_by: vec![Caught { rule: "I5".into(), when: "It fires once somebody removes one.".into() }],
    }
}

fn practice(lesson: Option<Lesson>) -> Practice {
    let offer = |name: &str, sentence: &str| Offer { name: name.into(), sentence: sentence.into() };
    let drills = vec![
        offer("oom-kill", "A pod died after the provider had charged."),
        offer("slow-provider", "The provider answers more slowly than the service waits; payments turn UNKNOWN."),
    ];
    Practice { drills, program: "unstuck".into(), lesson }
}

/// A console with a drill, that has seen nothing yet.
fn started(lesson: Lesson) -> Console {
    let mut console = Console::blank("dark", Acting::On);
    console.model = Model::new(unstuck::app::Setup {
        practice: practice(Some(lesson)),
        second: SecondSeat::Free("unstuck demo --join DIR".into()),
        ..setup(look("dark"), Acting::On)
    });
    console.send(Msg::Connected(Box::new(facts())));
    console
}

/// Five calm seconds, then the incident.
fn drilled(job: Job, shown_on: ScreenId) -> Console {
    let mut console = started(lesson(job, shown_on));
    console.poll(calm());
    console.wait(5);
    console.poll(incident());
    console
}

fn finishing() -> Console {
    drilled(Job::Finish, ScreenId::Stuck)
}

/// The oldest record is looked up, resumed and read back.
fn finish_the_oldest(console: &mut Console) {
    console.keys("2<Enter>al<Enter><Enter>ar<Enter>");
    console.write("look-up shows it captured once").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write(PHRASE).keys("<Enter>");
}

fn drill(console: &Console) -> &Drill {
    console.model.drill.as_ref().expect("a drill")
}

/// What the coach says: the rows between COACH and the notice.
fn coach(console: &Console) -> String {
    let picture = words(&draw(&console.model, 120, 32, console.now));
    let line = picture.lines().find(|line| line.contains(" COACH ")).map(str::trim);
    let line = line.unwrap_or_else(|| panic!("no coach:\n{picture}")).to_owned();
    assert!(line.trim_end_matches(" (H says more)").chars().count() < 80, "more than a row at 80 columns: {line}");
    line
}

#[track_caller]
fn says(console: &Console, text: &str) {
    let said = coach(console);
    assert!(said.contains(text), "the coach says {said:?}, not {text:?}");
}

fn page(console: &Console) -> String {
    debrief::markdown(&console.model, console.now).expect("a drill")
}

#[track_caller]
fn tells(console: &Console, text: &str) {
    let page = page(console);
    assert!(page.contains(text), "not in the debrief: {text:?}\n{page}");
}

#[test]
fn a_drill_from_the_first_calm_second_to_the_debrief() {
    let mut console = started(lesson(Job::Finish, ScreenId::Stuck));
    says(&console, "COACH --:--  Nothing is wrong yet.");
    console.poll(calm());
    console.wait(5);
    says(&console, "COACH --:--  Nothing is wrong yet.");
    console.poll(incident());
    says(&console, "COACH 00:00  Something is wrong. What does the first sentence say");
    console.wait(6);
    console.keys("2");
    says(&console, "9 stuck. Which customer has been waiting longest?");
    console.keys("<Enter>");
    says(&console, "Was this customer charged? Who would know for certain?");
    console.keys("<Del>");
    says(&console, "Nothing was deleted: this record is what stops a second charge.");
    console.keys("<Esc>ar");
    says(&console, "Refused, and nothing was sent. The page says why, and the way out.");
    console.keys("<Esc>al");
    says(&console, "A look-up only reads. Enter asks the provider.");
    console.keys("<Enter>");
    says(&console, "The provider took the money. So charge nothing: finish from there.");
    console.keys("<Enter>");
    console.wait(11);
    says(&console, "Now you know what happened. How does it end without a new charge?");
    console.keys("ar");
    says(&console, "Read what will NOT happen, too.");
    console.keys("<Enter>");
    says(&console, "Say what you saw, for whoever reads the log tomorrow.");
    console.write("look-up shows it captured once").keys("<Tab>").write("INC-2291").keys("<Enter>");
    says(&console, "Type what you read.");
    console.write(PHRASE).keys("<Enter>");
    says(&console, "Finished, with no new charge.");
    assert_eq!((console.acts, console.lookups), (1, 1));
    console.wait(11);
    console.keys("<Enter>");
    console.poll_now();
    says(&console, "This one is finished. 8 left: on to the next.");
    console.keys(":debrief<Enter>");
    let shown = page(&console);
    console.keys("y");
    let copied = console.copied.last().expect("copied");
    assert_eq!(*copied, shown, "y copies the Markdown");
    insta::assert_snapshot!("debrief", copied);
}

#[test]
fn the_coach_says_more_with_time_and_when_asked_and_starts_anew_with_the_next_step() {
    let mut console = finishing();
    assert_eq!(drill(&console).stage(), Stage::Open);
    says(&console, "(H says more)");
    console.wait(25);
    assert_eq!(drill(&console).plainness(console.now), Plainness::Hint);
    says(&console, "Read the numbers in the tabs.");
    console.wait(35);
    says(&console, "Press 2: Stuck shows it.");
    assert!(!coach(&console).contains("H says more"), "there is no more");
    console.keys("2");
    says(&console, "Which customer has been waiting longest?");
    console.keys("H");
    says(&console, "The oldest is on top.");
    console.keys("H");
    says(&console, "Press Enter on a record");
    console.keys("HHH");
    says(&console, "Press Enter on a record");
    // A word about what was done gives way to what was asked for.
    console.keys("<Del><Esc>");
    says(&console, "Nothing was deleted:");
    console.keys("H");
    says(&console, "Press Enter on a record");
    assert_eq!((console.acts, console.lookups), (0, 0));
}

#[test]
fn without_a_drill_there_is_no_coach_no_key_and_no_debrief() {
    let mut console = Console::on(incident());
    console.model.setup.practice = practice(None);
    let before = words(&draw(&console.model, 80, 24, console.now));
    assert!(!before.contains("COACH"), "{before}");
    console.keys("H");
    assert!(console.model.dialog.is_none() && console.model.drill.is_none());
    console.keys(":debrief<Enter>");
    let picture = words(&draw(&console.model, 80, 24, console.now));
    assert!(picture.contains("No drill runs here. :learn lists them."), "{picture}");
}

#[test]
fn learn_lists_every_drill_with_its_command_and_starts_nothing() {
    for (second, drilled, says) in [
        (SecondSeat::None, None, "This console starts nothing."),
        (SecondSeat::Free("x".into()), None, "This is a demo without a coach."),
        (SecondSeat::Free("x".into()), Some(lesson(Job::Finish, ScreenId::Stuck)), "This is the drill oom-kill."),
    ] {
        let mut console = Console::on(incident());
        console.model.setup.practice = practice(drilled);
        console.model.setup.second = second;
        let before = console.effects.len();
        console.keys(":learn<Enter>");
        let picture = words(&draw(&console.model, 80, 24, console.now));
        for text in [says, "unstuck demo --drill NAME", "oom-kill", "slow-provider"] {
            assert!(picture.contains(text), "{text}\n{picture}");
        }
        assert_eq!(console.effects.len(), before, "{:?}", console.effects);
    }
}

#[test]
fn when_nothing_is_stuck_any_more_the_clock_stands_and_the_debrief_comes_once() {
    let mut console = finishing();
    finish_the_oldest(&mut console);
    let nothing = || Snapshot { stuck: Answer::known(vec![], incident().db_now), ..incident() };
    console.poll(nothing());
    assert!(matches!(console.model.dialog, Some(Dialog::Guard(_))), "no page is put before one that is read");
    let stood = drill(&console).clock(console.now);
    console.wait(30);
    assert_eq!(drill(&console).clock(console.now), stood);
    console.keys("<Enter>");
    assert!(matches!(console.model.dialog, Some(Dialog::Reader(_))), "the debrief");
    tells(&console, "- to nothing stuck any more: 00:");
    tells(&console, "- nothing is stuck\n");
    console.keys("<Esc>");
    console.poll(nothing());
    assert!(console.model.dialog.is_none(), "once");
    says(&console, "Nothing is stuck any more. :debrief shows how it went");
}

#[test]
fn a_list_that_empties_by_itself_is_nobodys_work() {
    let mut console = finishing();
    console.keys("2");
    console.poll(Snapshot { stuck: Answer::known(vec![], incident().db_now), ..incident() });
    assert!(drill(&console).times.done.is_none() && console.model.dialog.is_none());
}

#[test]
fn what_one_person_cannot_finish_is_left_with_a_reason() {
    let mut console = finishing();
    console.provider = LookupOutcome::NotFound { absence: Absence::Consistent, why: "no charge with this key".into() };
    let only = Snapshot { stuck: Answer::known(vec![stuck_records().remove(0)], incident().db_now), ..incident() };
    console.poll(only);
    console.keys("2<Enter>al<Enter>");
    says(&console, "Not found is not yet absent:");
    console.keys("<Enter>");
    console.wait(11);
    says(&console, "Nothing can be concluded here by you alone.");
    console.keys("<Esc>");
    assert_eq!(drill(&console).stage(), Stage::RestWaits);
    says(&console, "1 left, all looked up: not yours to finish alone.");
    tells(&console, "look again later, nothing is certain yet");
    assert_eq!(console.acts, 0);
}

#[test]
fn to_understand_is_a_job_too() {
    let mut console = drilled(Job::Understand, ScreenId::Conflicts);
    says(&console, "Something is wrong.");
    console.keys("2");
    says(&console, "Something is wrong.");
    console.keys("4");
    says(&console, "There it is. Whom does it harm, and what stops it?");
    console.keys("H");
    says(&console, "Look up each record and adopt the charge.");
    tells(&console, "- to see it (4 Conflicts 409/422 opened): 00:0");
    assert!(!page(&console).contains("to the first look-up"));
}

#[test]
fn where_nothing_ever_shows_the_coach_says_that_it_may_be_nothing() {
    let mut console = started(Lesson { name: "calm".into(), ..lesson(Job::Understand, ScreenId::Overview) });
    console.poll(calm());
    console.wait(60);
    says(&console, "Nothing is wrong yet.");
    console.wait(40);
    says(&console, "Still nothing? Then there may be nothing to do.");
    tells(&console, "- it never showed: there was nothing to see");
}

#[test]
fn what_came_back_as_not_known_stays_not_known_in_the_debrief() {
    let mut console = finishing();
    console.keys("2<Enter>al<Enter><Enter>");
    console.verdict = Some(Outcome::Unknown { why: "the connection was lost".into(), intent: Some(LogId(9916)) });
    console.keys("ar<Enter>").write("captured once, says the look-up").keys("<Tab>").write("INC-1").keys("<Enter>");
    console.write(PHRASE).keys("<Enter>");
    says(&console, "What came of it is NOT KNOWN: read it back");
    tells(&console, "adopt of `shop-eu/ord-88213-7Q4K91`: UNKNOWN: the connection was lost");
    console.verdict = Some(Outcome::Refused { why: "another holder".into() });
    console.keys("<Enter>").wait(1);
    assert_eq!(page(&console).matches("UNKNOWN: the connection was lost").count(), 1);
}

#[test]
fn typed_deletes_and_pressed_ones_are_counted_and_nothing_else_is() {
    let mut console = finishing();
    console.keys("2<Del><Esc>x").keys(":delete<Enter><Esc>dd<BS>");
    assert_eq!(drill(&console).deletes(), 3);
    tells(&console, "Delete, 3 times: nothing was deleted; the record is what stops a second charge");
    tells(&console, "- you reached for Delete (3): here it does nothing");
    assert!(matches!(console.model.place, Place::Record(..)));
}

#[test]
fn several_marked_records_are_deeds_one_by_one() {
    let mut console = finishing();
    console.keys("2 j al<Enter>");
    console.write("2").keys("<Enter>");
    console.run_for(6);
    assert_eq!(console.lookups, 2);
    assert_eq!(page(&console).matches("look-up of `").count(), 2, "{}", page(&console));
}

#[test]
fn hostile_names_are_shown_and_are_not_read_as_markdown() {
    let mut console =
        started(Lesson { sentence: "# <b>*x*\u{202e}\u{1b}[31m".into(), ..lesson(Job::Finish, ScreenId::Stuck) });
    console.poll(hostile());
    console.keys("2<Enter><Del><Esc>");
    let page = page(&console);
    assert!(page.chars().all(|c| c == '\n' || !c.is_control()), "{page:?}");
    assert!(!page.contains('\u{202e}') && page.contains("\\<b\\>\\*x\\*"), "{page:?}");
    for (width, height) in [(1, 1), (10, 3), (20, 5), (40, 10), (60, 20), (80, 24), (200, 60)] {
        console.send(Msg::Resized(width, height));
        for keys in ["", ":debrief<Enter>", "jjG", "<Esc>"] {
            console.keys(keys);
            let buffer = draw(&console.model, width, height, console.now);
            assert!(buffer.content().iter().all(|cell| !cell.symbol().chars().any(char::is_control)), "{width}");
        }
    }
}

#[test]
fn a_small_window_keeps_its_body_and_the_coach_takes_two_rows_at_most() {
    let mut console = finishing();
    console.keys("2");
    for (width, height) in [(60, 20), (40, 12), (30, 10)] {
        console.send(Msg::Resized(width, height));
        let picture = words(&draw(&console.model, width, height, console.now));
        assert!(picture.contains("COACH"), "{picture}");
        assert!(picture.contains("stuck") || picture.contains("Stuck"), "{picture}");
    }
}

#[test]
fn the_drill_changes_no_key_and_sends_nothing() {
    let plain = {
        let mut console = Console::with(calm(), "dark", Acting::On);
        console.wait(5);
        console.poll(incident());
        finish_the_oldest(&mut console);
        console.effects
    };
    let mut console = finishing();
    finish_the_oldest(&mut console);
    assert_eq!(console.effects, plain);
}

#[test]
fn a_recorded_drill_is_played_with_its_coach() {
    let mut console = started(lesson(Job::Finish, ScreenId::Stuck));
    console.recorded = Some(Recorded::begin(&console.model, console.now, Keep::Lines));
    console.send(Msg::Resized(100, 32));
    console.poll(calm());
    console.wait(5);
    console.poll(incident());
    console.keys("2<Enter>H");
    let shown = coach(&console);
    console.wait(1);
    let mut recorded = console.recorded.take().expect("it was recorded");
    recorded.end(console.now);
    let mut player = player(&recorded.lines);
    player.advance(u64::MAX);
    let played = as_it_was(&player);
    let said = played.lines().find(|line| line.contains(" COACH ")).expect("a coach").trim();
    assert_eq!(said.split_once("  ").expect("words").1, shown.split_once("  ").expect("words").1);
    assert!(player.viewer().drill.is_none(), "whoever walks about is not drilled");
}
