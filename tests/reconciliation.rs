//! Screen 6: what it says of reports and breaks, and what its keys do. It never changes anything.

use unstuck::app::Acting;
use unstuck::app::model::Place;
use unstuck::app::screen::ScreenId;
use unstuck::domain::answer::Answer;
use unstuck::domain::ids::RecordId;
use unstuck::domain::money::Money;
use unstuck::domain::recon::{BreakKind, Reconciliation};
use unstuck::domain::snapshot::Snapshot;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::scenario::{ago, calm, incident, noon, nothing_known, stuck_records};
use crate::support::settled::{breaks, hostile_breaks, matching};

fn picture(console: &Console, width: u16, height: u16) -> String {
    words(&draw(&console.model, width, height, console.now))
}

#[track_caller]
fn shows(console: &Console, text: &str) {
    let picture = picture(console, 80, 24);
    assert!(picture.contains(text), "not on screen: {text:?}\n{picture}");
}

#[track_caller]
fn shows_not(console: &Console, text: &str) {
    let picture = picture(console, 80, 24);
    assert!(!picture.contains(text), "should not be on screen: {text:?}\n{picture}");
}

fn with(all: Reconciliation) -> Snapshot {
    Snapshot { reconciliation: Answer::known(all, noon()), ..incident() }
}

fn at_six(snapshot: Snapshot) -> Console {
    let mut console = Console::on(snapshot);
    console.keys("6");
    console
}

fn order(console: &Console) -> Vec<i64> {
    console.model.screens.reconciliation.list.order().to_vec()
}

#[test]
fn breaks_stand_with_their_kind_money_and_age_and_currencies_are_never_added() {
    let console = at_six(incident());
    shows(&console, "[6 Recon 4]");
    shows(&console, "acme-psp: settlement-2026-11-29.csv, 41206 lines, loaded 5h00m ago; and 1 more.");
    // 19.90 EUR against 19.90 USD is no difference of nothing: both sides are in question.
    shows(&console, "! 4 breaks · EUR 227.68 + USD 19.90 · oldest 1d07h · Matched 99.995%");
    shows(&console, "<1h 1   1-24h 1   24-48h 2   >48h 0");
    shows(&console, "theirs, not ours: likely stuck");
    shows(&console, "A break is a question, not an error. This screen never changes the books.");
    shows(&console, "Theirs EUR 1,206,327.34 · ours EUR 1,206,440.22 · as it states itself");
    assert_eq!(order(&console), [64, 66, 68, 71], "oldest first");
}

#[test]
fn what_is_not_known_is_never_zero() {
    let none = at_six(with(Reconciliation::default()));
    shows(&none, "NOT KNOWN  No settlement report is loaded: nothing was compared.");
    shows(&none, "unstuck reconcile --provider stripe FILE");
    shows(&none, "[6 Recon]");
    shows_not(&none, "No breaks");
    let failed = at_six(nothing_known());
    shows(&failed, "NOT KNOWN  where the reports and our books disagree: there is no schema");
    shows(&failed, "[6 Recon ?]");
    let mut console = Console::on(nothing_known());
    console.keys("1");
    let row = picture(&console, 140, 40);
    assert!(row.lines().any(|l| l.contains("Recon breaks > 24h") && l.contains("NOT KNOWN")), "{row}");
    let unstated = at_six(with(Reconciliation { reports: matching().reports.split_off(1), breaks: vec![] }));
    shows(&unstated, "not stated by the provider");
    shows(&unstated, "ok No breaks.");
}

#[test]
fn one_line_in_a_million_that_does_not_match_is_not_rounded_away() {
    let mut all = breaks();
    all.reports.truncate(1);
    all.reports[0].lines = 1_000_000;
    all.reports[0].matched = 999_999;
    shows(&at_six(with(all.clone())), "Matched 99.999%");
    all.reports[0].lines = 0;
    all.reports[0].matched = 0;
    shows(&at_six(with(all)), "No lines to match.");
}

#[test]
fn the_overview_counts_what_is_older_than_a_day_and_leads_here() {
    let mut console = Console::on(incident());
    let wide = picture(&console, 140, 40);
    assert!(wide.lines().any(|l| l.contains(" ! Recon breaks > 24h") && l.contains(" 2 ")), "{wide}");
    while !picture(&console, 140, 40).is_empty() && console.model.screen() == ScreenId::Overview {
        let at = console.model.screens.overview.list.position().expect("a row");
        if at + 1 == console.model.screens.overview.list.order().len() {
            console.keys("<Enter>");
            break;
        }
        console.keys("j");
    }
    assert_eq!(console.model.screen(), ScreenId::Reconciliation);
    assert!(!picture(&Console::on(calm()), 140, 40).contains("Recon breaks"), "quiet when there is none");
}

#[test]
fn f_shows_one_kind_after_the_other_and_then_all() {
    use BreakKind as K;
    let mut console = at_six(incident());
    let mut seen = vec![];
    for _ in 0..5 {
        console.keys("f");
        seen.push((console.model.screens.reconciliation.kind, order(&console)));
    }
    let wanted = [
        (Some(K::Orphan), vec![71]),
        (Some(K::Missing), vec![64]),
        (Some(K::Amount), vec![66]),
        (Some(K::Currency), vec![68]),
        (None, vec![64, 66, 68, 71]),
    ];
    assert_eq!(seen, wanted, "a kind without breaks is passed over");
    console.keys("f");
    shows(&console, "Kind: orphan (f)");
    // Its only break is settled: an empty list must not hide the others.
    let mut all = breaks();
    all.breaks.retain(|one| one.kind != K::Orphan);
    console.poll(with(all));
    assert_eq!((console.model.screens.reconciliation.kind, order(&console)), (None, vec![64, 66, 68]));
}

#[test]
fn o_sorts_and_a_poll_does_not_move_rows() {
    let mut console = at_six(incident());
    console.keys("o");
    assert_eq!(order(&console), [68, 64, 71, 66], "two currencies cannot be weighed: first");
    console.keys("o");
    assert_eq!(order(&console), [71, 64, 66, 68]);
    console.keys("O");
    assert_eq!(order(&console), [68, 66, 64, 71]);
    console.keys("Ojj");
    let under = console.model.screens.reconciliation.list.cursor().copied();
    let mut all = breaks();
    let mut newer = all.breaks[0].clone();
    newer.number = 90;
    all.breaks.insert(0, newer);
    all.breaks.retain(|one| one.number != 64);
    console.poll(with(all));
    assert_eq!(order(&console), [71, 66, 68]);
    assert_eq!(console.model.screens.reconciliation.list.cursor().copied(), under, "the cursor is on an identity");
    shows(&console, "i 1 new: press R to take them in.");
    console.keys("R");
    assert_eq!(order(&console), [71, 90, 66, 68]);
}

#[test]
fn enter_opens_the_record_when_there_is_one_and_the_menu_acts_on_it() {
    let mut console = at_six(incident());
    console.keys("<Enter>");
    shows(&console, "No record of ours is known for this break.");
    console.keys("a");
    shows(&console, "nothing to act on");
    assert!(console.model.dialog.is_none());
    let id: RecordId = stuck_records().remove(0).id;
    console.keys("G<Enter>");
    assert_eq!(console.model.place, Place::Record(id, ScreenId::Reconciliation));
    console.keys("<Esc>");
    assert_eq!(console.model.place, Place::Screen(ScreenId::Reconciliation));
    assert_eq!(console.model.screens.reconciliation.list.cursor(), Some(&71), "back on the same row");
    console.keys("ah");
    shows(&console, "Hand over");
    assert_eq!((console.acts, console.lookups), (0, 0));
}

#[test]
fn without_act_the_books_stay_as_they_are_too() {
    let mut console = Console::with(incident(), "dark", Acting::Off);
    console.keys("6Gah<Enter>");
    assert_eq!(console.acts, 0);
}

#[test]
fn y_copies_the_break_in_words_that_are_safe_to_paste() {
    let mut console = at_six(incident());
    console.keys("y");
    let said = "rb_64 missing at acme-psp · ours EUR 128.00 · theirs - · since 2026-11-29 07:03:27Z · order ord_88064 · payment pay_5564 · settlement-2026-11-29.csv";
    assert_eq!(console.copied, [said]);
    let mut hostile = at_six(with(hostile_breaks()));
    hostile.keys("Gy");
    let copied = hostile.copied.first().expect("a text");
    assert!(copied.chars().all(|c| !c.is_control() && c != '\u{202e}' && c != '\u{200b}'), "{copied:?}");
}

#[test]
fn e_writes_the_breaks_that_are_listed_and_other_lists_say_where_to() {
    let mut console = at_six(incident());
    console.keys("e");
    let file = &console.desk.exported[0];
    let stamp = file.name.strip_suffix(".csv").expect("comma-separated values");
    assert!(stamp.starts_with("breaks-20261130T"), "{stamp}");
    assert_eq!(file.text.lines().count(), 5, "{}", file.text);
    assert!(file.text.lines().nth(1).is_some_and(|line| line.starts_with("\"rb_64\"")), "{}", file.text);
    console.keys("fe");
    let of_one_kind = &console.desk.exported[1];
    assert!(of_one_kind.text.lines().count() < 5, "what f hides is not written: {}", of_one_kind.text);
    let mut console = at_six(with(hostile_breaks()));
    console.keys("e");
    let text = &console.desk.exported[0].text;
    assert!(!text.contains('\u{1b}') && text.lines().skip(1).all(|line| line.starts_with("\"rb_")), "{text}");
    let mut console = at_six(with(Reconciliation { breaks: vec![], ..breaks() }));
    console.keys("e");
    shows(&console, "There is no open break to be exported.");
    console.keys("2e");
    shows(&console, "This list is not exported: 6 writes its breaks to a file");
    assert!(console.desk.exported.is_empty() && console.acts == 0);
}

#[test]
fn v_judges_the_customer_of_a_break() {
    let mut console = at_six(incident());
    console.keys("v");
    match console.model.screens.reconciliation.target(&console.model) {
        Some(id) => assert_eq!(console.model.place, Place::Ticket(id, ScreenId::Reconciliation)),
        None => shows(&console, "There is no record under the cursor."),
    }
    let with_record = breaks().breaks.iter().position(|one| one.record.is_some());
    assert!(with_record.is_some(), "the scene has a break with a record");
    console.keys("<Esc>6g");
    for _ in 0..order(&console).len() {
        if let Some(id) = console.model.screens.reconciliation.target(&console.model) {
            console.keys("v");
            assert_eq!(console.model.place, Place::Ticket(id, ScreenId::Reconciliation));
            return;
        }
        console.keys("j");
    }
    panic!("no break has a record");
}

#[test]
fn screens_without_kinds_say_so() {
    let mut console = Console::on(incident());
    console.keys("2f");
    shows(&console, "6 has several.");
    console.keys("6/");
    shows(&console, "f shows one kind of them at a time.");
    assert!(console.model.line.is_none());
}

#[test]
fn what_does_not_add_up_is_not_called_good() {
    let mut all = matching();
    all.reports[0].matched -= 2;
    let console = at_six(with(all.clone()));
    shows(&console, " ? No break is open, and yet not every line matched. Matched 99.995%");
    shows_not(&console, "ok ");
    all.reports[0].matched = u64::MAX;
    let console = at_six(with(all.clone()));
    shows(&console, "Matched NOT KNOWN");
    shows_not(&console, "ok ");
    all.reports[0].stated = Some([Money::new(1, "EUR")].into_iter().collect());
    shows(&at_six(with(all)), "but it states EUR 0.01");
}

#[test]
fn a_moment_in_the_future_does_not_make_a_break_new() {
    let mut all = breaks();
    all.breaks.truncate(1);
    all.breaks[0].at = Some(chrono::DateTime::<chrono::Utc>::MAX_UTC);
    all.breaks[0].first_seen = ago(200_000);
    shows(&at_six(with(all)), "oldest 2d07h");
}

#[test]
fn a_recording_from_before_reports_were_asked_for_still_plays() {
    let mut old = serde_json::to_value(incident()).expect("a value");
    old.as_object_mut().expect("an object").remove("reconciliation");
    let read: Snapshot = serde_json::from_value(old).expect("a picture");
    shows(&at_six(read), "it was not asked about");
    let new = serde_json::to_value(incident()).expect("a value");
    assert_eq!(serde_json::from_value::<Snapshot>(new).expect("a picture"), incident());
}
