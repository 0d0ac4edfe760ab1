//! The approver: finding the request, reading the whole plan, the own look-up, and a yes or a no.

use unstuck::app::Msg;
use unstuck::app::dialog::Dialog;
use unstuck::app::{Acting, Model};
use unstuck::domain::approval::ApprovalState;
use unstuck::domain::evidence::{Absence, LookupOutcome};
use unstuck::domain::ids::{Operator, Version};

use super::{only_enter_sends, sent, shows, shows_not};
use crate::support::console::Console;
use crate::support::second::{PHRASE, REASON, asked, looked_up_too, reads_it, sits_down};

fn yes() -> String {
    format!("approve {PHRASE}")
}

#[test]
fn the_whole_plan_is_read_and_approved_on_a_look_up_of_ones_own() {
    let mut console = reads_it("dark");
    shows(&console, "ASKED BY              dana (login ops_dana)");
    shows(&console, REASON);
    shows(&console, "INC-2291");
    shows(&console, "you have not looked up yet: a l.");
    shows(&console, "A  approve  off: The latest look-up is dana's.");
    for line in ["WHAT WILL HAPPEN, IN ORDER", "take the lease (attempt 3 -> 4)", "WHAT WILL NOT HAPPEN", "PLAN HASH"] {
        shows(&console, line);
    }
    console.keys("A");
    shows(&console, "! The latest look-up is dana's. Look the payment up yourself (a l)");
    console.keys("al<Enter>");
    shows(&console, "ok DONE  Provider look-up");
    console.keys("<Enter>");
    shows(&console, "Request ap_12");
    shows(&console, "your look-up at");
    console.keys("A").write(yes().strip_suffix('0').expect("the last digit")).keys("<Enter>");
    shows(&console, "not yet the same (1 to go)");
    assert_eq!(sent(&console), Vec::<&str>::new());
    console.write("0").keys("<Enter>");
    assert_eq!(sent(&console), ["approve"]);
    shows(&console, "ok DONE  Approved: log au_9921.");
    shows(&console, "ok yes  approved by lee at");
    shows(&console, "Nothing was changed by your yes.");
    console.keys("<Enter>");
    assert!(console.model.dialog.is_none());
}

#[test]
fn a_no_needs_enter_only_and_its_words_reach_whoever_asked() {
    let mut console = reads_it("dark");
    console.keys("R");
    shows(&console, "Why not (may be empty; whoever asked reads it):");
    console.write("ask the customer first").keys("<Enter>");
    assert_eq!(sent(&console), ["refuse"]);
    shows(&console, "ok yes  refused by lee at");
    sits_down(&mut console, "dana");
    console.keys("8<Enter>");
    shows(&console, "ap_12 REFUSED");
    shows(&console, "ask the customer first");
    shows(&console, "Ask who refused it, or hand the record over (a h).");
    console.keys("A");
    shows(&console, "The request is refused already.");
}

#[test]
fn no_key_answers_but_enter_on_a_finished_page() {
    only_enter_sends(|| reads_it("dark"), None);
    only_enter_sends(|| looked_up_too("dark"), None);
    let page = |keys: &'static str, text: String| {
        move || {
            let mut console = looked_up_too("dark");
            console.keys(keys).write(&text);
            console
        }
    };
    only_enter_sends(page("R", String::new()), Some("refuse"));
    only_enter_sends(page("A", String::new()), None);
    only_enter_sends(page("A", yes()), Some("approve"));
    only_enter_sends(
        || {
            let mut console = asked("dark");
            console.keys("8<Enter>w");
            console
        },
        Some("withdraw"),
    );
}

#[test]
fn a_yes_takes_no_paste_and_no_burst() {
    let mut console = looked_up_too("dark");
    console.keys("A");
    console.send(Msg::Paste(yes()));
    shows(&console, "Pasting is off here: type what you read.");
    for c in yes().chars() {
        console.send(Msg::Key(unstuck::app::key::Chord::char(c)));
    }
    shows(&console, "Too fast for typing: the phrase was cleared.");
    console.keys("<Enter>");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn nobody_decides_about_their_own_plan_and_takes_it_back_instead() {
    let mut console = asked("dark");
    console.keys("8<Enter>");
    shows(&console, "off: Nobody decides about their own plan.");
    console.keys("AR");
    shows(&console, "! Nobody decides about their own plan. Ask a second person.");
    console.keys("w");
    shows(&console, "Enter takes it back. Nothing else is asked.");
    console.keys("<Enter>");
    assert_eq!(sent(&console), ["withdraw"]);
    shows(&console, "ok yes  taken back by dana at");
    // Another person cannot take it back.
    let mut console = reads_it("dark");
    console.keys("w");
    shows(&console, "Only dana may take it back.");
}

#[test]
fn the_same_name_at_another_login_and_the_same_login_under_another_name_decide_nothing() {
    for (name, role) in [("Dana ", "ops_lee"), ("lee", "ops_dana")] {
        let mut console = asked("dark");
        console.model.setup.context.operator = Operator::new(name);
        console.model.setup.context.role = role.to_owned();
        console.keys("8<Enter>R");
        shows(&console, "off: ");
        console.keys("<Enter>");
        assert_eq!(sent(&console), Vec::<&str>::new(), "{name} {role}");
    }
}

#[test]
fn a_look_up_that_says_otherwise_a_changed_record_and_a_forged_plan_have_no_yes() {
    type Spoil = fn(&mut Console);
    let spoils: [(Spoil, &str); 4] = [
        (
            |console| {
                console.provider = LookupOutcome::NotFound { absence: Absence::Consistent, why: "none".into() };
                console.keys("al<Enter><Enter>");
            },
            "A  approve  off: ",
        ),
        (|console| of(console).detail.record.version = Version::new("e".repeat(64)), "The record changed since"),
        (
            |console| {
                if let Some(plan) = &mut of(console).approvals[0].plan {
                    plan.promises.clear();
                }
            },
            "The plan does not fit its hash",
        ),
        (|console| of(console).approvals[0].plan = None, "? NOT KNOWN  the plan cannot be read"),
    ];
    for (spoil, says) in spoils {
        let mut console = looked_up_too("dark");
        console.keys("<Esc>8<Enter>");
        spoil(&mut console);
        console.keys("<Esc>");
        console.poll_now();
        console.keys("8<Enter>");
        shows(&console, says);
        console.keys("A");
        assert!(!picture_has_phrase(&console), "{says}: there is nothing to type");
        // No is always there.
        console.keys("R<Enter>");
        assert_eq!(sent(&console), ["refuse"], "{says}");
    }
}

fn of(console: &mut Console) -> &mut unstuck::domain::port::Dossier {
    console.records.values_mut().find(|dossier| !dossier.approvals.is_empty()).expect("a request")
}

fn picture_has_phrase(console: &Console) -> bool {
    super::picture(console).contains(&yes())
}

#[test]
fn a_record_that_changes_between_reading_and_enter_is_not_approved() {
    let mut console = looked_up_too("dark");
    console.keys("A").write(&yes());
    of(&mut console).detail.record.version = Version::new("e".repeat(64));
    console.keys("<Enter>");
    shows(&console, "REFUSED. The record changed since the plan was made.");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn a_request_that_is_answered_or_runs_out_while_it_is_read_is_over() {
    let mut console = looked_up_too("dark");
    console.keys("A").write(&yes());
    let request = &mut of(&mut console).approvals[0];
    request.state = ApprovalState::Withdrawn;
    request.decided_by = Some(Operator::new("dana"));
    console.poll_now();
    shows(&console, "ap_12: taken back by dana");
    console.keys("<Enter>");
    let mut console = looked_up_too("dark");
    console.wait(1_800);
    shows(&console, "nobody answered until");
    console.poll_now();
    console.keys("<Enter>");
    assert_eq!(sent(&console), Vec::<&str>::new());
    // On the page itself it is read again, and says so.
    let mut console = reads_it("dark");
    of(&mut console).approvals[0].state = ApprovalState::Withdrawn;
    console.poll_now();
    console.settle();
    shows(&console, "ap_12 WITHDRAWN");
    shows(&console, "Nobody answers it any more.");
}

#[test]
fn a_hash_opens_its_request_and_only_one_that_is_meant() {
    let mut console = asked("dark");
    let hash = console.approvals()[0].plan_hash.as_str().to_owned();
    sits_down(&mut console, "lee");
    for typed in [hash.get(..4).expect("letters").to_owned(), hash.to_uppercase(), hash.clone()] {
        console.keys(&format!(":approve {typed}<Enter>"));
        shows(&console, "Request ap_12");
        console.keys("<Esc>");
    }
    for (typed, says) in [
        ("", "Type :approve and the beginning"),
        ("zz", "No plan that was asked for begins with zz."),
        ("\u{202e}\u{7}x", "No plan that was asked for begins with"),
    ] {
        console.keys(&format!(":approve {typed}<Enter>"));
        shows(&console, says);
        assert!(console.model.dialog.is_none());
    }
    let short: String = hash.chars().take(6).collect();
    // Two with the same beginning: one that waits is meant before one that is over.
    let mut twin = of(&mut console).approvals[0].clone();
    twin.number = unstuck::domain::ids::ApprovalId(11);
    of(&mut console).approvals.push(twin);
    console.poll_now();
    console.keys(&format!(":approve {short}<Enter>"));
    shows(&console, "2 plans begin with");
    of(&mut console).approvals[1].state = ApprovalState::Refused;
    console.poll_now();
    console.keys(&format!(":approve {short}<Enter>"));
    shows(&console, "Request ap_12");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn a_console_that_only_reads_shows_the_request_and_answers_nothing() {
    let mut console = asked("dark");
    sits_down(&mut console, "lee");
    console.model.setup.acting = Acting::Off;
    console.keys("8<Enter>R");
    shows(&console, "Start with --act");
    console.keys("<Enter>");
    shows_not(&console, "Why not");
    assert_eq!(sent(&console), Vec::<&str>::new());
}

#[test]
fn leaving_the_menu_goes_back_to_the_request_and_leaving_the_request_does_not_come_back() {
    let mut console = reads_it("dark");
    console.keys("a<Esc>");
    shows(&console, "Request ap_12");
    console.keys("<Esc>");
    assert!(console.model.dialog.is_none());
    console.keys("2al<Enter><Enter>");
    assert!(console.model.dialog.is_none(), "{:?}", open(&console.model));
}

fn open(model: &Model) -> Option<&Dialog> {
    model.dialog.as_ref()
}
