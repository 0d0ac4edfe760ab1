//! `unstuck audit read-back`: what came of intents whose console is gone.
//!
//! A console that was ended between an intent and its outcome cannot read it back any more. Anybody may: an intent
//! without an outcome gets the outcome "not done", and from then on its change, should it still be on its way, does nothing.

use std::collections::BTreeSet;

use super::args::ReadBackArgs;
use super::verify::unfinished;
use super::{Go, pages, place};
use crate::cli::out::{ExitCode, Out};
use crate::domain::chain::Walk;
use crate::domain::ids::LogId;
use crate::domain::port::Store as _;
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::{self, Seconds};
use crate::store::postgres::PgStore;

/// A younger intent may belong to a console that is at work: it is left alone unless it is named.
const AT_WORK: Seconds = Seconds(60);

/// Reads back what was left open.
pub(super) async fn run(
    args: &ReadBackArgs,
    store: &PgStore,
    facts: &ServerFacts,
    out: &mut Out<'_>,
) -> Result<ExitCode, String> {
    let mut walk = Walk::new(None);
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
    let mut named: BTreeSet<LogId> = args.intents.iter().copied().collect();
    let mut code = ExitCode::Ok;
    let mut open = 0_usize;
    for one in walk.finish().open {
        let young = one.at.is_none_or(|began| time::age(began, at) < AT_WORK);
        if !named.remove(&one.id) && (young || !args.intents.is_empty()) {
            if young && args.intents.is_empty() {
                out.line(&format!(
                    "left alone: {}. Its console may be at work; name it to read it back",
                    unfinished(&one, at)
                ));
            }
            continue;
        }
        open = open.saturating_add(1);
        let told = unfinished(&one, at);
        match store.read_back(one.id).await {
            Ok(Some(entry)) => {
                let detail = entry.detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
                out.line(&format!("{told}: {}{detail}", entry.result.as_deref().unwrap_or("not known")));
            }
            Ok(None) => {
                out.complain(&format!("NOT KNOWN: {told}: the log has no outcome of it"));
                code = ExitCode::NotKnown;
            }
            Err(why) => {
                out.complain(&format!("NOT KNOWN: {told}: {why}"));
                code = ExitCode::NotKnown;
            }
        }
    }
    for missing in named {
        out.complain(&format!("{missing} is no intent that is open"));
        code = ExitCode::Finding;
    }
    if open == 0 && code == ExitCode::Ok {
        out.line("nothing to read back");
    }
    Ok(code)
}
