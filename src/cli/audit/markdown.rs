//! An export as a page for an incident report: one line for each thing that was done, in UTC.
//!
//! An intent is printed with its outcome, when that comes; what has none stands at the end. Everything a
//! person or a provider wrote is text here: it cannot end its cell, and it cannot become a link or a picture.

use std::collections::BTreeMap;

use super::export::{End, Wanted};
use super::place;
use crate::cli::out::Out;
use crate::domain::chain::{ChainRow, Walked};
use crate::domain::ids::LogId;
use crate::domain::snapshot::ServerFacts;
use crate::domain::time::{self, Instant};
use crate::ui::markdown::plain;

/// A page that is being written.
pub(super) struct Sheet {
    open: BTreeMap<LogId, ChainRow>,
}

impl Sheet {
    /// The head of the page and of the table.
    pub(super) fn begin(facts: &ServerFacts, wanted: &Wanted<'_>, at: Instant, out: &mut Out<'_>) -> Self {
        let name = facts.environment.as_ref().map_or("an environment that has no name", |place| &place.name);
        let filters = wanted.words();
        let shows = if filters.is_empty() { "everything".to_owned() } else { filters.join(", ") };
        out.line(&format!("# What was done in {}", plain(name)));
        out.line("");
        out.line(&format!("- Where: {}", plain(&place(facts))));
        out.line(&format!("- Shows: {}", plain(&shows)));
        out.line(&format!("- Read: {} by the database's clock, with unstuck {}", utc(at), env!("CARGO_PKG_VERSION")));
        out.line("");
        out.line("| UTC | who | what | record | result | reason | ticket | log |");
        out.line("|---|---|---|---|---|---|---|---|");
        Self { open: BTreeMap::new() }
    }

    /// Takes a row; says how many rows of the log it printed.
    pub(super) fn row(&mut self, row: &ChainRow, wanted: &Wanted<'_>, out: &mut Out<'_>) -> u64 {
        if row.is_intent() {
            self.open.insert(row.id, row.clone());
            return 0;
        }
        let intent = row.intent.and_then(|intent| self.open.remove(&intent));
        if !wanted.has(row) && !intent.as_ref().is_some_and(|intent| wanted.has(intent)) {
            return 0;
        }
        line(row, intent.as_ref(), &result(row), out);
        if intent.is_some() { 2 } else { 1 }
    }

    /// What has no outcome, and what the walk along the chain came to.
    pub(super) fn end(self, end: &End<'_>, wanted: &Wanted<'_>, out: &mut Out<'_>) {
        let mut printed = end.printed;
        for intent in self.open.values().filter(|intent| wanted.has(intent)) {
            let age = intent.at.zip(end.at).map(|(then, now)| time::words(time::age(then, now)));
            let age = age.map_or_else(String::new, |age| format!(" (for {age})"));
            line(intent, None, &format!("**UNKNOWN** until read back{age}"), out);
            printed = printed.saturating_add(1);
        }
        out.line("");
        match end.walked {
            Err(why) => out.line(&format!("- **Not complete**: {}", plain(why))),
            Ok(walked) => {
                out.line(&format!("- Rows: {printed} of {} in the log", walked.rows));
                out.line(&chain(walked));
                out.line(&format!("- Head: `{}`", plain(&walked.head)));
            }
        }
    }
}

fn chain(walked: &Walked) -> String {
    match (&walked.broken, walked.last) {
        (Some(broken), _) => {
            format!("- Hash chain: **BROKEN at {}**: {}", plain(&broken.id.to_string()), plain(&broken.to_string()))
        }
        (None, Some(last)) => format!("- Hash chain: intact, {} to {}", plain("au_1"), plain(&last.to_string())),
        (None, None) => "- Hash chain: the log is empty".to_owned(),
    }
}

/// One line of the table.
fn line(row: &ChainRow, intent: Option<&ChainRow>, result: &str, out: &mut Out<'_>) {
    let asked = intent.unwrap_or(row);
    let when = row.at.map_or_else(|| "not known".to_owned(), utc);
    let record = asked.target().map_or_else(|| "–".to_owned(), |target| plain(&target.to_string()));
    let what = asked.action.as_deref().unwrap_or("not known").replace('_', " ");
    let log = match intent {
        Some(intent) => format!("{}, {}", intent.id, row.id),
        None => row.id.to_string(),
    };
    let cells = [
        when,
        who(row, intent),
        plain(&what),
        record,
        result.to_owned(),
        maybe(asked.reason.as_deref()),
        maybe(asked.ticket.as_deref()),
        plain(&log),
    ];
    out.line(&format!("| {} |", cells.join(" | ")));
}

/// The person with the login, and whose intent it was when somebody else closed it.
fn who(row: &ChainRow, intent: Option<&ChainRow>) -> String {
    let person = |row: &ChainRow| row.operator.clone().unwrap_or_else(|| "not known".to_owned());
    let login = row.session_user.as_deref().unwrap_or("not known");
    let whose = match intent {
        Some(intent) if intent.operator != row.operator => format!(", for {}", person(intent)),
        Some(_) | None => String::new(),
    };
    plain(&format!("{} (login {login}){whose}", person(row)))
}

fn result(row: &ChainRow) -> String {
    let word = row.result.as_deref().map_or_else(|| "not known".to_owned(), plain);
    match row.detail.as_deref().filter(|detail| !detail.is_empty()) {
        Some(detail) => format!("{word}: {}", plain(detail)),
        None => word,
    }
}

fn maybe(text: Option<&str>) -> String {
    text.filter(|text| !text.is_empty()).map_or_else(|| "–".to_owned(), plain)
}

fn utc(at: Instant) -> String {
    at.format("%Y-%m-%d %H:%M:%SZ").to_string()
}
