//! What a plan promises, line by line, and how each line is read back afterwards.
//!
//! One list serves both: the plan shows the promises, the result page shows the same lines with what
//! the re-read record says about each. So nothing can be claimed that was not asked, or asked and not checked.

use serde::{Deserialize, Serialize};

use super::approval::{self, ApprovalState, ResumeState};
use super::evidence::LookupOutcome;
use super::ids::{ApprovalId, Attempt, EvidenceId, Holder, Operator, PlanHash, ProviderRef, ResumeId, Version};
use super::payment::PaymentStatus;
use super::port::Dossier;
use super::record::RecordStatus;
use super::time::{self, Instant, Seconds};

/// One line of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Promise {
    /// The provider is asked with GET, nothing else.
    AskProvider {
        /// By which name the screen calls it.
        provider: String,
    },
    /// One more piece of evidence than the newest there was.
    EvidenceKept {
        /// The newest before.
        newest: Option<EvidenceId>,
    },
    /// The lease is taken: the fencing token grows by one.
    LeaseTaken {
        /// The token before.
        from: Attempt,
    },
    /// No charge is made; the one that exists is adopted.
    NoCharge {
        /// The charge.
        provider_ref: ProviderRef,
        /// What the provider said about it, and when.
        said: String,
    },
    /// The payment ends in this state.
    PaymentEnds {
        /// The final state.
        status: PaymentStatus,
        /// With which charge.
        provider_ref: ProviderRef,
    },
    /// The record is done and replays this code.
    RecordDone {
        /// The code clients get from now on.
        code: i32,
    },
    /// A person holds the lease.
    HeldBy {
        /// Who.
        holder: Holder,
        /// For how long.
        length: Seconds,
    },
    /// Nobody holds the lease.
    LeaseFree,
    /// Text was appended to the log.
    Written {
        /// What kind of text.
        what: String,
        /// The action's word in the log.
        action: String,
        /// When the record was read for the plan, by the database's clock: what is older is not this text.
        after: Instant,
    },
    /// The payment ends as FAILED, with no charge.
    EndsUncharged,
    /// The service's recoverer gets it.
    HandedBack {
        /// The newest hand back before.
        newest: Option<ResumeId>,
    },
    /// No recoverer takes it up any more.
    Withdrawn {
        /// Which hand back.
        resume: ResumeId,
    },
    /// A plan is kept for a second person.
    Asked {
        /// Which.
        plan: PlanHash,
        /// The newest request before.
        newest: Option<ApprovalId>,
    },
    /// Record and payment stay as they are.
    Untouched {
        /// Their version.
        version: Version,
    },
    /// A request for approval is answered, or taken back.
    Answered {
        /// Which.
        request: ApprovalId,
        /// How.
        state: ApprovalState,
    },
    /// Whoever asked may carry the plan out.
    MayAct {
        /// By which request.
        request: ApprovalId,
        /// Who asked.
        asker: Operator,
    },
}

/// What the re-read record says about a promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// It is so.
    Yes(String),
    /// It is not so.
    No(String),
    /// The record does not tell.
    NotKnown(String),
}

impl Promise {
    /// The line in the plan, and in the "asked" column.
    pub fn asked(&self) -> String {
        match self {
            Self::AskProvider { provider } => {
                format!("ask {provider} what happened: GET only, no charge, no state change")
            }
            Self::EvidenceKept { .. } => "keep the answer as one line of evidence".to_owned(),
            Self::LeaseTaken { from } => {
                format!("take the lease (attempt {} -> {})", from.0, from.0.saturating_add(1))
            }
            Self::NoCharge { provider_ref, said } => {
                format!("NO new charge: {said} {provider_ref}")
            }
            Self::PaymentEnds { status, provider_ref } => format!("payment {status} with {provider_ref}"),
            Self::RecordDone { code } => {
                format!("record done, stored answer {code}: client retries stop getting 409")
            }
            Self::HeldBy { holder, length } => {
                format!("{holder} holds the lease for {}: no sweeper or retry takes it", time::words(*length))
            }
            Self::LeaseFree => "nobody holds the lease: retries and the sweeper may take it".to_owned(),
            Self::Written { what, .. } => format!("append the {what} to the log"),
            Self::EndsUncharged => "payment FAILED with no charge: nothing was charged".to_owned(),
            Self::HandedBack { .. } => {
                "the service's recoverer looks up again and may CHARGE with the SAME provider key".to_owned()
            }
            Self::Withdrawn { resume } => {
                format!("{resume} ends: no recoverer takes it up any more, nothing is charged for it")
            }
            Self::Asked { plan, .. } => format!("plan {}, whole, goes to a second person", plan.short()),
            Self::Untouched { version } => format!("record and payment stay as they are (version {})", version.short()),
            Self::Answered { request, state: ApprovalState::Withdrawn } => {
                format!("take {request} back: nobody can approve it then")
            }
            Self::Answered { request, state } => format!("{request} is {}", state.word()),
            Self::MayAct { asker, .. } => format!("{asker} may carry the plan out, for a short while"),
        }
    }

    /// What the record, re-read after the action, says about it.
    pub fn read_back(&self, after: &Dossier) -> Said {
        let record = &after.detail.record;
        match self {
            Self::AskProvider { .. } | Self::EvidenceKept { newest: _ } if after.evidence.is_empty() => {
                Said::NotKnown("no stored evidence is readable".to_owned())
            }
            Self::AskProvider { .. } => after.evidence.first().map_or_else(
                || Said::NotKnown("no evidence".to_owned()),
                |latest| {
                    let said = format!("{} at {}", latest.outcome.word(), time::clock(latest.started_at));
                    match &latest.outcome {
                        LookupOutcome::Found { .. } | LookupOutcome::NotFound { .. } => Said::Yes(said),
                        // It was asked; what happened is as unknown as before.
                        LookupOutcome::Unreachable { .. } => Said::NotKnown(said),
                    }
                },
            ),
            Self::EvidenceKept { newest } => {
                let now = after.evidence.iter().filter_map(|evidence| evidence.id).max();
                match now {
                    Some(id) if Some(id) > *newest => Said::Yes(id.to_string()),
                    Some(_) | None => Said::No("no newer evidence is stored".to_owned()),
                }
            }
            Self::LeaseTaken { from } => match record.attempt {
                Some(now) if now > *from => Said::Yes(format!("attempt {}", now.0)),
                Some(now) => Said::No(format!("attempt is still {}", now.0)),
                None => Said::NotKnown("this schema keeps no attempt".to_owned()),
            },
            Self::NoCharge { provider_ref, .. } => stored_ref(after, provider_ref),
            Self::PaymentEnds { status, provider_ref } => match &record.payment_status {
                Some(now) if now == status => match stored_ref(after, provider_ref) {
                    Said::Yes(found) => Said::Yes(format!("{now}, {found}")),
                    Said::No(why) => Said::No(why),
                    Said::NotKnown(why) => Said::NotKnown(why),
                },
                Some(now) => Said::No(format!("payment is {now}")),
                None => Said::NotKnown("no payment is readable".to_owned()),
            },
            Self::RecordDone { code } => match (&record.status, after.detail.response_code) {
                (RecordStatus::Done, Some(stored)) if stored == *code => Said::Yes(format!("done, {stored}")),
                (RecordStatus::Done, Some(stored)) => Said::No(format!("done, but with {stored}")),
                (RecordStatus::Done, None) => Said::NotKnown("done; the stored code is not readable".to_owned()),
                (RecordStatus::Processing | RecordStatus::Unrecognised(_), _) => {
                    Said::No(format!("record is {}", record.status))
                }
            },
            Self::HeldBy { holder, .. } => {
                let live = record.lease.is_live(after.at);
                match &record.lease.holder {
                    Some(now) if now == holder && live => Said::Yes(
                        record.lease.until.map_or_else(String::new, |until| format!("until {}", time::clock(until))),
                    ),
                    Some(now) => Said::No(format!("the lease is {now}'s")),
                    None => Said::No("nobody holds the lease".to_owned()),
                }
            }
            Self::LeaseFree => {
                if record.lease.is_live(after.at) {
                    Said::No("the lease is still held".to_owned())
                } else {
                    Said::Yes("lease over".to_owned())
                }
            }
            Self::Written { action, after: since, .. } => written(after, action, *since),
            Self::EndsUncharged => match (&record.payment_status, &record.provider_ref) {
                (Some(PaymentStatus::Failed), None) => Said::Yes("payment FAILED, no charge is stored".to_owned()),
                (Some(PaymentStatus::Failed), Some(stored)) => Said::No(format!("FAILED, but with charge {stored}")),
                (Some(now), _) => Said::No(format!("payment is {now}")),
                (None, _) => Said::NotKnown("no payment is readable".to_owned()),
            },
            Self::HandedBack { newest } => {
                let made = after.resumes.iter().filter(|resume| Some(resume.number) > *newest);
                match made.max_by_key(|resume| resume.number) {
                    Some(resume) => Said::Yes(format!(
                        "{}: {} since {}, until {}",
                        resume.number,
                        resume.state.word(),
                        time::clock(resume.state_at),
                        time::clock(resume.not_after)
                    )),
                    None => Said::No("no new hand back is stored".to_owned()),
                }
            }
            Self::Withdrawn { resume } => match after.resumes.iter().find(|seen| seen.number == *resume) {
                Some(seen) if seen.state == ResumeState::Withdrawn => {
                    Said::Yes(format!("{resume} withdrawn at {}", time::clock(seen.state_at)))
                }
                Some(seen) => Said::No(format!("{resume} is {}", seen.state.word())),
                None => Said::NotKnown(format!("{resume} is not listed any more")),
            },
            Self::Asked { plan, newest } => approval::kept(plan, *newest, after),
            Self::Untouched { version } if record.version == *version => {
                Said::Yes(format!("version {}", version.short()))
            }
            Self::Untouched { .. } => Said::No(format!("version {}: somebody else changed it", record.version.short())),
            Self::Answered { request, state } => approval::answered(*request, *state, after),
            Self::MayAct { request, .. } => approval::act_until(*request, after),
        }
    }
}

/// The log is part of the record's timeline where the schema has one.
fn written(after: &Dossier, action: &str, since: Instant) -> Said {
    let outcome = format!("{action} outcome done");
    match after.timeline.value() {
        None => Said::NotKnown("the log could not be read; see screen 8".to_owned()),
        Some(seen) => seen
            .iter()
            .rev()
            .find(|entry| entry.lane == "operator" && entry.what == outcome && entry.at >= since)
            .map_or_else(
                || Said::NotKnown("not in the timeline; see screen 8".to_owned()),
                |entry| Said::Yes(format!("in the log at {}", time::clock(entry.at))),
            ),
    }
}

fn stored_ref(after: &Dossier, wanted: &ProviderRef) -> Said {
    match &after.detail.record.provider_ref {
        Some(stored) if stored == wanted => Said::Yes(format!("stored charge is {stored}")),
        Some(other) => Said::No(format!("stored charge is {other}")),
        None => Said::No("no charge is stored".to_owned()),
    }
}
