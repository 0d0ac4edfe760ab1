//! Marks, and actions on the marked records: what an on-call engineer does when there are twenty of them.

mod desk;
mod marks;
mod real;

use unstuck::app::dialog::Dialog;
use unstuck::app::dialog::bulk::{Bulk, Phase};
use unstuck::app::key::{Chord, Key};
use unstuck::app::model::Leave;
use unstuck::app::msg::GuardMsg;
use unstuck::app::{Acting, Effect, Msg, update};
use unstuck::domain::evidence::{Class, LookupOutcome, Observed};
use unstuck::domain::guard::Progress;
use unstuck::domain::ids::{Attempt, LogId, ProviderRef, RecordId, Version};
use unstuck::domain::log::Outcome;
use unstuck::domain::money::Money;
use unstuck::domain::record::Record;
use unstuck::domain::rule::RuleState;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::scenario::{charge, incident, stuck_records};

/// A charge of its own for each record, captured.
pub fn captured(record: &Record) -> LookupOutcome {
    let mut found: Observed = charge(record, Class::Succeeded);
    found.provider_ref = ProviderRef::new(format!("ch_{}", record.id.key.tail().unwrap_or_default()));
    if let Some(money) = &record.money {
        money.currency.code().clone_into(&mut found.money.currency);
    }
    LookupOutcome::Found { observed: vec![found] }
}

fn picture(console: &Console) -> String {
    words(&draw(&console.model, 120, 60, console.now))
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn flow(console: &Console) -> &Bulk {
    match &console.model.dialog {
        Some(Dialog::Bulk(bulk)) => bulk,
        other => panic!("no bulk: {other:?}"),
    }
}

/// The first three records marked.
fn three_marked(look: &str) -> Console {
    let mut console = Console::with(incident(), look, Acting::On);
    console.each = Some(captured);
    console.keys("2 j j ");
    console
}

/// Looked up, all three, with a list of adopts to be confirmed; as the pictures show it, too.
pub fn planned(look: &str) -> Console {
    let mut console = three_marked(look);
    console.keys("al<Enter>").write("3").keys("<Enter>");
    console.run_for(3);
    console.keys("<Esc>ar");
    console
}

/// At the text to type.
pub fn at_the_phrase(look: &str) -> Console {
    let mut console = planned(look);
    console.keys("<Enter>").write("look-ups show them captured").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console
}

pub const PHRASE: &str = "prod 3 EUR 789.40";

/// Started: the canary is done, the rules are to be read.
pub fn canary_done(look: &str) -> Console {
    let mut console = at_the_phrase(look);
    console.write(PHRASE).keys("<Enter>");
    console
}

/// The records that were sent, in order, with the action.
fn sent(console: &Console) -> Vec<String> {
    let acts = console.effects.iter().filter_map(|effect| effect.strip_prefix("Act(")?.split_once(", "));
    acts.map(|(_, what)| what.trim_end_matches(')').to_owned()).collect()
}

fn nth(place: usize) -> RecordId {
    stuck_records().remove(place).id
}

#[test]
fn three_are_looked_up_and_adopted_with_the_canary_first() {
    let mut console = planned("dark");
    assert_eq!((console.lookups, console.acts), (3, 0));
    shows(&console, "TOTAL  3 records, EUR 789.40");
    shows(&console, "1 canary: shop-eu/ord-88213-7Q4K91  EUR 128.40");
    console.keys("<Enter>");
    shows(&console, "Reason for all of them");
    console.write("look-ups show them captured").keys("<Tab>").write("INC-2291").keys("<Enter>");
    shows(&console, PHRASE);
    console.write(PHRASE.strip_suffix('0').expect("the last digit")).keys("<Enter>");
    assert_eq!(console.acts, 0, "not yet the same");
    console.write("0").keys("<Enter>");
    assert_eq!(console.acts, 1, "the canary alone");
    shows(&console, "Canary done.");
    console.wait(5);
    console.settle();
    assert_eq!(console.acts, 1, "time alone does not let the others go");
    console.read_rules();
    assert_eq!(console.acts, 2);
    console.settle();
    assert_eq!(console.acts, 2, "one a second");
    console.run_for(3);
    assert_eq!(console.acts, 3);
    shows(&console, "ok DONE  3 of 3, EUR 789.40. Each was read back as asked.");
    shows(&console, "READ-ONLY");
    let adopted: Vec<String> = (0..3).map(|place| format!("adopt {}", nth(place))).collect();
    assert_eq!(sent(&console)[3..], adopted);
    assert!(console.model.marks.is_empty(), "what is done is no longer marked");
    console.keys("y");
    assert!(
        console.copied[0].contains("read back: ok yes  SUCCEEDED, stored charge is ch_7Q4K91"),
        "{:?}",
        console.copied
    );
    console.keys("<Esc>");
    assert!(console.model.dialog.is_none());
}

#[test]
fn every_check_reads_the_record_right_before_it_is_sent() {
    let mut console = canary_done("dark");
    console.run_for(9);
    let steps: Vec<&String> =
        console.effects.iter().filter(|e| e.starts_with("Check") || e.starts_with("Act")).collect();
    assert_eq!(steps.len(), 12);
    for pair in steps.chunks(2) {
        let run =
            |text: &str| text.split_once('(').and_then(|(_, rest)| rest.split_once(',')).map(|(run, _)| run.to_owned());
        assert!(pair[0].starts_with("Check") && pair[1].starts_with("Act"), "{steps:?}");
        assert_eq!(run(pair[0]), run(pair[1]), "each with a number of its own");
    }
}

#[test]
fn a_record_that_changed_in_between_stops_the_run_and_nothing_else_is_sent() {
    let mut console = canary_done("dark");
    let detail = &mut console.records.get_mut(&nth(1)).expect("a record").detail;
    detail.record.version = Version::new("e".repeat(64));
    detail.record.attempt = Some(Attempt(4));
    console.run_for(9);
    assert_eq!(console.acts, 1);
    shows(&console, "! STOPPED. 1 of 3 done, EUR 128.40. The record changed while you read");
    shows(&console, "STOPPED AT, 1");
    shows(&console, "NOT SENT");
    shows(&console, "NOT STARTED: nothing was sent for these, 1");
    assert_eq!(console.model.marks.len(), 2, "what was not done is still marked");
    console.keys("nr");
    console.run_for(9);
    assert_eq!(console.acts, 1, "n only plans");
    shows(&console, "It changed since it was marked");
}

#[test]
fn an_outcome_that_is_not_known_stops_the_run_and_is_read_back() {
    let mut console = canary_done("dark");
    console.verdict =
        Some(Outcome::Unknown { why: "the connection was lost after sending".into(), intent: Some(LogId(9920)) });
    console.run_for(9);
    assert_eq!(console.acts, 2);
    shows(&console, "STOPPED. 1 of 3 done");
    shows(&console, "Do NOT repeat it");
    shows(&console, "The log says: not done.");
    assert_eq!(console.effects.iter().filter(|e| e.starts_with("ReadBack")).count(), 1);
    console.keys("r");
    assert_eq!(console.effects.iter().filter(|e| e.starts_with("ReadBack")).count(), 2, "r asks again, and only asks");
    assert_eq!(console.acts, 2);
}

#[test]
fn refusals_and_conflicts_stop_it_at_the_canary() {
    for verdict in [Outcome::Refused { why: "approval".into() }, Outcome::Conflict { why: "attempt is 4".into() }] {
        let mut console = at_the_phrase("dark");
        console.verdict = Some(verdict.clone());
        console.write(PHRASE).keys("<Enter>");
        console.run_for(9);
        assert_eq!(console.acts, 1, "{verdict:?}");
        shows(&console, "STOPPED. 0 of 3 done.");
        shows(&console, verdict.word());
    }
}

#[test]
fn a_record_that_does_not_say_what_was_asked_stops_it() {
    let mut console = at_the_phrase("dark");
    // The database says done; the record read back says nothing of the kind.
    console.verdict = Some(Outcome::Done { log: Some(LogId(1)), detail: None });
    console.write(PHRASE).keys("<Enter>");
    console.run_for(9);
    assert_eq!(console.acts, 1);
    shows(&console, "STOPPED. 0 of 3 done.");
    shows(&console, "attempt is still 3");
}

#[test]
fn a_new_breach_after_the_canary_stops_it() {
    let mut console = canary_done("dark");
    let mut world = incident();
    let RuleState::Violated { breaches, .. } = &mut world.rules[2].state else { panic!("violated") };
    breaches[0].payment = Some(unstuck::domain::ids::PaymentId::new("pay_new"));
    console.poll(world);
    console.settle();
    console.run_for(9);
    assert_eq!(console.acts, 1);
    shows(&console, "A new breach of I3");
    let mut console = canary_done("dark");
    let mut world = incident();
    world.rules[0].state = RuleState::NotKnown { why: "the audit did not finish".into() };
    console.poll(world);
    console.run_for(9);
    assert_eq!(console.acts, 1);
    shows(&console, "Whether I1 still holds is NOT KNOWN.");
}

#[test]
fn a_lost_database_stops_it() {
    let mut console = canary_done("dark");
    console.fail();
    console.wait(4);
    console.fail();
    console.settle();
    assert_eq!(console.acts, 1);
    shows(&console, "STOPPED. 1 of 3 done");
    shows(&console, "the database does not answer");
    let mut console = canary_done("dark");
    console.wait(60);
    console.settle();
    shows(&console, "Actions are off: the picture is 1m01s old");
    assert_eq!(console.acts, 1, "a console that was stopped for a minute does not go on by itself");
}

#[test]
fn escape_stops_after_the_one_on_its_way_and_twice_asks_whether_to_leave() {
    let mut console = at_the_phrase("dark");
    console.write(PHRASE);
    console.key(Key::Enter.into());
    console.settle_reads();
    shows(&console, " SENT ");
    console.keys("<Esc>");
    shows(&console, "It stops after this one.");
    console.keys("<Esc>");
    shows(&console, "If you leave now you do not see what came of this one");
    console.keys("<Enter>");
    shows(&console, "It stops after this one.");
    let run = console.model.last_run;
    let dossier = console.records.get(&nth(0)).cloned();
    let acted = unstuck::app::msg::Acted {
        outcome: Outcome::Done { log: Some(LogId(1)), detail: None },
        evidence: None,
        after: Ok(dossier),
    };
    console.send(Msg::Guard(run, GuardMsg::Acted(Box::new(acted))));
    console.run_for(9);
    assert_eq!(console.acts, 1);
    assert!(matches!(flow(&console).phase, Phase::Result(Progress::Stopped(_))));
    // Between two of them it stops at once.
    let mut console = canary_done("dark");
    console.keys("<Esc>");
    shows(&console, "STOPPED. 1 of 3 done, EUR 128.40. You stopped it.");
    console.run_for(9);
    assert_eq!(console.acts, 1);
}

#[test]
fn being_asked_to_end_waits_for_the_one_on_its_way_and_starts_no_other() {
    let mut console = at_the_phrase("dark");
    console.write(PHRASE);
    console.key(Key::Enter.into());
    console.settle_reads();
    let effects = update(&mut console.model, Msg::Terminate, console.now);
    assert!(effects.is_empty());
    assert_eq!(console.model.leave, Leave::WhenSettled);
    let run = console.model.last_run;
    let acted = unstuck::app::msg::Acted {
        outcome: Outcome::Done { log: Some(LogId(1)), detail: None },
        evidence: None,
        after: Ok(None),
    };
    let effects = update(&mut console.model, Msg::Guard(run, GuardMsg::Acted(Box::new(acted))), console.now);
    assert!(effects.iter().any(|e| matches!(e, Effect::Quit)), "{effects:?}");
    assert!(!effects.iter().any(|e| matches!(e, Effect::Check(..) | Effect::Act(..))), "{effects:?}");
    // Between two of them there is nothing to wait for.
    let mut console = canary_done("dark");
    let effects = update(&mut console.model, Msg::Terminate, console.now);
    assert!(matches!(effects.as_slice(), [Effect::Quit]), "{effects:?}");
}

#[test]
fn an_answer_to_another_run_is_not_taken_for_this_one() {
    let mut console = at_the_phrase("dark");
    console.write(PHRASE);
    console.key(Key::Enter.into());
    console.settle_reads();
    let old = unstuck::app::effect::Run(console.model.last_run.0 - 1);
    let acted = unstuck::app::msg::Acted {
        outcome: Outcome::Refused { why: "another's".into() },
        evidence: None,
        after: Ok(None),
    };
    console.send(Msg::Guard(old, GuardMsg::Acted(Box::new(acted))));
    shows(&console, " SENT ");
    console.send(Msg::Found("ord_1".into(), Ok(vec![])));
    shows(&console, " SENT ");
}

#[test]
fn the_phrase_takes_no_paste_and_no_burst_and_the_plan_ends_with_its_life() {
    let mut console = at_the_phrase("dark");
    console.send(Msg::Paste(PHRASE.into()));
    shows(&console, "Pasting is off here: type what you read.");
    for c in PHRASE.chars() {
        console.send(Msg::Key(Chord::char(c)));
    }
    shows(&console, "Too fast for typing: the phrase was cleared.");
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
    let mut console = at_the_phrase("dark");
    console.write(PHRASE);
    console.wait(121);
    shows(&console, "The plan is too old.");
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_planned_record_with_a_newer_version_refuses_the_plan_aloud() {
    let mut console = at_the_phrase("dark");
    console.write(PHRASE);
    let mut world = incident();
    if let unstuck::domain::answer::Answer::Known { value, .. } = &mut world.stuck {
        value[2].version = Version::new("e".repeat(64));
    }
    console.poll(world);
    shows(&console, "REFUSED. shop-eu/ord-88231-B81C55 changed while you read.");
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_reason_of_dots_and_a_missing_ticket_are_not_accepted() {
    let mut console = planned("dark");
    console.keys("<Enter>").write("....................").keys("<Enter>");
    shows(&console, "The reason has 0 letters");
    console.keys("<S-Tab><C-u>").write("look-ups show them captured").keys("<Tab><C-u>").write("later").keys("<Enter>");
    shows(&console, "The ticket is not an incident or ticket id.");
    assert_eq!(console.acts, 0);
}

#[test]
fn twenty_five_look_ups_go_out_two_a_second() {
    let mut console = marks::thirty();
    console.each = Some(captured);
    console.keys("2");
    for _ in 0..25 {
        console.keys(" j");
    }
    console.keys("al");
    shows(&console, "TOTAL  25 records");
    console.keys("<Enter>").write("25").keys("<Enter>");
    assert_eq!(console.lookups, 1);
    for half in 1..25 {
        // A moment before its time: nothing.
        console.now = unstuck::domain::time::Now(console.now.0 + chrono::TimeDelta::milliseconds(499));
        console.send(Msg::Wake);
        console.settle();
        assert_eq!(console.lookups, half);
        assert!(console.model.next_wake(console.now).signed_duration_since(console.now.0).num_milliseconds() <= 1);
        console.now = unstuck::domain::time::Now(console.now.0 + chrono::TimeDelta::milliseconds(1));
        if half % 3 == 0 {
            console.read_rules();
        }
        console.send(Msg::Wake);
        console.settle();
        assert_eq!(console.lookups, half + 1);
    }
    shows(&console, "ok DONE  25 of 25");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_sick_provider_is_asked_three_times() {
    let mut console = three_marked("dark");
    console.keys("j j ");
    console.each = Some(|_| LookupOutcome::Unreachable { why: "timed out".into(), retry_after_s: None });
    console.keys("al<Enter>").write("5").keys("<Enter>");
    console.run_for(9);
    assert_eq!(console.lookups, 3);
    shows(&console, "STOPPED. 0 of 5 done. 3 look-ups got no answer from the provider.");
    shows(&console, "WITHOUT AN ANSWER, OR NOT SENT, 3");
}

#[test]
fn without_act_look_ups_are_kept_for_the_session_and_nothing_else_is_planned() {
    let mut console = Console::with(incident(), "dark", Acting::Off);
    console.each = Some(captured);
    console.keys("2 j a");
    shows(&console, "Start with --act to plan it.");
    console.keys("r");
    assert!(matches!(flow(&console).phase, Phase::Menu));
    console.keys("l<Enter>").write("2").keys("<Enter>");
    console.run_for(3);
    shows(&console, "CAPTURED (NOT STORED)");
    assert_eq!((console.lookups, console.acts), (2, 0));
}

#[test]
fn two_currencies_are_typed_side_by_side() {
    let mut console = three_marked("dark");
    let yen = Money::new(1_200, "JPY");
    let dossier = console.records.get_mut(&nth(1)).expect("a record");
    dossier.detail.record.money = Some(yen.clone());
    console.model.setup.context.policy.approval_limits.set(Money::new(50_000, "JPY"));
    console.keys("al<Enter>").write("3").keys("<Enter>");
    console.run_for(3);
    console.keys("<Esc>ar");
    shows(&console, "TOTAL  3 records, EUR 740.40 + JPY 1,200");
    let Some(plan) = &flow(&console).plan else { panic!("a plan") };
    assert_eq!(plan.phrase().shown(), "prod 3 EUR 740.40 JPY 1200");
}

#[test]
fn what_cannot_be_adopted_is_left_out_by_name_and_enter_on_nothing_closes() {
    let mut console = three_marked("dark");
    console.keys("ar");
    shows(&console, "None of the marked records can be done like this.");
    shows(&console, "shop-eu/ord-88219-2MZ017  No look-up has been made");
    console.keys("<Enter>");
    assert!(console.model.dialog.is_none());
    assert_eq!((console.acts, console.model.marks.len()), (0, 3));
}
