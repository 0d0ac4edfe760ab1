//! The result page: what was asked and what the re-read record says, line by line.

use super::super::{Finished, Guard, Way};
use super::second::what;
use crate::app::sides::{Meant, sides};
use crate::domain::action::Request;
use crate::domain::environment::Environment;
use crate::domain::log::Outcome;
use crate::domain::promise::Said;
use crate::ui::{Line, Role};

/// The lines of the page.
pub fn lines(guard: &Guard, finished: &Finished, environment: &Environment, width: usize) -> Vec<Line> {
    let mut lines = vec![headline(guard, finished)];
    if let Some(more) = consequence(&finished.outcome) {
        lines.push(Line::plain(format!("   {more}")));
    }
    match &finished.log {
        Some(Ok(entry)) => {
            let result = entry.result.as_deref().unwrap_or("no result");
            let detail = entry.detail.as_deref().unwrap_or("");
            lines.push(Line::of(Role::Info, format!(" i The log says: {result}. {detail}")));
        }
        Some(Err(why)) => lines.push(Line::of(Role::Unknown, format!(" ? {why}"))),
        None => {}
    }
    lines.push(Line::empty());
    let done = matches!(finished.outcome, Outcome::Done { .. });
    let meant = if done { Meant::Done } else { Meant::NotDone };
    lines.extend(sides("ASKED", &finished.read_back, meant, width));
    if let Some(trouble) = &finished.trouble {
        lines.push(Line::of(Role::Unknown, format!(" ? {trouble}")));
    }
    if let Some(evidence) = &finished.evidence {
        let kept = if evidence.id.is_some() { "stored" } else { "NOT STORED: kept for this session only" };
        lines.push(Line::of(
            Role::Dim,
            format!("   {} answered: {} ({kept})", evidence.provider, evidence.outcome.word()),
        ));
    }
    lines.push(Line::empty());
    lines.push(Line::of(Role::Dim, closing(guard, environment)));
    if let Outcome::Done { detail: Some(detail), .. } = &finished.outcome {
        // For the record; what counts is what was read back.
        let who = finished.evidence.as_ref().map_or("The database", |evidence| evidence.provider.as_str());
        lines.push(Line::of(Role::Dim, format!("{who} said: {detail}")));
    }
    lines
}

fn headline(guard: &Guard, finished: &Finished) -> Line {
    let said_no = finished.read_back.iter().any(|(_, said)| matches!(said, Said::No(_)));
    let word = finished.outcome.word();
    let line = match &finished.outcome {
        Outcome::Done { .. } if said_no => {
            return Line::of(Role::Critical, format!("!! {word}, but the record does not say so. "))
                .then("Do not repeat it. Look at the lines below and hand it over (a h).");
        }
        Outcome::Done { log, .. } => {
            let log = log.map_or_else(|| "no log row (not stored)".to_owned(), |id| format!("log {id}"));
            Line::of(Role::Good, format!("ok {word}  ")).then(format!("{}: {log}.", what(guard)))
        }
        Outcome::Refused { .. } | Outcome::Conflict { .. } => Line::of(Role::Caution, format!(" ! {word}  ")),
        Outcome::Unknown { .. } => Line::of(Role::Unknown, format!(" ? {word}  ")),
    };
    match &finished.outcome {
        Outcome::Done { .. } => line,
        Outcome::Refused { why } | Outcome::Conflict { why } | Outcome::Unknown { why, .. } => line.then(why.clone()),
    }
}

fn consequence(outcome: &Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Done { .. } => None,
        Outcome::Refused { .. } => Some("Nothing was changed. n makes a new plan."),
        Outcome::Conflict { .. } => {
            Some("Somebody else was first. Nothing was changed by this plan. n makes a new plan.")
        }
        Outcome::Unknown { .. } => {
            Some("It may or may not have been done. Do NOT repeat it: r asks the log what came of it.")
        }
    }
}

fn closing(guard: &Guard, environment: &Environment) -> String {
    match guard.way {
        Way::Ask | Way::Approve | Way::Refuse | Way::TakeBack => {
            return "Nothing was charged, and nothing about the payment was changed.".to_owned();
        }
        Way::Act | Way::BreakGlass => {}
    }
    match guard.request {
        Request::LookUp => "Nothing was charged and no state was changed.".to_owned(),
        Request::Resume | Request::Hold | Request::Release | Request::Withdraw | Request::Note | Request::HandOver => {
            format!("{}: writing is off again. It was on for this plan only.", environment.kind.band())
        }
    }
}
