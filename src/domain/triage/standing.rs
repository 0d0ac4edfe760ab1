//! Which charges moved money, and which of them still stand.
//!
//! A charge stands while more was captured than given back. A chargeback gives back as well: the bank took the money
//! from us and gave it to the customer. What was given back in part stands with the rest.

use std::collections::BTreeMap;

use crate::domain::case::{Case, Charge, SettlementLine};
use crate::domain::evidence::Class;
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
    /// The provider's row, when there is one.
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
pub(super) fn all<'a>(case: &'a Case, contradictions: &mut Vec<String>) -> Vec<Seen<'a>> {
    let settled = settled(case);
    let mut all: BTreeMap<String, Seen<'a>> = BTreeMap::new();
    let mut nameless = Vec::new();
    for charge in case.charges.as_deref().unwrap_or_default() {
        let lines = charge.provider_ref.as_ref().and_then(|of| settled.get(of.as_str()));
        let seen = of_provider(charge, lines, contradictions);
        if seen.name.is_empty() {
            contradictions.push("a charge has no ref: it cannot be told from the others".to_owned());
            // Two without a name may be one.
            nameless.push(Seen { money: Money::Open, ..seen });
        } else if let Some(known) = all.get_mut(&seen.name) {
            if known.charge != Some(charge) {
                contradictions.push(format!("charge {} is there twice and differs", seen.name));
                known.money = Money::Open;
            }
        } else {
            all.insert(seen.name.clone(), seen);
        }
    }
    for (name, lines) in &settled {
        if let Some(line) = lines.charge {
            all.entry((*name).to_owned()).or_insert_with(|| of_report(name, line, lines));
        }
    }
    for hook in case.webhooks.as_deref().unwrap_or_default() {
        let (Some(name), Some(kind)) = (&hook.provider_ref, &hook.kind) else { continue };
        if says_taken(kind) {
            all.entry(name.to_string()).or_insert_with(|| told(name.as_str(), Source::Told, hook.at));
        }
    }
    // Our own books name a charge that nobody was asked about.
    if case.charges.is_none() {
        let paid = case.payments.as_deref().unwrap_or_default().iter();
        for payment in paid.filter(|payment| payment.status == Some(PaymentStatus::Succeeded)) {
            if let Some(name) = &payment.provider_ref {
                let seen = Seen {
                    kept: payment.amount,
                    currency: payment.currency.as_ref(),
                    ..told(name.as_str(), Source::Books, payment.created_at)
                };
                all.entry(name.to_string()).or_insert(seen);
            }
        }
        for record in case.records.as_deref().unwrap_or_default() {
            let good = record.response_code.is_some_and(|code| (200..300).contains(&code));
            if let (true, Some("done"), Some(name)) = (good, record.status.as_deref(), &record.provider_ref) {
                all.entry(name.to_string()).or_insert_with(|| told(name.as_str(), Source::Books, record.created_at));
            }
        }
    }
    let mut all: Vec<Seen<'a>> = all.into_values().collect();
    all.extend(nameless);
    all
}

fn told<'a>(name: &str, source: Source, at: Option<Instant>) -> Seen<'a> {
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

/// The words with which providers say that money was taken.
fn says_taken(kind: &str) -> bool {
    let kind = kind.to_ascii_lowercase();
    ["succeeded", "captured", "capture.completed", "settled"].iter().any(|word| kind.contains(word))
}

/// What the report says about one charge.
#[derive(Debug, Default)]
struct Lines<'a> {
    charge: Option<&'a SettlementLine>,
    returned: i64,
}

fn settled(case: &Case) -> BTreeMap<&str, Lines<'_>> {
    let mut all: BTreeMap<&str, Lines<'_>> = BTreeMap::new();
    for line in case.settlements.as_deref().unwrap_or_default() {
        let (Some(name), Some(kind)) = (&line.provider_ref, &line.kind) else { continue };
        let lines = all.entry(name.as_str()).or_default();
        match kind.as_str() {
            "charge" => lines.charge = lines.charge.or(Some(line)),
            // Written with either sign.
            "refund" | "chargeback" => {
                let back = line.amount.map_or(0, i64::saturating_abs);
                lines.returned = lines.returned.saturating_add(back);
            }
            _ => {}
        }
    }
    all
}

fn of_provider<'a>(charge: &'a Charge, lines: Option<&Lines<'a>>, contradictions: &mut Vec<String>) -> Seen<'a> {
    let name = charge.provider_ref.as_ref().map(ToString::to_string).unwrap_or_default();
    let class = charge.class.unwrap_or(Class::Unrecognised);
    for (what, amount) in [("amount", charge.amount), ("captured", charge.captured), ("refunded", charge.refunded)] {
        if let Some(amount) = amount.filter(|amount| *amount < 0) {
            contradictions.push(format!("charge {name}: {what} is {amount}, below zero"));
        }
    }
    // Both may tell of the same refund: the larger figure has them all.
    let returned = charge.refunded.unwrap_or(0).max(lines.map_or(0, |lines| lines.returned)).max(0);
    let captured = match class {
        Class::Succeeded | Class::Reversed => charge.captured.or(charge.amount),
        Class::Authorised | Class::Pending | Class::Open | Class::Failed | Class::Unrecognised => charge.captured,
    };
    if let Some(taken) = captured.filter(|taken| *taken >= 0 && returned > *taken) {
        contradictions.push(format!("charge {name}: {returned} was given back of {taken} taken"));
    }
    let money = match class {
        Class::Succeeded if captured == Some(0) => Money::Held,
        Class::Succeeded if captured.is_some_and(|taken| returned >= taken) => Money::GivenBack,
        Class::Succeeded => Money::Stands,
        Class::Reversed => Money::GivenBack,
        Class::Authorised => Money::Held,
        Class::Pending | Class::Open | Class::Unrecognised => Money::Open,
        Class::Failed => Money::Refused,
    };
    if matches!(class, Class::Failed | Class::Authorised) && captured.is_some_and(|taken| taken > 0) {
        contradictions.push(format!("charge {name} is {} and yet something was captured of it", class.word()));
    }
    Seen {
        name,
        charge: Some(charge),
        source: Source::Provider,
        money,
        kept: captured.map(|taken| taken.saturating_sub(returned)),
        returned,
        currency: charge.currency.as_ref(),
        at: charge.created_at,
    }
}

fn of_report<'a>(name: &str, line: &'a SettlementLine, lines: &Lines<'a>) -> Seen<'a> {
    let taken = line.amount.map(i64::saturating_abs);
    let back = taken.is_some_and(|taken| lines.returned >= taken && taken > 0);
    Seen {
        kept: taken.map(|taken| taken.saturating_sub(lines.returned)),
        returned: lines.returned,
        money: if back { Money::GivenBack } else { Money::Stands },
        currency: line.currency.as_ref(),
        ..told(name, Source::Told, line.at)
    }
}
