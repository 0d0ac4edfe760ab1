//! Requests that wait, as others are told of them: on the Overview, by `check`, and in a notice when one is answered.

use super::super::guard::Context;
use super::super::snapshot::Snapshot;
use super::super::time::{Instant, age, words};
use super::{ApprovalRequest, ApprovalState};

/// The requests that wait for a second person, oldest first; `None` when that is not known.
pub fn waiting(snapshot: &Snapshot) -> Option<Vec<&ApprovalRequest>> {
    let all = snapshot.approvals.value()?;
    let mut waiting: Vec<&ApprovalRequest> =
        all.iter().filter(|request| request.state == ApprovalState::Waiting).collect();
    waiting.sort_by_key(|request| request.number);
    Some(waiting)
}

/// How many wait and since when, as a sentence; nothing when none does.
pub fn waiting_sentence(snapshot: &Snapshot, now: Instant) -> Option<String> {
    let waiting = waiting(snapshot)?;
    let oldest = waiting.iter().map(|request| request.at).min()?;
    let many = match waiting.len() {
        1 => "1 plan waits".to_owned(),
        several => format!("{several} plans wait"),
    };
    Some(format!("{many} for a second person (oldest {})", words(age(oldest, now))))
}

/// What changed about requests between two pictures that this person should hear of: an answer to one of theirs
/// first, else a new one that they may be asked about.
pub fn news(before: &Snapshot, after: &Snapshot, context: &Context) -> Option<String> {
    let (old, new) = (before.approvals.value()?, after.approvals.value()?);
    let known = |request: &ApprovalRequest| old.iter().find(|one| one.number == request.number);
    let answer = new.iter().find(|request| {
        let waited = known(request).is_none_or(|before| before.state == ApprovalState::Waiting);
        let told = match request.state {
            ApprovalState::Approved | ApprovalState::Refused | ApprovalState::Expired => true,
            ApprovalState::Waiting | ApprovalState::Withdrawn | ApprovalState::Lapsed | ApprovalState::Used => false,
        };
        request.is_of(context) && waited && told
    });
    if let Some(request) = answer {
        return Some(format!("{} for {}: {}. {}", request.number, request.id, request.became(), request.way_on()));
    }
    let asked = new.iter().find(|request| {
        request.state == ApprovalState::Waiting && known(request).is_none() && !request.is_of(context)
    })?;
    Some(format!(
        "{} asks for a second person: {} of {} ({}). 8 lists it.",
        asked.operator, asked.action, asked.id, asked.number
    ))
}
