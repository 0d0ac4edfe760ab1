//! Where a row belongs: to which order of which scope, and a charge also to which key and payment of ours.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::standing::Seen;
use crate::domain::case::{Case, PaymentRow};
use crate::domain::ids::{OrderId, RecordId, Scope};
use crate::domain::payment::PaymentStatus;

/// The order of a purchase in the books, or what stands in for one that has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// An order of a scope, where that is known.
    Order(Option<String>, String),
    /// A key without an order.
    Key(String, String),
    /// A payment of ours that names neither order nor key.
    Payment(String),
    /// A charge that names nothing of ours.
    Charge(String),
}

impl Place {
    /// How it is called in sentences.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Order(_, order) => format!("order {order}"),
            Self::Key(_, key) => format!("key {key}"),
            Self::Payment(id) => format!("payment {id}"),
            Self::Charge(name) => format!("charge {name}"),
        }
    }
}

/// Rows by what they are found by.
pub(super) struct Index<'a> {
    by_ref: HashMap<&'a str, &'a PaymentRow>,
    by_id: HashMap<&'a str, &'a PaymentRow>,
    by_key: HashMap<RecordId, &'a PaymentRow>,
    orders: HashMap<RecordId, &'a OrderId>,
    /// Whose an order is, by the scope a row names: one customer's order is one order, through whichever scope.
    homes: HashMap<(&'a str, Option<&'a str>), Option<&'a str>>,
    keys: HashMap<&'a str, BTreeSet<RecordId>>,
    places: HashMap<&'a str, BTreeSet<Place>>,
}

impl<'a> Index<'a> {
    /// The index of a case whose payments are each there once.
    pub(super) fn of(case: &'a Case, payments: &[&'a PaymentRow]) -> Self {
        let mut index = Self {
            by_ref: HashMap::new(),
            by_id: HashMap::new(),
            by_key: HashMap::new(),
            orders: HashMap::new(),
            homes: homes(case, payments),
            keys: HashMap::new(),
            places: HashMap::new(),
        };
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
            if let (Some(id), Some(key)) = (key_of(payment), &payment.key) {
                index.keys.entry(key.as_str()).or_default().insert(id.clone());
                if let Some(order) = &payment.order {
                    index.orders.entry(id.clone()).or_insert(order);
                }
                let known = index.by_key.entry(id).or_insert(payment);
                if known.provider_ref.is_some() && payment.provider_ref.is_none() {
                    *known = payment;
                }
            }
        }
        for request in case.requests.as_deref().unwrap_or_default() {
            let (Some(scope), Some(key)) = (&request.scope, &request.key) else { continue };
            let id = RecordId { scope: scope.clone(), key: key.clone() };
            index.keys.entry(key.as_str()).or_default().insert(id.clone());
            if let Some(order) = &request.order {
                // Of several, the same one whatever the order of the rows.
                let known = index.orders.entry(id.clone()).or_insert(order);
                if !index.by_key.contains_key(&id) && order < *known {
                    *known = order;
                }
            }
        }
        for record in case.records.as_deref().unwrap_or_default() {
            if let (Some(scope), Some(key)) = (&record.scope, &record.key) {
                let id = RecordId { scope: scope.clone(), key: key.clone() };
                index.keys.entry(key.as_str()).or_default().insert(id);
            }
        }
        let orders = case.requests.iter().flatten().map(|row| (row.order.as_ref(), row.scope.as_ref()));
        let orders = orders.chain(payments.iter().map(|row| (row.order.as_ref(), row.scope.as_ref())));
        for (order, scope) in orders {
            if let Some(order) = order {
                let at = index.order(order, scope);
                index.places.entry(order.as_str()).or_default().insert(at);
            }
        }
        index
    }

    /// Where an order stands.
    pub(super) fn order(&self, order: &OrderId, scope: Option<&Scope>) -> Place {
        let scope = scope.map(Scope::as_str);
        let home = self.homes.get(&(order.as_str(), scope)).copied().unwrap_or(scope);
        Place::Order(home.map(str::to_owned), order.to_string())
    }

    /// Where a key stands: with its order, when that is known.
    pub(super) fn key(&self, id: &RecordId) -> Place {
        match self.orders.get(id) {
            Some(order) => self.order(order, Some(&id.scope)),
            None => Place::Key(id.scope.to_string(), id.key.to_string()),
        }
    }

    /// Where a payment stands.
    pub(super) fn payment(&self, payment: &PaymentRow) -> Place {
        if let Some(order) = &payment.order {
            return self.order(order, payment.scope.as_ref());
        }
        let id = || payment.id.as_ref().map(ToString::to_string).unwrap_or_default();
        key_of(payment).map_or_else(|| Place::Payment(id()), |id| self.key(&id))
    }

    /// Where a charge belongs: by our payment's reference, then by the key it was sent, then by the reference it
    /// carries; with the key of ours and the payment that stands for it. `None` when it names nothing of ours.
    pub(super) fn charge(&self, seen: &Seen<'a>) -> (Option<Place>, Option<RecordId>, Option<&'a PaymentRow>) {
        if let Some(payment) = self.by_ref.get(seen.name.as_str()).copied() {
            return (Some(self.payment(payment)), key_of(payment), Some(payment));
        }
        if let Some(id) = sent(seen).and_then(|sent| self.spelt(sent)) {
            // A payment whose charge is another one does not stand for this one.
            let free = |payment: &&PaymentRow| payment.provider_ref.is_none();
            return (Some(self.key(&id)), Some(id.clone()), self.by_key.get(&id).copied().filter(free));
        }
        let Some(reference) = seen.charge.and_then(|charge| charge.reference.as_deref()).map(str::trim) else {
            return (None, None, None);
        };
        if let Some(payment) = self.by_id.get(reference).copied() {
            let stands = payment.provider_ref.is_none().then_some(payment);
            return (Some(self.payment(payment)), key_of(payment), stands);
        }
        if reference.is_empty() {
            return (None, None, None);
        }
        let at = self.places.get(reference).and_then(|places| match (places.first(), places.len()) {
            (Some(only), 1) => Some(only.clone()),
            _ => None,
        });
        (Some(at.unwrap_or_else(|| Place::Order(None, reference.to_owned()))), None, None)
    }

    /// The key of ours that a provider key spells: `pay:{scope}:{key}`, the key itself, or any other text with it.
    pub(super) fn spelt(&self, sent: &str) -> Option<RecordId> {
        let whole = |part: &str| {
            let ids = self.keys.get(part)?;
            // The same text in two scopes tells nothing, unless the scope is spelt as well.
            let mut told =
                ids.iter().filter(|id| ids.len() == 1 || pieces(sent).any(|(_, piece)| piece == id.scope.as_str()));
            match (told.next(), told.next()) {
                (Some(id), None) => Some(id.clone()),
                _ => None,
            }
        };
        let mut parts: Vec<(bool, &str)> = pieces(sent).collect();
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.len()));
        // A key as short as `1` is in everything: it has to stand at the end, behind a colon.
        parts.into_iter().filter(|(last, part)| *last || part.len() >= 3).find_map(|(_, part)| whole(part))
    }
}

/// What a provider was sent with a charge, when it was sent something.
fn sent<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    seen.charge?.provider_key.as_ref().map(crate::domain::ids::ProviderKey::as_str).filter(|sent| !sent.is_empty())
}

/// The most pieces a provider key is cut into at either side: a key of ours stands near an end.
const CUTS: usize = 8;

/// Every piece of a text between two signs that are neither letter nor digit; and whether it is all that follows a
/// colon, or the whole.
fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let signs = || text.char_indices().filter(|(_, sign)| !sign.is_alphanumeric());
    let starts: Vec<(usize, bool)> = [(0, true)]
        .into_iter()
        .chain(signs().map(|(at, sign)| (at.saturating_add(sign.len_utf8()), sign == ':')))
        .take(CUTS)
        .collect();
    let mut ends: Vec<usize> = signs().map(|(at, _)| at).chain([text.len()]).collect();
    let ends = ends.split_off(ends.len().saturating_sub(CUTS));
    starts.into_iter().flat_map(move |(start, colon)| {
        ends.clone().into_iter().filter_map(move |end| {
            let piece = text.get(start..end).filter(|piece| !piece.is_empty())?;
            Some((colon && end == text.len(), piece))
        })
    })
}

fn key_of(payment: &PaymentRow) -> Option<RecordId> {
    Some(RecordId { scope: payment.scope.clone()?, key: payment.key.clone()? })
}

/// Whose each order is. A row without a scope is of the only scope its order has; and one customer's order is one,
/// through whichever scopes it was paid.
fn homes<'a>(case: &'a Case, payments: &[&'a PaymentRow]) -> HashMap<(&'a str, Option<&'a str>), Option<&'a str>> {
    let mut scopes: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    let mut customers: HashMap<(&str, &str), BTreeSet<&str>> = HashMap::new();
    let mut note = |order: Option<&'a OrderId>, scope: Option<&'a Scope>| {
        if let Some(order) = order {
            scopes.entry(order.as_str()).or_default().insert(scope.map(Scope::as_str));
        }
    };
    for row in case.requests.as_deref().unwrap_or_default() {
        note(row.order.as_ref(), row.scope.as_ref());
    }
    for row in payments {
        note(row.order.as_ref(), row.scope.as_ref());
        if let (Some(order), Some(customer), Some(scope)) = (&row.order, &row.customer, &row.scope) {
            customers.entry((order.as_str(), customer.as_str())).or_default().insert(scope.as_str());
        }
    }
    let mut homes = HashMap::new();
    for (order, scopes) in scopes {
        let known: Vec<&str> = scopes.iter().copied().flatten().collect();
        if let ([only], true) = (known.as_slice(), scopes.contains(&None)) {
            homes.insert((order, None), Some(*only));
        }
    }
    for ((order, _), scopes) in customers {
        let first = scopes.first().copied();
        for scope in scopes {
            homes.entry((order, Some(scope))).and_modify(|home| *home = first.min(*home)).or_insert(first);
        }
    }
    homes
}
