//! Where the second person stands with a plan of one's own, and what can be said about a request.

use super::super::action::Change;
use super::super::guard::{Context, Plan, Refused};
use super::super::port::Dossier;
use super::super::promise::Promise;
use super::super::time::{Instant, clock};
use super::{ApprovalRequest, ApprovalState, Need};

/// Where the second person stands with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// One person is enough.
    NotNeeded,
    /// Nobody was asked for this very plan, or it came to nothing.
    ToAsk {
        /// Why a second person is needed.
        why: String,
        /// The newest request of this person for the record, for this plan or another, that came to nothing.
        last: Option<Box<ApprovalRequest>>,
    },
    /// This very plan waits.
    Waits(Box<ApprovalRequest>),
    /// This very plan is approved, and may be acted on until `act_until`.
    Approved(Box<ApprovalRequest>),
}

impl Plan {
    /// Where the second person stands with this plan, by facts re-read just now.
    pub fn standing(&self, facts: &Dossier, context: &Context) -> Standing {
        let Need::Yes(why) = self.need() else {
            return Standing::NotNeeded;
        };
        let counts = self.approval(facts, context).cloned().map(Box::new);
        match counts {
            Some(request) if request.state == ApprovalState::Approved => Standing::Approved(request),
            Some(request) => Standing::Waits(request),
            None => Standing::ToAsk { why: why.clone(), last: newest_of(facts, context).cloned().map(Box::new) },
        }
    }
}

impl Plan {
    /// What asking for this plan promises, by facts re-read just now.
    pub fn questions(&self, facts: &Dossier) -> Vec<Promise> {
        let newest = facts.approvals.iter().map(|request| request.number).max();
        vec![
            Promise::Asked { plan: self.hash().clone(), newest },
            Promise::Untouched { version: self.record().version.clone() },
        ]
    }

    /// Whether this plan, that waits, may be carried out without an answer at this moment of the database's clock.
    pub fn glass(&self, waits: &ApprovalRequest, at: Instant) -> Result<(), Refused> {
        match (self.change(), waits.break_glass_from) {
            (Change::Adopt { .. }, Some(from)) if at >= from => Ok(()),
            (Change::Adopt { .. }, Some(from)) => Err(Refused::new(
                format!("{} may still be answered in time.", waits.number),
                format!("From {} on you may go on alone, with an incident id.", clock(from)),
            )),
            (
                Change::Adopt { .. }
                | Change::Fail { .. }
                | Change::Reverse { .. }
                | Change::NotCharged { .. }
                | Change::HandBack { .. }
                | Change::LookUp
                | Change::Hold { .. }
                | Change::Release
                | Change::Withdraw { .. }
                | Change::Note
                | Change::HandOver,
                _,
            ) => Err(Refused::new(
                "Nobody goes on alone here: only a charge that was already made may be adopted without an answer.",
                "Wait for the answer, or hand the record over (a h).",
            )),
        }
    }
}

/// The newest request this person made for a record, whatever became of it.
pub fn newest_of<'f>(facts: &'f Dossier, context: &Context) -> Option<&'f ApprovalRequest> {
    facts.approvals.iter().filter(|request| request.is_of(context)).max_by_key(|request| request.number)
}

impl ApprovalRequest {
    /// Whether this person asked it, at a console with this login.
    pub fn is_of(&self, context: &Context) -> bool {
        self.operator == context.operator && self.session_user == context.role
    }

    /// What became of it, in words: who, when, until when, and in which words it was refused.
    pub fn became(&self) -> String {
        let who = self.decided_by.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
        let at = self.decided_at.map_or_else(|| "an unknown time".to_owned(), clock);
        let until = |end: Option<Instant>| end.map_or_else(|| "an unknown time".to_owned(), clock);
        let words = self.decided_reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        match self.state {
            ApprovalState::Waiting => format!("waits since {}, until {}", clock(self.at), clock(self.expires_at)),
            ApprovalState::Approved => {
                format!("approved by {who} at {at}, act until {}{words}", until(self.act_until))
            }
            ApprovalState::Refused => format!("refused by {who} at {at}{words}"),
            ApprovalState::Withdrawn => format!("taken back by {who} at {at}{words}"),
            ApprovalState::Expired => format!("nobody answered until {}", clock(self.expires_at)),
            ApprovalState::Lapsed => {
                format!("approved by {who} at {at}, but not acted on until {}", until(self.act_until))
            }
            ApprovalState::Used if self.decided_by.is_some() => format!("approved by {who} at {at}, and carried out"),
            ApprovalState::Used => "carried out without waiting (break-glass)".to_owned(),
        }
    }

    /// What whoever asked does next.
    pub fn way_on(&self) -> &'static str {
        match self.state {
            ApprovalState::Waiting => "Go on with other work; a notice says when it is answered.",
            ApprovalState::Approved => "Look up again (a l), then resume (a r): the same answer is the same plan.",
            ApprovalState::Refused => "Ask who refused it, or hand the record over (a h).",
            ApprovalState::Withdrawn | ApprovalState::Expired | ApprovalState::Lapsed => "Ask again (a r).",
            ApprovalState::Used => "There is nothing more to do with it.",
        }
    }
}
