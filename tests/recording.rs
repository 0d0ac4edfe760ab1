//! Recordings: what is in them and what is not, and that a replay shows what was shown.

use chrono::TimeDelta;
use proptest::prelude::*;
use unstuck::app::key::{Chord, Key};
use unstuck::app::model::Place;
use unstuck::app::recording::{Head, LONGEST_PICTURE, Reading, head};
use unstuck::app::replay::{Motion, Wish};
use unstuck::app::screen::ScreenId;
use unstuck::app::{Acting, Msg};
use unstuck::domain::answer::Answer;
use unstuck::domain::ids::RecordId;
use unstuck::domain::snapshot::Snapshot;
use unstuck::domain::time::Now;

use crate::support::console::Console;
use crate::support::picture::{draw, words};
use crate::support::recorded::{Keep, Recorded, as_it_was, played, player};
use crate::support::scenario::{facts, hostile, incident, stuck_records};

mod played;
mod terminal;

/// The incident with people's words as a recording has them: a replay of it can be compared to the letter.
fn without_words() -> Snapshot {
    let mut snapshot = incident();
    if let Answer::Known { value, .. } = &mut snapshot.log {
        for entry in value {
            entry.reason = Some("xxxx-xx xxxxx xxxxxxxx xxxx".into());
        }
    }
    if let Answer::Known { value, .. } = &mut snapshot.handed_over {
        for handed in value {
            handed.note = "xxx xxxxxxx xxxx".into();
        }
    }
    snapshot
}

/// A console that is recorded from its first moment on.
fn recorded(snapshot: Snapshot) -> Console {
    recorded_with(snapshot, Keep::Lines)
}

fn recorded_with(snapshot: Snapshot, keep: Keep) -> Console {
    let mut console = Console::blank("dark", Acting::On);
    console.recorded = Some(Recorded::begin(&console.model, console.now, keep));
    console.send(Msg::Resized(100, 32));
    console.send(Msg::Connected(Box::new(facts())));
    console.now = Now(console.now.0 + TimeDelta::milliseconds(700));
    console.poll(snapshot);
    console
}

/// The recording of a console, ended as one that is left.
fn ended(mut console: Console) -> Recorded {
    console.wait(1);
    let mut recorded = console.recorded.take().expect("it was recorded");
    recorded.end(console.now);
    recorded
}

const PHRASE: &str = "prod shop-eu 7Q4K91 EUR 128.40";

/// An hour of a night: lists, filter, look-up, resume, a refused plan, an outage, a delete habit.
fn a_night(keep: Keep) -> Recorded {
    let mut console = recorded_with(without_words(), keep);
    console.keys("2jjG/ord_882<Enter>");
    console.keys("/<C-u>at:charged<Enter>/<C-u><Enter>oo");
    console.keys("g<Enter>ar<Esc>al<Enter>");
    console.wait(3);
    console.keys("<Enter>ar<Enter>");
    console.write("xxxx xxxxx xx xxxxxxxx xxxx").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write("pr··").keys("<BS><BS>").write(PHRASE.strip_prefix("pr").expect("its beginning")).keys("<Enter>");
    console.wait(2);
    console.keys("<Enter><Esc>8jj1<Del><Esc>z3J:stuck<Enter>?jj<Esc>[");
    console.send(Msg::Paste("something nobody asked for".into()));
    console.fail();
    console.wait(4);
    console.fail();
    console.wait(30);
    console.keys("2a");
    console.poll(without_words());
    console.keys("2ao<Enter>");
    console.write("xxxxxxx xxx xxxxxxx xxx xxx").keys("<Tab>");
    console.wait(121);
    console.keys("<Esc>p");
    console.poll(without_words());
    console.keys("p");
    console.send(Msg::Focus);
    console.send(Msg::Resumed);
    for c in "charge them all again".chars() {
        console.send(Msg::Key(Chord::char(c)));
    }
    ended(console)
}

/// Three records at once: looked up one after the other as time passes, then finished.
fn several_at_once(keep: Keep) -> Recorded {
    let mut console = recorded_with(without_words(), keep);
    console.each = Some(crate::bulk::captured);
    console.keys("2 j j al<Enter>").write("3").keys("<Enter>");
    console.run_for(3);
    console.keys("<Esc>ar<Enter>").write("xxxx-xxx xxxx xxxx xxxxxxxx").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write(crate::bulk::PHRASE).keys("<Enter>");
    console.run_for(4);
    assert!(console.lookups == 3 && console.acts >= 1, "{} look-ups, {} acts", console.lookups, console.acts);
    console.keys("jk<Esc>");
    ended(console)
}

#[test]
fn a_replay_shows_at_every_moment_what_was_shown_of_a_run_over_several_records() {
    let run = several_at_once(Keep::Pictures);
    let mut player = player(&run.lines);
    let mut at = 0;
    for (ms, shown) in &run.pictures {
        player.advance(ms - at);
        at = *ms;
        assert_eq!(&as_it_was(&player), shown, "after {ms} ms");
    }
}

#[test]
fn a_replay_shows_at_every_moment_what_was_shown() {
    let night = a_night(Keep::Pictures);
    let mut player = player(&night.lines);
    let mut at = 0;
    assert!(night.pictures.len() > 150, "{} moments", night.pictures.len());
    for (ms, shown) in &night.pictures {
        // The end of the recording lies at its last moment.
        player.advance(ms - at);
        at = *ms;
        assert_eq!(&as_it_was(&player), shown, "after {ms} ms");
    }
    assert_eq!(player.motion(), Motion::Ended);
    player.key(Chord::char('0'));
    player.advance(1_000);
    let (_, first) = night.pictures.range(..=1_000).next_back().expect("a first second");
    assert_eq!(words_of(&as_it_was(&player)), words_of(first), "from the start again it is the same");
}

/// A picture without its first line: the clock in it goes on.
fn words_of(picture: &str) -> String {
    picture.lines().skip(1).collect()
}

#[test]
fn stepping_comes_by_every_picture_that_playing_shows() {
    let night = a_night(Keep::Pictures);
    let mut player = player(&night.lines);
    let mut seen = 0;
    while player.motion() != Motion::Ended {
        player.key(Chord::char('n'));
        let ms = player.now().0.signed_duration_since(at_the_start(&night)).num_milliseconds();
        seen += usize::from(night.pictures.get(&u64::try_from(ms).expect("later")) == Some(&as_it_was(&player)));
    }
    assert!(seen > 150, "{seen} of {} pictures", night.pictures.len());
}

fn at_the_start(night: &Recorded) -> chrono::DateTime<chrono::Utc> {
    match head(night.lines[0].as_bytes()) {
        Head::Ours(header) => header.started_at,
        other @ (Head::Other | Head::Newer(..) | Head::Damaged(_)) => panic!("{other:?}"),
    }
}

#[test]
fn nothing_that_was_typed_and_nobody_s_words_are_in_a_recording() {
    let mut console = recorded(incident());
    console.keys("2<Enter>al<Enter><Enter>ar<Enter>");
    console.write("Anna Meier called: charged twice").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write("hunter2").keys("<C-u>").write(PHRASE).keys("<Enter>");
    assert_eq!(console.acts, 1, "the replay is not the only one that must get this far");
    console.keys("yy<Enter><Esc>ah<Enter>").write("Marguerite").keys("<Tab>").write("she waits for a call back");
    console.send(Msg::Paste("Anna's passport".into()));
    console
        .keys("<Esc>1")
        .write("5ecretWVY")
        .keys(":find Wilhelmine<Enter>:delete Wilhelmine<Enter><Esc>/hunter2<Enter>");
    console.send(Msg::Paste("correct horse".into()));
    let text = ended(console).text();
    for typed in ["Anna", "Meier", "hunter2", "Marguerite", "call back", "passport", "Wilhelmine", "horse"] {
        assert!(!text.contains(typed), "{typed}");
    }
    // The incident's log and its note: whatever the database keeps of people's words.
    for kept in ["cannot reach acme-psp", "customer called"] {
        assert!(!text.contains(kept), "{kept}");
    }
    assert!(!text.contains(PHRASE) && text.contains("phrase_letter") && text.contains("shop-eu"));
    // Letter by letter, it is not there either.
    let typed: String = text.lines().filter_map(|line| line.split_once("\"char\":\"")?.1.chars().next()).collect();
    for word in ["Anna", "hunter", "Margue", "Wilhel", "horse", "ecretWVY", "WVY"] {
        assert!(!typed.contains(word), "{word} in {typed}");
    }
    assert!(typed.contains("find xxxxxxxxxx") && typed.contains("delete xxxxxxxxxx"), "{typed}");
}

#[test]
fn the_replay_gets_through_the_guard_without_knowing_what_was_typed() {
    let mut console = recorded(incident());
    console.keys("2<Enter>al<Enter><Enter>ar<Enter>");
    console.write("Anna Meier called: charged twice").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write("pr0d").keys("<C-u>").write(PHRASE).keys("<Enter>");
    let mut player = player(&ended(console).lines);
    player.advance(u64::from(u32::MAX));
    let picture = as_it_was(&player);
    assert!(picture.contains("ok DONE") && picture.contains("CONFIRMED BY READING BACK"), "{picture}");
}

#[test]
fn a_run_over_several_records_is_replayed_without_knowing_what_was_typed() {
    let mut console = recorded(incident());
    console.each = Some(crate::bulk::captured);
    console.keys("2 j j al<Enter>").write("3").keys("<Enter>");
    console.run_for(3);
    console.keys("<Esc>ar<Enter>").write("Anna Meier called").keys("<Tab>").write("INC-2291").keys("<Enter>");
    console.write("hunter2").keys("<C-u>").write(crate::bulk::PHRASE).keys("<Enter>");
    console.wait(1);
    let shown = words(&draw(&console.model, 100, 32, console.now));
    assert_eq!((console.lookups, console.acts), (3, 1), "three look-ups and the canary\n{shown}");
    let recorded = ended(console);
    let text = recorded.text();
    let typed: String = text.lines().filter_map(|line| line.split_once("\"char\":\"")?.1.chars().next()).collect();
    for word in ["Anna", "Meier", "hunter", crate::bulk::PHRASE] {
        assert!(!text.contains(word) && !typed.contains(word), "{word}");
    }
    let mut player = player(&recorded.lines);
    player.advance(u64::from(u32::MAX));
    let picture = as_it_was(&player);
    assert!(picture.contains("Canary done") && picture.contains("DONE"), "{picture}");
}

#[test]
fn a_command_that_opens_a_record_leads_there_without_its_arguments() {
    let id = stuck_records().remove(2).id;
    let mut console = recorded(incident());
    console.keys(&format!("5:open {} {}<Enter>", id.scope, id.key));
    assert_eq!(console.model.place, Place::Record(id.clone(), ScreenId::Invariants));
    let mut player = player(&ended(console).lines);
    player.advance(u64::from(u32::MAX));
    assert_eq!(player.operator().place, Place::Record(id, ScreenId::Invariants));
    assert!(player.operator().line.is_none());
}

#[test]
fn what_names_a_customer_is_masked_and_stays_the_same_thing() {
    let mut snapshot = incident();
    if let Answer::Known { value, .. } = &mut snapshot.stuck {
        value[0].id = RecordId::new("anna@example.org", "k-1");
        value[1].id = RecordId::new("anna@example.org", "k-2");
    }
    snapshot.recoverer = Answer::not_known("postgres://ops:hunter2@db/payments says no; card 4111 1111 1111 1111");
    let recorded = ended(recorded(snapshot));
    let text = recorded.text();
    for secret in ["anna@", "hunter2", "4111"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let mut player = player(&recorded.lines);
    player.advance(u64::from(u32::MAX));
    let stuck = player.operator().picture.snapshot().expect("a picture").stuck.value().expect("records");
    assert!(stuck[0].id.scope.as_str().starts_with("<e-mail "), "{}", stuck[0].id);
    assert_eq!((&stuck[1].id.scope, stuck[1].id.key.as_str()), (&stuck[0].id.scope, "k-2"), "two of one customer");
}

#[test]
fn a_picture_that_hardly_changed_takes_hardly_any_room() {
    let mut console = recorded(incident());
    let mut same = incident();
    same.db_now += TimeDelta::seconds(2);
    console.poll(same);
    let lines = console.recorded.take().expect("it was recorded").lines;
    let [.., first, second] = lines.as_slice() else { panic!("two polls") };
    assert!(first.len() > 10_000 && second.len() < 300, "{} and {}", first.len(), second.len());
}

#[test]
fn a_picture_that_is_too_large_is_left_out_and_the_rest_goes_on() {
    let mut console = recorded(incident());
    let mut huge = incident();
    if let Answer::Known { value, .. } = &mut huge.changes {
        value[0].what = "x".repeat(LONGEST_PICTURE + 1);
    }
    console.poll(huge);
    let mut after = incident();
    after.db_now += TimeDelta::seconds(4);
    console.poll(after.clone());
    let recorded = ended(console);
    assert!(recorded.lines.iter().all(|line| line.len() <= LONGEST_PICTURE));
    let mut player = player(&recorded.lines);
    player.advance(u64::from(u32::MAX));
    let seen = player.operator().picture.snapshot().expect("a picture");
    assert_eq!((seen.db_now, &seen.changes), (after.db_now, &after.changes));
}

#[test]
fn a_clock_that_is_set_back_does_not_turn_a_recording_round() {
    let mut console = recorded(incident());
    console.now = Now(console.now.0 - TimeDelta::hours(1));
    console.keys("2");
    let recorded = ended(console);
    let times: Vec<u64> = recorded.lines[1..]
        .iter()
        .map(|line| unstuck::app::recording::stub(line.as_bytes()).expect("a line").ms)
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn hostile_text_is_recorded_and_shown_as_the_console_shows_it() {
    let mut console = recorded(hostile());
    console.keys("2j<Enter>t");
    let recorded = ended(console);
    let mut player = player(&recorded.lines);
    player.advance(u64::from(u32::MAX));
    for c in played(&player, 120, 40).chars() {
        assert!(c == '\n' || !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c), "{c:?}");
    }
}

/// Every line of a night.
fn lines() -> &'static [String] {
    static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    LINES.get_or_init(|| a_night(Keep::Lines).lines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Whatever is done to a line: it is an event or a sentence, and whatever the event says, it can be played.
    #[test]
    fn a_damaged_recording_is_played_as_far_as_it_goes(
        at in 0usize..400, place in any::<prop::sample::Index>(), byte in any::<u8>(), end in any::<bool>(),
        keys in prop::collection::vec(prop::sample::select(vec!['p', 'n', 'c', '>', '<', '0', '2', 'j', 'f', 'a', 'q']), 0..6),
    ) {
        let mut lines = lines().to_vec();
        let at = 1 + at % (lines.len() - 1);
        let mut bytes = lines[at].clone().into_bytes();
        let place = place.index(bytes.len());
        if end { bytes.truncate(place) } else { bytes[place] = byte }
        let _ = Reading::default().line(&bytes);
        lines[at] = String::from_utf8_lossy(&bytes).into_owned();
        let mut player = player(&lines);
        for key in keys {
            player.advance(40_000);
            let wishes = player.key(Chord::char(key));
            prop_assert!(wishes.iter().all(|wish| *wish == Wish::Quit));
            played(&player, 80, 24);
        }
        player.advance(u64::MAX);
        played(&player, 80, 24);
    }

    #[test]
    fn no_bytes_are_a_crash(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "[\\[\\]{}\",:a-z0-9.e@-]{0,200}") {
        for line in [bytes.as_slice(), text.as_bytes()] {
            let _ = (head(line), unstuck::app::recording::stub(line), Reading::default().line(line).is_ok());
        }
    }
}

#[test]
fn numbers_at_the_end_of_time_are_played() {
    let line = |ms: &str, event: &str| format!("{{\"ms\":{ms},\"event\":{event}}}");
    let mut lines = lines()[..4].to_vec();
    lines.push(line("18446744073709551615", "{\"resized\":[65535,65535]}"));
    lines.push(line("253402300799000", "{\"key\":{\"key\":{\"char\":\"2\"},\"held\":\"nothing\"}}"));
    lines.push(line("5", "{\"key\":{\"key\":\"enter\",\"held\":\"nothing\"}}"));
    let mut player = player(&lines);
    for _ in 0..8 {
        player.key(Chord::char('n'));
        assert!(played(&player, 80, 24).contains("REPLAY"));
    }
    assert!(played(&player, 80, 24).contains("for ever"), "{}", played(&player, 80, 24));
    player.key(Key::Enter.into());
}
