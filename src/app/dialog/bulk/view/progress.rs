//! The run while it goes on, and what came of it: done, stopped at, not started; asked and read back.

use super::super::{Bulk, Doing, Entry, EntryState, Wish};
use crate::app::dialog::guard::Finished;
use crate::app::model::{Model, Place};
use crate::domain::evidence::LookupOutcome;
use crate::domain::guard::{BulkRequest, Progress};
use crate::domain::log::Outcome;
use crate::domain::money::Totals;
use crate::domain::promise::Said;
use crate::domain::time::{Now, until, words};
use crate::ui::{Line, Role};

/// Ended records that stay in view above the one that is on its way.
const BEHIND: usize = 4;

/// The page while records are being done.
pub fn running(model: &Model, bulk: &Bulk, doing: Doing, wish: Wish, now: Now) -> Vec<Line> {
    let all = bulk.entries.len();
    let ended = bulk.entries.iter().filter(|entry| matches!(entry.state, EntryState::Ended(_))).count();
    let waits = bulk.armed.as_ref().is_some_and(|armed| armed.progress() == Progress::Canary);
    let mut lines = vec![match doing {
        Doing::Acting(_) => Line::of(Role::Write, " SENT ")
            .then(format!("  {} of {all}: waiting for the answer and the read-back.", ended.saturating_add(1))),
        Doing::Checking => Line::plain(format!(
            "{} of {all}: the record is read again, right before it is sent.",
            ended.saturating_add(1)
        )),
        Doing::Pausing(_) if waits => {
            let rules = model.picture.snapshot().map_or(&[][..], |s| &s.rules);
            let unread = bulk.armed.as_ref().map_or(0, |armed| armed.unread(rules));
            Line::of(Role::Info, " i Canary done. ")
                .then(format!("The rules are read again before the others start; {unread} still to be read."))
        }
        Doing::Pausing(at) => {
            Line::plain(format!("{ended} of {all} done. The next one in {}.", words(until(at, now.0))))
        }
    }];
    lines.push(match wish {
        Wish::GoOn => Line::of(Role::Dim, "Esc stops after the one that is on its way. What is sent cannot be taken back."),
        Wish::Stop => Line::of(Role::Caution, " ! It stops after this one. Esc once more asks whether to leave."),
        Wish::Leave => Line::of(Role::Caution, " ! If you leave now you do not see what came of this one; the log will have it (screen 8). Nothing more is sent. Esc stays. Q leaves."),
    });
    lines.push(Line::empty());
    let skip = ended.saturating_sub(BEHIND);
    if skip > 0 {
        lines.push(Line::of(Role::Good, format!("ok {skip} before these are done; the result lists all.")));
    }
    lines.extend(bulk.entries.iter().enumerate().skip(skip).map(|(place, entry)| head(place, entry, bulk.request)));
    lines
}

/// Whether an entry stands in a group.
type Belongs = fn(&Entry) -> bool;

/// The page when nothing more is sent.
pub fn result(model: &Model, bulk: &Bulk, ended: &Progress) -> Vec<Line> {
    let all = bulk.entries.len();
    let done: Vec<&Entry> = bulk.entries.iter().filter(|entry| is_done(entry)).collect();
    let sum: Totals = done.iter().filter_map(|entry| entry.money.clone()).collect();
    let sum = if done.is_empty() { String::new() } else { format!(", {sum}") };
    let mut lines = Vec::new();
    match ended {
        Progress::Stopped(why) => {
            lines.push(
                Line::of(Role::Caution, format!(" ! STOPPED. {} of {all} done{sum}. ", done.len()))
                    .then(why.why.clone()),
            );
            lines.push(Line::plain(format!("   {}", why.way_out)));
        }
        Progress::Finished | Progress::Next(_) | Progress::Sent | Progress::Canary => {
            lines.push(Line::of(Role::Good, format!("ok DONE  {} of {all}{sum}.", done.len())).then(
                match bulk.request {
                    BulkRequest::LookUp => " Nothing was charged and no state was changed.",
                    BulkRequest::Adopt => " Each was read back as asked.",
                },
            ));
        }
    }
    let broken = match bulk.request {
        BulkRequest::LookUp => "WITHOUT AN ANSWER, OR NOT SENT",
        BulkRequest::Adopt => "STOPPED AT",
    };
    // What needs a person first.
    let groups: [(&str, Belongs); 3] = [
        (broken, |entry| !is_done(entry) && !matches!(entry.state, EntryState::NotStarted)),
        ("NOT STARTED: nothing was sent for these", |entry| matches!(entry.state, EntryState::NotStarted)),
        ("DONE", is_done),
    ];
    for (title, belongs) in groups {
        let rows: Vec<(usize, &Entry)> = bulk.entries.iter().enumerate().filter(|(_, entry)| belongs(entry)).collect();
        if rows.is_empty() {
            continue;
        }
        lines.push(Line::empty());
        lines.push(Line::of(Role::Heading, format!("{title}, {}", rows.len())));
        for (place, entry) in rows {
            lines.push(head(place, entry, bulk.request));
            lines.extend(detail(entry));
        }
    }
    if !bulk.left_out.is_empty() {
        lines.push(Line::empty());
        lines.push(Line::of(Role::Heading, format!("LEFT OUT OF THE PLAN, {}", bulk.left_out.len())));
        lines.extend(bulk.left_out.iter().map(|(id, why)| Line::plain(format!("   {id}  {}", why.why))));
    }
    lines.push(Line::empty());
    let band = model.setup.context.environment.kind.band();
    lines.push(Line::of(
        Role::Dim,
        match bulk.request {
            BulkRequest::LookUp if matches!(model.place, Place::Ticket(..)) => {
                "Esc closes this page; the answer under it is made anew.".to_owned()
            }
            BulkRequest::LookUp => "The marks stay: a r plans what can be adopted now.".to_owned(),
            BulkRequest::Adopt => format!("{band}: writing is off again. What was done is no longer marked."),
        },
    ));
    lines
}

fn is_done(entry: &Entry) -> bool {
    match &entry.state {
        EntryState::Ended(finished) => {
            let answered =
                finished.evidence.as_ref().is_none_or(|e| !matches!(e.outcome, LookupOutcome::Unreachable { .. }));
            let denied =
                finished.evidence.is_none() && finished.read_back.iter().any(|(_, said)| !matches!(said, Said::Yes(_)));
            matches!(finished.outcome, Outcome::Done { .. }) && answered && !denied
        }
        EntryState::NotStarted | EntryState::Sent | EntryState::NotSent(_) => false,
    }
}

/// One record in one line.
fn head(place: usize, entry: &Entry, request: BulkRequest) -> Line {
    let (sign, role, word) = match &entry.state {
        EntryState::NotStarted => ("   ", Role::Dim, "not started".to_owned()),
        EntryState::Sent => (" > ", Role::Write, "SENT".to_owned()),
        EntryState::NotSent(_) => (" ! ", Role::Caution, "NOT SENT".to_owned()),
        EntryState::Ended(finished) if is_done(entry) => ("ok ", Role::Good, said(finished)),
        EntryState::Ended(finished) => match &finished.outcome {
            Outcome::Done { .. } => (" ? ", Role::Unknown, said(finished)),
            Outcome::Unknown { .. } => (" ? ", Role::Unknown, finished.outcome.word().to_owned()),
            Outcome::Refused { .. } | Outcome::Conflict { .. } => {
                (" ! ", Role::Caution, finished.outcome.word().to_owned())
            }
        },
    };
    let canary = if place == 0 && request == BulkRequest::Adopt { "canary: " } else { "" };
    let money = entry.money.as_ref().map_or_else(String::new, |money| format!("  {money}"));
    Line::of(role, sign).then(format!("{:>2} {canary}{}{money}  ", place.saturating_add(1), entry.id)).and(role, word)
}

/// The outcome in a word: what the provider said, or what the log has.
fn said(finished: &Finished) -> String {
    match (&finished.evidence, &finished.outcome) {
        (Some(evidence), _) if evidence.id.is_none() => format!("{} (NOT STORED)", evidence.outcome.word()),
        (Some(evidence), _) => evidence.outcome.word().to_owned(),
        (None, outcome) => outcome.word().to_owned(),
    }
}

/// Asked and read back, line by line.
fn detail(entry: &Entry) -> Vec<Line> {
    match &entry.state {
        EntryState::NotStarted | EntryState::Sent => Vec::new(),
        EntryState::NotSent(why) => vec![Line::plain(format!("      {} {}", why.why, why.way_out))],
        EntryState::Ended(finished) => {
            let mut lines = Vec::new();
            match &finished.outcome {
                Outcome::Done { log: Some(log), .. } if finished.evidence.is_none() => {
                    lines.push(Line::of(Role::Dim, format!("      {}, log {log}", entry.asked)));
                }
                Outcome::Done { .. } => {}
                Outcome::Refused { why } | Outcome::Conflict { why } | Outcome::Unknown { why, .. } => {
                    lines.push(Line::plain(format!("      {why}")));
                }
            }
            match &finished.log {
                Some(Ok(row)) => {
                    let (result, more) =
                        (row.result.as_deref().unwrap_or("no result"), row.detail.as_deref().unwrap_or(""));
                    lines.push(Line::of(Role::Info, format!("      i The log says: {result}. {more}")));
                }
                Some(Err(why)) => lines.push(Line::of(Role::Unknown, format!("      ? {why}"))),
                None => {}
            }
            let done = matches!(finished.outcome, Outcome::Done { .. });
            if is_done(entry) && finished.evidence.is_some() {
                // One answer, one row of evidence: one line.
                let read: Vec<&str> = finished.read_back.iter().filter_map(|(_, said)| confirmed(said)).collect();
                if !read.is_empty() {
                    lines.push(Line::of(Role::Dim, "      read back: ").and(Role::Good, read.join(" · ")));
                }
                return lines;
            }
            lines.extend(finished.read_back.iter().map(|(asked, said)| {
                let (role, said) = match said {
                    Said::Yes(what) => (Role::Good, format!("ok yes  {what}")),
                    Said::No(what) if done => (Role::Critical, format!("!! no  {what}")),
                    // Nothing was promised to have happened: a plain "no" is what is expected.
                    Said::No(what) => (Role::Normal, format!("no  {what}")),
                    Said::NotKnown(what) => (Role::Unknown, format!("? NOT KNOWN  {what}")),
                };
                Line::of(Role::Dim, format!("      asked: {asked}; read back: ")).and(role, said)
            }));
            lines.extend(finished.trouble.iter().map(|why| Line::of(Role::Unknown, format!("      ? {why}"))));
            lines
        }
    }
}

fn confirmed(said: &Said) -> Option<&str> {
    match said {
        Said::Yes(what) => Some(what),
        Said::No(_) | Said::NotKnown(_) => None,
    }
}
