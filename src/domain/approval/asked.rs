//! What an asked, answered or withdrawn request promises, and how it is read back: the lines of these result pages.

use super::super::ids::{ApprovalId, PlanHash};
use super::super::port::Dossier;
use super::super::promise::Said;
use super::super::time::clock;
use super::{ApprovalRequest, ApprovalState};

/// The newest request for a plan, when it is newer than what there was.
pub(in crate::domain) fn kept(hash: &PlanHash, newest: Option<ApprovalId>, after: &Dossier) -> Said {
    let mine = |request: &&ApprovalRequest| request.plan_hash == *hash && Some(request.number) > newest;
    match after.approvals.iter().filter(mine).max_by_key(|request| request.number) {
        Some(request) => Said::Yes(format!("{}: {}", request.number, request.became())),
        None => Said::No("no new request for this plan is stored".to_owned()),
    }
}

/// Where a request stands that was answered or taken back.
pub(in crate::domain) fn answered(number: ApprovalId, wanted: ApprovalState, after: &Dossier) -> Said {
    let Some(request) = after.approvals.iter().find(|request| request.number == number) else {
        return Said::NotKnown(format!("{number} is not on the list any more; see screen 8"));
    };
    // Whoever asked may have been quicker than the read-back.
    let used = wanted == ApprovalState::Approved && request.state == ApprovalState::Used;
    let said = request.became();
    if request.state == wanted || used { Said::Yes(said) } else { Said::No(said) }
}

/// Until when an approved plan may be carried out.
pub(in crate::domain) fn act_until(number: ApprovalId, after: &Dossier) -> Said {
    match after.approvals.iter().find(|request| request.number == number).and_then(|request| request.act_until) {
        Some(until) => Said::Yes(format!("until {}", clock(until))),
        None => Said::No("not approved".to_owned()),
    }
}
