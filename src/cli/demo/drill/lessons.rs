//! What each incident teaches beyond its own words: the screen that shows it, the job, the rules that name the mistake.

use crate::app::drill::{Caught, Job};
use crate::app::screen::ScreenId;

/// What a lesson adds to its incident.
pub struct Plan {
    /// The screen that shows it.
    pub shown_on: ScreenId,
    /// What is asked of the person.
    pub job: Job,
    /// The rules that name it, or the mistake most people make in it.
    pub caught_by: Vec<Caught>,
}

type Row = (&'static str, ScreenId, Job, &'static [(&'static str, &'static str)]);

/// One row per incident. One without a row is seen on the Overview, and is to be understood.
const PLANS: &[Row] = &[
    (
        "oom-kill",
        ScreenId::Stuck,
        Job::Finish,
        &[
            ("I5", "It fires once somebody frees a stuck record by removing it."),
            ("I1", "It fires when the retry after that has charged again."),
        ],
    ),
    (
        "slow-provider",
        ScreenId::Unknown,
        Job::Finish,
        &[("I12", "It fires when a time-out was written down as a failure: the settlement still has the charge.")],
    ),
    (
        "cron-deletes-keys",
        ScreenId::Invariants,
        Job::Understand,
        &[
            ("I5", "It fires with the first key that is removed."),
            ("I1", "It fires when the retry has charged again: too late."),
        ],
    ),
    (
        "key-per-attempt",
        ScreenId::Invariants,
        Job::Understand,
        &[("I9", "It fires with the second key of an order, before both payments have succeeded.")],
    ),
    ("payload-reuse", ScreenId::Conflicts, Job::Understand, &[]),
    (
        "timeout-as-failed",
        ScreenId::Invariants,
        Job::Understand,
        &[
            ("I14", "It fires with the first payment that is failed without the provider's word."),
            ("I9", "It fires when the customer pays again."),
        ],
    ),
    (
        "lost-webhook",
        ScreenId::Stuck,
        Job::Finish,
        &[("I12", "It fires when such a payment is called failed: the settlement still has the charge.")],
    ),
    (
        "short-lease",
        ScreenId::Invariants,
        Job::Finish,
        &[("I7", "It fires with the first lease, before a second pod takes it.")],
    ),
    (
        "orphan-charges",
        ScreenId::Invariants,
        Job::Understand,
        &[("I12", "It is the only one that can: our own tables know nothing of these charges.")],
    ),
    (
        "key-expired",
        ScreenId::Invariants,
        Job::Understand,
        &[
            ("I5", "It fires when the key is gone before its promised end."),
            ("I1", "It fires when the late retry has charged again: too late."),
        ],
    ),
    (
        "global-key",
        ScreenId::Invariants,
        Job::Understand,
        &[("I8", "It fires with the first answer that belongs to somebody else.")],
    ),
    (
        "tight-fingerprint",
        ScreenId::Invariants,
        Job::Understand,
        &[
            ("I15", "It fires with the first honest retry that is refused."),
            ("I1", "It fires when the customer has paid twice: too late."),
        ],
    ),
    (
        "shipment-down",
        ScreenId::Invariants,
        Job::Understand,
        &[("I13", "It fires when a checkout past its pivot has not moved for too long.")],
    ),
    ("calm", ScreenId::Overview, Job::Understand, &[]),
];

/// The plan for an incident.
pub fn of(name: &str) -> Plan {
    match PLANS.iter().find(|(known, ..)| *known == name) {
        Some((_, shown_on, job, rules)) => {
            let caught = |(rule, when): &(&str, &str)| Caught { rule: (*rule).to_owned(), when: (*when).to_owned() };
            Plan { shown_on: *shown_on, job: *job, caught_by: rules.iter().map(caught).collect() }
        }
        None => Plan { shown_on: ScreenId::Overview, job: Job::Understand, caught_by: Vec::new() },
    }
}
