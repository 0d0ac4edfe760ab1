//! `unstuck audit export`: the log for a report or an archive. It is written while it is read.
//!
//! The whole log is walked, so that the chain is judged; filters decide what is printed.

use serde_json::{Value, json};

use super::args::{ExportArgs, Format};
use super::markdown::Sheet;
use super::{Go, finish, pages};
use crate::cli::out::{ExitCode, Hearing, Out};
use crate::domain::chain::{ChainRow, Walk, Walked};
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::Instant;
use crate::store::postgres::PgStore;

/// What ends an export: the reader of a file sees by it that nothing is missing.
pub(super) struct End<'e> {
    /// Rows that were printed.
    pub(super) printed: u64,
    /// The database's clock at the last page.
    pub(super) at: Option<Instant>,
    /// What the walk came to; `Err`: the log could not be read to its end.
    pub(super) walked: Result<&'e Walked, &'e str>,
}

/// Walks the log, prints what is asked for, and ends with what the walk came to.
pub(super) async fn run(
    args: &ExportArgs,
    store: &PgStore,
    facts: &ServerFacts,
    out: &mut Out<'_>,
) -> Result<ExitCode, String> {
    let mut walk = Walk::new(None);
    let mut paper = None;
    let (mut printed, mut read_at) = (0_u64, None);
    let walking = pages(store, |page| {
        let (paper, wanted) = paper.get_or_insert_with(|| {
            let wanted = Wanted::of(args, page.at);
            (Paper::begin(args, facts, &wanted, page.at, out), wanted)
        });
        read_at = Some(page.at);
        for row in &page.rows {
            walk.step(row);
            printed = printed.saturating_add(paper.row(row, wanted, out));
            if out.hearing() != Hearing::Listens {
                return Go::Home;
            }
        }
        Go::On
    });
    let result = walking.await.map_err(|error| error.to_string());
    // Nothing was begun: the reason alone is the answer.
    let Some((paper, wanted)) = paper else { return result.map(|()| ExitCode::NotKnown) };
    if out.hearing() != Hearing::Listens {
        return Ok(ExitCode::Ok);
    }
    let walked = finish(walk, facts);
    let end = End { printed, at: read_at, walked: result.as_ref().map(|()| &walked).map_err(String::as_str) };
    paper.end(&end, &wanted, out);
    result?;
    let Some(broken) = &walked.broken else { return Ok(ExitCode::Ok) };
    out.complain(&format!("BROKEN at {}: {broken}. See: unstuck audit verify", broken.id));
    Ok(ExitCode::Finding)
}

/// What the filters let through.
pub(super) struct Wanted<'a> {
    args: &'a ExportArgs,
    /// From when on.
    pub(super) since: Option<Instant>,
}

impl<'a> Wanted<'a> {
    fn of(args: &'a ExportArgs, now: Instant) -> Self {
        Self { args, since: args.since.map(|since| since.from(now)) }
    }

    /// Whether a row is asked for. One whose time cannot be read is never left out for its time.
    pub(super) fn has(&self, row: &ChainRow) -> bool {
        let same = |asked: &Option<String>, found: &Option<String>| asked.is_none() || asked == found;
        let late = self.since.zip(row.at).is_none_or(|(since, at)| at >= since);
        late && same(&self.args.ticket, &row.ticket)
            && same(&self.args.scope, &row.scope)
            && same(&self.args.key, &row.key)
    }

    /// The filters in words; empty when there are none.
    pub(super) fn words(&self) -> Vec<String> {
        let named = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name} {value}"));
        [
            self.since.map(|since| format!("since {}", since.format("%Y-%m-%d %H:%M:%SZ"))),
            named("ticket", &self.args.ticket),
            named("scope", &self.args.scope),
            named("key", &self.args.key),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The two ways to write.
enum Paper {
    Ndjson,
    Markdown(Sheet),
}

impl Paper {
    fn begin(args: &ExportArgs, facts: &ServerFacts, wanted: &Wanted<'_>, at: Instant, out: &mut Out<'_>) -> Self {
        match args.format {
            Format::Ndjson => {
                out.json(&header(args, facts, wanted, at));
                Self::Ndjson
            }
            Format::Markdown => Self::Markdown(Sheet::begin(facts, wanted, at, out)),
        }
    }

    /// Takes a row; says how many rows of the log it printed.
    fn row(&mut self, row: &ChainRow, wanted: &Wanted<'_>, out: &mut Out<'_>) -> u64 {
        match self {
            Self::Ndjson if wanted.has(row) => {
                out.json(&whole(row));
                1
            }
            Self::Ndjson => 0,
            Self::Markdown(sheet) => sheet.row(row, wanted, out),
        }
    }

    fn end(self, end: &End<'_>, wanted: &Wanted<'_>, out: &mut Out<'_>) {
        match self {
            Self::Ndjson => out.json(&footer(end)),
            Self::Markdown(sheet) => sheet.end(end, wanted, out),
        }
    }
}

fn header(args: &ExportArgs, facts: &ServerFacts, wanted: &Wanted<'_>, at: Instant) -> Value {
    json!({
        "line": "export",
        "tool": concat!("unstuck ", env!("CARGO_PKG_VERSION")),
        "environment": facts.environment.as_ref().map(|place| &place.name),
        "kind": facts.environment.as_ref().map(|place| place.kind),
        "database": facts.database,
        "server": facts.server,
        "as_of": at,
        "since": wanted.since,
        "ticket": args.ticket,
        "scope": args.scope,
        "key": args.key,
    })
}

/// Every field of a row. What is absent is null.
fn whole(row: &ChainRow) -> Value {
    // The document as a document; what is none stays the text it is.
    let data = row.data.as_ref().map(|data| serde_json::from_str(data).unwrap_or_else(|_| Value::from(data.as_str())));
    json!({
        "line": "row",
        "id": row.id,
        "at": row.at_text(),
        "entry": row.entry,
        "action": row.action,
        "scope": row.scope,
        "key": row.key,
        "operator": row.operator,
        "session_user": row.session_user,
        "application": row.application,
        "environment": row.environment,
        "plan_hash": row.plan_hash,
        "reason": row.reason,
        "ticket": row.ticket,
        "result": row.result,
        "detail": row.detail,
        "intent_id": row.intent,
        "evidence_id": row.evidence,
        "data": data,
        "prev_hash": row.prev_hash,
        "hash": row.hash,
    })
}

fn footer(end: &End<'_>) -> Value {
    let walked = end.walked.ok();
    let broken = walked.and_then(|walked| walked.broken.as_ref());
    json!({
        "line": "end",
        "complete": walked.is_some(),
        "why_not": end.walked.err(),
        "as_of": end.at,
        "rows": end.printed,
        "rows_in_log": walked.map(|walked| walked.rows),
        "head": walked.map(|walked| &walked.head),
        "intact": walked.map(Walked::is_intact),
        "broken_at": broken.map(|broken| broken.id),
        "broken": broken.map(ToString::to_string),
        "open": walked.map(|walked| walked.open.iter().map(|open| open.id).collect::<Vec<_>>()),
    })
}
