//! A hand back as the console follows it: from "waiting" to its end, through failed, late and missing readings.
//!
//! Pictures of every state are in `handback/pictures.rs`.

use unstuck::app::Msg;
use unstuck::app::hand_backs::handed;
use unstuck::app::key::every_key;
use unstuck::app::model::SecondSeat;
use unstuck::app::msg::Polled;
use unstuck::domain::answer::Answer;
use unstuck::domain::approval::{ResumeRequest, ResumeState};
use unstuck::domain::ids::{Attempt, Holder, Operator, ProviderRef, RecordId, ResumeId, Version};
use unstuck::domain::log::Outcome;
use unstuck::domain::payment::PaymentStatus;
use unstuck::domain::port::StoreError;
use unstuck::domain::record::{Lease, RecordStatus};
use unstuck::domain::snapshot::Snapshot;
use unstuck::domain::time::{Instant, Seconds};

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::scenario::{ago, incident, noon, stuck_records};

mod pictures;
mod seats;

/// The record all of this is about: the oldest stuck one.
fn id() -> RecordId {
    stuck_records().remove(0).id
}

/// It, handed back by dana forty seconds ago.
pub fn handed_back(state: ResumeState) -> ResumeRequest {
    let record = stuck_records().remove(0);
    let (worker, detail) = match state {
        ResumeState::Waiting | ResumeState::Unanswered | ResumeState::Expired => (None, None),
        ResumeState::Taken => (Some("recoverer-1"), None),
        ResumeState::Finished => (Some("recoverer-1"), Some("charged once, ch_5150")),
        ResumeState::Refused => (Some("recoverer-1"), Some("the order was cancelled meanwhile")),
        ResumeState::Withdrawn => (Some("operator:lee"), Some("the recoverer is switched off")),
    };
    let at = match state {
        ResumeState::Waiting => ago(40),
        ResumeState::Unanswered | ResumeState::Taken => ago(130),
        ResumeState::Finished | ResumeState::Refused | ResumeState::Withdrawn => ago(160),
        ResumeState::Expired => ago(960),
    };
    let state_at = match state {
        ResumeState::Waiting | ResumeState::Unanswered => at,
        ResumeState::Expired => ago(60),
        ResumeState::Taken | ResumeState::Finished | ResumeState::Refused | ResumeState::Withdrawn => ago(12),
    };
    ResumeRequest {
        number: ResumeId(7),
        at,
        id: record.id,
        order: record.order,
        money: record.money,
        attempt: Attempt(3),
        version: record.version,
        plan_hash: unstuck::domain::ids::PlanHash::new("4c91e2aa"),
        approval: unstuck::domain::ids::ApprovalId(12),
        operator: Operator::new("dana"),
        reason: "two look-ups found nothing".into(),
        ticket: Some("INC-2291".into()),
        not_after: Seconds(900).after(at),
        state,
        state_at,
        worker: worker.map(Into::into),
        detail: detail.map(Into::into),
    }
}

/// The incident with these hand backs, read at that moment.
pub fn with(resumes: &[ResumeRequest], at: Instant) -> Snapshot {
    Snapshot { db_now: at, resumes: Answer::known(resumes.to_vec(), at), ..incident() }
}

/// A console that has seen the record handed back, in this state.
pub fn console(state: ResumeState) -> Console {
    console_in("dark", &handed_back(state))
}

/// The same in a look, of any hand back.
pub fn console_in(look: &str, request: &ResumeRequest) -> Console {
    let mut console = Console::with(incident(), look, unstuck::app::Acting::On);
    hands(&mut console, request);
    console.poll(with(std::slice::from_ref(request), noon()));
    console
}

/// The record as it is read whole while the hand back stands so.
fn hands(console: &mut Console, request: &ResumeRequest) {
    let now = console.now.0;
    let dossier = console.records.get_mut(&id()).expect("a record");
    dossier.resumes = vec![request.clone()];
    if request.state == ResumeState::Taken {
        let record = &mut dossier.detail.record;
        record.lease = Lease { until: Some(Seconds(600).after(now)), holder: Some(Holder::new("recoverer-1")) };
        record.changed_at = request.state_at;
    }
}

/// The database has it in this state from now on.
fn turns(console: &mut Console, state: ResumeState) {
    let at = console.now.0;
    let now = handed_back(state);
    let known = console.records[&id()].resumes.first().cloned().unwrap_or_else(|| now.clone());
    let request = ResumeRequest { state, state_at: at, worker: now.worker, detail: now.detail, ..known };
    hands(console, &request);
    console.poll(with(&[request], at));
    console.settle();
}

/// The recoverer charged once and finished the record.
pub fn finish(console: &mut Console) {
    let dossier = console.records.get_mut(&id()).expect("a record");
    dossier.detail.response_code = Some(201);
    let record = &mut dossier.detail.record;
    record.status = RecordStatus::Done;
    record.payment_status = Some(PaymentStatus::Succeeded);
    record.provider_ref = Some(ProviderRef::new("ch_5150"));
    record.attempt = Some(Attempt(4));
    record.version = Version::new("d".repeat(64));
    record.changed_at = console.now.0;
}

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

fn notice(console: &Console) -> String {
    console.model.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default()
}

#[test]
fn the_list_says_since_when_and_the_record_says_the_same() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2");
    shows(&console, "handed back 40s");
    console.keys("<Enter>");
    shows(&console, "i Handed back 41s  hb_7 by dana: waiting for the recoverer, until 14:17:47Z (14m");
    shows(&console, "NEXT  wait for the recoverer, or withdraw it (a w).");
    turns(&mut console, ResumeState::Unanswered);
    shows(&console, "! NOBODY ANSWERS  hb_7, handed back 41s by dana: no recoverer took it");
    shows(&console, "The recoverer's last sign, 11m01s ago: attempt 3 timed out, 6 records. Call whoever runs it.");
    console.keys("<Esc>");
    shows(&console, "NO ANSWER 41s");
    turns(&mut console, ResumeState::Taken);
    shows(&console, "taken 0s");
    console.keys("<Enter>");
    shows(&console, "recoverer-1 took it 0s ago and may be CHARGING now.");
}

#[test]
fn the_end_is_told_wherever_one_is_and_read_back_from_the_record() {
    let mut console = console(ResumeState::Taken);
    console.keys("4");
    finish(&mut console);
    console.wait(5);
    turns(&mut console, ResumeState::Finished);
    assert_eq!(
        notice(&console),
        "hb_7 of shop-eu/ord-88213-7Q4K91 is FINISHED, says recoverer-1: charged once, ch_5150."
    );
    assert!(console.effects.contains(&"Open(shop-eu/ord-88213-7Q4K91)".to_owned()), "{:?}", console.effects);
    console.keys(":open shop-eu ord-88213-7Q4K91<Enter>");
    shows(&console, "ok FINISHED  hb_7, by recoverer-1 at 14:03:");
    shows(&console, "ASKED OF THE RECOVERER");
    shows(&console, "at most ONE charge, with key");
    shows(&console, "? NOT KNOWN  ch_5150 is stored;");
    shows(&console, "ok yes  attempt 4");
    shows(&console, "payment SUCCEEDED, EUR");
    shows(&console, "ok yes  done, stored answer 201");
    assert_eq!(console.acts, 0);
}

#[test]
fn every_end_has_its_words_and_only_what_needs_somebody_is_a_caution() {
    let ends = [
        (ResumeState::Finished, "is FINISHED, says recoverer-1", "ok FINISHED"),
        (
            ResumeState::Refused,
            "was REFUSED by recoverer-1: the order was cancelled meanwhile",
            "The recoverer REFUSED it",
        ),
        (ResumeState::Withdrawn, "was withdrawn by operator:lee", "withdrawn by operator:lee"),
        (ResumeState::Expired, "is over: nobody took it up in time", "NOBODY TOOK IT UP"),
    ];
    for (state, told, shown) in ends {
        let mut console = console(ResumeState::Waiting);
        console.keys("2<Enter>");
        console.wait(1);
        turns(&mut console, state);
        assert!(notice(&console).contains(told), "{state:?}: {}", notice(&console));
        shows(&console, shown);
        shows_not(&console, "waiting for the recoverer");
    }
}

#[test]
fn taken_and_never_said_is_not_known_and_may_still_be_said_later() {
    let mut console = console(ResumeState::Taken);
    console.keys("2<Enter>");
    console.wait(1);
    let mut late = ResumeRequest { worker: Some("recoverer-1".into()), ..handed_back(ResumeState::Expired) };
    late.state_at = console.now.0;
    console.records.get_mut(&id()).expect("a record").resumes = vec![late.clone()];
    console.poll(with(&[late], console.now.0));
    console.settle();
    assert!(notice(&console).contains("how it ended is NOT KNOWN"), "{}", notice(&console));
    shows(&console, "? Handed back, and how it ended is NOT KNOWN");
    shows(&console, "It may have charged. Look up (a l)");
    console.wait(1);
    turns(&mut console, ResumeState::Finished);
    assert!(notice(&console).contains("is FINISHED"), "{}", notice(&console));
}

#[test]
fn a_database_that_is_away_leaves_it_not_known_and_never_finished() {
    let mut console = console(ResumeState::Taken);
    console.keys("2<Enter>");
    for _ in 0..3 {
        console.wait(2);
        console.fail();
    }
    shows(&console, "? Handed back, and now NOT KNOWN  hb_7: the picture is old.");
    shows(&console, "Last seen taken at 14:03:2");
    console.wait(3_600);
    shows(&console, "Last seen taken at");
    shows_not(&console, "FINISHED");
    console.keys("<Esc>");
    shows(&console, "handed back ?");
    assert_eq!(notice(&console), "");
    turns(&mut console, ResumeState::Finished);
    assert!(notice(&console).contains("is FINISHED"), "{}", notice(&console));
}

#[test]
fn a_list_that_cannot_be_read_is_said_once_the_last_reading_is_old() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2");
    for _ in 0..15 {
        console.wait(2);
        let unread = Snapshot {
            db_now: console.now.0,
            resumes: Answer::not_known("the role may not read resume_request"),
            ..incident()
        };
        console.poll(unread);
    }
    shows(&console, "handed back ?");
    // The record, read whole, still has it: that reading is new.
    console.keys("<Enter>");
    shows(&console, "waiting for the recoverer");
}

#[test]
fn readings_out_of_order_end_nothing_twice_and_reopen_nothing() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2<Enter>");
    let before = console.now.0;
    console.wait(6);
    turns(&mut console, ResumeState::Finished);
    // A poll that was overtaken.
    let old = Polled {
        generation: 1,
        result: Ok(Box::new(with(&[handed_back(ResumeState::Taken)], before))),
        next_try: None,
    };
    console.send(Msg::Polled(old));
    shows(&console, "ok FINISHED");
    // A newer poll whose slow panels are older than the record's own reading, and one that claims it is open again.
    for at in [before, Seconds(60).after(console.now.0)] {
        console.poll(with(&[handed_back(ResumeState::Waiting)], at));
        console.settle();
        shows(&console, "ok FINISHED");
    }
    // A record that was read earlier and arrives later.
    let mut late = crate::support::scenario::dossier(&stuck_records().remove(0), before);
    late.resumes = vec![handed_back(ResumeState::Taken)];
    console.send(Msg::Dossier(id(), Ok(Some(Box::new(late)))));
    shows(&console, "ok FINISHED");
}

#[test]
fn one_that_vanishes_is_not_known_and_told_once() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2");
    console.records.get_mut(&id()).expect("a record").resumes.clear();
    for _ in 0..3 {
        console.wait(2);
        console.poll(with(&[], console.now.0));
        console.settle();
    }
    assert!(
        notice(&console).contains("hb_7 of shop-eu/ord-88213-7Q4K91 is not listed any more"),
        "{}",
        notice(&console)
    );
    shows(&console, "handed back ?");
    console.keys("<Enter>");
    shows(&console, "the database does not list it any more");
    shows_not(&console, "FINISHED");
    console.wait(9);
    console.poll(with(&[], console.now.0));
    assert_eq!(notice(&console), "", "told once");
    turns(&mut console, ResumeState::Waiting);
    shows(&console, "waiting for the recoverer");
}

#[test]
fn one_that_ended_before_it_was_first_seen_is_told_all_the_same() {
    let mut console = Console::on(incident());
    console.model.hand_backs.expect(id(), Some(ResumeId(6)));
    let older = ResumeRequest { number: ResumeId(6), ..handed_back(ResumeState::Refused) };
    console.poll(with(std::slice::from_ref(&older), noon()));
    assert_eq!(notice(&console), "", "an earlier one of the same record is not it");
    console.wait(2);
    console.poll(with(&[handed_back(ResumeState::Finished), older], console.now.0));
    assert!(notice(&console).contains("hb_7 of shop-eu/ord-88213-7Q4K91 is FINISHED"), "{}", notice(&console));
}

#[test]
fn what_others_handed_back_is_shown_and_not_announced() {
    let request = |state| ResumeRequest { operator: Operator::new("lee"), ..handed_back(state) };
    let mut console = console_in("dark", &request(ResumeState::Taken));
    console.keys("2");
    shows(&console, "taken 12s");
    console.wait(2);
    console.poll(with(&[request(ResumeState::Finished)], console.now.0));
    assert_eq!(notice(&console), "");
}

#[test]
fn two_ends_in_one_poll_are_one_notice_that_names_the_worse() {
    let other = |state| ResumeRequest { number: ResumeId(8), id: stuck_records().remove(1).id, ..handed_back(state) };
    let mut console = console(ResumeState::Waiting);
    console.poll(with(&[handed_back(ResumeState::Waiting), other(ResumeState::Waiting)], noon()));
    console.wait(3);
    console.poll(with(&[handed_back(ResumeState::Finished), other(ResumeState::Refused)], console.now.0));
    let said = notice(&console);
    assert!(said.contains("hb_8") && said.contains("REFUSED") && said.ends_with("And 1 more: 8 lists them."), "{said}");
}

#[test]
fn a_finished_record_that_cannot_be_read_is_asked_for_again() {
    let mut console = console(ResumeState::Taken);
    console.keys("2<Enter>");
    finish(&mut console);
    console.wait(5);
    let at = console.now.0;
    console.poll(with(&[ResumeRequest { state_at: at, ..handed_back(ResumeState::Finished) }], at));
    console.send(Msg::Dossier(id(), Err(StoreError::TimedOut { what: "the record".into() })));
    shows(&console, "? NOT KNOWN  what the record says now: no answer within the time limit (the record)");
    let asked = |console: &Console| console.effects.iter().filter(|e| e.starts_with("Open(")).count();
    let before = asked(&console);
    console.wait(6);
    console.poll(with(&[ResumeRequest { state_at: at, ..handed_back(ResumeState::Finished) }], console.now.0));
    assert!(asked(&console) > before, "{:?}", console.effects);
}

#[test]
fn a_recoverer_that_died_is_not_said_to_be_charging() {
    let mut console = console(ResumeState::Taken);
    console.records.get_mut(&id()).expect("a record").detail.record.lease.until = Some(ago(1));
    console.keys("2<Enter>");
    shows(&console, "recoverer-1 took it 13s ago, its lease is over");
    shows(&console, "It may have died after charging.");
    shows(&console, "NEXT  look up first (a l)");
}

#[test]
fn finished_is_an_alarm_when_the_record_says_otherwise() {
    let mut console = console(ResumeState::Taken);
    console.keys("2<Enter>");
    console.wait(5);
    turns(&mut console, ResumeState::Finished);
    shows(&console, "ok FINISHED");
    shows(&console, "!! no  record is processing");
}

#[test]
fn while_it_waits_nobody_else_goes_on_and_the_menu_says_why() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2<Enter>a");
    shows(&console, "w  Withdraw the hand back");
    shows(&console, "because: Handed back at 14:02:47Z (hb_7): the recoverer may be charging.");
    shows(&console, "or withdraw it first (a w).");
    for letter in ["r", "o"] {
        console.keys(letter);
        shows(&console, "REFUSED. Handed back at 14:02:47Z (hb_7)");
        console.keys("<Esc>a");
    }
    console.keys("<Esc>");
    turns(&mut console, ResumeState::Taken);
    console.keys("aw");
    shows(&console, "It cannot be withdrawn any more.");
    assert_eq!(console.acts, 0);
    let mut other = Console::on(incident());
    other.keys("2<Enter>a");
    shows_not(&other, "Withdraw");
    other.keys("w");
    shows(&other, "It is not handed back, or that has ended.");
}

const REASON: &str = "the recoverer is switched off";

#[test]
fn withdrawing_takes_a_reason_and_is_read_back() {
    let mut console = console(ResumeState::Unanswered);
    console.keys("2<Enter>aw");
    shows(&console, "hb_7 ends: no recoverer takes it up any more");
    console.keys("<Enter>");
    console.write("too short").keys("<Enter>");
    assert_eq!(console.acts, 0, "{:?}", console.effects);
    console.keys("<C-u>").write(REASON).keys("<Enter>");
    assert_eq!(console.acts, 1, "{:?}", console.effects);
    shows(&console, "ok DONE");
    shows(&console, "ok yes  hb_7 withdrawn at");
    console.keys("<Esc>");
    shows(&console, "withdrawn by");
    console.keys("ar");
    shows_not(&console, "Handed back at");
}

#[test]
fn withdrawing_what_was_taken_meanwhile_sends_nothing() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2<Enter>aw<Enter>");
    console.write(REASON);
    let dossier = console.records.get_mut(&id()).expect("a record");
    dossier.resumes = vec![handed_back(ResumeState::Taken)];
    console.keys("<Enter>");
    shows(&console, "REFUSED. recoverer-1 took hb_7 at");
    assert_eq!(console.acts, 0);
}

#[test]
fn a_withdrawal_that_came_too_late_is_said_and_read_back() {
    let mut console = console(ResumeState::Waiting);
    console.keys("2<Enter>aw<Enter>");
    console.write(REASON);
    console.verdict = Some(Outcome::Conflict { why: "Hand back 7 was taken by recoverer-1 already.".into() });
    console.keys("<Enter>");
    shows(&console, "CONFLICT");
    shows(&console, "Hand back 7 was taken by recoverer-1 already.");
    shows(&console, "no  hb_7 is waiting");
}

#[test]
fn no_key_withdraws_anything_before_its_reason() {
    for place in ["2<Enter>a", "2<Enter>aw", "2<Enter>aw<Enter>"] {
        for key in every_key() {
            let mut console = console(ResumeState::Waiting);
            console.keys(place);
            console.key(key);
            console.settle_reads();
            assert_eq!(console.acts, 0, "{place} {key}: {:?}", console.effects);
        }
    }
}

#[test]
fn the_overview_counts_open_ones_and_is_calm_without() {
    let mut console = Console::on(incident());
    shows_not(&console, "handed back");
    console.poll(with(&[handed_back(ResumeState::Finished)], noon()));
    shows_not(&console, "handed back ");
    let two = ResumeRequest { number: ResumeId(8), ..handed_back(ResumeState::Taken) };
    console.poll(with(&[two.clone(), handed_back(ResumeState::Waiting)], noon()));
    shows(&console, "handed back 1 waiting · 1 taken, may be charging · oldest 2m10s (8)");
    console.poll(with(&[two, handed_back(ResumeState::Unanswered)], noon()));
    shows(&console, "! handed back 1 NOBODY ANSWERS · 1 taken, may be charging");
    let calm = Snapshot {
        resumes: Answer::known(vec![handed_back(ResumeState::Unanswered)], noon()),
        ..crate::support::scenario::calm()
    };
    console.poll(calm);
    shows(&console, "! CAUTION  1 record handed back, and NOBODY ANSWERS: no recoverer took it up.");
    shows(&console, "At risk EUR 128.40 · since 14:01Z");
}

#[test]
fn the_audit_screen_lists_them_open_ones_first() {
    let mut console = console(ResumeState::Waiting);
    let done =
        ResumeRequest { number: ResumeId(9), id: stuck_records().remove(1).id, ..handed_back(ResumeState::Finished) };
    console.poll(with(&[done, handed_back(ResumeState::Waiting)], noon()));
    console.keys("8");
    let picture = picture(&console);
    let place = |text: &str| picture.find(text).unwrap_or_else(|| panic!("{text}\n{picture}"));
    assert!(place("i hb_7 waiting, 40s: shop-eu/ord-88213-7Q4K91") < place("ok hb_9 finished by recoverer-1, 12s"));
}

#[test]
fn a_demo_shows_the_way_to_its_second_seat_and_nobody_else_has_one() {
    let mut console = Console::on(incident());
    console.keys(":second<Enter>");
    assert_eq!(notice(&console), "Only a demo has a second seat. Here the second person has a console of their own.");
    console.model.setup.second = SecondSeat::Here;
    console.keys(":second<Enter>");
    assert!(notice(&console).starts_with("This is the second seat:"), "{}", notice(&console));
    let command = "/opt/unstuck demo --join /tmp/unstuck-lab-a1B2c3";
    console.model.setup.second = SecondSeat::Free(command.into());
    console.keys(":second<Enter>");
    shows(&console, command);
    console.keys("y");
    assert_eq!(console.copied, [command]);
    assert_eq!(console.acts, 0);
}

#[test]
fn hostile_words_of_a_recoverer_stay_words() {
    let evil = "ok\u{1b}[2J\u{202e}FINISHED\n\u{200b}";
    let mut request = handed_back(ResumeState::Refused);
    (request.worker, request.detail) = (Some(evil.repeat(40)), Some(evil.repeat(400)));
    request.operator = Operator::new(evil);
    let mut console = console_in("dark", &request);
    for keys in ["2", "<Enter>", "<Esc>8", "1"] {
        console.keys(keys);
        let buffer = draw(&console.model, 80, 24, console.now);
        for c in buffer.content().iter().flat_map(|cell| cell.symbol().chars()) {
            assert!(!c.is_control() && !['\u{202e}', '\u{200b}'].contains(&c), "{keys}: {c:?}");
        }
    }
    assert!(handed::next_word(&console.model, &id(), console.now).is_none());
}
