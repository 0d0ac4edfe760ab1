//! The rows of a case, sorted: each charge once, each with the key, payment and order it belongs to.

use std::collections::{BTreeMap, BTreeSet};

use super::standing::{self, Money, Seen};
use crate::domain::case::{Case, Charge, KeyRecord, PaymentRow, Request, Transition};
use crate::domain::ids::RecordId;
use crate::domain::payment::PaymentStatus;
use crate::domain::time::Instant;

/// A purchase: what one client bought in one order. Without an order, what one key was for.
#[derive(Debug, Default)]
pub(super) struct Purchase<'a> {
    /// How it is called in sentences: `order A1`.
    pub name: String,
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
    /// What cannot be true at once, in sentences.
    pub contradictions: Vec<String>,
}

/// The order of a purchase in the books: its scope when known, and its order, or a key without one.
type Place = (Option<String>, String);

/// Sorts a case.
pub(super) fn sort(case: &Case) -> Books<'_> {
    let mut contradictions = Vec::new();
    let seen = standing::all(case, &mut contradictions);
    let payments = distinct(case.payments.as_deref().unwrap_or_default(), &mut contradictions);
    let index = Index::of(&payments);
    let mut purchases: BTreeMap<Place, Purchase<'_>> = BTreeMap::new();

    for payment in &payments {
        let at = index.place_of_payment(payment);
        let purchase = purchases.entry(at).or_default();
        purchase.scope = purchase.scope.or(payment.scope.as_ref().map(super::super::ids::Scope::as_str));
        purchase.keys.extend(key_of(payment));
        purchase.payments.push(payment);
    }
    let mut orders_of_keys = index.orders.clone();
    for request in case.requests.as_deref().unwrap_or_default() {
        let (Some(scope), order) = (request.scope.as_ref(), request.order.as_ref()) else { continue };
        let id = request.key.as_ref().map(|key| RecordId::new(scope.as_str(), key.as_str()));
        let at = match (&id, order) {
            (_, Some(order)) => (Some(scope.to_string()), order.to_string()),
            (Some(id), None) => index.place_of_key(id),
            (None, None) => continue,
        };
        if let Some(id) = &id {
            orders_of_keys.entry(id.clone()).or_insert_with(|| at.1.clone());
        }
        let purchase = purchases.entry(at).or_default();
        purchase.scope = purchase.scope.or(Some(scope.as_str()));
        purchase.keys.extend(id);
        purchase.requests.push(request);
    }
    for record in case.records.as_deref().unwrap_or_default() {
        let (Some(scope), Some(key)) = (&record.scope, &record.key) else { continue };
        let id = RecordId::new(scope.as_str(), key.as_str());
        let order = orders_of_keys.get(&id).cloned().or_else(|| only_order_of(scope.as_str(), &purchases));
        let purchase =
            purchases.entry((Some(scope.to_string()), order.unwrap_or_else(|| format!("key {key}")))).or_default();
        purchase.scope = purchase.scope.or(Some(scope.as_str()));
        purchase.keys.insert(id);
        purchase.records.push(record);
    }
    let by_provider_key = provider_keys(&purchases);
    for one in seen {
        let (at, key, payment) = place(&one, &index, &by_provider_key, &purchases);
        purchases.entry(at).or_default().charges.push(Placed { seen: one, key, payment });
    }
    for ((_, name), purchase) in &mut purchases {
        purchase.charges.sort_by_key(|charge| (charge.seen.at.is_none(), charge.seen.at, charge.seen.name.clone()));
        purchase.requests.sort_by_key(|request| request.at);
        purchase.name = if name.starts_with("key ") { name.clone() } else { format!("order {name}") };
        own_what_nobody_owns(purchase);
    }
    Books { case, purchases: purchases.into_values().collect(), transitions: changes(case), contradictions }
}

/// With one key only, a charge of the purchase that names none was made under that key.
fn own_what_nobody_owns(purchase: &mut Purchase<'_>) {
    let mut keys = purchase.keys.iter();
    if let (Some(only), None) = (keys.next(), keys.next()) {
        for charge in &mut purchase.charges {
            charge.key.get_or_insert_with(|| only.clone());
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
        list.sort_by_key(|change| change.at);
    }
    all
}

/// Each payment once. The same id with other contents contradicts itself.
fn distinct<'a>(rows: &'a [PaymentRow], contradictions: &mut Vec<String>) -> Vec<&'a PaymentRow> {
    let mut by_id: BTreeMap<&str, &PaymentRow> = BTreeMap::new();
    let mut kept = Vec::new();
    for row in rows {
        let Some(id) = &row.id else {
            kept.push(row);
            continue;
        };
        match by_id.get(id.as_str()) {
            None => {
                by_id.insert(id.as_str(), row);
                kept.push(row);
            }
            Some(first) if *first == row => {}
            Some(_) => contradictions.push(format!("payment {id} is there twice and differs")),
        }
    }
    kept
}

/// The one order a scope has here, when it has just one.
fn only_order_of(scope: &str, purchases: &BTreeMap<Place, Purchase<'_>>) -> Option<String> {
    let mut orders =
        purchases.keys().filter(|(of, order)| of.as_deref().is_none_or(|of| of == scope) && !order.starts_with("key "));
    match (orders.next(), orders.next()) {
        (Some((_, order)), None) => Some(order.clone()),
        _ => None,
    }
}

fn key_of(payment: &PaymentRow) -> Option<RecordId> {
    Some(RecordId::new(payment.scope.as_ref()?.as_str(), payment.key.as_ref()?.as_str()))
}

/// What a provider may have been sent for each key: `pay:{scope}:{key}`, or the key itself.
fn provider_keys(purchases: &BTreeMap<Place, Purchase<'_>>) -> BTreeMap<String, Option<(Place, RecordId)>> {
    let mut all: BTreeMap<String, Option<(Place, RecordId)>> = BTreeMap::new();
    for (at, purchase) in purchases {
        for id in &purchase.keys {
            for form in [format!("pay:{}:{}", id.scope, id.key), format!("{}:{}", id.scope, id.key), id.key.to_string()]
            {
                let mine = Some((at.clone(), id.clone()));
                // The same text for two keys tells nothing.
                all.entry(form)
                    .and_modify(|known| {
                        if *known != mine {
                            *known = None;
                        }
                    })
                    .or_insert(mine);
            }
        }
    }
    all
}

/// Where a charge belongs: by our payment's reference, then by the key it was sent, then by the reference it carries.
fn place<'a>(
    seen: &Seen<'a>,
    index: &Index<'a>,
    by_provider_key: &BTreeMap<String, Option<(Place, RecordId)>>,
    purchases: &BTreeMap<Place, Purchase<'a>>,
) -> (Place, Option<RecordId>, Option<&'a PaymentRow>) {
    if let Some(payment) = index.by_ref.get(seen.name.as_str()) {
        return (index.place_of_payment(payment), key_of(payment), Some(payment));
    }
    let sent = seen.charge.and_then(|charge| charge.provider_key.as_ref()).map(super::super::ids::ProviderKey::as_str);
    if let Some(Some((at, id))) = sent.filter(|key| !key.is_empty()).and_then(|key| by_provider_key.get(key)) {
        // A payment whose charge is another one does not stand for this one.
        let payment = index
            .by_key
            .get(id)
            .copied()
            .filter(|payment| payment.provider_ref.as_ref().is_none_or(|of| of.as_str() == seen.name));
        return (at.clone(), Some(id.clone()), payment);
    }
    let reference = seen.charge.and_then(|charge| charge.reference.as_deref());
    if let Some(payment) = reference.and_then(|reference| index.by_id.get(reference)) {
        let stands = payment.provider_ref.is_none().then_some(*payment);
        return (index.place_of_payment(payment), key_of(payment), stands);
    }
    let order = reference.unwrap_or("");
    let mut scopes = purchases.keys().filter(|(_, of)| of == order);
    match (scopes.next(), scopes.next()) {
        (Some(at), None) => (at.clone(), None, None),
        _ if order.is_empty() => match (purchases.keys().next(), purchases.len()) {
            (Some(only), 1) => (only.clone(), None, None),
            _ => ((None, String::new()), None, None),
        },
        _ => ((None, order.to_owned()), None, None),
    }
}

/// Payments by what they are found by.
struct Index<'a> {
    by_ref: BTreeMap<&'a str, &'a PaymentRow>,
    by_id: BTreeMap<&'a str, &'a PaymentRow>,
    by_key: BTreeMap<RecordId, &'a PaymentRow>,
    orders: BTreeMap<RecordId, String>,
}

impl<'a> Index<'a> {
    fn of(payments: &[&'a PaymentRow]) -> Self {
        let mut index =
            Self { by_ref: BTreeMap::new(), by_id: BTreeMap::new(), by_key: BTreeMap::new(), orders: BTreeMap::new() };
        for payment in payments {
            if let Some(of) = &payment.provider_ref {
                let known = index.by_ref.entry(of.as_str()).or_insert(payment);
                // Of two that claim one charge, the one that calls itself paid stands for it.
                if known.status != Some(PaymentStatus::Succeeded) {
                    *known = payment;
                }
            }
            if let Some(id) = &payment.id {
                index.by_id.entry(id.as_str()).or_insert(payment);
            }
            if let Some(id) = key_of(payment) {
                if let Some(order) = &payment.order {
                    index.orders.entry(id.clone()).or_insert_with(|| order.to_string());
                }
                let known = index.by_key.entry(id).or_insert(payment);
                if known.provider_ref.is_some() && payment.provider_ref.is_none() {
                    *known = payment;
                }
            }
        }
        index
    }

    fn place_of_payment(&self, payment: &PaymentRow) -> Place {
        let scope = payment.scope.as_ref().map(ToString::to_string);
        let order = payment.order.as_ref().map(ToString::to_string);
        let order = order.or_else(|| key_of(payment).map(|id| self.place_of_key(&id).1));
        (scope, order.unwrap_or_default())
    }

    fn place_of_key(&self, id: &RecordId) -> Place {
        (Some(id.scope.to_string()), self.orders.get(id).cloned().unwrap_or_else(|| format!("key {}", id.key)))
    }
}

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

    /// Whether a charge belongs to this payment.
    pub(super) fn charge_of(&self, payment: &PaymentRow) -> Option<&Placed<'a>> {
        self.charges.iter().find(|charge| charge.payment.is_some_and(|of| std::ptr::eq(of, payment)))
    }

    /// Our own earliest sign of a key: a request or a payment. The provider's clock is another.
    pub(super) fn first_use(&self, id: &RecordId) -> Option<Instant> {
        let of =
            |scope: Option<&str>, key: Option<&str>| scope == Some(id.scope.as_str()) && key == Some(id.key.as_str());
        let requests = self.requests.iter().filter(|row| {
            of(
                row.scope.as_ref().map(super::super::ids::Scope::as_str),
                row.key.as_ref().map(super::super::ids::Key::as_str),
            )
        });
        let payments = self.payments.iter().filter(|row| {
            of(
                row.scope.as_ref().map(super::super::ids::Scope::as_str),
                row.key.as_ref().map(super::super::ids::Key::as_str),
            )
        });
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
