//! Which charges moved money, and which of them still stand.
//!
//! A charge stands while more was captured than given back. A chargeback gives back as well: the bank took the money
//! from us and gave it to the customer, and a refund on top would pay them twice. What was given back in part stands
//! with the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::books::Contradiction;
use super::report::{Lines, settled};
use super::told_twice;
use crate::domain::case::{Case, Charge, SettlementLine};
use crate::domain::payment::PaymentStatus;
use crate::domain::time::Instant;

/// What became of the money of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Money {
    /// Taken, and not all of it given back.
    Stands,
    /// Taken, and given back.
    GivenBack,
    /// Set aside and not taken.
    Held,
    /// Nobody knows yet.
    Open,
    /// Refused: nothing was taken.
    Refused,
}

/// Who says that a charge exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The provider, asked.
    Provider,
    /// The provider's report or a webhook.
    Told,
    /// Only our own books: a payment or record that names it.
    Books,
}

/// One charge, seen once.
#[derive(Debug, Clone)]
pub(super) struct Seen<'a> {
    /// The provider's id for it; empty when it has none.
    pub name: String,
    /// The provider's row, when there is one; of several about one charge, the one that says most.
    pub charge: Option<&'a Charge>,
    /// Who says so.
    pub source: Source,
    /// What became of it.
    pub money: Money,
    /// What stands of it, in minor units, where that is known.
    pub kept: Option<i64>,
    /// What was given back of it, in minor units.
    pub returned: i64,
    /// Of which currency.
    pub currency: Option<&'a String>,
    /// When it was made.
    pub at: Option<Instant>,
}

/// Every charge of a case once, with what stands of it.
pub(super) fn all<'a>(case: &'a Case, contradictions: &mut Vec<Contradiction>) -> Vec<Seen<'a>> {
    let settled = settled(case);
    let mut all: BTreeMap<&'a str, Seen<'a>> = BTreeMap::new();
    let mut nameless = Vec::new();
    let mut rows: BTreeMap<&'a str, Vec<&'a Charge>> = BTreeMap::new();
    for charge in case.charges.as_deref().unwrap_or_default() {
        match charge.provider_ref.as_ref().map(super::super::ids::ProviderRef::as_str).filter(|name| !name.is_empty()) {
            Some(name) => rows.entry(name).or_default().push(charge),
            None => nameless.push(charge),
        }
    }
    for (name, rows) in rows {
        if let Some(seen) = told_twice::one(name, &rows, settled.get(name), contradictions) {
            all.insert(name, seen);
        }
    }
    for (name, lines) in &settled {
        if let Some(line) = lines.charge {
            all.entry(name).or_insert_with(|| of_report(name, line, lines));
        }
    }
    if case.charges.is_none() {
        by_our_books(case, &mut all);
    }
    let mut all: Vec<Seen<'a>> = all.into_values().collect();
    if !nameless.is_empty() {
        contradictions.push(Contradiction::of_all("a charge has no ref: it cannot be told from the others"));
        // Two without a name may be one.
        all.extend(nameless.into_iter().map(|charge| Seen {
            charge: Some(charge),
            at: charge.created_at,
            money: Money::Open,
            ..told("", Source::Provider, None)
        }));
    }
    all
}

/// What our own books and the provider's events say when nobody asked the provider.
fn by_our_books<'a>(case: &'a Case, all: &mut BTreeMap<&'a str, Seen<'a>>) {
    let paid = case.payments.as_deref().unwrap_or_default().iter();
    for payment in paid.filter(|payment| payment.status == Some(PaymentStatus::Succeeded)) {
        if let Some(name) = &payment.provider_ref {
            all.entry(name.as_str()).or_insert_with(|| Seen {
                kept: payment.amount,
                currency: payment.currency.as_ref(),
                ..told(name.as_str(), Source::Books, payment.created_at)
            });
        }
    }
    for record in case.records.as_deref().unwrap_or_default() {
        let good = record.response_code.is_some_and(|code| (200..300).contains(&code));
        if let (true, Some("done"), Some(name)) = (good, record.status.as_deref(), &record.provider_ref) {
            all.entry(name.as_str()).or_insert_with(|| told(name.as_str(), Source::Books, record.created_at));
        }
    }
    // An event may name the charge by another id than our books do: where they name any, only that one counts.
    let ours: BTreeSet<&str> = case
        .payments
        .iter()
        .flatten()
        .filter_map(|row| row.provider_ref.as_ref())
        .chain(case.records.iter().flatten().filter_map(|row| row.provider_ref.as_ref()))
        .map(super::super::ids::ProviderRef::as_str)
        .collect();
    for hook in case.webhooks.as_deref().unwrap_or_default() {
        let (Some(name), Some(kind)) = (&hook.provider_ref, &hook.kind) else { continue };
        if !says_taken(kind) {
            continue;
        }
        let name = name.as_str();
        if let Some(known) = all.get_mut(name) {
            // The report says more than an event.
            if known.source == Source::Books {
                known.source = Source::Told;
            }
        } else if ours.is_empty() || ours.contains(name) {
            all.insert(name, told(name, Source::Told, hook.at));
        }
    }
}

/// A charge of which only its name is known.
pub(super) fn told<'a>(name: &str, source: Source, at: Option<Instant>) -> Seen<'a> {
    Seen {
        name: name.to_owned(),
        charge: None,
        source,
        money: Money::Stands,
        kept: None,
        returned: 0,
        currency: None,
        at,
    }
}

/// The words with which providers say that money was taken, and those that make of it something else.
fn says_taken(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    let taken = ["succeeded", "captured", "capture.completed", "settled"];
    let other = ["refund", "dispute", "chargeback", "payout", "transfer", "setup", "uncaptured", "capturable", "not_"];
    taken.iter().any(|word| kind.contains(word)) && !other.iter().any(|word| kind.contains(word))
}

fn of_report<'a>(name: &str, line: &'a SettlementLine, lines: &Lines<'a>) -> Seen<'a> {
    let taken = line.amount.map(i64::saturating_abs);
    let returned = lines.returned(0);
    let back = taken.is_some_and(|taken| returned >= taken && taken > 0);
    Seen {
        kept: taken.map(|taken| taken.saturating_sub(returned)),
        returned,
        money: if back { Money::GivenBack } else { Money::Stands },
        currency: line.currency.as_ref(),
        ..told(name, Source::Told, line.at)
    }
}
