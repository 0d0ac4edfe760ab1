//! What else is true of a customer who was charged once: what the second line on the statement may be.

use super::Note;
use super::books::{Books, Purchase};
use super::standing::Money;
use crate::domain::case::PaymentRow;
use crate::domain::payment::PaymentStatus;

/// Whether a note is true of a purchase.
type Holds = fn(&Books<'_>, &Purchase<'_>) -> bool;

/// The note that explains most of what the customer sees: money first, then what never moved any.
pub(super) fn of(books: &Books<'_>, purchase: &Purchase<'_>) -> Option<Note> {
    let rules: [(Note, Holds); 5] = [
        (Note::Refunded, refunded),
        (Note::HoldOnly, hold_only),
        (Note::EventAppliedTwice, event_applied_twice),
        (Note::DeclinedBefore, declined_before),
        (Note::Replayed, replayed),
    ];
    rules.into_iter().find(|(_, holds)| holds(books, purchase)).map(|(note, _)| note)
}

fn refunded(_: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    purchase.charges.iter().any(|charge| {
        charge.seen.money == Money::GivenBack || (charge.seen.money == Money::Stands && charge.seen.returned > 0)
    })
}

fn hold_only(_: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    purchase.charges.iter().any(|charge| charge.seen.money == Money::Held)
}

fn event_applied_twice(books: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    let hooks = books.case.webhooks.as_deref().unwrap_or_default();
    let ours =
        hooks.iter().filter(|hook| hook.provider_ref.as_ref().is_none_or(|of| purchase.charge(of.as_str()).is_some()));
    let mut applied = std::collections::BTreeMap::new();
    for hook in ours {
        let Some(event) = hook.event.as_deref() else { continue };
        // A row a delivery: two rows that were applied are one event applied twice.
        let times = hook.times_applied.unwrap_or(u32::from(hook.applied_at.is_some()));
        let sum: &mut u32 = applied.entry(event).or_default();
        *sum = sum.saturating_add(times);
    }
    applied.values().any(|times| *times > 1)
}

fn declined_before(books: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    let refused = purchase.charges.iter().any(|charge| charge.seen.money == Money::Refused);
    refused
        || purchase
            .payments
            .iter()
            .any(|row| row.status == Some(PaymentStatus::Failed) && !failed_by_time_out(books, row))
}

/// Whether an attempt without a charge was marked failed because the provider did not answer in time: nobody declined.
pub(super) fn timed_out(books: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    purchase.payments.iter().any(|row| purchase.charge_of(row).is_none() && failed_by_time_out(books, row))
}

fn failed_by_time_out(books: &Books<'_>, row: &PaymentRow) -> bool {
    let changes = row.id.as_ref().and_then(|id| books.transitions.get(id.as_str()));
    let last = changes.and_then(|all| all.iter().rfind(|change| change.to == Some(PaymentStatus::Failed)));
    let by = last.and_then(|change| change.by.as_deref()).unwrap_or_default().to_ascii_lowercase();
    ["timeout", "timed out", "time-out", "time out"].iter().any(|word| by.contains(word))
        && row.status == Some(PaymentStatus::Failed)
}

fn replayed(_: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    purchase.requests.iter().any(|request| request.replayed == Some(true))
}
