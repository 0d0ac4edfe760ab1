//! Two people, two logins, two real consoles in two terminals, on a real PostgreSQL: what one asks, the other answers.

use std::time::Duration;

use regex::Regex;
use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::service::{Recoverer, ServiceOptions};

use crate::support::cluster::shared;
use crate::support::keys::Key;
use crate::support::pty::{Ended, Pty};
use crate::support::scene::{Scene, Stuck, by_hand};
use crate::support::seat::{Seat, step};

const OPERATOR: &[&str] = &["unstuck_operator"];
const APPROVER: &[&str] = &["unstuck_approver"];
const BOTH: &[&str] = &["unstuck_operator", "unstuck_approver"];

/// A scene in production with one stuck record, and two seats at it. `None`: somebody else's server.
struct Two {
    scene: Scene,
    stuck: Stuck,
    kim: Seat,
    lee: Seat,
}

impl Two {
    async fn new(purpose: &str, fate: Fate, limits: &[(&str, i64)]) -> Option<Self> {
        // Nobody takes up what is handed back: this is about the two people.
        let options = ServiceOptions { recoverer: Recoverer::Down { why: "not needed" }, ..by_hand() };
        let mut scene = Scene::open(purpose, options).await;
        scene.run("SELECT unstuck.set_environment('demo', 'production')").await;
        for (limit, value) in limits {
            scene.run(&format!("SELECT unstuck.set_limit('{limit}', {value})")).await;
        }
        let cast = vec![("K001-ABCD".to_owned(), "ord_1".to_owned(), fate)];
        let stuck = scene.stuck_as(cast.into_iter()).await.remove(0);
        let kims = scene.database.create_login("kim", BOTH).await.expect("a login");
        let lees = scene.database.create_login("lee", APPROVER).await.expect("a login");
        let cluster = shared().await;
        let seat = |login, who| Seat::of(cluster, &scene, login, who, "production");
        let (Some(kim), Some(lee)) = (seat(&kims, "kim"), seat(&lees, "lee")) else {
            scene.close().await;
            return None;
        };
        Some(Self { scene, stuck, kim, lee })
    }

    fn adopting() -> Fate {
        Fate { answer: Answer::Lost, ..Fate::default() }
    }
}

#[track_caller]
fn look_up(pty: &mut Pty) {
    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    pty.press(Key::Char('l'));
    step(pty, "Enter asks the provider now");
    pty.press(Key::Enter);
    step(pty, "ok DONE");
    pty.press(Key::Enter);
}

#[track_caller]
fn open_the_record(pty: &mut Pty, order: &str) {
    pty.wait_for("2 Stuck 1");
    pty.press(Key::Char('2'));
    step(pty, "(?i)rows keep their place");
    pty.press(Key::Enter);
    pty.wait_for(&format!("order {order}"));
}

#[track_caller]
fn resume(pty: &mut Pty, shows: &str) {
    pty.press(Key::Char('a'));
    step(pty, "Nothing has been sent");
    pty.press(Key::Char('r'));
    step(pty, shows);
}

/// From the plan to the request that is stored; the beginning of the plan's hash.
#[track_caller]
fn ask(pty: &mut Pty) -> String {
    resume(pty, "A second person is needed");
    pty.press(Key::Enter);
    step(pty, "at least 15 letters");
    pty.type_text("the pod died after the charge");
    // The second time in a session the ticket is there already.
    if !pty.screen().contains("INC-1") {
        pty.press(Key::Tab);
        pty.type_text("INC-1");
    }
    pty.press(Key::Enter);
    step(pty, "NOTHING IS CHANGED");
    pty.press(Key::Enter);
    step(pty, r"ok DONE +Asked a second person");
    pty.wait_for(r"ok yes +ap_\d+: waits since");
    let said = pty.screen();
    let hash = Regex::new(":approve ([0-9a-f]{6})").expect("a pattern").captures(&said).expect("a hash")[1].to_owned();
    pty.press(Key::Enter);
    pty.wait_for("TIMELINE");
    hash
}

/// Types what the step asks for, and sends it.
#[track_caller]
fn confirm(pty: &mut Pty, pattern: &str) {
    step(pty, "not yet the same");
    let regex = Regex::new(pattern).expect("a pattern");
    let phrase = regex.find(&pty.screen()).expect("a phrase on the screen").as_str().to_owned();
    pty.type_text(&phrase);
    step(pty, "the same: Enter");
    pty.press(Key::Enter);
}

#[track_caller]
fn open_the_request(pty: &mut Pty, hash: &str) {
    pty.press(Key::Char('1'));
    pty.wait_for("plan waits for a second person");
    pty.press(Key::Char(':'));
    pty.type_text(&format!("approve {hash}"));
    pty.press(Key::Enter);
    step(pty, "WAITING");
}

#[track_caller]
fn leave(mut pty: Pty) {
    for _ in 0..2 {
        pty.press(Key::Escape);
        pty.wait_quiet(Duration::from_millis(200));
    }
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    pty.press(Key::Char('q'));
    assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
}

const ACT: &str = r"demo shop-eu \S+ EUR [\d.]+";
const YES: &str = r"approve demo shop-eu \S+ EUR [\d.]+";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_adopt_above_the_limit_is_approved_by_a_second_person_and_done() {
    let Some(two) = Two::new("a second person", Two::adopting(), &[]).await else { return };
    let Two { scene, stuck, kim, lee } = two;
    let order = stuck.order.clone();
    tokio::task::spawn_blocking(move || {
        let (mut kim, mut lee) = (kim.sit(), lee.sit());
        open_the_record(&mut kim, &order);
        look_up(&mut kim);
        let hash = ask(&mut kim);
        // kim is an approver, too; not of this.
        open_the_request(&mut kim, &hash);
        kim.wait_for("off: Nobody decides about their own plan");
        kim.press(Key::Char('A'));
        kim.wait_for("! Nobody decides about their own plan");
        kim.press(Key::Escape);
        open_the_record(&mut kim, &order);

        open_the_request(&mut lee, &hash);
        lee.wait_for("you have not looked up yet");
        lee.press(Key::Char('A'));
        lee.wait_for("! The latest look-up is kim's");
        look_up(&mut lee);
        step(&mut lee, "your look-up at");
        lee.press(Key::Char('A'));
        confirm(&mut lee, YES);
        step(&mut lee, "ok DONE +Approved");
        lee.wait_for("ok yes +approved by lee at");

        kim.wait_for("approved by lee at");
        kim.wait_for("order ord_1");
        resume(&mut kim, "The latest look-up is lee's");
        kim.press(Key::Escape);
        look_up(&mut kim);
        kim.wait_for("NEXT +resume");
        resume(&mut kim, r"ok ap_\d+ approved by lee");
        kim.press(Key::Enter);
        step(&mut kim, "the pod died after the charge");
        kim.press(Key::Enter);
        confirm(&mut kim, ACT);
        step(&mut kim, "ok DONE +Resume");
        kim.wait_for("ok yes +SUCCEEDED");
        leave(kim);
        leave(lee);
    })
    .await
    .unwrap();
    assert_eq!(scene.desk().charges(&stuck.order).len(), 1);
    assert!(scene.payments(&stuck.order).await.starts_with("succeeded ch_"));
    assert_eq!(scene.number("SELECT count(*) FROM unstuck.approval_use").await, 1);
    let seen = scene.close().await.transactions;
    for one in ["outcome ask done", "outcome approve done", "outcome adopt done"] {
        assert_eq!(seen.get(one), Some(&1), "{seen:?}");
    }
    assert_eq!(seen.get("outcome lookup found"), Some(&3), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_back_is_asked_for_approved_and_stored() {
    let fate = Fate { answer: Answer::NeverArrived, ..Fate::default() };
    let limits = [("absence_gap_s", 1), ("settle_s", 0)];
    let Some(two) = Two::new("a hand back", fate, &limits).await else { return };
    let Two { scene, stuck, kim, lee } = two;
    let order = stuck.order.clone();
    tokio::task::spawn_blocking(move || {
        let (mut kim, mut lee) = (kim.sit(), lee.sit());
        open_the_record(&mut kim, &order);
        // Absent twice, two seconds apart, and settled.
        loop {
            look_up(&mut kim);
            kim.wait_for("NEXT");
            kim.wait_quiet(Duration::from_millis(300));
            if kim.screen().contains("hand back to the service") {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        let hash = ask(&mut kim);
        open_the_request(&mut lee, &hash);
        lee.wait_for("may CHARGE with the SAME provider key");
        look_up(&mut lee);
        step(&mut lee, "your look-up at");
        lee.press(Key::Char('A'));
        confirm(&mut lee, YES);
        step(&mut lee, "ok DONE +Approved");
        kim.wait_for("approved by lee at");
        look_up(&mut kim);
        kim.wait_for("NEXT");
        resume(&mut kim, r"ok ap_\d+ approved by lee");
        kim.press(Key::Enter);
        step(&mut kim, "the pod died after the charge");
        kim.press(Key::Enter);
        confirm(&mut kim, ACT);
        step(&mut kim, "ok DONE +Resume");
        kim.wait_for(r"ok yes +hb_\d+: waiting");
        leave(kim);
        leave(lee);
    })
    .await
    .unwrap();
    assert_eq!(scene.desk().charges(&stuck.order).len(), 0, "the console charges nothing");
    assert_eq!(scene.number("SELECT count(*) FROM unstuck.resume_request").await, 1);
    let seen = scene.close().await.transactions;
    assert_eq!(seen.get("outcome hand_back done"), Some(&1), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_no_is_one_enter_and_binds_and_another_question_runs_out() {
    let Some(two) = Two::new("a no", Two::adopting(), &[("break_glass_after_s", 1)]).await else { return };
    let Two { scene, stuck, kim, lee } = two;
    let order = stuck.order.clone();
    let (kim, lee) = tokio::task::spawn_blocking(move || {
        let (mut kim, mut lee) = (kim.sit(), lee.sit());
        open_the_record(&mut kim, &order);
        look_up(&mut kim);
        let hash = ask(&mut kim);
        open_the_request(&mut lee, &hash);
        lee.press(Key::Char('R'));
        step(&mut lee, "Why not");
        lee.type_text("the customer says otherwise");
        lee.press(Key::Enter);
        step(&mut lee, "ok DONE +Refused");
        lee.wait_for("ok yes +refused by lee at");
        kim.wait_for("refused by lee at");
        // The glass does not help against a no.
        resume(&mut kim, "Asked before: ap_1: refused by lee at .*: the customer says otherwise");
        kim.press(Key::Char('b'));
        kim.wait_for("No request for this very plan waits");
        kim.press(Key::Escape);
        (kim, lee)
    })
    .await
    .unwrap();
    scene.run("SELECT unstuck.set_limit('approval_wait_s', 3)").await;
    tokio::task::spawn_blocking(move || {
        let (mut kim, lee) = (kim, lee);
        kim.wait_for("TIMELINE");
        ask(&mut kim);
        kim.wait_for("nobody answered until");
        resume(&mut kim, "Asked before: ap_2: nobody answered until");
        leave(kim);
        leave(lee);
    })
    .await
    .unwrap();
    assert!(scene.payments(&stuck.order).await.starts_with("unknown"), "{}", scene.payments(&stuck.order).await);
    let seen = scene.close().await.transactions;
    assert_eq!((seen.get("outcome refuse done"), seen.get("outcome ask done")), (Some(&1), Some(&2)), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_glass_is_broken_for_an_incident_and_a_question_is_taken_back() {
    let Some(two) = Two::new("break glass", Two::adopting(), &[("break_glass_after_s", 2)]).await else { return };
    let Two { scene, stuck, kim, lee: _ } = two;
    let order = stuck.order.clone();
    tokio::task::spawn_blocking(move || {
        let mut kim = kim.sit();
        open_the_record(&mut kim, &order);
        look_up(&mut kim);
        ask(&mut kim);
        // Taken back from the plan that waits.
        resume(&mut kim, "reads the request; there it can be taken back");
        kim.press(Key::Char('w'));
        step(&mut kim, "w +take it back");
        kim.press(Key::Char('w'));
        step(&mut kim, "Enter takes it back");
        kim.press(Key::Enter);
        step(&mut kim, "ok DONE +Taken back");
        kim.wait_for("ok yes +taken back by kim at");
        kim.press(Key::Enter);
        kim.wait_for("TIMELINE");
        ask(&mut kim);
        std::thread::sleep(Duration::from_secs(3));
        resume(&mut kim, "goes on without an answer");
        kim.press(Key::Char('b'));
        step(&mut kim, "BREAK GLASS");
        kim.type_text("INC-7");
        kim.press(Key::Tab);
        kim.type_text("nobody answers, the client waits");
        kim.press(Key::Enter);
        confirm(&mut kim, ACT);
        step(&mut kim, "ok DONE");
        kim.wait_for("ok yes +SUCCEEDED");
        kim.press(Key::Enter);
        // The log is read less often than the rest.
        loop {
            kim.press(Key::Char('8'));
            kim.press(Key::Char('R'));
            kim.wait_quiet(Duration::from_millis(300));
            if kim.screen().contains("!! au_") {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        leave(kim);
    })
    .await
    .unwrap();
    let logged = "SELECT detail FROM unstuck.action_log WHERE action = 'adopt' AND result = 'done'";
    let logged = scene.text(logged).await;
    assert!(logged.starts_with("BREAK GLASS, incident INC-7"), "{logged}");
    let seen = scene.close().await.transactions;
    assert_eq!((seen.get("outcome withdraw done"), seen.get("outcome adopt done")), (Some(&1), Some(&1)), "{seen:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_no_approver_is_told_so_and_nothing_is_decided() {
    let Some(two) = Two::new("no approver", Two::adopting(), &[]).await else { return };
    let Two { mut scene, stuck, kim, lee: _ } = two;
    let pats = scene.database.create_login("pat", OPERATOR).await.expect("a login");
    let pat = Seat::of(shared().await, &scene, &pats, "pat", "production").expect("a seat");
    let order = stuck.order.clone();
    tokio::task::spawn_blocking(move || {
        let here = pat;
        let (mut kim, mut pat) = (kim.sit(), here.sit());
        open_the_record(&mut kim, &order);
        look_up(&mut kim);
        let hash = ask(&mut kim);
        let line = here.check(&[]);
        assert!(line.contains("1 plan waits for a second person (oldest "), "{line}");
        let json: serde_json::Value = serde_json::from_str(&here.check(&["--json"])).expect("an object");
        assert_eq!(json["waiting_for_approval"], 1, "{json}");
        open_the_request(&mut pat, &hash);
        pat.press(Key::Char('R'));
        step(&mut pat, "Why not");
        pat.press(Key::Enter);
        step(&mut pat, "REFUSED");
        leave(kim);
        leave(pat);
    })
    .await
    .unwrap();
    assert_eq!(scene.number("SELECT count(*) FROM unstuck.approval_decision").await, 0);
    scene.close().await;
}
