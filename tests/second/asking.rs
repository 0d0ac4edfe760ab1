//! The asker: from the plan to the request, what the plan says meanwhile, the answer, and going on without one.

use unstuck::app::Msg;
use unstuck::app::effect::Run;
use unstuck::app::msg::{Acted, GuardMsg};
use unstuck::domain::approval::ApprovalState;
use unstuck::domain::evidence::{Absence, LookupOutcome};
use unstuck::domain::ids::{LogId, Version};
use unstuck::domain::log::Outcome;

use super::{only_enter_sends, sent, shows, shows_not};
use crate::support::console::Console;
use crate::support::scenario::{incident, stuck_records};
use crate::support::second::{
    PHRASE, REASON, about_to_ask, approved, asked, came_to, looked_up, result_of_asking, sits_down, unanswered,
};

#[test]
fn a_plan_is_asked_for_and_what_came_of_it_is_read_back() {
    let mut console = looked_up("dark");
    console.keys("2<Enter>ar");
    shows(&console, "! A second person is needed. prod is production and EUR has no approval limit.");
    shows(&console, "Asking changes nothing.");
    shows(&console, "READ-ONLY");
    console.keys("<Enter>").write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>");
    shows(&console, "NOTHING IS CHANGED.");
    shows(&console, "never dana or login");
    assert_eq!(console.acts, 0);
    console.keys("<Enter>");
    assert_eq!((console.acts, sent(&console)), (1, vec!["ask"]));
    shows(&console, "ok DONE  Asked a second person: log au_9921.");
    shows(&console, "ok yes  ap_12: waits since");
    shows(&console, "ok yes  version");
    shows(&console, "in their console, :approve ");
    console.keys("<Enter>");
    shows(&console, "ap_12: waits since");
    console.keys("ar");
    shows(&console, "i ap_12 waits since");
    shows(&console, "reads the request; there it can be taken back");
    console.keys("<Enter>");
    shows(&console, "It waits for a second person. Nothing was sent; 8 lists it.");
    assert_eq!(console.acts, 1);
}

#[test]
fn no_key_sends_a_question_but_enter_on_the_page_that_says_what_is_sent() {
    only_enter_sends(
        || {
            let mut console = looked_up("dark");
            console.keys("2<Enter>ar");
            console
        },
        None,
    );
    only_enter_sends(|| about_to_ask("dark"), Some("ask"));
    only_enter_sends(
        || {
            let mut console = asked("dark");
            console.keys("2<Enter>ar");
            console
        },
        None,
    );
    only_enter_sends(|| unanswered("dark"), None);
}

#[test]
fn a_record_that_changes_while_it_is_read_is_not_asked_about() {
    let mut console = about_to_ask("dark");
    let id = stuck_records().remove(0).id;
    console.records.get_mut(&id).expect("a record").detail.record.version = Version::new("e".repeat(64));
    let mut frozen = incident();
    frozen.db_now = console.now.0;
    console.poll(frozen);
    console.keys("<Enter>");
    shows(&console, "REFUSED. The record changed while you read");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn the_page_that_says_what_is_sent_ends_with_the_plan() {
    let mut console = about_to_ask("dark");
    console.wait(121);
    shows(&console, "The plan is too old.");
    console.poll_now();
    console.keys("<Enter>");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn an_answer_of_another_run_changes_nothing() {
    let mut console = about_to_ask("dark");
    let old = Run(console.model.last_run.0 - 1);
    let acted = Acted { outcome: Outcome::Done { log: Some(LogId(1)), detail: None }, evidence: None, after: Ok(None) };
    console.send(Msg::Guard(old, GuardMsg::Acted(Box::new(acted))));
    shows(&console, "NOTHING IS CHANGED.");
    console.send(Msg::Guard(old, GuardMsg::Checked(Ok(None))));
    shows(&console, "NOTHING IS CHANGED.");
}

#[test]
fn a_question_whose_outcome_is_not_known_is_read_back_and_never_repeated() {
    let mut console = about_to_ask("dark");
    console.verdict =
        Some(Outcome::Unknown { why: "the connection was lost after sending".into(), intent: Some(LogId(9920)) });
    console.keys("<Enter>");
    shows(&console, "? UNKNOWN");
    shows(&console, "The log says: not done.");
    shows_not(&console, "Tell a second person");
    assert_eq!(sent(&console), ["ask"]);
}

#[test]
fn what_is_approved_is_acted_on_after_a_look_up_of_ones_own() {
    let mut console = approved("dark");
    console.keys("2<Enter>ar");
    shows(&console, "REFUSED. The latest look-up is lee's.");
    shows(&console, "i ap_12: approved by lee at");
    console.keys("<Esc>al<Enter><Enter>");
    shows(&console, "i       ap_12: approved by lee at");
    console.keys("ar");
    shows(&console, "ok ap_12 approved by lee at");
    shows(&console, "WRITE (this plan only)");
    console.keys("<Enter>");
    shows(&console, REASON);
    console.keys("<Enter>").write(PHRASE).keys("<Enter>");
    shows(&console, "ok yes  SUCCEEDED, stored charge is");
    let acts: Vec<&String> = console.effects.iter().filter(|effect| effect.contains(", adopt ")).collect();
    assert_eq!(acts.len(), 1, "{:?}", console.effects);
}

#[test]
fn an_approval_that_runs_out_on_screen_is_over() {
    let mut console = approved("dark");
    console.keys("2<Enter>al<Enter><Enter>ar<Enter><Enter>").write(PHRASE);
    let acts = console.acts;
    // The plan is younger than its two minutes; the approval is not.
    console.wait(101);
    shows(&console, "ap_12 was good until");
    console.poll_now();
    console.keys("<Enter>");
    assert_eq!(console.acts, acts);
    console.keys("al<Enter><Enter>ar");
    shows(&console, "Asked before: ap_12: approved by lee at");
    shows(&console, "but not acted on until");
}

#[test]
fn what_came_to_nothing_is_shown_with_who_and_why_and_the_way_out() {
    for (state, says, way) in [
        (ApprovalState::Refused, "refused by lee at 14:0", "or hand the record over (a h)."),
        (ApprovalState::Withdrawn, "taken back by lee at 14:0", "Ask again (a r)."),
        (ApprovalState::Expired, "nobody answered until 14:33", "Ask again (a r)."),
        (ApprovalState::Lapsed, "but not acted on until", "Ask again (a r)."),
    ] {
        let console = came_to("dark", state);
        shows(
            &console,
            &format!("Asked before: ap_12: {}", if state == ApprovalState::Lapsed { "approved" } else { says }),
        );
        shows(&console, says);
        shows(&console, way);
        shows(&console, "writes the reason, then asks them.");
    }
}

#[test]
fn a_notice_says_when_ones_own_request_is_answered_and_when_somebody_elses_waits() {
    let mut console = asked("dark");
    console.keys("2");
    for (state, says) in [
        (ApprovalState::Approved, "ap_12 for shop-eu/ord-88213-7Q4K91: approved by lee"),
        (ApprovalState::Refused, "refused by lee"),
    ] {
        let mut console = asked("dark");
        let at = console.now.0;
        let request = &mut console.records.values_mut().find(|d| !d.approvals.is_empty()).expect("asked").approvals[0];
        request.state = state;
        request.decided_by = Some(unstuck::domain::ids::Operator::new("lee"));
        request.decided_at = Some(at);
        console.poll_now();
        shows(&console, says);
        // Once is enough.
        console.wait(9);
        console.poll_now();
        shows_not(&console, says);
    }
    let asking = asked("dark");
    let mut lee = looked_up("dark");
    sits_down(&mut lee, "lee");
    lee.records = asking.records;
    lee.now = asking.now;
    lee.poll_now();
    shows(&lee, "dana asks for a second person: adopt of shop-eu/ord-88213-7Q4K91 (ap_12). 8 lists it.");
    shows(&lee, "i 1 plan waits for a second person (oldest ");
}

#[test]
fn the_glass_is_broken_only_after_the_wait_with_an_incident_and_the_phrase() {
    let mut console = asked("dark");
    console.keys("2<Enter>arb");
    shows(&console, "From 14:1");
    shows(&console, "you may go on alone, with an incident id.");
    shows_not(&console, "Nobody approved this");
    let mut console = unanswered("dark");
    console.keys("b");
    shows(&console, "!! BREAK GLASS  Nobody approved this.");
    shows(&console, "Logged in red, for ever");
    console.write("soon").keys("<Tab>").write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>");
    shows(&console, "The incident is not an incident or ticket id.");
    console.keys("<S-Tab><S-Tab><C-u>").write("INC-7").keys("<Enter>");
    shows(&console, "!! BREAK GLASS");
    console.send(Msg::Paste(PHRASE.into()));
    shows(&console, "Pasting is off here");
    let acts = console.acts;
    console.keys("<Enter>");
    assert_eq!(console.acts, acts);
    console.write(PHRASE).keys("<Enter>");
    assert_eq!(console.acts, acts + 1);
    shows(&console, "ok DONE  Resume, without an answer (break-glass)");
}

#[test]
fn a_hand_back_is_asked_for_and_nobody_goes_on_alone() {
    let mut console = Console::on(incident());
    console.provider = LookupOutcome::NotFound { absence: Absence::Consistent, why: "no charge with this key".into() };
    console.keys("2<Enter>al<Enter><Enter>");
    console.wait(360);
    console.poll(incident());
    console.keys("al<Enter><Enter>");
    // Two look-ups six minutes apart agree; both are stored.
    shows(&console, "resume (a r) asks");
    console.keys("ar");
    shows(&console, "may CHARGE with the SAME provider key");
    shows(&console, "A charge may be made: a second person approves, always.");
    console.keys("<Enter>").write("two look-ups found nothing").keys("<Tab>").write("INC-2291").keys("<Enter><Enter>");
    assert_eq!(sent(&console), ["ask"]);
    console.keys("<Enter>ar");
    shows(&console, "Nobody goes on alone here");
    console.keys("b");
    shows(&console, "only a charge that was already made may be adopted without an answer");
    assert_eq!(console.acts, 1);
}

#[test]
fn the_result_of_asking_offers_what_to_tell_whom() {
    let mut console = result_of_asking("dark");
    console.keys("y");
    let copied = console.copied.last().expect("a copy");
    assert!(copied.contains("ap_12: waits since"), "{copied}");
}
