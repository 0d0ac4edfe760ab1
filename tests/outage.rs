//! The database goes away, is cut off, or is locked: the console keeps drawing, says what it knows, and comes back.

use std::sync::Arc;

use sqlx::{Connection, Executor};
use tokio::sync::mpsc;
use unstuck::app::picture::Freshness;
use unstuck::app::{Acting, Model, Msg, update};
use unstuck::domain::action::Request;
use unstuck::domain::snapshot::Signal;
use unstuck::domain::time::Seconds;
use unstuck::shell::{clock, open, poll};
use unstuck::store::postgres::PgStore;

use crate::support::cluster::own;
use crate::support::keys::Key;
use crate::support::pty::{Ended, Pty};
use crate::support::scene::{Scene, by_hand};
use crate::support::seat::Seat;
use crate::support::store::server_timers;
use crate::support::{PATIENCE, picture, scenario};

/// The console without its terminal: the real poller and store, the real model and view.
struct Screen {
    model: Model,
    polling: poll::Polling,
    answers: mpsc::Receiver<Msg>,
}

impl Screen {
    async fn on(scene: &mut Scene) -> Self {
        let login = scene.login("kim").await;
        let store = Arc::new(PgStore::new(Scene::store_options(scene.options(&login))));
        let connect = open::through(store);
        let (said, answers) = mpsc::channel(64);
        let polling = poll::start(connect, Seconds(1), said);
        let mut setup = scenario::setup(scenario::look("dark"), Acting::On);
        setup.poll_every = Seconds(1);
        Self { model: Model::new(setup), polling, answers }
    }

    /// What a person sees at this moment.
    fn picture(&self) -> String {
        picture::words(&picture::draw(&self.model, 80, 24, clock::now()))
    }

    fn freshness(&self) -> Freshness {
        self.model.freshness(clock::now())
    }

    /// Takes what comes until the model is as wanted, drawing a frame after everything.
    async fn until(&mut self, what: &str, wanted: impl Fn(&Model) -> bool) {
        let watching = async {
            while !wanted(&self.model) {
                tokio::select! {
                    Ok(()) = self.polling.latest.changed() => {
                        let newest = self.polling.latest.borrow_and_update().clone();
                        if let Some(polled) = newest {
                            update(&mut self.model, Msg::Polled(polled), clock::now());
                        }
                    }
                    Some(msg) = self.answers.recv() => {
                        update(&mut self.model, msg, clock::now());
                    }
                    () = tokio::time::sleep(std::time::Duration::from_millis(200)) => {
                        update(&mut self.model, Msg::Wake, clock::now());
                    }
                }
                assert!(self.picture().lines().count() == 24, "a whole frame, whatever happens");
            }
        };
        let came = tokio::time::timeout(PATIENCE, watching).await.is_ok();
        assert!(came, "never {what}; errors {:?}; the screen:\n{}", self.model.picture.errors, self.picture());
    }

    async fn until_fresh(&mut self) {
        self.until("fresh", |model| {
            matches!(model.freshness(clock::now()), Freshness::Fresh(_)) && model.picture.failures() == 0
        })
        .await;
    }

    /// The banner stands two failed polls after the first, over the picture of before.
    async fn until_lost(&mut self) {
        let before = self.model.picture.as_of();
        let mut failures = 0;
        while !matches!(self.freshness(), Freshness::Lost(_)) {
            assert!(failures < 2, "two polls failed and no banner:\n{}", self.picture());
            let seen = self.model.picture.failures();
            self.until("another poll", |model| model.picture.failures() != seen || model.picture.as_of() != before)
                .await;
            failures = self.model.picture.failures();
            if failures == 0 {
                // A poll that was under way still came through.
                return Box::pin(self.until_lost()).await;
            }
        }
        assert_eq!(self.model.picture.as_of(), before, "the last picture is kept");
        let picture = self.picture();
        assert!(
            picture.contains(&format!("as of {before}")) || picture.contains(&before),
            "as of {before}:\n{picture}"
        );
        assert!(picture.to_lowercase().contains("database"), "the banner:\n{picture}");
        let why = self.model.why_not(Request::Resume, clock::now()).expect("actions are off");
        assert!(why.contains("Actions are off: the database does not answer"), "{why}");
        assert_eq!(self.model.why_not(Request::LookUp, clock::now()), Some(why));
    }
}

fn stuck(model: &Model) -> Option<u64> {
    model.picture.snapshot()?.pulse_of(Signal::Stuck).map(|pulse| pulse.count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_killed_is_said_to_be_and_comes_back_by_itself() {
    let cluster = own().await;
    if cluster.directory().is_none() {
        return;
    }
    let mut scene = Scene::on(&cluster, "killed", by_hand()).await;
    scene.stuck(2).await;
    // Past the policy's grace they count as stuck.
    scene.run("UPDATE idempotency_keys SET locked_until = now() - interval '1 hour'").await;
    let mut screen = Screen::on(&mut scene).await;
    screen.until("two stuck", |model| stuck(model) == Some(2)).await;
    assert_eq!(screen.model.why_not(Request::Resume, clock::now()), None);
    cluster.kill9().unwrap();
    screen.until_lost().await;
    assert_eq!(stuck(&screen.model), Some(2), "what was known is still shown");
    // Still gone two polls later: still there, nothing queued, nothing given up.
    let failures = screen.model.picture.failures();
    screen.until("two more failures", |model| model.picture.failures() >= failures + 2).await;
    assert!(screen.model.picture.next_try.is_some());
    cluster.restart().await.unwrap();
    screen.until_fresh().await;
    assert!(screen.model.notice.as_ref().is_some_and(|n| format!("{n:?}").contains("answers again")));
    assert_eq!((stuck(&screen.model), screen.model.why_not(Request::Resume, clock::now())), (Some(2), None));
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_are_made_again() {
    let mut scene = Scene::open("cut", by_hand()).await;
    let mut screen = Screen::on(&mut scene).await;
    screen.until_fresh().await;
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unstuck'";
    for _ in 0..3 {
        let before = screen.model.picture.as_of();
        scene.until_cut(cut).await;
        screen
            .until("a failed poll or a new one", |model| {
                model.picture.failures() > 0 || model.picture.as_of() != before
            })
            .await;
        screen.until_fresh().await;
        assert_eq!(screen.model.why_not(Request::Resume, clock::now()), None);
    }
    // As long as every new connection is cut, too, the database counts as lost.
    let name = scene.database.name().to_owned();
    scene.run(&format!("ALTER DATABASE {name} CONNECTION LIMIT 0")).await;
    scene.until_cut(cut).await;
    screen.until("lost", |model| matches!(model.freshness(clock::now()), Freshness::Lost(_))).await;
    screen.until_lost().await;
    scene.run(&format!("ALTER DATABASE {name} CONNECTION LIMIT -1")).await;
    screen.until_fresh().await;
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_table_makes_its_panels_not_known_and_the_rest_goes_on() {
    if !server_timers("a locked table on the screen").await {
        return;
    }
    let mut scene = Scene::open("locked", by_hand()).await;
    scene.stuck(1).await;
    scene.run("UPDATE idempotency_keys SET locked_until = now() - interval '1 hour'").await;
    let mut screen = Screen::on(&mut scene).await;
    screen.until("one stuck", |model| stuck(model) == Some(1)).await;
    let mut locker = scene.admin().await;
    let mut locked = locker.begin().await.unwrap();
    locked.execute("LOCK TABLE payments IN ACCESS EXCLUSIVE MODE").await.unwrap();
    screen.until("not known", |model| model.picture.snapshot().is_some_and(|s| s.pulse.why_not().is_some())).await;
    // A few polls more, all of which come back.
    let before = screen.model.picture.as_of();
    screen.until("the next picture", |model| model.picture.as_of() != before).await;
    let snapshot = screen.model.picture.snapshot().unwrap();
    let why = snapshot.stuck.why_not().expect("the list of the locked table").to_owned();
    assert!(why.contains("somebody holds a lock on the table"), "{why}");
    assert_eq!((snapshot.rates.why_not(), screen.model.picture.failures()), (None, 0), "the rest is known");
    let picture = screen.picture();
    assert!(picture.contains("NOT KNOWN"), "{picture}");
    assert!(matches!(screen.freshness(), Freshness::Fresh(_) | Freshness::Ageing(_)));
    locked.rollback().await.unwrap();
    screen.until("known again", |model| stuck(model) == Some(1)).await;
    assert!(!screen.picture().contains("somebody holds a lock"));
    scene.close().await;
}

/// What is on the screen while the database is away, and that the keyboard still is in charge.
#[track_caller]
fn away(pty: &mut Pty) {
    pty.wait_for("(?i)database does not answer|lost");
    pty.wait_for(r"as of \d\d:\d\d:\d\dZ");
    pty.press(Key::Char('2'));
    pty.wait_for(r"\[2 Stuck");
    pty.press(Key::Char('a'));
    pty.wait_for("(?i)actions are off");
    pty.press(Key::Escape);
    pty.press(Key::Char('1'));
    pty.wait_for(r"\[1 Overview\]");
    assert_eq!(pty.ended(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_binary_outlives_its_database_its_connections_and_a_lock() {
    let cluster = own().await;
    if cluster.directory().is_none() {
        return;
    }
    let mut scene = Scene::on(&cluster, "the binary", by_hand()).await;
    scene.stuck(2).await;
    let login = scene.login("kim").await;
    let seat = Seat::at(&cluster, &scene, &login).expect("a port of our own");
    let on = tokio::task::spawn_blocking(move || {
        let mut pty = seat.sit();
        pty.wait_for("2 Stuck 2");
        (pty, seat)
    });
    let (mut pty, seat) = on.await.unwrap();
    // Its connections are cut: it makes new ones.
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unstuck'";
    scene.until_cut(cut).await;
    tokio::task::block_in_place(|| pty.wait_for("data fresh"));
    // A table is locked: its panels are not known, the rest goes on.
    if cluster.source().has_server_timeouts() {
        let mut locker = scene.admin().await;
        let mut locked = locker.begin().await.unwrap();
        locked.execute("LOCK TABLE payments IN ACCESS EXCLUSIVE MODE").await.unwrap();
        tokio::task::block_in_place(|| pty.wait_for("NOT KNOWN"));
        assert_eq!(pty.ended(), None);
        locked.rollback().await.unwrap();
        tokio::task::block_in_place(|| pty.wait_for("2 Stuck 2"));
    }
    // The server is killed in the middle of it, stays away for a while, and is there again.
    cluster.kill9().unwrap();
    tokio::task::block_in_place(|| away(&mut pty));
    cluster.restart().await.unwrap();
    tokio::task::block_in_place(|| {
        pty.wait_for("2 Stuck 2");
        pty.wait_for("data fresh");
        pty.press(Key::Char('2'));
        pty.wait_for(r"\[2 Stuck 2");
        pty.press(Key::Char('a'));
        pty.wait_for("Nothing has been sent");
        assert!(!pty.screen().to_lowercase().contains("actions are off"), "{}", pty.screen());
        pty.press(Key::Escape);
        pty.press(Key::Char('1'));
        pty.press(Key::Char('q'));
        assert_eq!(pty.wait_exit(), Ended::Code(0), "{}", pty.screen());
        assert!(pty.view().modes.restored(), "{}", pty.screen());
    });
    drop(seat);
    scene.close().await;
}
