//! The sources that a case does not have, and what each would tell.

use crate::domain::case::Case;

/// What we do not have, in sentences. An empty source is one we have.
pub(super) fn sources(case: &Case) -> Vec<String> {
    let table = [
        (
            case.charges.is_none(),
            "We do not have the provider's charges: a look-up tells whether money moved, and how often.",
        ),
        (case.payments.is_none(), "We do not have our payments: they tell what our books say of each charge."),
        (
            case.records.is_none(),
            "We do not have the records of the keys: they tell whether a key was lost or taken twice.",
        ),
        (
            case.requests.is_none(),
            "We do not have the requests: they tell whether the client used a new key, and what it was answered.",
        ),
        (
            case.transitions.is_none(),
            "We do not have the changes of the payments: they tell who marked a payment failed, and when.",
        ),
        (case.webhooks.is_none(), "We do not have the provider's events: they tell what it reported by itself."),
        (
            case.settlements.is_none(),
            "We do not have the settlement report: it tells what was paid out, refunded and charged back.",
        ),
    ];
    table.into_iter().filter(|(missing, _)| *missing).map(|(_, what)| what.to_owned()).collect()
}
