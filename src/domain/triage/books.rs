//! The rows of a case, sorted: each charge once, each with the key, payment and order it belongs to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::place::{Index, Place};
use super::standing::{self, Money, Seen};
use crate::domain::case::{Case, Charge, KeyRecord, PaymentRow, Request, Transition};
use crate::domain::ids::{RecordId, Scope};
use crate::domain::payment::PaymentStatus;
use crate::domain::time::{Instant, Seconds};

/// A purchase: what one client bought in one order. Without an order, what one key was for.
#[derive(Debug, Default)]
pub(super) struct Purchase<'a> {
    /// How it is called in sentences: `order A1`.
    pub name: String,
    /// The order, when it has one.
    pub order: Option<String>,
    /// Whose it is, where that is known.
    pub scope: Option<&'a str>,
    /// Its charges, the earliest first.
    pub charges: Vec<Placed<'a>>,
    /// Its payments.
    pub payments: Vec<&'a PaymentRow>,
    /// Its keys.
    pub keys: BTreeSet<RecordId>,
    /// The records of its keys.
    pub records: Vec<&'a KeyRecord>,
    /// The requests of its keys, or for its order.
    pub requests: Vec<&'a Request>,
    /// Its charges by their names, and by their payments.
    by_name: HashMap<String, usize>,
    by_payment: HashMap<*const PaymentRow, usize>,
}

/// A charge, and what of ours it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Placed<'a> {
    /// The charge.
    pub seen: Seen<'a>,
    /// The key of ours it was made under, where that can be told.
    pub key: Option<RecordId>,
    /// The payment of ours that stands for it.
    pub payment: Option<&'a PaymentRow>,
}

/// The case, sorted.
#[derive(Debug)]
pub(super) struct Books<'a> {
    /// The whole case.
    pub case: &'a Case,
    /// What was bought.
    pub purchases: Vec<Purchase<'a>>,
    /// Changes by payment, in time order.
    pub transitions: BTreeMap<&'a str, Vec<&'a Transition>>,
    /// What cannot be true at once.
    pub contradictions: Vec<Contradiction>,
}

/// What cannot be true at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Contradiction {
    /// The charge or payment it is about; absent when it touches all.
    pub about: Option<String>,
    /// A sentence without its full stop.
    pub what: String,
}

impl Contradiction {
    /// About one charge or payment.
    pub(super) fn of(about: &str, what: String) -> Self {
        Self { about: Some(about.to_owned()), what }
    }

    /// About everything.
    pub(super) fn of_all(what: &str) -> Self {
        Self { about: None, what: what.to_owned() }
    }
}

/// Sorts a case.
pub(super) fn sort(case: &Case) -> Books<'_> {
    let mut contradictions = Vec::new();
    let seen = standing::all(case, &mut contradictions);
    let payments = distinct(case.payments.as_deref().unwrap_or_default(), &mut contradictions);
    let index = Index::of(case, &payments);
    let mut purchases: BTreeMap<Place, Purchase<'_>> = BTreeMap::new();

    for payment in &payments {
        let purchase = purchases.entry(index.payment(payment)).or_default();
        purchase.whose(payment.scope.as_ref());
        purchase.keys.extend(key_of(payment));
        purchase.payments.push(payment);
    }
    for request in case.requests.as_deref().unwrap_or_default() {
        let id = request.scope.clone().zip(request.key.clone()).map(|(scope, key)| RecordId { scope, key });
        let at = match (&id, &request.order) {
            (_, Some(order)) => index.order(order, request.scope.as_ref()),
            (Some(id), None) => index.key(id),
            (None, None) => continue,
        };
        let purchase = purchases.entry(at).or_default();
        purchase.whose(request.scope.as_ref());
        purchase.keys.extend(id);
        purchase.requests.push(request);
    }
    let mut orders = purchases.keys().filter(|at| matches!(at, Place::Order(..)));
    let only_order = match (orders.next(), orders.next()) {
        (Some(Place::Order(scope, order)), None) => Some((scope.clone(), order.clone())),
        _ => None,
    };
    for record in case.records.as_deref().unwrap_or_default() {
        let (Some(scope), Some(key)) = (&record.scope, &record.key) else { continue };
        let id = RecordId { scope: scope.clone(), key: key.clone() };
        let at = match (index.key(&id), &only_order) {
            // The only order of the case is what its records are about, within one scope.
            (Place::Key(mine, _), Some((of, order))) if of.as_ref().is_none_or(|of| *of == mine) => {
                Place::Order(of.clone(), order.clone())
            }
            (at, _) => at,
        };
        let purchase = purchases.entry(at).or_default();
        purchase.whose(Some(scope));
        purchase.keys.insert(id);
        purchase.records.push(record);
    }
    let only = match (purchases.keys().next(), purchases.len()) {
        (Some(only), 1) => Some(only.clone()),
        _ => None,
    };
    for (nth, one) in seen.into_iter().enumerate() {
        let (at, key, payment) = index.charge(&one);
        // What names nothing of ours belongs to what the case is about, if that is one thing.
        let at = at.or_else(|| only.clone()).unwrap_or_else(|| match one.name.as_str() {
            "" => Place::Charge(format!("without a ref ({nth})")),
            name => Place::Charge(name.to_owned()),
        });
        purchases.entry(at).or_default().charges.push(Placed { seen: one, key, payment });
    }
    for (at, purchase) in &mut purchases {
        purchase.name = at.name();
        purchase.order = match at {
            Place::Order(_, order) => Some(order.clone()),
            Place::Key(..) | Place::Payment(_) | Place::Charge(_) => None,
        };
        purchase.payments.sort_by_key(|row| (row.created_at, row.id.clone(), row.key.clone()));
        purchase.records.sort_by_key(|row| (row.key.clone(), row.created_at, row.attempt));
        purchase.requests.sort_by_key(|row| (row.at, row.key.clone(), row.status));
        purchase.requests.dedup();
        purchase.charges.sort_by(|a, b| {
            (a.seen.at.is_none(), a.seen.at, &a.seen.name).cmp(&(b.seen.at.is_none(), b.seen.at, &b.seen.name))
        });
        own_what_nobody_owns(purchase, &index);
        purchase.number();
    }
    contradictions.sort();
    contradictions.dedup();
    Books { case, purchases: purchases.into_values().collect(), transitions: changes(case), contradictions }
}

/// Gives a charge that names no key of ours the key it must have been made under, where there is only one choice.
fn own_what_nobody_owns(purchase: &mut Purchase<'_>, index: &Index<'_>) {
    // Where the provider is told our keys, another text is another key, which we do not have.
    let told = purchase.charges.iter().any(|charge| sent(charge).is_some_and(|sent| index.spelt(sent).is_some()));
    let foreign = |charge: &Placed<'_>| told && sent(charge).is_some_and(|sent| !sent.is_empty());
    if let (Some(only), 1) = (purchase.keys.first().cloned(), purchase.keys.len()) {
        for charge in &mut purchase.charges {
            if !foreign(charge) {
                charge.key.get_or_insert_with(|| only.clone());
            }
        }
    }
    let claimed: HashSet<*const PaymentRow> =
        purchase.charges.iter().filter_map(|charge| charge.payment).map(std::ptr::from_ref).collect();
    let mut free = purchase
        .payments
        .iter()
        .copied()
        .filter(|row| row.provider_ref.is_none() && !claimed.contains(&std::ptr::from_ref(*row)));
    let (Some(payment), None) = (free.next(), free.next()) else { return };
    let mine = key_of(payment);
    let mut unowned = purchase
        .charges
        .iter_mut()
        .filter(|charge| charge.payment.is_none() && !foreign(charge) && (charge.key.is_none() || charge.key == mine));
    // One payment without a charge and one charge without a payment, made after it: they are each other's.
    if let (Some(charge), None) = (unowned.next(), unowned.next()) {
        let before =
            payment.created_at.zip(charge.seen.at).is_none_or(|(made, taken)| PROVIDER_SKEW.before(made) <= taken);
        if before {
            charge.payment = Some(payment);
            charge.key = charge.key.take().or(mine);
        }
    }
}

fn changes(case: &Case) -> BTreeMap<&str, Vec<&Transition>> {
    let mut all: BTreeMap<&str, Vec<&Transition>> = BTreeMap::new();
    for change in case.transitions.as_deref().unwrap_or_default() {
        if let Some(payment) = &change.payment {
            all.entry(payment.as_str()).or_default().push(change);
        }
    }
    for list in all.values_mut() {
        list.sort_by_key(|change| (change.at, change.by.clone()));
    }
    all
}

/// Each payment once, as it was last. The same id with other contents at one time contradicts itself.
fn distinct<'a>(rows: &'a [PaymentRow], contradictions: &mut Vec<Contradiction>) -> Vec<&'a PaymentRow> {
    let mut by_id: BTreeMap<&str, &PaymentRow> = BTreeMap::new();
    let mut kept = Vec::new();
    let mut rows: Vec<&PaymentRow> = rows.iter().collect();
    rows.sort_by_cached_key(|row| {
        let status = row.status.as_ref().map(ToString::to_string);
        (row.updated_at, status, row.provider_ref.clone(), row.amount, row.order.clone(), row.key.clone())
    });
    for row in rows {
        let Some(id) = &row.id else {
            kept.push(row);
            continue;
        };
        if let Some(before) = by_id.insert(id.as_str(), row) {
            let later = before.updated_at.zip(row.updated_at).is_some_and(|(before, then)| before < then);
            if before != row && !later {
                contradictions.push(Contradiction::of(id.as_str(), format!("payment {id} is there twice and differs")));
            }
        }
    }
    kept.extend(by_id.into_values());
    kept
}

fn key_of(payment: &PaymentRow) -> Option<RecordId> {
    Some(RecordId { scope: payment.scope.clone()?, key: payment.key.clone()? })
}

/// How far the provider's clock may differ from ours.
pub(super) const PROVIDER_SKEW: Seconds = Seconds(120);

impl<'a> Purchase<'a> {
    /// The charges that moved money and still stand.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Placed<'a>> {
        self.charges.iter().filter(|charge| charge.seen.money == Money::Stands)
    }

    /// The payments without a final state.
    pub(super) fn open(&self) -> impl Iterator<Item = &'a PaymentRow> + '_ {
        self.payments.iter().copied().filter(|payment| match &payment.status {
            Some(
                PaymentStatus::Created
                | PaymentStatus::Pending
                | PaymentStatus::Unknown
                | PaymentStatus::Unrecognised(_),
            )
            | None => true,
            Some(PaymentStatus::Succeeded | PaymentStatus::Failed) => false,
        })
    }

    /// The records still being worked on.
    pub(super) fn processing(&self) -> impl Iterator<Item = &'a KeyRecord> + '_ {
        self.records.iter().copied().filter(|record| record.status.as_deref().is_some_and(|status| status != "done"))
    }

    /// Whether somebody's lease on one of its records lives: they may be working on it.
    pub(super) fn at_work(&self, now: Option<Instant>) -> bool {
        self.processing().any(|record| record.locked_until.zip(now).is_some_and(|(until, now)| until > now))
    }

    /// The charge that belongs to this payment.
    pub(super) fn charge_of(&self, payment: &PaymentRow) -> Option<&Placed<'a>> {
        self.by_payment.get(&std::ptr::from_ref(payment)).and_then(|nth| self.charges.get(*nth))
    }

    /// The charge of that name.
    pub(super) fn charge(&self, name: &str) -> Option<&Placed<'a>> {
        self.by_name.get(name).and_then(|nth| self.charges.get(*nth))
    }

    /// Notes whose it is: of several scopes, the same one whatever the order of the rows.
    fn whose(&mut self, scope: Option<&'a Scope>) {
        let scope = scope.map(Scope::as_str);
        self.scope = match (self.scope, scope) {
            (Some(known), Some(new)) => Some(known.min(new)),
            (known, new) => known.or(new),
        };
    }

    /// Makes its charges easy to find: there may be a hundred thousand.
    fn number(&mut self) {
        for (nth, charge) in self.charges.iter().enumerate() {
            self.by_name.entry(charge.seen.name.clone()).or_insert(nth);
            if let Some(payment) = charge.payment {
                self.by_payment.entry(std::ptr::from_ref(payment)).or_insert(nth);
            }
        }
    }

    /// Our own earliest sign of a key: a request or a payment. The provider's clock is another.
    pub(super) fn first_use(&self, id: &RecordId) -> Option<Instant> {
        let of = |scope: &Option<Scope>, key: &Option<crate::domain::ids::Key>| {
            scope.as_ref() == Some(&id.scope) && key.as_ref() == Some(&id.key)
        };
        let requests = self.requests.iter().filter(|row| of(&row.scope, &row.key));
        let payments = self.payments.iter().filter(|row| of(&row.scope, &row.key));
        requests.filter_map(|row| row.at).chain(payments.filter_map(|row| row.created_at)).min()
    }

    /// The record of a key.
    pub(super) fn record(&self, id: &RecordId) -> Option<&'a KeyRecord> {
        self.records
            .iter()
            .copied()
            .find(|record| record.scope.as_ref() == Some(&id.scope) && record.key.as_ref() == Some(&id.key))
    }
}

/// What the provider was sent with a charge: `Some("")` when it was sent without a key.
pub(super) fn sent<'a>(charge: &Placed<'a>) -> Option<&'a str> {
    charge.seen.charge.and_then(|row: &'a Charge| row.provider_key.as_ref()).map(super::super::ids::ProviderKey::as_str)
}
