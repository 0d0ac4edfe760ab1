//! `unstuck audit`: the log of actions, judged and copied, and what was left open in it closed. Only the last of these
//! writes, and only to the log; none believes a verdict but its own.

pub mod args;
mod export;
mod markdown;
mod read_back;
mod verify;

use args::{AuditArgs, AuditCommand};

use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::domain::chain::{Walk, Walked};
use crate::domain::port::StoreError;
use crate::domain::snapshot::ServerFacts;
use crate::store::chain::ChainPage;
use crate::store::postgres::PgStore;

/// Does what was asked.
pub async fn run(args: &AuditArgs, settings: &Settings, out: &mut Out<'_>) -> ExitCode {
    let done = match open(settings).await {
        Ok((store, facts)) => match &args.what {
            AuditCommand::Verify(args) => verify::run(args, &store, &facts, out).await,
            AuditCommand::Export(args) => export::run(args, &store, &facts, out).await,
            AuditCommand::ReadBack(args) => read_back::run(args, &store, &facts, out).await,
        },
        Err(why) => Err(why),
    };
    match done {
        Ok(code) => out.heard(code),
        Err(why) => {
            out.complain(&format!("NOT KNOWN: {why}"));
            ExitCode::NotKnown
        }
    }
}

async fn open(settings: &Settings) -> Result<(PgStore, ServerFacts), String> {
    let store = connect::patient_store(settings).map_err(|error| error.to_string())?;
    let facts = store.connect().await.map_err(|error| error.to_string())?;
    Ok((store, facts))
}

/// Where the log is, in one line.
fn place(facts: &ServerFacts) -> String {
    let environment = facts.environment.as_ref().map_or_else(
        || "an environment that has no name".to_owned(),
        |place| format!("{place} ({})", place.kind.band()),
    );
    format!("{environment}, database {} on {}", facts.database, facts.server)
}

/// Ends a walk. A database with a named environment wrote a row when it was named, and rows do not go away.
fn finish(walk: Walk, facts: &ServerFacts) -> Walked {
    let walked = walk.finish();
    if facts.environment.is_some() { walked.never_empty() } else { walked }
}

/// Whether the walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    Home,
}

/// Every page of the log, in order.
async fn pages(store: &PgStore, mut visit: impl FnMut(&ChainPage) -> Go) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = store.chain(after).await?;
        after = page.next;
        if visit(&page) == Go::Home || after.is_none() {
            return Ok(());
        }
    }
}
