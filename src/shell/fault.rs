//! Faults on purpose, for the tests that prove what they leave behind. Debug builds only: a release has none of it.
//!
//! `UNSTUCK_PANIC` asks for a panic at the next ctrl-l. `UNSTUCK_FAULT_LINE` names a TCP address of this machine: of
//! every moment of an action ([`crate::domain::fault`]) the console says `at MOMENT WHAT ABOUT` there and goes on
//! when it is answered `go` (or `run`: to the end of this action), so that a test can end it or cut its connections at exactly that moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::domain::fault::{Moment, watch};
use crate::domain::port::BoxFuture;

/// The variable that asks for a panic: `ui` or `task`. The next ctrl-l brings it about.
const ASKED: &str = "UNSTUCK_PANIC";

/// The variable that names the line.
const LINE: &str = "UNSTUCK_FAULT_LINE";

/// Where a panic is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// In the thread that draws.
    Ui,
    /// In a background task.
    Task,
}

impl Fault {
    /// What the environment asks for.
    pub fn asked() -> Option<Self> {
        match std::env::var(ASKED).ok()?.as_str() {
            "ui" => Some(Self::Ui),
            "task" => Some(Self::Task),
            _ => None,
        }
    }

    /// Panics.
    #[expect(clippy::panic, reason = "this is what it is for")]
    pub fn strike(self) -> String {
        panic!("{ASKED} asked for a panic ({self:?})")
    }
}

/// Whether an action still asks before it goes on; one for all its tasks.
type Asks = Arc<AtomicBool>;

tokio::task_local! {
    /// Set in the tasks of an action: polls and what is read for the screen go on undisturbed.
    static IN_ACTION: Asks;
}

/// Marks a task as part of an action: a new one, or the one whose task starts it.
pub fn action<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let asks = IN_ACTION.try_with(Arc::clone).unwrap_or_else(|_| Arc::new(AtomicBool::new(true)));
    IN_ACTION.scope(asks, work)
}

/// Listens to the test that asked for it, if one did.
pub fn listen() {
    if std::env::var_os(LINE).is_some() {
        watch(hook);
    }
}

/// The line; `None` before the first moment, and after the test hung up.
static OPEN: Mutex<Option<BufReader<TcpStream>>> = Mutex::const_new(None);

fn hook(moment: Moment, what: &str, about: &str) -> Option<BoxFuture<'static, ()>> {
    let asks = IN_ACTION.try_with(Arc::clone).ok().filter(|asks| asks.load(Ordering::SeqCst))?;
    let said = format!("at {} {what} {about}", moment.word());
    Some(Box::pin(async move {
        match tell(&said).await {
            Ok(Answer::Go) => {}
            Ok(Answer::Run) => asks.store(false, Ordering::SeqCst),
            // A line that broke is a test that ended: go on.
            Err(error) => tracing::debug!(%error, "nobody is on the line"),
        }
    }))
}

/// What the test answers.
enum Answer {
    /// To the next moment.
    Go,
    /// To the end of the action.
    Run,
}

/// Says where we are, and waits for the answer.
async fn tell(said: &str) -> std::io::Result<Answer> {
    let mut open = OPEN.lock().await;
    let mut line = match open.take() {
        Some(line) => line,
        None => BufReader::new(TcpStream::connect(std::env::var(LINE).unwrap_or_default()).await?),
    };
    line.write_all(format!("{}\n", said.trim_end()).as_bytes()).await?;
    let mut answer = String::new();
    if line.read_line(&mut answer).await? > 0 {
        *open = Some(line);
    }
    Ok(if answer.trim_end() == "run" { Answer::Run } else { Answer::Go })
}
