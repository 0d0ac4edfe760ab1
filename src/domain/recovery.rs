//! The recovery table: what may be done next with a record, as one pure function. First match wins.
//!
//! The console, the lab's recoverer and the tests all call [`next_step`]. The numbers in the comments
//! are the rows of the design's decision table; [`Decision::row`] carries the row so that tests and
//! screens can name it. Two rows are stricter than that table, see `row 15` and `hits on the order alone`.

use serde::{Deserialize, Serialize};

mod absence;
mod fit;

use super::evidence::{Class, Evidence, LookupOutcome, Match, Observed};
use super::ids::Holder;
use super::payment::PaymentStatus;
use super::policy::{Policy, ProviderTerms};
use super::record::{RecordDetail, RecordStatus, Sibling};
use super::time::{self, Instant};

/// What may be done next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Nothing may be done, and why; with a way out.
    Refuse(Refusal),
    /// The outcome is stored.
    NothingToDo,
    /// Ask the provider before anything else.
    LookUpFirst {
        /// Why the evidence at hand does not serve.
        why: String,
    },
    /// Nothing is concluded; look again.
    Wait {
        /// What is not certain yet.
        why: String,
        /// From when a look-up can tell more.
        look_again: Instant,
    },
    /// Finish as SUCCEEDED with this charge; nothing is charged.
    Adopt {
        /// The one charge that decides.
        charge: Observed,
    },
    /// Finish as FAILED with the provider's final no.
    FinishAsFailed {
        /// A charge that says no.
        charge: Observed,
        /// The provider's word.
        reason: String,
    },
    /// The other payment paid the order and this charge was given back: FAILED, with its ref kept.
    FinishAsReversed {
        /// The reversed charge.
        charge: Observed,
    },
    /// The provider was never charged and still remembers the key: the service's own recoverer may charge with it.
    HandBack,
    /// The provider was never charged and the key window is over: FAILED, with the proof kept.
    FinishAsNotCharged,
}

/// A refusal: what is in the way, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why not.
    pub why: String,
    /// The way out.
    pub way_out: String,
}

impl Refusal {
    fn new(why: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self { why: why.into(), way_out: way_out.into() }
    }
}

/// A step and the row of the table that named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The row, 1 to 17.
    pub row: u8,
    /// The step.
    pub step: Step,
}

const TRIAGE: &str = "Hand it over (a h): a person has to compare our books with the provider's.";
const HAND_OVER: &str = "Hand it over (a h) with what you saw.";

/// Decides the next step for a record, for `caller`, at `now` by the database's clock.
///
/// `evidence` may come in any order. What is not known never leads to a change.
pub fn next_step(
    detail: &RecordDetail,
    evidence: &[Evidence],
    caller: &Holder,
    policy: &Policy,
    terms: &ProviderTerms,
    now: Instant,
) -> Decision {
    let case = Case { detail, evidence, policy, terms, now };
    let decide = |row: u8, step: Step| Decision { row, step };
    if let Some(step) = case.leased_to_another(caller) {
        return decide(1, step);
    }
    match &detail.record.status {
        RecordStatus::Done => {
            return case.denied_by_our_books().map_or_else(|| decide(3, Step::NothingToDo), |step| decide(2, step));
        }
        RecordStatus::Unrecognised(word) => {
            let why = format!("The record's status is a word this console does not know: {word}.");
            return decide(1, Step::Refuse(Refusal::new(why, HAND_OVER)));
        }
        RecordStatus::Processing => {}
    }
    if let Some(step) = case.order_already_paid() {
        return decide(4, step);
    }
    let latest = match case.fresh_evidence() {
        Ok(latest) => latest,
        Err(why) => return decide(5, Step::LookUpFirst { why }),
    };
    match &latest.outcome {
        LookupOutcome::Unreachable { why, retry_after_s } => {
            let pause = time::Seconds(retry_after_s.unwrap_or(30).max(1));
            let why = format!("The provider gave no answer that means anything ({why}). Nothing is concluded.");
            decide(6, Step::Wait { why, look_again: pause.after(latest.started_at) })
        }
        LookupOutcome::Found { observed } => case.weigh(observed, latest),
        LookupOutcome::NotFound { absence, .. } => case.absent(*absence, latest),
    }
}

/// The two look-ups that together prove that nothing was charged, the earlier first; `None` while nothing is proven.
pub fn proof_of_absence<'a>(
    detail: &'a RecordDetail,
    evidence: &'a [Evidence],
    policy: &'a Policy,
    terms: &'a ProviderTerms,
    now: Instant,
) -> Option<(&'a Evidence, &'a Evidence)> {
    let case = Case { detail, evidence, policy, terms, now };
    let latest = case.latest()?;
    let LookupOutcome::NotFound { absence, .. } = &latest.outcome else {
        return None;
    };
    let first = case.definitive(*absence, latest).ok()?;
    Some((first, latest))
}

/// Everything one decision looks at.
struct Case<'a> {
    detail: &'a RecordDetail,
    evidence: &'a [Evidence],
    policy: &'a Policy,
    terms: &'a ProviderTerms,
    now: Instant,
}

impl<'a> Case<'a> {
    fn leased_to_another(&self, caller: &Holder) -> Option<Step> {
        let lease = &self.detail.record.lease;
        if !lease.is_live(self.now) || lease.holder.as_ref() == Some(caller) {
            return None;
        }
        let until = lease.until.map_or_else(|| "an unknown time".to_owned(), time::clock);
        let holder = lease.holder.as_ref().map_or("another worker", Holder::as_str);
        Some(Step::Refuse(Refusal::new(
            format!("{holder} holds the lease until {until} and may be working on it."),
            format!("Wait until {until}, then look again."),
        )))
    }

    /// Charges of any age that carry this record's key, payment or stored reference and moved money.
    fn money_moved_for_this(&self) -> impl Iterator<Item = &Observed> {
        self.evidence
            .iter()
            .flat_map(|evidence| match &evidence.outcome {
                LookupOutcome::Found { observed } => observed.as_slice(),
                LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. } => &[],
            })
            .filter(|hit| hit.class.moved_money() && hit.matches(self.detail) == Match::Decides)
    }

    /// A charge that moved money in an earlier look-up and is missing from the latest: one of the two missed something.
    fn vanished(&self, latest: &[Observed]) -> Option<&Observed> {
        self.money_moved_for_this().find(|hit| latest.iter().all(|seen| seen.provider_ref != hit.provider_ref))
    }

    fn denied_by_our_books(&self) -> Option<Step> {
        let record = &self.detail.record;
        let booked = record.payment_status == Some(PaymentStatus::Succeeded);
        let denied = self.money_moved_for_this().find(|hit| {
            hit.class == Class::Succeeded && !(booked && record.provider_ref.as_ref() == Some(&hit.provider_ref))
        })?;
        Some(Step::Refuse(Refusal::new(
            format!(
                "The record is done, but the provider took {} with {} and our books deny it.",
                denied.money(),
                denied.provider_ref
            ),
            TRIAGE,
        )))
    }

    fn paid_sibling(&self) -> Option<&Sibling> {
        self.detail.siblings.iter().find(|sibling| sibling.status == PaymentStatus::Succeeded)
    }

    fn order_already_paid(&self) -> Option<Step> {
        let sibling = self.paid_sibling()?;
        // The newest word on this record's own charge decides between "refund it first" and "finish as reversed".
        let latest = self.fresh_evidence().ok()?;
        let LookupOutcome::Found { observed } = &latest.outcome else {
            return None;
        };
        let mut own =
            observed.iter().filter(|hit| hit.class.moved_money() && hit.matches(self.detail) == Match::Decides);
        let hit = own.next()?;
        if own.next().is_none() && fit::given_back_whole(hit) {
            return Some(self.reversed(hit, observed, latest));
        }
        let theirs = sibling.provider_ref.as_ref().map_or("no ref", |found| found.as_str());
        Some(Step::Refuse(Refusal::new(
            format!(
                "Payment {} ({theirs}) already paid this order, and {} took {} as well: probably a double charge.",
                sibling.payment,
                hit.provider_ref,
                hit.money()
            ),
            TRIAGE,
        )))
    }

    fn latest(&self) -> Option<&'a Evidence> {
        self.evidence.iter().max_by_key(|evidence| (evidence.started_at, evidence.id))
    }

    /// The latest evidence, if it may decide; else why not.
    fn fresh_evidence(&self) -> Result<&Evidence, String> {
        let latest = self.latest().ok_or("No look-up has been made.")?;
        let age = time::age(latest.started_at, self.now);
        if age > self.policy.evidence_freshness {
            return Err(format!(
                "The last look-up is {} old; at most {} is accepted.",
                time::words(age),
                time::words(self.policy.evidence_freshness)
            ));
        }
        if time::until(latest.started_at, self.now) > self.policy.skew {
            return Err("The last look-up claims to be from the future.".to_owned());
        }
        if self.detail.last_attempt_at.is_some_and(|attempt| attempt > latest.started_at) {
            return Err("The provider was called again after the last look-up.".to_owned());
        }
        Ok(latest)
    }

    /// Rows 7 to 12: the provider reports charges.
    fn weigh(&self, hits: &[Observed], latest: &Evidence) -> Decision {
        let refuse = |row, why: String, way_out: &str| Decision { row, step: Step::Refuse(Refusal::new(why, way_out)) };
        let own: Vec<&Observed> = hits.iter().filter(|hit| hit.matches(self.detail) == Match::Decides).collect();
        if let Some(wrong) = own.iter().find_map(|hit| self.does_not_fit(hit)) {
            return refuse(7, wrong, HAND_OVER);
        }
        let moved: Vec<&Observed> =
            hits.iter().filter(|hit| hit.class.moved_money() && hit.matches(self.detail) != Match::Foreign).collect();
        if let [first, second, ..] = moved.as_slice() {
            let why = format!(
                "Two charges moved money: {} and {}. Probably a double charge.",
                first.provider_ref, second.provider_ref
            );
            return refuse(8, why, TRIAGE);
        }
        if own.is_empty() {
            // Stricter than the table's wording: charges of the order that do not carry this record's key, payment
            // or ref say nothing about this record, and "not found" was not said either.
            let why =
                "The provider reports charges of this order, but none carries this record's key, payment or reference.";
            return refuse(8, why.to_owned(), TRIAGE);
        }
        if let Some(gone) = self.vanished(hits) {
            let why = format!(
                "An earlier look-up saw {} take {}, and the latest does not show it.",
                gone.provider_ref,
                gone.money()
            );
            return refuse(8, why, TRIAGE);
        }
        let unsettled = own.iter().find(|hit| is_unsettled(hit.class));
        let yes = own.iter().find(|hit| hit.class == Class::Succeeded);
        let wait = |row, why: String| {
            let look_again = self.policy.not_found_gap.min(time::Seconds(60)).after(latest.started_at);
            Decision { row, step: Step::Wait { why, look_again } }
        };
        match (yes, unsettled) {
            (Some(yes), Some(open)) => wait(
                9,
                format!("{} took the money while {} is still {}.", yes.provider_ref, open.provider_ref, open.raw),
            ),
            (Some(yes), None) => self.adopt(yes),
            (None, Some(open)) => wait(11, format!("{} is {}: not final.", open.provider_ref, open.class.word())),
            (None, None) => match own.iter().find(|hit| hit.class == Class::Authorised) {
                Some(hold) => wait(11, format!("{} is only authorised: not final.", hold.provider_ref)),
                None => Self::finish_as_failed(&own),
            },
        }
    }

    fn adopt(&self, yes: &Observed) -> Decision {
        let taken = self
            .detail
            .siblings
            .iter()
            .find(|sibling| sibling.provider_ref.as_ref() == Some(&yes.provider_ref))
            .map(|sibling| &sibling.payment)
            .or(self.detail.ref_owner.as_ref());
        match taken {
            Some(other) => Decision {
                row: 8,
                step: Step::Refuse(Refusal::new(
                    format!("Charge {} already belongs to payment {other}.", yes.provider_ref),
                    TRIAGE,
                )),
            },
            None => Decision { row: 10, step: Step::Adopt { charge: yes.clone() } },
        }
    }

    fn finish_as_failed(own: &[&Observed]) -> Decision {
        match own.first() {
            Some(hit) => {
                Decision { row: 12, step: Step::FinishAsFailed { charge: (*hit).clone(), reason: hit.raw.clone() } }
            }
            None => Decision {
                row: 8,
                step: Step::Refuse(Refusal::new("The provider's answer names no charge of this record.", HAND_OVER)),
            },
        }
    }
}

fn is_unsettled(class: Class) -> bool {
    match class {
        Class::Pending | Class::Open | Class::Unrecognised => true,
        Class::Succeeded | Class::Authorised | Class::Failed | Class::Reversed => false,
    }
}

#[cfg(test)]
pub(crate) mod tests;
