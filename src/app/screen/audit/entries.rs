//! Rows of the action log on the Audit screen.

use crate::app::model::Model;
use crate::app::screen::rows::span;
use crate::domain::ids::LogId;
use crate::domain::log::LogEntry;
use crate::domain::time::clock;
use crate::ui::widgets::table::Column;
use crate::ui::{Line, Role, Span};

/// How the database begins the outcome of what was done without an answer.
const GLASS: &str = "BREAK GLASS";

/// The columns.
pub const COLUMNS: &[Column] = &[
    Column::words("ID", 7, 3),
    Column::words("TIME", 9, 0),
    Column::words("WHO", 8, 1).up_to(14),
    Column::words("ENTRY", 7, 4),
    Column::words("WHAT", 10, 0).up_to(20),
    Column::ids("TARGET", 16, 1).up_to(40),
    Column::words("RESULT", 9, 0).up_to(14),
    Column::words("TICKET", 9, 5).up_to(12),
];

/// An entry by its number.
pub fn entry(model: &Model, id: LogId) -> Option<&LogEntry> {
    model.picture.snapshot()?.log.value()?.iter().find(|entry| entry.id == id)
}

/// Results that deserve a sign.
fn role_of(entry: &LogEntry) -> (&'static str, Role) {
    if entry.detail.as_ref().is_some_and(|detail| detail.starts_with(GLASS)) {
        return ("!!", Role::Critical);
    }
    match (entry.result.as_deref(), entry.entry.as_str()) {
        (Some("refused" | "conflict"), _) => (" !", Role::Caution),
        (Some("unknown" | "not done"), _) | (None, "outcome") => (" ?", Role::Unknown),
        (Some(_) | None, _) => ("  ", Role::Normal),
    }
}

/// One line.
pub fn cells(entry: &LogEntry) -> Vec<Span> {
    let (sign, role) = role_of(entry);
    vec![
        span(role, sign),
        span(Role::Normal, entry.id.to_string()),
        span(Role::Normal, clock(entry.at)),
        span(Role::Normal, entry.operator.as_ref().map_or_else(|| entry.session_user.clone(), ToString::to_string)),
        span(Role::Normal, entry.entry.clone()),
        span(Role::Normal, entry.action.clone()),
        span(Role::Normal, entry.target.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)),
        span(role, entry.result.clone().unwrap_or_else(|| "-".to_owned())),
        span(Role::Normal, entry.ticket.clone().unwrap_or_else(|| "-".to_owned())),
    ]
}

/// The one under the cursor, in sentences.
pub fn detail_lines(entry: &LogEntry) -> Vec<Line> {
    let (_, role) = role_of(entry);
    let mut lines = Vec::new();
    if let Some(reason) = &entry.reason {
        lines.push(Line::of(Role::Dim, format!(" {} reason: ", entry.id)).then(reason.clone()));
    }
    if let Some(detail) = &entry.detail {
        let role = if role == Role::Critical { role } else { Role::Normal };
        lines.push(Line::of(Role::Dim, " detail: ").and(role, detail.clone()));
    }
    let plan = entry.plan_hash.as_deref().map_or_else(|| "-".to_owned(), |h| h.chars().take(6).collect());
    let answers = entry.intent.map_or_else(String::new, |i| format!(" · answers {i}"));
    lines.push(Line::of(
        Role::Dim,
        format!(" plan {plan} · environment {} · database user {}{answers}", entry.environment, entry.session_user),
    ));
    lines
}
