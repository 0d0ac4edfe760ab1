//! A console in its own process, played from outside: it stops at every moment of an action until it is told to go on.

use std::collections::BTreeMap;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

use super::pipe::Pipe;
use super::stage::Stage;
use super::worker::{Deed, Ended, NAME, Order, SEAT};
use crate::support::PATIENCE;
use crate::support::scene::Stuck;

/// A moment of an action: before, under way or after; which await; and the how manieth of that name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    pub moment: String,
    pub name: String,
    pub nth: usize,
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} #{}", self.moment, self.name, self.nth)
    }
}

/// What happened next to a console at work.
pub enum Next {
    /// It waits at this point.
    At(Point),
    Ended(Ended),
}

/// A console in a process of its own, its connections led past us.
pub struct Player {
    child: Child,
    desk: BufReader<TcpStream>,
    listener: TcpListener,
    line: Option<BufReader<TcpStream>>,
    seen: BTreeMap<String, usize>,
    pub database: Pipe,
    pub provider: Pipe,
}

/// Starts a console and waits until it is connected.
pub async fn start(who: &str, stage: &Stage) -> impl Future<Output = Player> + Send + 'static {
    let provider: u16 =
        stage.scene.provider.url().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let (database, provider) = (Pipe::to(stage.server).await, Pipe::to(provider).await);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let desks = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let desk = desks.local_addr().expect("an address").to_string();
    let seat = stage.seat(who, database.port, provider.port, desk);
    let line = listener.local_addr().expect("an address").to_string();
    async move {
        let child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", NAME, "--nocapture", "--test-threads", "1"])
            .env(SEAT, serde_json::to_string(&seat).expect("a seat"))
            .env("UNSTUCK_FAULT_LINE", line)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("a process");
        let (desk, _) = within(desks.accept()).await.expect("the console calls");
        let mut desk = BufReader::new(desk);
        let mut line = String::new();
        within(desk.read_line(&mut line)).await.expect("it is connected");
        assert!(!line.is_empty(), "the console died before it was connected");
        Player { child, desk, listener, line: None, seen: BTreeMap::new(), database, provider }
    }
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("in time")
}

impl Player {
    /// Tells the person at it what to do.
    pub async fn tell(&mut self, deed: Deed, stuck: &Stuck) {
        self.seen.clear();
        let order = Order { deed, scope: stuck.id.scope.to_string(), key: stuck.id.key.to_string() };
        let said = serde_json::to_string(&order).expect("an order");
        self.desk.write_all(format!("{said}\n").as_bytes()).await.expect("it hears");
    }

    /// Waits for the next moment, or for the end.
    pub async fn next(&mut self) -> Next {
        within(self.listen()).await
    }

    async fn listen(&mut self) -> Next {
        loop {
            let (mut at, mut ended) = (String::new(), String::new());
            let Some(line) = &mut self.line else {
                tokio::select! {
                    called = self.listener.accept() => self.line = Some(BufReader::new(called.expect("a line").0)),
                    read = self.desk.read_line(&mut ended) => return end(read, &ended),
                }
                continue;
            };
            tokio::select! {
                read = line.read_line(&mut at) => {
                    read.expect("the line");
                    let said = at.trim_end().strip_prefix("at ").unwrap_or_else(|| panic!("{at:?}: it died by itself"));
                    let (moment, name) = said.split_once(' ').expect("a moment and a name");
                    let nth = self.seen.entry(said.to_owned()).or_default();
                    *nth += 1;
                    return Next::At(Point { moment: moment.to_owned(), name: name.to_owned(), nth: *nth });
                }
                read = self.desk.read_line(&mut ended) => return end(read, &ended),
            }
        }
    }

    /// Lets it go on to the next moment.
    pub async fn go(&mut self) {
        self.answer("go\n").await;
    }

    /// Lets it go on to the end of the action.
    pub async fn run(&mut self) {
        self.answer("run\n").await;
    }

    async fn answer(&mut self, answer: &str) {
        let line = self.line.as_mut().expect("it waits");
        line.write_all(answer.as_bytes()).await.expect("it hears");
    }

    /// Does one thing to its end. Gives the moments that went by.
    pub async fn watched(&mut self, deed: Deed, stuck: &Stuck) -> (Ended, Vec<Point>) {
        self.tell(deed, stuck).await;
        let mut points = Vec::new();
        loop {
            match self.next().await {
                Next::At(point) => {
                    points.push(point);
                    self.go().await;
                }
                Next::Ended(ended) => return (ended, points),
            }
        }
    }

    /// Does one thing to its end, without stopping.
    pub async fn undisturbed(&mut self, deed: Deed, stuck: &Stuck) -> Ended {
        self.tell(deed, stuck).await;
        loop {
            match self.next().await {
                Next::At(_) => self.run().await,
                Next::Ended(ended) => return ended,
            }
        }
    }

    /// SIGKILL, now. Gives the way to the database, on which the server may still be at work.
    pub async fn kill(mut self) -> Pipe {
        self.child.kill().await.expect("a process of ours");
        self.database.cut();
        self.database
    }
}

fn end(read: std::io::Result<usize>, said: &str) -> Next {
    assert!(read.is_ok_and(|count| count > 0), "the console died by itself");
    Next::Ended(serde_json::from_str(said).expect("an end"))
}
