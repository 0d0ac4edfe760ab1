//! What is said about a hand back, in the same words wherever it is said: on the record, on the result page, in the
//! NEXT column, on the Overview and on the Audit screen.

use super::Seen;
use crate::app::model::Model;
use crate::app::screen::not_known;
use crate::app::screen::record::next_lines;
use crate::app::sides::{Meant, sides};
use crate::domain::approval::{CameOf, ResumeRequest, ResumeState, came_of};
use crate::domain::ids::{RecordId, ResumeId};
use crate::domain::snapshot::Snapshot;
use crate::domain::time::{Now, Seconds, age, clock, until, words};
use crate::ui::{Line, Role, Span};

/// How many are listed on the Audit screen.
const LISTED: usize = 5;

/// Where the newest hand back of a record stands, in one to three lines; nothing when there is none.
pub fn state_lines(model: &Model, id: &RecordId, now: Now) -> Vec<Line> {
    model.hand_backs.of(id).map_or_else(Vec::new, |seen| lines_of(model, seen, now))
}

/// The same for the one that was made after `before`; says so when it was not seen yet.
pub fn made_lines(model: &Model, id: &RecordId, before: Option<ResumeId>, width: usize, now: Now) -> Vec<Line> {
    let Some(seen) = model.hand_backs.of(id).filter(|seen| Some(seen.request.number) > before) else {
        return vec![not_known("the hand back", "it was not in what was read since")];
    };
    let mut lines = lines_of(model, seen, now);
    lines.extend(came_of_lines(model, id, width, now));
    if seen.request.state == ResumeState::Unanswered {
        lines.extend(next_lines(model, id, now));
    }
    if seen.request.state.is_open() {
        lines.push(Line::of(
            Role::Dim,
            "   You can close this page: a notice tells when it ends. The record shows it too.",
        ));
    }
    lines
}

fn lines_of(model: &Model, seen: &Seen, now: Now) -> Vec<Line> {
    let request = &seen.request;
    let at = model.db_now(now);
    let number = request.number;
    let worker = request.worker.as_deref().unwrap_or("a recoverer");
    let detail = request.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
    let ago = words(age(request.at, at));
    let end = || format!("until {} ({} left)", clock(request.not_after), words(until(request.not_after, at)));
    if let Some(why) = model.hand_back_doubt(seen, now) {
        let last = format!("{} at {}", request.state.word(), clock(seen.read_at));
        return vec![
            Line::of(Role::Unknown, " ? Handed back, and now NOT KNOWN").then(format!("  {number}: {why}.")),
            Line::plain(format!("   Last seen {last}. It may be charging. Do not charge by hand.")),
        ];
    }
    match request.state {
        ResumeState::Waiting => vec![Line::of(Role::Info, format!(" i Handed back {ago}")).then(format!(
            "  {number} by {}: waiting for the recoverer, {}.",
            request.operator,
            end()
        ))],
        ResumeState::Unanswered => vec![
            Line::of(Role::Caution, " ! NOBODY ANSWERS").then(format!(
                "  {number}, handed back {ago} by {}: no recoverer took it, {}.",
                request.operator,
                end()
            )),
            Line::plain(format!("   {}", whom_to_call(model, now))),
        ],
        ResumeState::Taken if model.record(&request.id).is_some_and(|record| !record.lease.is_live(at)) => vec![
            Line::of(Role::Unknown, format!(" ? Handed back {ago}")).then(format!(
                "  {number}: {worker} took it {} ago, its lease is over, and it has not said how it ended.",
                words(age(request.state_at, at))
            )),
            Line::plain("   It may have died after charging. Do not charge by hand."),
        ],
        ResumeState::Taken => vec![
            Line::of(Role::Info, format!(" i Handed back {ago}")).then(format!(
                "  {number}: {worker} took it {} ago and may be CHARGING now.",
                words(age(request.state_at, at))
            )),
            Line::plain("   It cannot be withdrawn any more. Do not charge by hand."),
        ],
        ResumeState::Finished => vec![
            Line::of(Role::Good, "ok FINISHED")
                .then(format!("  {number}, by {worker} at {}{detail}", clock(request.state_at))),
        ],
        ResumeState::Refused => vec![
            Line::of(Role::Caution, " ! The recoverer REFUSED it")
                .then(format!("  {number}, {worker} at {}{detail}", clock(request.state_at))),
            Line::plain("   What the provider says decides what is next: look up (a l)."),
        ],
        ResumeState::Withdrawn => vec![Line::of(
            Role::Dim,
            format!("   Handed back ({number}), withdrawn by {worker} at {}{detail}", clock(request.state_at)),
        )],
        ResumeState::Expired if request.worker.is_some() => vec![
            Line::of(Role::Unknown, " ? Handed back, and how it ended is NOT KNOWN")
                .then(format!("  {number}: {worker} took it and never said, until {}.", clock(request.not_after))),
            Line::plain("   It may have charged. Look up (a l): the provider knows."),
        ],
        ResumeState::Expired => vec![
            Line::of(Role::Caution, " ! NOBODY TOOK IT UP").then(format!(
                "  {number} was open until {} and cannot be taken up any more.",
                clock(request.not_after)
            )),
            Line::plain("   Look up (a l), then hand it back again, or hand over (a h)."),
        ],
    }
}

/// The recoverer's last sign, and by whom: whoever runs it is to be called.
fn whom_to_call(model: &Model, now: Now) -> String {
    let snapshot = model.picture.snapshot();
    let changes = snapshot.and_then(|s| s.changes.value()).map(Vec::as_slice).unwrap_or_default();
    let switched = changes.iter().filter(|change| change.kind == "recoverer").max_by_key(|change| change.at);
    let ran = snapshot.and_then(|s| s.recoverer.value()).and_then(|r| Some((r.last_at?, r.last_what.clone()?)));
    let at = model.db_now(now);
    let (last, whom) = match (switched, ran) {
        (Some(change), ran) if ran.as_ref().is_none_or(|(last, _)| change.at >= *last) => {
            (Some((change.at, change.what.clone())), change.who.clone())
        }
        (_, ran) => (ran, None),
    };
    let last = last.map_or_else(
        || "The recoverer has left no sign.".to_owned(),
        |(when, what)| format!("The recoverer's last sign, {} ago: {what}.", words(age(when, at))),
    );
    let whom = whom.unwrap_or_else(|| "whoever runs it".to_owned());
    format!("{last} Call {whom}.")
}

/// After the end: what was asked of the recoverer beside what the record says now.
pub fn came_of_lines(model: &Model, id: &RecordId, width: usize, now: Now) -> Vec<Line> {
    let Some(seen) = model.hand_backs.of(id) else { return Vec::new() };
    let request = &seen.request;
    // What nobody took needs no reading back: nothing was asked of anybody.
    let came_to_something = match request.state {
        ResumeState::Finished | ResumeState::Refused => true,
        ResumeState::Expired => request.worker.is_some(),
        ResumeState::Waiting | ResumeState::Unanswered | ResumeState::Taken | ResumeState::Withdrawn => false,
    };
    if !came_to_something || model.hand_back_doubt(seen, now).is_some() {
        return Vec::new();
    }
    let Some(after) = model.dossiers.get(id).filter(|dossier| dossier.at >= request.state_at) else {
        let trouble = model.screens.record.trouble.as_ref().filter(|(of, _)| of == id);
        let why = trouble.map_or("it is being read again", |(_, why)| why.as_str());
        return vec![not_known("what the record says now", why)];
    };
    let rows: Vec<_> = came_of(request, after).into_iter().map(|CameOf { asked, said }| (asked, said)).collect();
    let meant = if request.state == ResumeState::Finished { Meant::Done } else { Meant::NotDone };
    sides("ASKED OF THE RECOVERER", &rows, meant, width)
}

/// What the NEXT column says instead of a step, while a record is handed back.
pub fn next_word(model: &Model, id: &RecordId, now: Now) -> Option<Span> {
    let seen = model.hand_backs.of(id)?;
    let span = |role: Role, text: String| Some(Span { role, text });
    if model.hand_back_doubt(seen, now).is_some() {
        return span(Role::Unknown, "handed back ?".to_owned());
    }
    let at = model.db_now(now);
    match seen.request.state {
        ResumeState::Waiting => span(Role::Info, format!("handed back {}", short(age(seen.request.at, at)))),
        ResumeState::Unanswered => span(Role::Caution, format!("NO ANSWER {}", short(age(seen.request.at, at)))),
        ResumeState::Taken => span(Role::Info, format!("taken {}", short(age(seen.request.state_at, at)))),
        ResumeState::Finished | ResumeState::Refused | ResumeState::Withdrawn | ResumeState::Expired => None,
    }
}

/// One unit: the column is narrow.
fn short(length: Seconds) -> String {
    match length.0 {
        0..60 => format!("{}s", length.0),
        60..3_600 => format!("{}m", length.0 / 60),
        _ => format!("{}h", length.0 / 3_600),
    }
}

/// What the recoverer is to do now, in a line; nothing when it has nothing to do.
pub fn overview_line(model: &Model, snapshot: &Snapshot, now: Now) -> Option<Line> {
    let open: Vec<&ResumeRequest> = snapshot.resumes.value()?.iter().filter(|one| one.state.is_open()).collect();
    let oldest = open.iter().map(|one| one.at).min()?;
    let many = |state: ResumeState| open.iter().filter(|one| one.state == state).count();
    let parts = [
        (many(ResumeState::Unanswered), "NOBODY ANSWERS"),
        (many(ResumeState::Waiting), "waiting"),
        (many(ResumeState::Taken), "taken, may be charging"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    let (sign, role) = if many(ResumeState::Unanswered) > 0 { (" !", Role::Caution) } else { ("  ", Role::Dim) };
    let oldest = words(age(oldest, model.db_now(now)));
    Some(Line::of(role, format!("{sign} handed back ")).then(format!("{} · oldest {oldest} (8)", parts.join(" · "))))
}

/// The hand backs of the last day, open ones first, for the Audit screen.
pub fn list_lines(model: &Model, now: Now) -> Vec<Line> {
    let mut all: Vec<&Seen> = model.hand_backs.newest_first().collect();
    all.sort_by_key(|seen| !seen.request.state.is_open());
    let at = model.db_now(now);
    let mut lines: Vec<Line> = all
        .iter()
        .take(LISTED)
        .map(|seen| {
            let request = &seen.request;
            let doubt = model.hand_back_doubt(seen, now).is_some();
            let (sign, role) = match request.state {
                _ if doubt => (" ?", Role::Unknown),
                ResumeState::Expired if request.worker.is_some() => (" ?", Role::Unknown),
                ResumeState::Unanswered | ResumeState::Refused | ResumeState::Expired => (" !", Role::Caution),
                ResumeState::Waiting | ResumeState::Taken => (" i", Role::Info),
                ResumeState::Finished => ("ok", Role::Good),
                ResumeState::Withdrawn => ("  ", Role::Normal),
            };
            let state = if doubt { format!("{}?", request.state.word()) } else { request.state.word().to_owned() };
            let by = request.worker.as_ref().map_or_else(String::new, |worker| format!(" by {worker}"));
            Line::of(role, format!("{sign} {} {state}", request.number)).then(format!(
                "{by}, {}: {}, handed back by {}",
                words(age(request.state_at, at)),
                request.id,
                request.operator
            ))
        })
        .collect();
    if let Some(more) = all.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(Line::of(Role::Dim, format!("   {more} more hand backs in the last day.")));
    }
    lines
}
