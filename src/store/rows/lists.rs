//! The lists and signals of the first screens.

use sqlx::postgres::PgRow;

use super::Reader;
use crate::domain::ids::{Key, Operator, OrderId, PaymentId, ProviderName, ProviderRef, RecordId, Scope};
use crate::domain::log::TimelineEntry;
use crate::domain::money::Money;
use crate::domain::money::Totals;
use crate::domain::port::{Candidate, Matched, Other, StoreError};
use crate::domain::rates::Minute;
use crate::domain::snapshot::{HandedOver, Offender, ProviderHealth, Pulse, Recoverer, Signal, WhatChanged};
use crate::domain::time::Instant;

/// Folds the rows of `get_pulse`, one per signal and currency, into one value per signal.
/// A signal without a row is not known, and stays out.
pub(in crate::store) fn pulses(file: &str, rows: &[PgRow]) -> Result<Vec<Pulse>, StoreError> {
    let mut pulses: Vec<Pulse> = Vec::new();
    for row in rows {
        let reader = Reader::new(file, row);
        let word = reader.text("signal")?;
        let signal = Signal::from_word(&word).ok_or_else(|| reader.wrong("signal", "a signal", word))?;
        let (count, money) = (reader.count("count")?, reader.money()?);
        let oldest = reader.instant_maybe("oldest")?;
        let known = pulses.iter_mut().find(|pulse| pulse.signal == signal);
        if let Some(pulse) = known {
            pulse.count = pulse.count.saturating_add(count);
            add(&mut pulse.money, money.as_ref(), count);
            pulse.oldest = earlier(pulse.oldest, oldest);
        } else {
            let mut totals = Totals::default();
            add(&mut totals, money.as_ref(), count);
            pulses.push(Pulse { signal, count, money: totals, oldest });
        }
    }
    Ok(pulses)
}

/// A line that counts nothing adds no zero of its currency.
fn add(totals: &mut Totals, money: Option<&Money>, count: u64) {
    if let Some(money) = money
        && count > 0
    {
        totals.add(money);
    }
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

/// One minute of `get_rates`.
pub(in crate::store) struct RatesLine {
    /// Its start.
    pub(in crate::store) minute: Instant,
    /// What was answered in it.
    pub(in crate::store) counts: Minute,
    /// The watermark to pass next time.
    pub(in crate::store) next_id: i64,
}

pub(in crate::store) fn rates(file: &str, row: &PgRow) -> Result<RatesLine, StoreError> {
    let reader = Reader::new(file, row);
    Ok(RatesLine {
        minute: reader.instant("minute")?,
        counts: Minute {
            requests: reader.count("requests")?,
            ok: reader.count("ok")?,
            conflict: reader.count("conflict")?,
            mismatch: reader.count("mismatch")?,
            replayed: reader.count("replayed")?,
            unavailable: reader.count("unavailable")?,
            failed: reader.count("failed")?,
        },
        next_id: reader.int("next_id")?,
    })
}

pub(in crate::store) fn provider(file: &str, row: &PgRow) -> Result<ProviderHealth, StoreError> {
    let reader = Reader::new(file, row);
    Ok(ProviderHealth {
        provider: ProviderName::new(reader.text("provider")?),
        calls: reader.count("calls")?,
        timeouts: reader.count("timeouts")?,
        errors: reader.count("errors")?,
        p95_ms: reader.millis_maybe("p95_ms")?,
        unknown: reader.count("unknown")?,
    })
}

pub(in crate::store) fn recoverer(file: &str, row: &PgRow) -> Result<Recoverer, StoreError> {
    let reader = Reader::new(file, row);
    Ok(Recoverer {
        last_at: reader.instant_maybe("last_at")?,
        last_what: reader.text_maybe("last_what")?,
        next_at: reader.instant_maybe("next_at")?,
    })
}

pub(in crate::store) fn offender(file: &str, row: &PgRow) -> Result<Offender, StoreError> {
    let reader = Reader::new(file, row);
    Ok(Offender {
        scope: Scope::new(reader.text("scope")?),
        route: reader.text("route")?,
        key: reader.id_maybe("key", Key::new)?,
        conflicts: reader.count("conflicts")?,
        mismatches: reader.count("mismatches")?,
        last_at: reader.instant("last_at")?,
    })
}

pub(in crate::store) fn change(file: &str, row: &PgRow) -> Result<WhatChanged, StoreError> {
    let reader = Reader::new(file, row);
    Ok(WhatChanged {
        at: reader.instant("at")?,
        kind: reader.text("kind")?,
        what: reader.text("what")?,
        who: reader.text_maybe("who")?,
    })
}

pub(in crate::store) fn handed_over(file: &str, row: &PgRow) -> Result<HandedOver, StoreError> {
    let reader = Reader::new(file, row);
    Ok(HandedOver {
        id: reader.record_id()?,
        owner: reader.id_maybe("owner", Operator::new)?,
        by: Operator::new(reader.text("by")?),
        at: reader.instant("at")?,
        note: reader.text("note")?,
    })
}

pub(in crate::store) fn candidate(file: &str, row: &PgRow) -> Result<Candidate, StoreError> {
    let reader = Reader::new(file, row);
    Ok(Candidate {
        id: reader.record_id()?,
        order: reader.id_maybe("order_id", OrderId::new)?,
        payment: reader.id_maybe("payment_id", PaymentId::new)?,
        why: reader.text("why")?,
        money: reader.money()?,
        at: reader.instant_maybe("at")?,
        matched: Matched::Id,
    })
}

pub(in crate::store) fn other(file: &str, row: &PgRow) -> Result<Other, StoreError> {
    let reader = Reader::new(file, row);
    let record = reader.text_maybe("scope")?.zip(reader.text_maybe("key")?);
    Ok(Other {
        id: record.map(|(scope, key)| RecordId::new(scope, key)),
        order: reader.id_maybe("order_id", OrderId::new)?,
        provider_ref: reader.id_maybe("ref", ProviderRef::new)?,
        at: reader.instant("at")?,
        at_risk: reader.money()?,
        what: reader.text("what")?,
    })
}

pub(in crate::store) fn timeline(file: &str, row: &PgRow) -> Result<TimelineEntry, StoreError> {
    let reader = Reader::new(file, row);
    Ok(TimelineEntry {
        at: reader.instant("at")?,
        lane: reader.text("lane")?,
        what: reader.text("what")?,
        detail: reader.text_maybe("detail")?,
        reference: reader.text_maybe("ref")?,
        money: reader.money()?,
    })
}
