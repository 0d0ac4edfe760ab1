//! What else is true of a customer who was charged once: what the second line on the statement may be.

use super::Note;
use super::books::{Books, Purchase};
use super::standing::Money;
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
    let ours = hooks.iter().filter(|hook| {
        hook.provider_ref
            .as_ref()
            .is_none_or(|of| purchase.charges.iter().any(|charge| charge.seen.name == of.as_str()))
    });
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

fn declined_before(_: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    let refused = purchase.charges.iter().any(|charge| charge.seen.money == Money::Refused);
    refused || purchase.payments.iter().any(|payment| payment.status == Some(PaymentStatus::Failed))
}

fn replayed(_: &Books<'_>, purchase: &Purchase<'_>) -> bool {
    purchase.requests.iter().any(|request| request.replayed == Some(true))
}
