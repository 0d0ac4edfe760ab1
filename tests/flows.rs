//! Flows: a scenario and keys in, a picture and effects out. What an on-call engineer does at 03:00.

use unstuck::app::dialog::Dialog;
use unstuck::app::model::{Leave, Place};
use unstuck::app::msg::{GuardMsg, Msg};
use unstuck::app::picture::Freshness;
use unstuck::app::screen::ScreenId;
use unstuck::app::{Acting, Effect, update};
use unstuck::domain::answer::Answer;
use unstuck::domain::evidence::{Absence, LookupOutcome};
use unstuck::domain::ids::{Key, LogId, RecordId, Version};
use unstuck::domain::log::Outcome;
use unstuck::domain::rule::{RuleState, Severity};
use unstuck::domain::time::Seconds;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::scenario::{calm, incident, stuck_records};

fn picture(console: &Console) -> String {
    words(&draw(&console.model, 100, 40, console.now))
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn shows_not(console: &Console, text: &str) {
    let picture = picture(console);
    assert!(!picture.contains(text), "should not be on screen: {text:?}\n{picture}");
}

/// Up to the phrase step of a resume of the oldest stuck record.
fn at_the_phrase() -> Console {
    let mut console = Console::on(incident());
    console.keys("2<Enter>al<Enter><Enter>ar<Enter>");
    console.write("look-up shows it captured once").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console
}

const PHRASE: &str = "prod shop-eu 7Q4K91 EUR 128.40";

#[test]
fn the_main_job_from_the_first_sentence_to_read_back() {
    let mut console = Console::on(incident());
    shows(&console, "!! CRITICAL  6 payments with an UNKNOWN charge outcome. Money may have moved.");
    shows(&console, "At risk EUR 911.80 · RISING +3/10m · since 13:41Z");
    console.keys("2");
    shows(&console, "9 records, EUR 1,086.70.");
    console.keys("<Enter>");
    shows(&console, "We asked acme-psp to charge EUR 128.40. We have no final answer.");
    shows(&console, "NEXT  look up first (a l)");
    console.keys("al");
    shows(&console, "GET only, no charge, no state change");
    console.keys("<Enter>");
    shows(&console, "ok yes  CAPTURED at");
    shows(&console, "NEXT  resume (a r): finish as SUCCEEDED with ch_77ab. No new charge.");
    console.keys("<Enter>ar");
    shows(&console, "WHAT WILL NOT HAPPEN");
    shows(&console, "WRITE (this plan only)");
    console.keys("<Enter>");
    console.write("look-up shows it captured once").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write(PHRASE.strip_suffix('0').expect("the last digit")).keys("<Enter>");
    shows(&console, "not yet the same (1 to go)");
    assert_eq!(console.acts, 0, "Enter did nothing");
    console.write("0").keys("<Enter>");
    assert_eq!((console.acts, console.lookups), (1, 1));
    shows(&console, "ok DONE");
    shows(&console, "CONFIRMED BY READING BACK");
    shows(&console, "ok yes  SUCCEEDED, stored charge is");
    shows(&console, "READ-ONLY");
    console.wait(2);
    console.keys("<Enter><Esc>");
    shows(&console, "8 of 8");
    assert!(console.effects.contains(&"Act(2, adopt shop-eu/ord-88213-7Q4K91)".to_owned()), "{:?}", console.effects);
}

#[test]
fn the_phrase_takes_no_paste_and_no_burst() {
    let mut console = at_the_phrase();
    console.send(Msg::Paste(PHRASE.into()));
    shows(&console, "Pasting is off here: type what you read.");
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
    for c in PHRASE.chars() {
        console.send(Msg::Key(unstuck::app::key::Chord::char(c)));
    }
    shows(&console, "Too fast for typing: the phrase was cleared.");
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_newer_version_refuses_the_plan_aloud() {
    let mut console = at_the_phrase();
    let mut snapshot = incident();
    if let Answer::Known { value, .. } = &mut snapshot.stuck {
        value[0].version = Version::new("e".repeat(64));
    }
    console.poll(snapshot);
    shows(&console, "REFUSED. The record changed while you read");
    shows(&console, "Nothing was sent.");
    console.write(PHRASE).keys("<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_record_that_changed_between_poll_and_enter_is_refused_at_the_check() {
    let mut console = at_the_phrase();
    console.write(PHRASE);
    let id = stuck_records().remove(0).id;
    console.records.get_mut(&id).expect("a record").detail.record.attempt = Some(unstuck::domain::ids::Attempt(4));
    console.records.get_mut(&id).expect("a record").detail.record.version = Version::new("e".repeat(64));
    let mut frozen = incident();
    frozen.db_now = Seconds(60).after(frozen.db_now);
    console.poll(frozen);
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
    shows(&console, "attempt 3 -> 4");
    shows(&console, "n = new plan");
}

#[test]
fn a_plan_ends_with_its_life() {
    let mut console = at_the_phrase();
    console.write(PHRASE);
    console.wait(121);
    shows(&console, "The plan is too old.");
    console.poll(incident());
    console.keys("<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn not_found_is_not_proof() {
    let mut console = Console::on(incident());
    console.keys("2<Enter>al");
    console.provider = LookupOutcome::NotFound { absence: Absence::Consistent, why: "no charge with this key".into() };
    console.keys("<Enter>");
    shows(&console, "NOT FOUND once. A second look-up 5m00s later has to agree.");
    console.keys("<Enter>ar");
    shows(&console, "REFUSED.");
    assert_eq!(console.acts, 0);
}

#[test]
fn an_outcome_that_is_not_known_is_read_back_and_never_repeated() {
    let mut console = at_the_phrase();
    console.verdict =
        Some(Outcome::Unknown { why: "the connection was lost after sending".into(), intent: Some(LogId(9920)) });
    console.write(PHRASE).keys("<Enter>");
    shows(&console, "? UNKNOWN");
    shows(&console, "Do NOT repeat it");
    shows(&console, "The log says: not done.");
    assert!(console.effects.iter().any(|e| e.starts_with("ReadBack")));
    assert_eq!(console.acts, 1);
}

#[test]
fn hold_note_and_hand_over_go_through_the_same_flow() {
    let mut console = Console::on(incident());
    console.keys("2<Enter>ao<Enter>");
    console.write("keeping the sweeper off for now").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write(PHRASE).keys("<Enter>");
    shows(&console, "ok DONE");
    shows(&console, "operator:dana holds the lease for 15m00s");
    console.keys("<Enter>an<Enter>");
    console.write("same pattern as the record before").keys("<Enter>");
    shows(&console, "ok DONE");
    console.keys("<Enter>ah<Enter>");
    console.write("lee").keys("<Tab>").write("two charges at the provider").keys("<Enter>");
    shows(&console, "ok DONE");
    assert_eq!(console.acts, 3, "{:?}", console.effects);
}

#[test]
fn without_act_a_look_up_is_kept_for_the_session() {
    let mut console = Console::with(incident(), "dark", Acting::Off);
    console.keys("2<Enter>al<Enter>");
    shows(&console, "NOT STORED: kept for this session only");
    console.keys("<Enter>");
    shows(&console, "not stored");
    shows(&console, "CAPTURED");
    assert_eq!((console.acts, console.lookups), (0, 1));
}

#[test]
fn a_lost_database_keeps_the_picture_and_says_how_old_it_is() {
    let mut console = Console::on(incident());
    console.wait(2);
    console.fail();
    assert!(!matches!(console.model.freshness(console.now), Freshness::Lost(_)), "one failed poll is not lost yet");
    console.wait(2);
    console.fail();
    shows(&console, "XX DATABASE LOST");
    shows(&console, "as of 14:03:27Z");
    shows(&console, "Unknown payments");
    shows_not(&console, "RISING");
    shows(&console, "connection refused");
    shows(&console, "next try in 4s");
    shows(&console, "r reconnect now");
    console.keys("2a");
    shows(&console, "Actions are off: the database does not answer. Nothing is queued.");
    console.keys("r");
    assert_eq!(console.effects.last().map(String::as_str), Some("PollNow"));
    console.wait(3_600);
    shows(&console, "DATABASE LOST");
    console.poll(incident());
    shows(&console, "The database answers again. Numbers are now.");
    shows_not(&console, "XX");
    console.keys("1");
    shows(&console, "RISING");
}

#[test]
fn a_stale_picture_turns_actions_off() {
    let mut console = Console::on(incident());
    console.keys("2");
    console.wait(16);
    shows(&console, "data STALE");
    shows(&console, "as of 14:03:27Z");
    shows_not(&console, "data fresh");
}

#[test]
fn an_older_poll_never_replaces_a_newer_one() {
    let mut console = Console::on(incident());
    console.poll(incident());
    let late = unstuck::app::msg::Polled {
        generation: 1,
        result: Ok(Box::new(crate::support::scenario::calm())),
        next_try: None,
    };
    console.send(Msg::Polled(late));
    shows(&console, "!! CRITICAL");
}

#[test]
fn pausing_holds_the_picture_and_turns_actions_off() {
    let mut console = Console::on(incident());
    console.keys("2p");
    console.poll(crate::support::scenario::calm());
    shows(&console, "PAUSED");
    shows(&console, "9 records");
    console.keys("a");
    shows(&console, "Actions are off while the picture is paused.");
    console.keys("p");
    shows(&console, "0 records");
}

#[test]
fn filter_sort_and_history() {
    let mut console = Console::on(incident());
    console.keys("2/at:charged<Enter>");
    shows(&console, "2 of 9");
    console.keys("/<C-u>nothing-like-it<Esc>");
    shows(&console, "2 of 9");
    console.keys("/<C-u><Enter>o");
    shows(&console, "Sort: MONEY");
    console.keys("gj<Enter>[");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Stuck));
    console.keys("]");
    assert!(matches!(console.model.place, Place::Record(..)));
    console.keys("J<Esc>5-");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Stuck));
}

#[test]
fn next_and_previous_walk_the_list_that_was_read() {
    let mut console = Console::on(incident());
    console.keys("2<Enter>JJ");
    shows(&console, "3 of 9");
    console.keys("K");
    shows(&console, "2 of 9");
    console.keys("<Esc>");
    assert_eq!(console.model.target(), Some(RecordId::new("shop-eu", "ord-88219-2MZ017")));
}

#[test]
fn five_then_enter_opens_the_worst_rule_that_broke_though_all_held_before() {
    let mut console = Console::on(calm());
    console.keys("5jj1");
    let mut broken = incident();
    // A lesser rule that comes first by its number does not take the headline.
    let breaches = broken.rules[2].breaches().to_vec();
    let lesser = &mut broken.rules[1];
    lesser.state = RuleState::Violated { checked_at: console.now.0, breaches, since: console.now.0 };
    console.poll(broken);
    console.keys("5");
    shows(&console, "invariants VIOLATED: every success has a done record");
    console.keys("<Enter>");
    shows_not(&console, "No rows break this rule.");
    console.keys("<Enter>");
    shows(&console, "ord-88252-4QPE63");
    assert!(matches!(console.model.place, Place::Record(..)), "{:?}", console.model.place);
}

#[test]
fn a_cursor_on_a_rule_stays_where_it_was_put_while_the_screen_is_read() {
    let mut console = Console::on(calm());
    console.keys("5jj");
    let under = console.model.screens.invariants.list.cursor().cloned();
    console.poll(incident());
    assert_eq!(console.model.screens.invariants.list.cursor().cloned(), under);
    // From another screen, a rule that is broken is left under the cursor, the worst or not.
    console.keys("gG").keys("1");
    let mut broken = incident();
    for report in &mut broken.rules {
        if let RuleState::Violated { .. } = report.state {
            report.rule.severity = Severity::Caution;
        }
    }
    console.poll(broken.clone());
    let first = console.model.screens.invariants.list.cursor().cloned();
    let worse = &mut broken.rules[0];
    let breaches = incident().rules[2].breaches().to_vec();
    worse.state = RuleState::Violated { checked_at: console.now.0, breaches, since: console.now.0 };
    console.poll(broken);
    assert_eq!(console.model.screens.invariants.list.cursor().cloned(), first);
}

#[test]
fn the_command_line_opens_screens_and_records_and_nothing_else() {
    let mut console = Console::on(incident());
    console.keys(":invariants<Enter>");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Invariants));
    console.keys(":open shop-eu ord-88213-7Q4K91<Enter>");
    shows(&console, "We asked acme-psp");
    console.keys(":resume shop-eu ord-88213-7Q4K91<Enter>");
    shows(&console, "There is no command :resume.");
    console.keys(":find ord_88213<Enter>");
    shows(&console, "Nothing carries ord_88213.");
    console.keys(":open shop-eu none<Enter>");
    shows(&console, "there is no record with this scope and key");
    assert_eq!(console.acts, 0);
}

#[test]
fn copying_says_what_and_a_list_copies_scope_and_key() {
    let mut console = Console::on(incident());
    console.keys("y2y");
    assert!(console.copied[0].starts_with("prod !! CRITICAL"), "{:?}", console.copied);
    assert_eq!(console.copied[1], "shop-eu/ord-88213-7Q4K91");
}

#[test]
fn leaving_while_something_was_sent_asks_first() {
    let mut console = at_the_phrase();
    console.write(PHRASE);
    console.key(unstuck::app::key::Key::Enter.into());
    // The check is answered, the act is not.
    console.settle_reads();
    shows(&console, "SENT");
    console.keys("<C-c>");
    shows(&console, "If you leave now you do not see what came of it");
    console.keys("<Esc>");
    shows(&console, "Waiting for the answer");
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
    assert!(console.model.last_outcome.is_some(), "the shell prints it after the terminal is restored");
}

#[test]
fn ctrl_c_twice_leaves_and_once_does_not() {
    let mut console = Console::on(incident());
    console.keys("<C-c>j<C-c>");
    assert_ne!(console.model.leave, Leave::Now);
    console.keys("<C-c>");
    assert_eq!(console.model.leave, Leave::Now);
}

#[test]
fn an_answer_for_another_run_is_ignored() {
    let mut console = Console::on(incident());
    console.keys("2al");
    let old = console.model.last_run;
    console.keys("<Esc>al");
    console.send(Msg::Guard(old, GuardMsg::Prepared(Ok(None))));
    let Some(Dialog::Guard(guard)) = &console.model.dialog else { panic!("the guard is open") };
    assert!(guard.plan.is_some(), "the plan of the newer run is still there");
}

#[test]
fn a_key_without_letters_is_confirmed_by_the_plan_hash() {
    let mut console = Console::on(incident());
    let mut snapshot = incident();
    let mut odd = stuck_records().remove(0);
    odd.id.key = Key::new("—*—");
    console.records.insert(odd.id.clone(), crate::support::scenario::dossier(&odd, console.now.0));
    snapshot.stuck = Answer::known(vec![odd], console.now.0);
    console.poll(snapshot);
    console.keys("2ao<Enter>");
    console.write("keeping the sweeper off for now").keys("<Tab>").write("INC-2291").keys("<Enter>");
    let Some(Dialog::Guard(guard)) = &console.model.dialog else { panic!("the guard is open") };
    let plan = guard.plan.as_ref().expect("a plan");
    assert!(plan.phrase().shown().contains(&plan.hash().short()));
}

#[test]
fn a_charge_that_does_not_fit_is_never_called_this_payment() {
    let mut console = Console::on(incident());
    let LookupOutcome::Found { observed } = &mut console.provider else {
        panic!("the scenario's provider has a charge")
    };
    observed[0].money.amount = 999_999;
    observed[0].money.captured = Some(999_999);
    let mut second = observed[0].clone();
    console.keys("2<Enter>al<Enter><Enter>");
    shows(&console, "acme-psp has ch_77ab CAPTURED over EUR 9,999.99");
    shows_not(&console, "was taken once");
    second.provider_ref = unstuck::domain::ids::ProviderRef::new("ch_77ac");
    let LookupOutcome::Found { observed } = &mut console.provider else { unreachable!() };
    observed.push(second);
    console.keys("al<Enter><Enter>");
    shows(&console, "2 charges that moved money.");
}

#[test]
fn a_note_carries_no_ticket_nobody_typed() {
    let mut console = at_the_phrase();
    console.write(PHRASE).keys("<Enter><Enter>");
    console.keys("an<Enter>").write("the customer called about it");
    let Some(Dialog::Guard(guard)) = &console.model.dialog else { panic!("no guard") };
    assert_eq!((guard.words().ticket.as_str(), guard.form.ticket.text()), ("", "INC-2291"));
}
