//! Settlement: the reports of what was really moved, which the service holds its books against.
//!
//! A report is closed once and never changes. It can be told to leave a charge out, to name another
//! amount or to list a charge twice: what reconciliation is there for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Charge, ChargeStatus, Settles};
use crate::lab::clock;

/// What a report says wrongly about the charges of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misreport {
    /// It is not listed.
    LeftOut,
    /// It is listed with this amount, minor units.
    Amount(i64),
    /// It is listed twice.
    Twice,
}

/// One line. Amounts are minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) charge: String,
    pub(super) reference: Option<String>,
    pub(super) idempotency_key: Option<String>,
    pub(super) order_id: String,
    pub(super) amount: i64,
    pub(super) currency: String,
    /// Unix seconds.
    pub(super) at: i64,
}

/// A closed report.
#[derive(Debug, Clone)]
struct Report {
    closed_at: DateTime<Utc>,
    lines: Vec<Line>,
}

#[derive(Debug, Default)]
pub(super) struct Reports(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    closed: BTreeMap<String, Report>,
    last: Option<DateTime<Utc>>,
    settled: HashSet<(&'static str, String)>,
    wrong: HashMap<String, Misreport>,
}

impl Reports {
    pub(super) fn misreport(&self, order: &str, how: Misreport) {
        self.with(|state| state.wrong.insert(order.to_owned(), how));
    }

    pub(super) fn report_rightly(&self, order: &str) {
        self.with(|state| state.wrong.remove(order));
    }

    /// The closed reports and when each was closed, the oldest first. Closes one before if it is time.
    pub(super) fn names(
        &self,
        settles: Settles,
        charges: impl FnOnce() -> Vec<Charge>,
    ) -> Vec<(String, DateTime<Utc>)> {
        let due = match settles {
            Settles::WhenTold => false,
            Settles::Every(period) => self.with(|state| {
                state.last.is_none_or(|last| (clock::now() - last).to_std().is_ok_and(|age| age >= period))
            }),
        };
        if due {
            self.close(charges);
        }
        self.with(|state| state.closed.iter().map(|(name, report)| (name.clone(), report.closed_at)).collect())
    }

    pub(super) fn lines(&self, report: &str) -> Option<Vec<Line>> {
        self.with(|state| state.closed.get(report).map(|report| report.lines.clone()))
    }

    /// Closes a report over everything that moved and is in no report yet; empty days have none.
    pub(super) fn close(&self, charges: impl FnOnce() -> Vec<Charge>) -> Option<String> {
        // The time before the charges are looked through: what was made by then is in it.
        let now = clock::now();
        let charges = charges();
        self.with(|state| {
            state.last = Some(now);
            let name = format!("settlement-{:04}", state.closed.len() + 1);
            let mut lines = Vec::new();
            for charge in charges.iter().filter(|charge| charge.status == ChargeStatus::Succeeded) {
                let wrong = state.wrong.get(&charge.order_id).copied();
                // What was left out is still to come.
                if wrong != Some(Misreport::LeftOut) && state.settled.insert(("charge", charge.id.clone())) {
                    lines.extend(told(charge, wrong));
                }
                if charge.refunded > 0 && state.settled.insert(("refund", charge.id.clone())) {
                    lines.push(line(charge, "refund", charge.refunded, 0));
                }
            }
            if lines.is_empty() {
                return None;
            }
            state.closed.insert(name.clone(), Report { closed_at: now, lines });
            Some(name)
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn told(charge: &Charge, wrong: Option<Misreport>) -> Vec<Line> {
    match wrong {
        None | Some(Misreport::LeftOut) => vec![line(charge, "charge", charge.captured, 0)],
        Some(Misreport::Amount(amount)) => vec![line(charge, "charge", amount, 0)],
        Some(Misreport::Twice) => {
            vec![line(charge, "charge", charge.captured, 0), line(charge, "charge", charge.captured, 1)]
        }
    }
}

fn line(charge: &Charge, kind: &'static str, amount: i64, nth: u8) -> Line {
    Line {
        id: format!("{kind}_{nth}_{}", charge.id),
        kind,
        charge: charge.id.clone(),
        reference: charge.reference.clone(),
        idempotency_key: charge.idempotency_key.clone(),
        order_id: charge.order_id.clone(),
        amount,
        currency: charge.currency.clone(),
        at: charge.created,
    }
}
