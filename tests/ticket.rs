//! The ticket screen: from what a customer gave to what may be said, following only the words on the screen.

use unstuck::app::model::Place;
use unstuck::app::screen::ScreenId;
use unstuck::app::{Acting, Msg};
use unstuck::domain::evidence::{Class, LookupOutcome, Mode, Observed, ObservedMoney};
use unstuck::domain::ids::{OrderId, PaymentId, ProviderKey, ProviderRef};
use unstuck::domain::record::Record;
use unstuck::domain::triage::Verdict;

use crate::support::console::Console;
use crate::support::desk::{Desk, ambiguous, candidate, case, exact, oldest, others, unasked};
use crate::support::picture::{draw, words};
use crate::support::recorded::{Keep, Recorded, as_it_was, player};
use crate::support::scenario::{facts, incident};

mod real;

/// What is known when a case is told of the oldest stuck record.
pub fn desk(name: &str) -> Desk {
    let cases = [(oldest(), case(name))].into();
    Desk { found: exact(), cases, others: others(), ..Desk::default() }
}

fn with(look: &str, desk: Desk, acting: Acting) -> Console {
    let mut console = Console::with(incident(), look, acting);
    console.desk = desk;
    console
}

/// The answer to a case, found by its order.
pub fn answered(look: &str, name: &str) -> Console {
    let mut console = with(look, desk(name), Acting::On);
    console.keys("7/ord_88213<Enter>");
    console
}

/// The answer while only our books were read.
pub fn not_asked(look: &str) -> Console {
    let mut desk = desk("twice");
    desk.cases.insert(oldest(), unasked("twice"));
    let mut console = with(look, desk, Acting::On);
    console.keys("7/ord_88213<Enter>");
    console
}

/// Several records may be meant.
pub fn several(look: &str) -> Console {
    let mut console = with(look, Desk { found: ambiguous(), ..desk("twice") }, Acting::On);
    console.keys("7/ord_88213<Enter>j");
    console
}

const NASTY: &str = "\u{202e}\u{1b}[31mred\u{0}\u{9b}2J`|<b>";

/// A case whose every text is written by somebody who means no good.
pub fn hostile(look: &str) -> Console {
    let mut bad = case("three");
    bad.asked = Some(NASTY.repeat(50));
    for charge in bad.charges.iter_mut().flatten() {
        charge.provider_ref = charge.provider_ref.as_ref().map(|id| ProviderRef::new(format!("{id}{NASTY}")));
        charge.currency = Some(NASTY.into());
    }
    for payment in bad.payments.iter_mut().flatten() {
        payment.id = payment.id.as_ref().map(|id| PaymentId::new(format!("{id}{NASTY}")));
        payment.order = Some(OrderId::new(NASTY.repeat(40)));
    }
    for transition in bad.transitions.iter_mut().flatten() {
        transition.by = Some(NASTY.repeat(40));
    }
    let mut desk = desk("three");
    desk.cases.insert(oldest(), bad);
    let mut console = with(look, desk, Acting::On);
    console.keys("7/ord_88213<Enter>");
    console
}

fn picture(console: &Console, width: u16, height: u16) -> String {
    words(&draw(&console.model, width, height, console.now))
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console, 80, 60);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn shows_not(console: &Console, text: &str) {
    let picture = picture(console, 80, 60);
    assert!(!picture.contains(text), "should not be on screen: {text:?}\n{picture}");
}

fn verdict(console: &Console) -> Verdict {
    console.model.screens.ticket.answered.as_ref().expect("an answer").triage.verdict
}

#[test]
fn a_pasted_message_of_several_lines_is_one_question() {
    let mut console = with("dark", desk("twice"), Acting::On);
    console.keys("7");
    shows(&console, "Paste what the customer gave you");
    console.send(Msg::Paste("I was charged twice!\nOrder ord_88213\r\n\tThanks\u{1b}[2J".into()));
    shows(&console, "FIND");
    assert!(console.desk.asked.is_empty(), "a paste alone asks nothing");
    console.keys("<Enter>");
    assert_eq!(console.desk.asked, ["I was charged twice! Order ord_88213   Thanks [2J"]);
    shows(&console, "ANSWER  Charged TWICE.");
    console.keys("7/");
    console.send(Msg::Paste("x".repeat(100_000)));
    console.keys("<Enter>");
    assert_eq!(console.desk.asked.last().map(String::len), Some(1_000), "no more than a customer's message");
}

#[test]
fn an_id_inside_a_message_is_found_and_nothing_in_it_is_asked_twice() {
    let mut console = with("dark", Desk { exactly: Some("ord_88213"), ..desk("twice") }, Acting::On);
    console.keys("7");
    console.send(Msg::Paste("Hello!\nMy order (ord_88213) was charged twice, ord_88213 :-(".into()));
    console.keys("<Enter>");
    assert_eq!(console.desk.asked[1..], ["Hello", "order", "ord_88213", "charged", "twice"]);
    shows(&console, "ANSWER  Charged TWICE.");
}

#[test]
fn a_paste_anywhere_else_stays_ignored() {
    let mut console = with("dark", desk("twice"), Acting::On);
    for place in ["1", "2", "8"] {
        console.keys(place);
        console.send(Msg::Paste("ord_88213".into()));
        shows(&console, "Ignored pasted text of 9 characters.");
    }
    console.keys("2val");
    console.send(Msg::Paste("ord_88213".into()));
    shows(&console, "Ignored pasted text of 9 characters.");
}

#[test]
fn several_candidates_are_chosen_from_and_scopes_are_told_apart() {
    let mut console = several("dark");
    shows(&console, "3 records may be meant.");
    shows(&console, "They are of 2 scopes: ");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Ticket));
    console.keys("<Enter>");
    shows(&console, "NOT KNOWN  the answer: nothing is known about it any more");
    console.keys("<Esc>k<Enter>");
    shows(&console, "ANSWER  Charged TWICE.");
    console.keys("<Esc>");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Ticket));
    shows(&console, "3 records may be meant.");
}

#[test]
fn nothing_found_is_not_nothing_charged() {
    let mut console = with("dark", Desk::default(), Acting::On);
    console.keys("7/ord_1<Enter>");
    shows(&console, "NOT KNOWN  whose payment it is");
    shows(&console, "Nothing found does not mean nothing charged");
    console.keys("y");
    assert!(!console.copied.iter().any(|text| text.contains("charged")), "{:?}", console.copied);
}

#[test]
fn an_answer_to_an_older_question_is_dropped() {
    let mut console = with("dark", desk("twice"), Acting::On);
    console.keys("7/ord_88213");
    let wish = |console: &mut Console| {
        let chord = unstuck::app::key::Key::Enter.into();
        console.send(Msg::Key(chord));
    };
    wish(&mut console);
    let old = unstuck::app::effect::Question(0);
    console.send(Msg::Ticket(unstuck::app::msg::TicketMsg::Found(old, Ok(vec![]))));
    shows(&console, "being looked for");
    console.settle();
    shows(&console, "ANSWER  Charged TWICE.");
}

#[test]
fn the_verdict_of_a_record_is_one_key_away_from_every_list_and_from_the_record() {
    for keys in ["2v", "2<Enter>v", "3gv"] {
        let mut console = with("dark", desk("twice"), Acting::On);
        console.keys(keys);
        let Place::Ticket(id, _) = console.model.place.clone() else { panic!("{keys}: {:?}", console.model.place) };
        console.desk.cases.insert(id, case("twice"));
        console.keys("R");
        shows(&console, "ANSWER  Charged TWICE.");
        console.keys("<Esc>");
        assert!(!matches!(console.model.place, Place::Ticket(..) | Place::Screen(ScreenId::Ticket)), "{keys}");
    }
    let mut console = with("dark", desk("twice"), Acting::On);
    console.keys("1v");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Overview));
}

#[test]
fn what_is_copied_is_what_may_be_said_in_the_language_on_screen() {
    let mut console = answered("dark", "hold");
    shows(&console, "ANSWER  Charged ONCE. The other line is a hold that was never captured");
    console.keys("y");
    let english = console.copied.last().expect("a text").clone();
    assert!(english.contains("EUR 35.50"), "{english}");
    for internal in ["ch_30", "ah_31", "p-30", "k-30", "shop-eu", "7Q4K91"] {
        assert!(!english.contains(internal), "{english}");
    }
    console.keys("ty");
    let vietnamese = console.copied.last().expect("a text").clone();
    assert!(vietnamese.chars().any(|c| "ạđảốếươ".contains(c)), "{vietnamese}");
    shows(&console, "TELL THE CUSTOMER (Vietnamese)");
    console.keys("Y");
    let facts = console.copied.last().expect("a text");
    assert!(facts.contains("ch_30") && facts.contains("unstuck triage") && facts.contains("shop-eu"), "{facts}");
}

#[test]
fn an_answer_that_is_not_carried_promises_nothing_and_says_hand_over() {
    let mut console = answered("dark", "contradiction");
    shows(&console, "SURE?   LOW: ");
    shows(&console, "NEXT    Hand over: a h gives it to payments on-call.");
    console.keys("y");
    let said = console.copied.last().expect("a text").to_lowercase();
    for promise in ["refund", "charged once", "charged twice", "returned"] {
        assert!(!said.contains(promise), "{said}");
    }
    console.keys("ah");
    shows(&console, "Hand over");
    assert_eq!(console.acts, 0);
}

/// What the provider says of each of the two records of the case.
fn both_captured(record: &Record) -> LookupOutcome {
    let second = record.id.key.as_str().contains("88219");
    let (payment, charge) = if second { ("p-2", "ch_2") } else { ("p-1", "ch_1") };
    LookupOutcome::Found {
        observed: vec![Observed {
            provider_ref: ProviderRef::new(charge),
            reference: Some(PaymentId::new(payment)),
            order: Some(OrderId::new("A1")),
            provider_key: Some(ProviderKey::new(format!("pay:{}", record.id))),
            class: Class::Succeeded,
            raw: "captured".into(),
            money: ObservedMoney { amount: 12_840, captured: Some(12_840), refunded: Some(0), currency: "EUR".into() },
            created_at: case("twice").now,
            mode: Some(Mode::Live),
        }],
    }
}

#[test]
fn a_look_up_from_the_page_asks_about_every_record_of_the_case_and_answers_anew() {
    for acting in [Acting::On, Acting::Off] {
        let mut before = desk("twice");
        before.cases.insert(oldest(), unasked("twice"));
        let mut console = with("dark", before, acting);
        console.each = Some(both_captured);
        console.keys("7/ord_88213<Enter>");
        shows(&console, "NOT KNOWN  the provider was not asked");
        console.keys("al");
        shows(&console, "ord-88213-7Q4K91");
        shows(&console, "ord-88219-2MZ017");
        console.keys("<Enter>").write("2").keys("<Enter>");
        console.run_for(3);
        assert_eq!((console.lookups, console.acts), (2, 0), "{:?}", console.effects);
        if acting == Acting::On {
            // The store has kept what was heard.
            console.desk.cases.insert(oldest(), case("twice"));
        }
        console.keys("<Esc>R");
        assert!(matches!(console.model.place, Place::Ticket(..)));
        assert_eq!(verdict(&console), Verdict::ChargedTwice, "{acting:?}");
        shows(&console, "ANSWER  Charged TWICE.");
        shows_not(&console, "the provider was not asked");
    }
}

#[test]
fn others_like_it_are_listed_with_the_money_at_risk_and_exported() {
    let mut console = answered("dark", "twice");
    console.keys("w");
    shows(&console, "3 in the last 24 hours. At risk: EUR 61.00, and 1 of NOT KNOWN amount.");
    console.keys("w");
    shows(&console, "4 in the last 7 days. At risk: EUR 61.00 + JPY 500, and 1 of NOT KNOWN amount.");
    console.keys("ey");
    let file = &console.desk.exported[0];
    let stamped = file.name.strip_suffix(".csv").expect("comma-separated values");
    assert!(stamped.starts_with("others-20261130T"), "{stamped}");
    assert_eq!(file.text.lines().count(), 5, "{}", file.text);
    assert!(file.text.contains("\"shop-eu\",\"ord-88219-2MZ017\",\"ord_88219\""), "{}", file.text);
    assert!(console.copied[0].contains("ord_70001"), "{:?}", console.copied);
    assert!(file.text.contains("\"\",\"\",\"\",\"ch_orphan1\""), "{}", file.text);
    assert!(console.copied[0].contains("ch_orphan1"), "{:?}", console.copied);
    console.keys("jj<Enter>");
    shows(&console, "No record is named here: its ref is all there is.");
    console.keys("k<Enter>");
    shows(&console, "ord-88231-B81C55");
    console.keys("<Esc><Esc>");
    let mut console = answered("dark", "hold");
    console.keys("w");
    shows(&console, "There is no cause here to look for others by.");
}

#[test]
fn the_export_is_three_files_with_nobody_in_them() {
    let mut console = with("dark", desk("twice"), Acting::On);
    for payment in console.desk.cases.get_mut(&oldest()).expect("a case").payments.iter_mut().flatten() {
        payment.customer = Some("dana@example.org".into());
    }
    console.keys("7/ord_88213<Enter>e");
    let names: Vec<&str> = console.desk.exported.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    for (file, ending) in console.desk.exported.iter().zip([".json", ".md", ".svg"]) {
        assert!(file.name.starts_with("ticket-ord-88213-7Q4K91-") && file.name.ends_with(ending), "{}", file.name);
        assert!(!file.text.contains("dana"), "{}", file.text);
    }
    let again: unstuck::domain::case::Case =
        serde_json::from_str(&console.desk.exported[0].text).expect("a bundle that can be read");
    assert_eq!(unstuck::domain::triage::judge(&again).verdict, Verdict::ChargedTwice);
}

#[test]
fn hostile_text_is_shown_safely_at_every_size() {
    let console = hostile("dark");
    for (width, height) in [(80, 24), (140, 40), (120, 30), (60, 20), (20, 5), (1, 1)] {
        let shown = picture(&console, width, height);
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{0}']), "{shown}");
    }
}

#[test]
fn a_case_that_cannot_be_read_again_keeps_its_answer_and_says_so() {
    let mut console = answered("dark", "twice");
    console.desk.cases.clear();
    console.keys("R");
    shows(&console, "ANSWER  Charged TWICE.");
    shows(&console, "NOT KNOWN  whether it is still so");
}

#[test]
fn a_replay_shows_what_was_shown_and_holds_nobodys_words() {
    let mut console = Console::blank("dark", Acting::On);
    console.desk = desk("twice");
    for payment in console.desk.cases.get_mut(&oldest()).expect("a case").payments.iter_mut().flatten() {
        payment.customer = Some("Dana Scully".into());
    }
    console.desk.found = vec![candidate("shop-eu", "ord-88213-7Q4K91", "ord_88213", "order")];
    console.recorded = Some(Recorded::begin(&console.model, console.now, Keep::Pictures));
    console.send(Msg::Resized(100, 32));
    console.send(Msg::Connected(Box::new(facts())));
    let mut snapshot = incident();
    if let unstuck::domain::answer::Answer::Known { value, .. } = &mut snapshot.log {
        value.clear();
    }
    if let unstuck::domain::answer::Answer::Known { value, .. } = &mut snapshot.handed_over {
        value.clear();
    }
    console.poll(snapshot);
    console.keys("7/xxxxx xxxx<Enter>jjtwwj<Esc>yY<Esc>");
    console.send(Msg::Paste("xxx xxxxx".into()));
    console.keys("<Esc>2v");
    console.wait(1);
    let mut recorded = console.recorded.take().expect("it was recorded");
    recorded.end(console.now);
    assert!(!recorded.text().contains("Scully"), "a customer's name is in the recording");
    let mut player = player(&recorded.lines);
    let mut at = 0;
    for (ms, shown) in &recorded.pictures {
        player.advance(ms - at);
        at = *ms;
        assert_eq!(&as_it_was(&player), shown, "after {ms} ms");
    }
}

#[test]
fn what_support_types_is_not_in_a_recording() {
    let mut console = Console::blank("dark", Acting::On);
    console.recorded = Some(Recorded::begin(&console.model, console.now, Keep::Lines));
    console.keys("7/Scully");
    console.send(Msg::Paste(" Mulder".into()));
    console.keys("<Esc>");
    console.send(Msg::Paste("Skinner".into()));
    console.keys("<Enter>");
    let text = console.recorded.take().expect("it was recorded").text();
    for name in ["Scully", "Mulder", "Skinner", "\"S\"", "\"M\""] {
        assert!(!text.contains(name), "{name}: {text}");
    }
}
