//! `unstuck audit verify`: is the log what was written?

use super::args::VerifyArgs;
use super::{Go, finish, pages, place};
use crate::cli::out::{ExitCode, Out};
use crate::domain::chain::{Noted, Open, Walk, Walked};
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::{self, Instant};
use crate::store::postgres::PgStore;

/// Walks the log and says what was found.
pub(super) async fn run(
    args: &VerifyArgs,
    store: &PgStore,
    facts: &ServerFacts,
    out: &mut Out<'_>,
) -> Result<ExitCode, String> {
    let mut walk = Walk::new(args.head.clone());
    let mut read_at = None;
    let walking = pages(store, |page| {
        for row in &page.rows {
            walk.step(row);
        }
        read_at = Some(page.at);
        Go::On
    });
    walking.await.map_err(|error| error.to_string())?;
    let at = read_at.ok_or("the log was not read")?;
    out.line(&format!("log of {}, read {}", place(facts), at.format("%Y-%m-%d %H:%M:%SZ")));
    Ok(tell(&finish(walk, facts), at, out))
}

fn tell(walked: &Walked, at: Instant, out: &mut Out<'_>) -> ExitCode {
    if let Some(broken) = &walked.broken {
        out.line(&format!("BROKEN at {}: {broken}", broken.id));
        out.line("the rows before it are intact, the rows after it were not judged");
    }
    match walked.noted {
        Noted::NotAsked => {}
        Noted::Missing => out.line(&match walked.last {
            Some(last) => format!(
                "BROKEN: no row has the noted head. Rows after {last} were cut off, or the log was written anew, since it was noted"
            ),
            None => "BROKEN: no row has the noted head: there is no row".to_owned(),
        }),
        Noted::At(Some(row)) if walked.broken.is_none() => {
            out.line(&format!("the noted head is that of {row}: nothing up to it was cut off or rewritten"));
        }
        Noted::At(Some(row)) => out.line(&format!("the noted head is that of {row}, which is still there")),
        Noted::At(None) => out.line("the noted head is that of an empty log: it says nothing about later rows"),
    }
    if walked.is_intact() {
        match walked.last {
            Some(last) => out.line(&format!("intact: every row from au_1 to {last}, {} in all", walked.rows)),
            None => out.line("intact: the log is empty"),
        }
        out.line(&format!("head {}", walked.head));
        out.line("note the head outside this database; with --head it finds a tail that is cut off later");
    }
    for open in &walked.open {
        out.line(&format!("open: {}. Unknown until read back", unfinished(open, at)));
    }
    if !walked.open.is_empty() {
        out.line("unstuck audit read-back asks what came of them");
    }
    if walked.is_intact() { ExitCode::Ok } else { ExitCode::Finding }
}

/// An intent without an outcome, in one line.
pub(super) fn unfinished(open: &Open, now: Instant) -> String {
    let target = open.target.as_ref().map_or_else(|| "no record".to_owned(), ToString::to_string);
    let since = open.at.map_or_else(
        || "since when is not known".to_owned(),
        |at| format!("for {}, since {}", time::words(time::age(at, now)), at.format("%Y-%m-%d %H:%M:%SZ")),
    );
    format!("{} {} on {target} by {}, {since}", open.id, open.action, open.operator)
}
