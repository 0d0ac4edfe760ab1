//! One round: an action, a moment of it, a fault at that moment; then the restart, and the same again.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Executor;
use tokio::task::JoinHandle;

use super::cast::{Action, Truth};
use super::pipe::Way;
use super::plan::{self, Depth, Part};
use super::play::{self, Next, Player, Point};
use super::stage::Stage;
use super::worker::{Deed, Ended};
use crate::support::scene::Stuck;

/// What is done to the console at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// Its connections to the database end; new ones are made.
    Cut,
    /// The database is away until the action has ended.
    Away,
    /// The provider is away until the action has ended.
    Provider,
    /// The call was sent and done, its answer is lost, and the connection with it.
    AnswerLost,
    /// The call was sent, SIGKILL, and the call is done only after it was read back.
    Late,
}

/// How often a round is played whose moment did not come.
const TRIES: usize = 3;

/// Everything rounds are played with.
pub struct Rounds {
    pub stage: Stage,
    player: Option<(&'static str, Player)>,
    spare: Option<(&'static str, JoinHandle<Player>)>,
    /// Rounds that met their moment, and moments that did not come again.
    pub played: usize,
    pub missed: Vec<String>,
    counts: BTreeMap<Fault, usize>,
}

impl Rounds {
    pub fn new(stage: Stage) -> Self {
        Self { stage, player: None, spare: None, played: 0, missed: Vec::new(), counts: BTreeMap::new() }
    }

    /// A console of this person, connected.
    async fn player(&mut self, who: &'static str) -> Player {
        if let Some((sits, player)) = self.player.take()
            && sits == who
        {
            return player;
        }
        match self.spare.take() {
            Some((sits, starting)) if sits == who => starting.await.expect("a console"),
            _ => play::start(who, &self.stage).await.await,
        }
    }

    /// The next console starts while this one is looked at.
    async fn start_spare(&mut self, who: &'static str) {
        if self.spare.is_none() {
            self.spare = Some((who, tokio::spawn(play::start(who, &self.stage).await)));
        }
    }

    /// The moments of an action, as a run without faults shows them.
    pub async fn discover(&mut self, action: Action) -> Vec<Point> {
        let stuck = self.stage.record(action).await;
        let mut player = self.player(action.who()).await;
        // The first time statements are prepared; from the second on it is as it always is.
        let (ended, points) = player.watched(action.deed(), &stuck).await;
        assert_eq!(ended, Ended::Done, "{action:?} without a fault");
        self.player = Some((action.who(), player));
        self.judge(action, &stuck, "no fault").await;
        points
    }

    /// The moments of several runs together: an answer that is there at once has no moment under way.
    async fn discover_all(&mut self, action: Action) -> Vec<Point> {
        let mut points = self.discover(action).await;
        for _ in 1..TRIES {
            if missing(action, &points).is_none() {
                break;
            }
            let known: BTreeSet<Point> = points.iter().cloned().collect();
            points.extend(self.discover(action).await.into_iter().filter(|point| !known.contains(point)));
        }
        points
    }

    /// Plays everything that is planned for some actions, tells what was played, and looks at all that is left.
    pub async fn all(mut self, actions: &[Action], part: Part) {
        let depth = Depth::asked();
        for action in actions {
            let points = self.discover_all(*action).await;
            assert_wrapped(*action, &points);
            let rounds = plan::rounds(*action, &points, part, depth);
            let moments = points.iter().filter(|point| Part::of(point) == part).count();
            println!("{action:?}: {} moments, {moments} of {part:?}; {} rounds", points.len(), rounds.len());
            for (point, fault) in &rounds {
                self.insist(*action, point, *fault).await;
            }
            if *action == Action::HandBack {
                self.stage.take_up().await;
            }
        }
        println!(
            "{} rounds, {depth:?}: {:?}; moments that did not come again: {:?}",
            self.played, self.counts, self.missed
        );
        assert!(self.missed.len() * 20 <= self.played, "too many moments did not come again: {:?}", self.missed);
        self.verify().await;
        drop((self.player.take(), self.spare.take()));
        self.stage.close().await;
    }

    /// A moment is not seen when the answer is there at once: then the round is played again, on another record.
    async fn insist(&mut self, action: Action, point: &Point, fault: Fault) {
        let missed = self.missed.len();
        for _ in 0..TRIES {
            let before = self.missed.len();
            self.play(action, point, fault).await;
            if self.missed.len() == before {
                self.missed.truncate(missed);
                return;
            }
        }
        self.missed.truncate(missed + 1);
    }

    /// The log's chain is whole and nothing in it is open, as `unstuck audit verify` says.
    async fn verify(&self) {
        let seat = self.stage.seat("kim", self.stage.server, 0, String::new());
        let ran = tokio::process::Command::new(crate::support::launch::binary())
            .args(["audit", "verify"])
            .current_dir(std::env::temp_dir())
            .env("UNSTUCK_DATABASE_URL", seat.database)
            .output()
            .await
            .expect("the binary");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
        assert!(said.contains("intact: every row from au_1"), "{said}");
        assert!(!said.contains("open:"), "{said}");
    }

    /// Plays one round.
    pub async fn play(&mut self, action: Action, point: &Point, fault: Fault) {
        let stuck = self.stage.record(action).await;
        let told = format!("{action:?}, {fault:?} at {point}, {}", stuck.id.key);
        let player = self.player(action.who()).await;
        let met = match self.disturb(player, action, &stuck, point, fault).await {
            Disturbed::Missed => false,
            Disturbed::Ended(ended) => {
                self.honest(action, &stuck, &ended, &told).await;
                if fault == Fault::AnswerLost {
                    // Of the change nobody knows; without the intent's number it was never sent.
                    let of_the_change = point.name.contains(&format!("{}.sql", action.function()));
                    let said = if of_the_change {
                        matches!(ended, Ended::Unknown(Some(_)))
                    } else {
                        matches!(ended, Ended::Refused(_))
                    };
                    assert!(said, "{told}: it said {ended:?}");
                }
                true
            }
            Disturbed::Killed => true,
        };
        if met {
            self.played += 1;
            *self.counts.entry(fault).or_default() += 1;
        } else {
            self.missed.push(told.clone());
        }
        self.again(action, &stuck, &told).await;
        self.judge(action, &stuck, &told).await;
    }

    async fn disturb(
        &mut self,
        mut player: Player,
        action: Action,
        stuck: &Stuck,
        point: &Point,
        fault: Fault,
    ) -> Disturbed {
        player.tell(action.deed(), stuck).await;
        let mut met = false;
        let mut locker = None;
        let mut rows = 0;
        let ended = loop {
            let at = match player.next().await {
                Next::At(at) => at,
                Next::Ended(ended) => break ended,
            };
            // What has to be ready before the call is sent.
            if at.moment == "before" && (&at.name, at.nth) == (&point.name, point.nth) && point.moment == "under-way" {
                match fault {
                    Fault::AnswerLost => {
                        rows = self.stage.number(ROWS, stuck.id.key.as_str()).await;
                        player.database.set(Way::AnswersKept);
                    }
                    Fault::Late => locker = Some(self.lock(stuck).await),
                    Fault::Kill | Fault::Cut | Fault::Away | Fault::Provider => {}
                }
            }
            if at != *point {
                player.go().await;
                continue;
            }
            met = true;
            match fault {
                Fault::Kill => {
                    self.start_spare(action.who()).await;
                    player.kill().await.until_drained().await;
                    return Disturbed::Killed;
                }
                Fault::Late => {
                    self.start_spare(action.who()).await;
                    let mut locker = locker.expect("a lock");
                    self.until(WAITING, stuck, |waiting| waiting > 0).await;
                    let way = player.kill().await;
                    self.read_back(action, stuck, "not done").await;
                    locker.execute("ROLLBACK").await.expect("the lock is let go");
                    way.until_drained().await;
                    let facts = self.stage.facts(action, stuck).await;
                    assert_eq!(
                        (facts.effect, facts.said_done),
                        (0, 0),
                        "a call that came late did something: {facts:?}"
                    );
                    return Disturbed::Killed;
                }
                Fault::Cut => player.database.cut(),
                Fault::Away => {
                    player.database.set(Way::Closed);
                    player.database.cut();
                }
                Fault::Provider => {
                    player.provider.set(Way::Closed);
                    player.provider.cut();
                }
                Fault::AnswerLost => {
                    self.until(ROWS, stuck, |now| now > rows).await;
                    player.database.cut();
                    player.database.set(Way::Open);
                }
            }
            player.run().await;
        };
        player.database.set(Way::Open);
        player.provider.set(Way::Open);
        // Cut off is not stopped: the server may still be at work on what it was sent.
        player.database.until_drained().await;
        self.player = Some((action.who(), player));
        if met { Disturbed::Ended(ended) } else { Disturbed::Missed }
    }

    /// What the console said is so, or it said that it does not know.
    async fn honest(&mut self, action: Action, stuck: &Stuck, ended: &Ended, told: &str) {
        let facts = self.stage.facts(action, stuck).await;
        let so = match ended {
            // A look-up that got no answer is done, and says so.
            Ended::Done => facts.effect == 1 || action == Action::LookUp,
            Ended::Refused(_) | Ended::Conflict(_) | Ended::NoPlan(_) => facts.effect == 0,
            Ended::Unknown(intent) => intent.is_some(),
            Ended::Outcome(_) => false,
        };
        assert!(so, "{told}: it said {ended:?}, and {facts:?}");
    }

    /// The restart: what has no outcome is read back; what was not done is done.
    async fn again(&mut self, action: Action, stuck: &Stuck, told: &str) {
        let mut player = self.player(action.who()).await;
        let facts = self.stage.facts(action, stuck).await;
        for intent in &facts.open {
            let ended = player.undisturbed(Deed::ReadBack(*intent), stuck).await;
            assert!(matches!(&ended, Ended::Outcome(Some(_))), "{told}: intent {intent} reads back as {ended:?}");
        }
        let facts = self.stage.facts(action, stuck).await;
        assert_eq!(facts.open, Vec::<i64>::new(), "{told}: closed by reading back");
        if facts.effect == 0 {
            let ended = player.undisturbed(action.deed(), stuck).await;
            assert_eq!(ended, Ended::Done, "{told}: the same again");
        }
        if matches!(action, Action::LookUp | Action::Hold | Action::Release) {
            // On to the end: whatever happened on the way, the record is finished.
            for deed in [Deed::LookUp, Deed::Resume] {
                let ended = player.undisturbed(deed, stuck).await;
                assert_eq!(ended, Ended::Done, "{told}: {deed:?} at the end");
            }
        }
        self.player = Some((action.who(), player));
    }

    async fn read_back(&mut self, action: Action, stuck: &Stuck, word: &str) {
        let mut player = self.player(action.who()).await;
        let facts = self.stage.facts(action, stuck).await;
        assert_eq!(facts.open.len(), 1, "{facts:?}");
        let ended = player.undisturbed(Deed::ReadBack(facts.open[0]), stuck).await;
        assert_eq!(ended, Ended::Outcome(Some(word.to_owned())));
        self.player = Some((action.who(), player));
    }

    /// Done once, said once, nothing lost, nothing charged.
    async fn judge(&mut self, action: Action, stuck: &Stuck, told: &str) {
        let facts = self.stage.facts(action, stuck).await;
        assert!(facts.open.is_empty(), "{told}: {facts:?}");
        if action == Action::LookUp {
            assert!(facts.effect > 0 && facts.effect == facts.said_done, "{told}: {facts:?}");
        } else {
            assert_eq!((facts.effect, facts.said_done), (1, 1), "{told}: {facts:?}");
        }
        let charges = self.stage.desk().charges(&stuck.order);
        let charge = charges.first().map_or_else(|| "-".to_owned(), |charge| charge.id.clone());
        let made = match action.truth() {
            Truth::Charged | Truth::GivenBack | Truth::Declined => 1,
            Truth::Absent => 0,
        };
        assert_eq!(charges.len(), made, "{told}: {charges:?}");
        let (record, payment) = match action {
            Action::LookUp | Action::Hold | Action::Release if told == "no fault" => return,
            Action::LookUp | Action::Adopt | Action::Hold | Action::Release => ("done", format!("succeeded {charge}")),
            Action::Fail | Action::Reverse => ("done", format!("failed {charge}")),
            Action::NotCharged => ("done", "failed -".to_owned()),
            Action::Note
            | Action::HandOver
            | Action::HandBack
            | Action::Ask
            | Action::Approve
            | Action::Refuse
            | Action::Withdraw
            | Action::TakeBack => ("processing", "unknown -".to_owned()),
        };
        assert_eq!((facts.record.as_str(), &facts.payment), (record, &payment), "{told}");
    }

    async fn lock(&self, stuck: &Stuck) -> sqlx::PgConnection {
        let mut locker = self.stage.scene.admin().await;
        locker.execute("BEGIN").await.expect("a transaction");
        let lock = sqlx::query("SELECT 1 FROM idempotency_keys WHERE key = $1 FOR UPDATE").bind(stuck.id.key.as_str());
        lock.execute(&mut locker).await.expect("the record's lock");
        locker
    }

    async fn until(&mut self, query: &'static str, stuck: &Stuck, wanted: impl Fn(i64) -> bool) {
        let look = async {
            while !wanted(self.stage.number(query, stuck.id.key.as_str()).await) {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(crate::support::PATIENCE, look).await.unwrap_or_else(|_| panic!("never so: {query}"));
    }
}

/// A moment without which an await was not wrapped, if one is missing.
fn missing(action: Action, points: &[Point]) -> Option<String> {
    let function = format!("{}.sql", action.function());
    let sent =
        ["connect", "do_intent.sql", &function].into_iter().chain((action == Action::LookUp).then_some("GET head"));
    let sent = sent.flat_map(|name| ["before", "under-way", "after"].map(|moment| (moment, name)));
    let said = ["close", "end reading"].into_iter().flat_map(|name| ["before", "after"].map(|moment| (moment, name)));
    sent.chain(said)
        .find(|(moment, name)| !points.iter().any(|point| point.moment == *moment && point.name.ends_with(name)))
        .map(|(moment, name)| format!("{moment} {name}"))
}

fn assert_wrapped(action: Action, points: &[Point]) {
    if let Some(moment) = missing(action, points) {
        panic!("{action:?} has no moment {moment}: {points:?}");
    }
}

enum Disturbed {
    Killed,
    Ended(Ended),
    /// The moment did not come.
    Missed,
}

/// Rows of the log about a record: every guarded call that was done left one.
const ROWS: &str = "SELECT count(*) FROM unstuck.action_log WHERE key = $1";

/// Guarded calls of consoles that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unstuck' \
    AND wait_event_type = 'Lock' AND $1 <> ''";
