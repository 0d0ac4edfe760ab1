//! What the console costs: `cargo bench`. Reported, never asserted; the numbers depend on the machine.
//!
//! - one poll over a million records, with the shipped indexes
//! - a frame at 120x32 with 100 records, when nothing and when everything on it changed
//! - start to first frame, and to the first picture of the database
//! - bytes written to the terminal per second when nothing changes (the aim is zero), and resident memory
//!
//! Takes some minutes and two gigabytes of temporary space: the million is made anew.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for developers: it prints, and stops at what is wrong"
)]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use divan::Bencher;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use sqlx::ConnectOptions as _;
use unstuck::app::drill::Practice;
use unstuck::app::model::SecondSeat;
use unstuck::app::msg::Polled;
use unstuck::app::{Acting, Model, Msg, Setup, update, view};
use unstuck::cli::demo::lab_policy;
use unstuck::domain::environment::{Environment, EnvironmentKind};
use unstuck::domain::guard::Context;
use unstuck::domain::ids::Operator;
use unstuck::domain::port::Store as _;
use unstuck::domain::snapshot::Snapshot;
use unstuck::domain::time::{Now, Seconds};
use unstuck::lab::cluster::ClusterOptions;
use unstuck::lab::sql;
use unstuck::lab::world::{World, WorldOptions};
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;
use unstuck::store::profile;
use unstuck::ui::{Charset, Look, Theme};

const POLLS: usize = 30;
/// How long the console is left alone: to settle, and while it is measured.
const SETTLE: Duration = Duration::from_secs(10);
const LEFT_ALONE: Duration = Duration::from_secs(50);

/// What the last poll over the million saw; the frames are drawn from it.
static SEEN: OnceLock<Snapshot> = OnceLock::new();

fn main() {
    // `cargo test --all-targets` starts this as well, and only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let world = runtime.block_on(million());
    let seen = runtime.block_on(polls(&world));
    SEEN.set(seen).expect("set once");
    divan::main();
    left_alone(&world.console_url());
    runtime.block_on(world.shutdown()).expect("the world ends");
}

#[expect(clippy::disallowed_methods, reason = "measuring needs a clock")]
fn now() -> Instant {
    Instant::now()
}

/// An ordinary day without traffic, with a million payments behind it.
async fn million() -> World {
    let options = WorldOptions { cluster: ClusterOptions::from_env(), ..WorldOptions::quiet(None) };
    let world = World::start(options).await.expect("a world");
    let begun = now();
    let mut owner = world.admin_options().connect().await.expect("the owner's connection");
    sql::run(&mut owner, include_str!("million.sql")).await.expect("a million payments");
    // As autovacuum leaves it: else the first poll pays for marking what was loaded.
    sql::run(&mut owner, "VACUUM ANALYZE").await.expect("a vacuum");
    println!("{}: a million payments made in {:.0?}", world.source(), begun.elapsed());
    world
}

async fn polls(world: &World) -> Snapshot {
    let profiles = profile::load(&Library::shipped()).expect("the shipped profiles");
    let mut options = StoreOptions::new(world.console_options(), Arc::new(profiles));
    options.policy = lab_policy();
    options.poll_within = Duration::from_mins(1);
    let store = PgStore::new(options);
    let begun = now();
    store.connect().await.expect("a connection");
    println!("connect, recognise the profile, check every query: {:.0?}", begun.elapsed());
    let mut took = Vec::new();
    let mut last = None;
    for _ in 0..POLLS {
        let begun = now();
        let seen = store.poll().await.expect("a poll");
        took.push(begun.elapsed());
        last = Some(seen);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let first = took.first().copied().unwrap_or_default();
    took.sort();
    let of = |share: usize| took.get(took.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    let seen = last.expect("at least one poll");
    println!(
        "one poll over a million records ({} statements): first {first:.1?}, median {:.1?}, slowest {:.1?} of {POLLS}",
        seen.cost.queries,
        of(50),
        of(100)
    );
    seen
}

/// A console on the Stuck screen with 100 records.
fn model() -> Model {
    let environment = Environment { name: "demo".to_owned(), kind: EnvironmentKind::Demo };
    let context = Context {
        environment,
        operator: Operator::new("bench"),
        role: String::new(),
        policy: lab_policy(),
        terms: BTreeMap::new(),
    };
    let look = Look::new(Theme::named("dark").expect("a theme"), Charset::Unicode);
    let setup = Setup {
        context,
        acting: Acting::On,
        look,
        poll_every: Seconds(2),
        normals: BTreeMap::new(),
        second: SecondSeat::None,
        practice: Practice::default(),
    };
    let mut model = Model::new(setup);
    let seen = SEEN.get().expect("polled before").clone();
    let at = Now(seen.db_now);
    update(&mut model, Msg::Resized(120, 32), at);
    update(&mut model, Msg::Polled(Polled { generation: 1, result: Ok(Box::new(seen)), next_try: None }), at);
    update(&mut model, Msg::Key(unstuck::app::key::Chord::char('2')), at);
    model
}

fn at(seconds: u64) -> Now {
    Now(Seconds(seconds).after(SEEN.get().expect("polled before").db_now))
}

#[divan::bench]
fn frame_when_nothing_changed(bencher: Bencher<'_, '_>) {
    let model = model();
    let mut terminal = Terminal::new(TestBackend::new(120, 32)).expect("a terminal");
    bencher.bench_local(|| terminal.draw(|frame| view(&model, frame, at(1))).map(drop));
}

#[divan::bench]
fn frame_when_every_age_changed(bencher: Bencher<'_, '_>) {
    let model = model();
    let mut terminal = Terminal::new(TestBackend::new(120, 32)).expect("a terminal");
    let mut second = 0;
    bencher.bench_local(|| {
        second = (second + 61) % 80_000;
        terminal.draw(|frame| view(&model, frame, at(second))).map(drop)
    });
}

#[divan::bench]
fn take_a_poll(bencher: Bencher<'_, '_>) {
    let mut model = model();
    let seen = SEEN.get().expect("polled before");
    let mut generation = 1;
    bencher.bench_local(|| {
        generation += 1;
        let polled = Polled { generation, result: Ok(Box::new(seen.clone())), next_try: None };
        update(&mut model, Msg::Polled(polled), Now(seen.db_now)).len()
    });
}

/// The real binary in a terminal, on the million, with nobody at the keys.
fn left_alone(url: &str) {
    let size = PtySize { rows: 32, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("a terminal");
    let mut command = CommandBuilder::new(Path::new(env!("CARGO_BIN_EXE_unstuck")));
    command.env("UNSTUCK_DATABASE_URL", url);
    command.env("TERM", "xterm-256color");
    let begun = now();
    let mut child = pair.slave.spawn_command(command).expect("the console starts");
    let (written, text) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(String::new())));
    let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
    let (counted, kept) = (Arc::clone(&written), Arc::clone(&text));
    thread::spawn(move || {
        let mut buffer = [0_u8; 8192];
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            counted.fetch_add(count, Ordering::SeqCst);
            let words = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()).into_owned();
            kept.lock().unwrap_or_else(PoisonError::into_inner).push_str(&words);
        }
    });
    let until = |words: &str| {
        while !text.lock().unwrap_or_else(PoisonError::into_inner).contains(words) && begun.elapsed() < SETTLE {
            thread::sleep(Duration::from_millis(1));
        }
        begun.elapsed()
    };
    println!("start to first frame {:.0?}, to the first picture {:.0?}", until("Overview"), until("fresh"));
    thread::sleep(SETTLE);
    let before = written.load(Ordering::SeqCst);
    thread::sleep(LEFT_ALONE);
    let bytes = written.load(Ordering::SeqCst).saturating_sub(before);
    let id = child.process_id().unwrap_or_default();
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("not known").trim();
    let seconds = LEFT_ALONE.as_secs();
    println!(
        "left alone: {bytes} bytes to the terminal in {seconds} s; resident {resident} after {:.0?}",
        begun.elapsed()
    );
    child.kill().expect("the console can be ended");
    child.wait().expect("the console ends");
}
