//! Requests for approval on the Audit screen: those that wait, then those of the last hour.

use crate::app::model::Model;
use crate::app::screen::rows::span;
use crate::domain::approval::{ApprovalRequest, ApprovalState};
use crate::domain::ids::ApprovalId;
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, Seconds, age, clock, words};
use crate::ui::widgets::table::Column;
use crate::ui::{Line, Role, Span};

/// How long one that is over stays on the screen.
const RECENT: Seconds = Seconds(3_600);
/// How many of those at most; the log below has all.
const MOST_OVER: usize = 4;

/// The columns.
pub const COLUMNS: &[Column] = &[
    Column::words("ID", 6, 7),
    Column::words("STATE", 9, 0),
    Column::words("WHAT", 11, 2),
    Column::ids("RECORD", 16, 1).up_to(40),
    Column::numbers("AMOUNT", 11, 0).up_to(16),
    Column::words("ASKED BY", 8, 1).up_to(14),
    Column::words("AGE", 6, 4),
    Column::words("UNTIL", 9, 0),
    Column::words("TICKET", 9, 5).up_to(12),
];

/// Which are shown, and in which order: what has to be answered first stands first.
pub fn order(snapshot: &Snapshot) -> Vec<ApprovalId> {
    let Some(all) = snapshot.approvals.value() else { return Vec::new() };
    let mut waiting: Vec<&ApprovalRequest> = all.iter().filter(|one| one.state == ApprovalState::Waiting).collect();
    waiting.sort_by_key(|one| (one.expires_at, one.number));
    let recent = |one: &&ApprovalRequest| {
        one.state != ApprovalState::Waiting && age(one.decided_at.unwrap_or(one.at), snapshot.db_now) < RECENT
    };
    let mut over: Vec<&ApprovalRequest> = all.iter().filter(recent).collect();
    over.sort_by_key(|one| std::cmp::Reverse((one.decided_at.unwrap_or(one.at), one.number)));
    waiting.into_iter().chain(over.into_iter().take(MOST_OVER)).map(|one| one.number).collect()
}

/// A request by its number.
pub fn request(model: &Model, number: ApprovalId) -> Option<&ApprovalRequest> {
    model.picture.snapshot()?.approvals.value()?.iter().find(|one| one.number == number)
}

/// One line.
pub fn cells(model: &Model, request: &ApprovalRequest, now: Now) -> Vec<Span> {
    let own = request.is_of(&model.setup.context);
    let (sign, role) = match request.state {
        ApprovalState::Waiting if !own => (" !", Role::Caution),
        ApprovalState::Approved if own => (" !", Role::Caution),
        ApprovalState::Waiting => (" i", Role::Info),
        ApprovalState::Approved
        | ApprovalState::Refused
        | ApprovalState::Withdrawn
        | ApprovalState::Expired
        | ApprovalState::Lapsed
        | ApprovalState::Used => ("  ", Role::Normal),
    };
    let until = match request.state {
        ApprovalState::Waiting => clock(request.expires_at),
        ApprovalState::Approved => request.act_until.map_or_else(|| "?".to_owned(), clock),
        ApprovalState::Refused
        | ApprovalState::Withdrawn
        | ApprovalState::Expired
        | ApprovalState::Lapsed
        | ApprovalState::Used => "-".to_owned(),
    };
    vec![
        span(role, sign),
        span(Role::Normal, request.number.to_string()),
        span(role, request.state.word()),
        span(Role::Normal, request.action.clone()),
        span(Role::Normal, request.id.to_string()),
        span(Role::Normal, request.money.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string)),
        span(Role::Normal, if own { "you".to_owned() } else { request.operator.to_string() }),
        span(Role::Normal, words(age(request.at, model.db_now(now)))),
        span(Role::Normal, until),
        span(Role::Normal, request.ticket.clone().unwrap_or_else(|| "-".to_owned())),
    ]
}

/// The one under the cursor, in sentences.
pub fn detail_lines(request: &ApprovalRequest) -> Vec<Line> {
    vec![
        Line::of(Role::Dim, format!(" {} ", request.number)).then(format!("{}.", request.became())),
        Line::of(Role::Dim, " reason: ").then(request.reason.clone()),
        Line::of(Role::Dim, format!(" plan {} · ", request.plan_hash.short())).and(Role::Key, "Enter").then(
            if request.state == ApprovalState::Waiting {
                " reads it whole, and answers it."
            } else {
                " reads it whole."
            },
        ),
    ]
}
