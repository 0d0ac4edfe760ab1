//! Opening a console: terminal, poller, hands and loop joined, and everything given back at the end.

use std::io;
use std::sync::Arc;

use crossterm::event::EventStream;
use tokio::sync::mpsc;

use super::act::Hands;
use super::clock;
use super::poll::{self, Connect};
use super::record::Paper;
use super::run::{self, Sources};
use super::terminal::Screen;
use crate::app::model::{Model, Setup};
use crate::app::msg::Msg;
use crate::domain::port::{Provider, Store};
use crate::store::postgres::PgStore;

/// Connects through a PostgreSQL store.
pub fn through(store: Arc<PgStore>) -> Connect {
    Arc::new(move || {
        let store = Arc::clone(&store);
        Box::pin(async move {
            let facts = store.connect().await?;
            let port: Arc<dyn Store> = store;
            Ok((port, facts))
        })
    })
}

/// How many answers may wait for the loop. A task that finds it full waits; the loop never does.
const ANSWERS: usize = 256;

/// Opens the console on this terminal and runs it until it is left.
///
/// Draws before it connects: a database that is away is a screen, not an exit.
///
/// `greeting` is said once, on the first frame. On `paper`, what happens is recorded.
///
/// # Errors
/// Only what the terminal itself does wrong.
pub async fn open(
    setup: Setup,
    connect: Connect,
    providers: Vec<Arc<dyn Provider>>,
    greeting: Option<String>,
    paper: Option<Paper>,
) -> io::Result<Model> {
    let (msgs, answers) = mpsc::channel(ANSWERS);
    let operator = setup.context.operator.clone();
    let mut screen = Screen::enter()?;
    if let Some(greeting) = greeting {
        // The channel is new: there is room.
        let _ = msgs.try_send(Msg::Said(greeting));
    }
    let recorder = paper.map(|paper| paper.begin(&setup, clock::now(), msgs.clone()));
    let polling = poll::start(connect, setup.poll_every, msgs.clone());
    let hands = Hands::new(polling.store, providers, operator, polling.nudge, msgs);
    let sources = Sources { msgs: answers, polls: polling.latest };
    let ended =
        run::run(Model::new(setup), &mut screen, || Box::new(EventStream::new()), sources, hands, recorder).await;
    drop(screen);
    ended
}
