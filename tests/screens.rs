//! Pictures: every screen and dialog, at every size, in every theme; the same words in all.
//!
//! `dark` holds words and styles; `light` and `mono` hold the styles (their words are compared with
//! dark's), `ascii` the words (its styles are compared). One file per look and size, so that a change
//! of one screen is one hunk per file. After a wanted change: `INSTA_UPDATE=always cargo test`.

use std::fmt::Write as _;

use proptest::prelude::*;
use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthChar as _;
use unstuck::app::{Acting, Msg};
use unstuck::domain::answer::Answer;
use unstuck::domain::approval::ApprovalState;
use unstuck::domain::evidence::{Absence, LookupOutcome};
use unstuck::domain::ids::{Key, LogId, ProviderName, Scope, Version};
use unstuck::domain::log::Outcome;
use unstuck::domain::payment::PaymentStatus;
use unstuck::domain::recon::Reconciliation;
use unstuck::domain::record::{RecordStatus, RecoveryPoint};
use unstuck::domain::rule::{Breach, RuleState};
use unstuck::domain::snapshot::Snapshot;
use unstuck::ui::glyphs::ascii_of;

use crate::bulk;
use crate::support::console::Console;
use crate::support::picture::{draw, picture, words};
use crate::support::scenario::{calm, dossier, hostile, incident, nothing_known, record};
use crate::support::second;
use crate::ticket;

const REASON: &str = "look-up shows it captured once";

/// Name, how to get there.
type Scene = (&'static str, fn(&str) -> Console);

fn at(look: &str, keys: &str) -> Console {
    let mut console = Console::with(incident(), look, Acting::On);
    console.keys(keys);
    console
}

fn looked_up(look: &str, more: &str) -> Console {
    let mut console = at(look, "2<Enter>al<Enter><Enter>");
    console.keys(more);
    console
}

fn confirmed(look: &str, verdict: Option<Outcome>) -> Console {
    let mut console = looked_up(look, "ar<Enter>");
    console.verdict = verdict;
    console.write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>").write("prod shop-eu 7Q4K91 EUR 128.40");
    console.keys("<Enter>");
    console
}

fn lost(look: &str, keys: &str) -> Console {
    let mut console = at(look, "");
    console.wait(5);
    console.fail();
    console.wait(4);
    console.fail();
    console.wait(30);
    console.keys(keys);
    console
}

/// A record that is done, and that I3 names.
fn done(look: &str, payment: PaymentStatus) -> Console {
    let mut console = Console::with(incident(), look, Acting::On);
    let mut record = record("shop-eu", "ord-88252-4QPE63", "ord_88252", 7_500, 517, RecoveryPoint::Done);
    (record.status, record.payment_status) = (RecordStatus::Done, Some(payment));
    let at = console.now.0;
    console.records.insert(record.id.clone(), dossier(&record, at));
    console.keys(":open shop-eu ord-88252-4QPE63<Enter>");
    console
}

/// The kiosk's 422 are our own fault: the same request was refused as another one.
fn refused_retries() -> Snapshot {
    let mut snapshot = incident();
    let at = snapshot.db_now;
    let breach = Breach {
        scope: Some(Scope::new("kiosk")),
        key: Some(Key::new("ord-77000")),
        order: None,
        payment: None,
        reference: None,
        money: None,
        at: Some(at),
        detail: "7 refused with 422, last by pod-a".into(),
    };
    let mut report = snapshot.rules[0].clone();
    report.rule.id = "I15".into();
    report.rule.sentence = "no honest retry is refused".into();
    report.state = RuleState::Violated { checked_at: at, breaches: vec![breach], since: at };
    snapshot.rules.push(report);
    snapshot
}

const SCENES: &[Scene] = &[
    ("waiting for the first poll", |look| Console::blank(look, Acting::On)),
    ("overview", |look| at(look, "")),
    ("overview on a good day", |look| Console::with(calm(), look, Acting::On)),
    ("overview, nothing known", |look| Console::with(nothing_known(), look, Acting::Off)),
    ("stuck", |look| at(look, "2jj")),
    ("stuck, hostile text", |look| {
        let mut console = Console::with(hostile(), look, Acting::On);
        console.keys("2");
        console
    }),
    ("stuck, new arrived, times as UTC", |look| {
        let mut console = at(look, "2jjz");
        console.poll(hostile());
        console
    }),
    ("unknown, by money", |look| at(look, "3o")),
    ("conflicts", |look| at(look, "4")),
    ("conflicts, an honest retry was refused", |look| {
        let mut console = Console::with(refused_retries(), look, Acting::On);
        console.keys("4");
        console
    }),
    ("invariants, rows", |look| at(look, "5<Enter>j")),
    ("reconciliation", |look| at(look, "6jj")),
    ("reconciliation, hostile text", |look| {
        let mut console = Console::with(hostile(), look, Acting::On);
        console.keys("6G");
        console
    }),
    ("reconciliation, no report", |look| {
        let mut snapshot = incident();
        snapshot.reconciliation = Answer::known(Reconciliation::default(), snapshot.db_now);
        let mut console = Console::with(snapshot, look, Acting::On);
        console.keys("6");
        console
    }),
    ("reconciliation, no breaks", |look| {
        let mut console = Console::with(calm(), look, Acting::On);
        console.keys("6");
        console
    }),
    ("reconciliation, not known", |look| {
        let mut console = Console::with(nothing_known(), look, Acting::Off);
        console.keys("6");
        console
    }),
    ("audit", |look| at(look, "8jj")),
    ("record", |look| at(look, "2<Enter>")),
    ("record, after a look-up", |look| looked_up(look, "")),
    ("record, hostile text", |look| {
        let mut console = Console::with(hostile(), look, Acting::On);
        console.keys("2j<Enter>");
        console
    }),
    ("record, done and named by a broken rule", |look| done(look, PaymentStatus::Failed)),
    ("record, done and a payment left over", |look| done(look, PaymentStatus::Pending)),
    ("record, not there", |look| at(look, ":open shop-eu none<Enter>")),
    ("record, raw", |look| at(look, "2<Enter>t")),
    ("ticket, nothing asked", |look| at(look, "7")),
    ("ticket, a sentence in the box", |look| {
        let mut console = at(look, "7");
        console
            .send(Msg::Paste("Hello, I was charged twice for ord_88213,\nEUR 128.40 each. Please help! Dana".into()));
        console
    }),
    ("ticket, nothing found", |look| at(look, "7/ord_1<Enter>")),
    ("ticket, several found", |look| ticket::several(look)),
    ("ticket, charged twice", |look| ticket::answered(look, "twice")),
    ("ticket, one charge and a hold", |look| ticket::answered(look, "hold")),
    ("ticket, not known", |look| ticket::answered(look, "contradiction")),
    ("ticket, the provider was not asked", |look| ticket::not_asked(look)),
    ("ticket, scrolled", |look| {
        let mut console = ticket::answered(look, "hold");
        console.keys("jjjjjjjj");
        console
    }),
    ("ticket, who else", |look| {
        let mut console = ticket::answered(look, "twice");
        console.keys("wwj");
        console
    }),
    ("ticket, hostile text", |look| ticket::hostile(look)),
    ("menu", |look| at(look, "2<Enter>a")),
    ("menu without --act", |look| {
        let mut console = Console::with(incident(), look, Acting::Off);
        console.keys("2a");
        console
    }),
    ("look-up: plan", |look| at(look, "2al")),
    ("look-up: result", |look| at(look, "2<Enter>al<Enter>")),
    ("look-up: not found", |look| {
        let mut console = at(look, "2<Enter>al");
        console.provider =
            LookupOutcome::NotFound { absence: Absence::Consistent, why: "no charge with this key".into() };
        console.keys("<Enter>");
        console
    }),
    ("resume: plan", |look| looked_up(look, "ar")),
    ("resume: refused before a look-up", |look| at(look, "2ar")),
    ("resume: reason not enough", |look| {
        let mut console = looked_up(look, "ar<Enter>");
        console.write("fix").keys("<Tab>").write("INC-2291").keys("<Enter>");
        console
    }),
    ("resume: phrase", |look| {
        let mut console = looked_up(look, "ar<Enter>");
        console.write(REASON).keys("<Tab>").write("INC-2291").keys("<Enter>").write("prod shop-eu 7Q4K");
        console
    }),
    ("resume: done", |look| confirmed(look, None)),
    ("resume: outcome unknown", |look| {
        confirmed(
            look,
            Some(Outcome::Unknown { why: "the connection was lost after sending".into(), intent: Some(LogId(9916)) }),
        )
    }),
    ("resume: conflict", |look| {
        confirmed(look, Some(Outcome::Conflict { why: "attempt is 4, the plan saw 3.".into() }))
    }),
    ("resume: a newer version while reading", |look| {
        let mut console = looked_up(look, "ar<Enter>");
        let mut snapshot = incident();
        if let Answer::Known { value, .. } = &mut snapshot.stuck {
            value[0].version = Version::new("e".repeat(64));
        }
        console.poll(snapshot);
        console
    }),
    ("resume: a second person is needed", |look| {
        let mut console = second::looked_up(look);
        console.keys("2<Enter>ar");
        console
    }),
    ("second person: what goes to them", second::about_to_ask),
    ("second person: asked", second::result_of_asking),
    ("record, asked for", |look| {
        let mut console = second::asked(look);
        console.keys("2<Enter>");
        console
    }),
    ("overview, a plan waits", |look| {
        let mut console = second::asked(look);
        second::sits_down(&mut console, "lee");
        console
    }),
    ("audit, a plan waits", |look| {
        let mut console = second::asked(look);
        second::sits_down(&mut console, "lee");
        console.keys("8");
        console
    }),
    ("resume: it waits", |look| {
        let mut console = second::asked(look);
        console.keys("2<Enter>ar");
        console
    }),
    ("resume: it was refused", |look| second::came_to(look, ApprovalState::Refused)),
    ("request: before a look-up", second::reads_it),
    ("request: after a look-up", second::looked_up_too),
    ("request: approve", |look| {
        let mut console = second::looked_up_too(look);
        console.keys("A").write("approve prod shop");
        console
    }),
    ("request: approved", |look| {
        let mut console = second::looked_up_too(look);
        console.keys("A").write(&format!("approve {}", second::PHRASE)).keys("<Enter>");
        console
    }),
    ("request: refuse", |look| {
        let mut console = second::reads_it(look);
        console.keys("R").write("ask the customer");
        console
    }),
    ("request: one's own, taken back", |look| {
        let mut console = second::asked(look);
        console.keys("8<Enter>w<Enter>");
        console
    }),
    ("request: hostile text", second::hostile_request),
    ("resume: approved, but not looked up again", |look| {
        let mut console = second::approved(look);
        console.keys("2ar");
        console
    }),
    ("resume: approved", |look| {
        let mut console = second::approved(look);
        console.keys("2<Enter>al<Enter><Enter>ar");
        console
    }),
    ("break glass", |look| {
        let mut console = second::unanswered(look);
        console.keys("b").write("INC-7").keys("<Tab>").write("fix").keys("<Enter>");
        console
    }),
    ("hand over: words", |look| {
        let mut console = at(look, "2ah<Enter>");
        console.write("lee").keys("<Tab>").write("two charges at the provider");
        console
    }),
    ("stuck, marked, one changed since", |look| {
        let mut console = at(look, "2 jj j ");
        let mut snapshot = incident();
        if let Answer::Known { value, .. } = &mut snapshot.stuck {
            value[2].version = Version::new("e".repeat(64));
        }
        console.poll(snapshot);
        console
    }),
    ("unknown, marked, some hidden", |look| at(look, "2 G 3/shop-uk<Enter>")),
    ("marked: menu", |look| at(look, "2 j a")),
    ("marked: menu without --act", |look| {
        let mut console = Console::with(incident(), look, Acting::Off);
        console.keys("2 j a");
        console
    }),
    ("marked: look-ups, plan", |look| at(look, "2 j al")),
    ("marked: look-ups, to be typed", |look| at(look, "2 j al<Enter>")),
    ("marked: resume, plan", bulk::planned),
    ("marked: resume, none can be", |look| at(look, "2 j ar")),
    ("marked: resume, reason", |look| {
        let mut console = bulk::planned(look);
        console.keys("<Enter>").write("fix").keys("<Tab>").write("INC-2291").keys("<Enter>");
        console
    }),
    ("marked: resume, to be typed", |look| {
        let mut console = bulk::at_the_phrase(look);
        console.write("prod 3 EUR");
        console
    }),
    ("marked: canary done", bulk::canary_done),
    ("marked: sent, asked to leave", |look| {
        let mut console = bulk::at_the_phrase(look);
        console.write(bulk::PHRASE);
        console.key(unstuck::app::key::Key::Enter.into());
        console.settle_reads();
        console.keys("<Esc><Esc>");
        console
    }),
    ("marked: stopped", |look| {
        let mut console = bulk::canary_done(look);
        console.verdict =
            Some(Outcome::Unknown { why: "the connection was lost after sending".into(), intent: Some(LogId(9916)) });
        console.run_for(4);
        console
    }),
    ("marked: done", |look| {
        let mut console = bulk::canary_done(look);
        console.run_for(6);
        console
    }),
    ("no delete", |look| at(look, "2<Del>")),
    ("no delete, the second time", |look| at(look, "2<Del><Esc>D")),
    ("help", |look| at(look, "2?")),
    ("sql", |look| at(look, "2s")),
    ("filter", |look| at(look, "2/at:charged !9TT")),
    ("command line", |look| at(look, ":open shop-eu ord")),
    ("stale", |look| {
        let mut console = at(look, "2");
        console.wait(22);
        console
    }),
    ("paused", |look| at(look, "2p")),
    ("lost", |look| lost(look, "")),
    ("lost, stuck, a action asked for", |look| lost(look, "2a")),
];

fn scenes(look: &str, width: u16, height: u16) -> impl Iterator<Item = (&'static str, Console)> {
    let look = look.to_owned();
    SCENES.iter().map(move |(name, build)| {
        let mut console = build(&look);
        console.send(Msg::Resized(width, height));
        (*name, console)
    })
}

fn check(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

fn whole(look: &str, width: u16, height: u16) {
    let mut out = String::new();
    for (name, console) in scenes(look, width, height) {
        writeln!(out, "=== {name}\n{}", picture(&console.model, width, height, console.now)).expect("a string");
    }
    check(&format!("{look}_{width}x{height}"), &out);
}

fn styles(look: &str, width: u16, height: u16) {
    let mut out = String::new();
    for ((name, console), (_, dark)) in scenes(look, width, height).zip(scenes("dark", width, height)) {
        let text = picture(&console.model, width, height, console.now);
        let (said, styles) = text.split_once("--\n").expect("two parts");
        assert_eq!(said, words(&draw(&dark.model, width, height, dark.now)), "{name}: the same words in {look}");
        writeln!(out, "=== {name}\n{styles}").expect("a string");
    }
    check(&format!("{look}_{width}x{height}_styles"), &out);
}

fn only_words(look: &str, width: u16, height: u16) {
    let mut out = String::new();
    for (name, console) in scenes(look, width, height) {
        writeln!(out, "=== {name}\n{}", words(&draw(&console.model, width, height, console.now))).expect("a string");
    }
    check(&format!("{look}_{width}x{height}_words"), &out);
}

#[test]
fn dark_80x24() {
    whole("dark", 80, 24);
}

#[test]
fn dark_140x40() {
    whole("dark", 140, 40);
}

#[test]
fn light() {
    styles("light", 80, 24);
    styles("light", 140, 40);
}

#[test]
fn mono() {
    styles("mono", 80, 24);
    styles("mono", 140, 40);
}

#[test]
fn ascii() {
    only_words("ascii", 80, 24);
    only_words("ascii", 140, 40);
}

#[test]
fn between_and_below() {
    only_words("dark", 100, 30);
    only_words("dark", 60, 20);
}

#[test]
fn ascii_says_the_same_words() {
    for ((name, ascii), (_, dark)) in scenes("ascii", 80, 24).zip(scenes("dark", 80, 24)) {
        if name.contains("hostile") || name.contains("new arrived") || name.contains("raw") {
            continue;
        }
        let dark = words(&draw(&dark.model, 80, 24, dark.now));
        let wanted: String = dark.chars().map(|c| if c.is_ascii() { c } else { ascii_of(c).unwrap_or('?') }).collect();
        assert_eq!(words(&draw(&ascii.model, 80, 24, ascii.now)), wanted, "{name}");
    }
}

/// No control, no direction override, no zero-width or tag character in any cell.
#[track_caller]
fn assert_visible(buffer: &Buffer, name: &str) {
    for cell in buffer.content() {
        for c in cell.symbol().chars() {
            assert!(!c.is_control() && c.width().is_some(), "{name}: {c:?}");
            let hides = ['\u{200b}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{e0000}'..='\u{e007f}'];
            assert!(!hides.iter().any(|range| range.contains(&c)), "{name}: {c:?}");
        }
    }
}

#[test]
fn every_size_draws_and_no_cell_is_active_or_invisible() {
    for (width, height) in
        [(0, 0), (1, 1), (10, 3), (20, 5), (40, 10), (60, 20), (79, 24), (80, 23), (119, 30), (120, 24), (200, 60)]
    {
        for look in ["dark", "ascii"] {
            for (name, console) in scenes(look, width, height) {
                let buffer = draw(&console.model, width, height, console.now);
                assert_visible(&buffer, name);
                assert!(look == "dark" || buffer.content().iter().all(|cell| cell.symbol().is_ascii()), "{name}");
            }
        }
    }
}

#[test]
fn the_picture_is_the_same_twice() {
    for ((name, first), (_, second)) in scenes("dark", 80, 24).zip(scenes("dark", 80, 24)) {
        assert_eq!(draw(&first.model, 80, 24, first.now), draw(&second.model, 80, 24, second.now), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever a database says: no frame breaks, nothing active or invisible reaches a cell.
    #[test]
    fn any_text_can_be_drawn(scope in "\\PC{0,30}|.{0,30}", key in ".{0,60}|[\u{1b}\u{7}\u{200b}-\u{202e}a-f]{0,60}", order in ".{0,200}", width in 1u16..150, height in 1u16..50) {
        let mut snapshot = incident();
        let mut odd = record(&scope, &key, &order, 12_840, 1_330, RecoveryPoint::Unrecognised(order.clone()));
        odd.provider = Some(ProviderName::new(&key));
        let mut console = Console::on(incident());
        console.records.insert(odd.id.clone(), dossier(&odd, console.now.0));
        snapshot.stuck = Answer::known(vec![odd], console.now.0);
        console.poll(snapshot);
        console.send(Msg::Resized(width, height));
        for keys in ["2", "<Enter>", "t", "ta", "l", "<Esc>", "<Del>"] {
            console.keys(keys);
            assert_visible(&draw(&console.model, width, height, console.now), keys);
        }
    }
}
