//! From sorted rows to a verdict.

use std::collections::{BTreeMap, BTreeSet};

use super::books::{Books, Placed, Purchase};
use super::cause::{self, Twice};
use super::parts::{self, Parts};
use super::standing::{Money, Source};
use super::{Confidence, Next, Note, Triage, Verdict, clash, note, words};
use crate::domain::ids::ProviderRef;
use crate::domain::money::{Currency, Money as Amount, Totals};
use crate::domain::payment::PaymentStatus;

/// What one purchase came to.
struct One {
    verdict: Verdict,
    next: Next,
    confidence: Confidence,
    cause: Option<super::Cause>,
    note: Option<Note>,
    story: Option<String>,
    because: Vec<String>,
}

impl One {
    fn new(verdict: Verdict, next: Next, confidence: Confidence) -> Self {
        Self { verdict, next, confidence, cause: None, note: None, story: None, because: Vec::new() }
    }
}

/// The verdict on a case: of its purchases the one that needs somebody most, or that there were several.
pub(super) fn conclude(books: &Books<'_>) -> Triage {
    let asked = about(books);
    let mut ones: Vec<(&Purchase<'_>, One)> = asked.iter().map(|purchase| (*purchase, of(books, purchase))).collect();
    ones.sort_by_key(|(_, one)| urgency(one.verdict));
    let paid = ones.iter().filter(|(_, one)| one.verdict == Verdict::ChargedOnce).count();
    let mut charges: Vec<ProviderRef> = Vec::new();
    let mut too_much = Totals::default();
    let mut ones = ones.into_iter();
    let (first, mut one) = match ones.next() {
        Some((purchase, one)) => (Some(purchase), one),
        None => (None, nothing(books)),
    };
    if one.verdict == Verdict::ChargedOnce && paid > 1 && !apart(&asked) {
        one = unclear(format!(
            "{paid} charges stand, and nothing tells whether they are for one purchase: an order is missing."
        ));
        for purchase in &asked {
            charges.extend(refs(purchase));
        }
    } else if one.verdict == Verdict::ChargedOnce && paid > 1 {
        let low = ones.as_slice().iter().map(|(_, other)| other.confidence).chain([one.confidence]).max();
        let mut orders: Vec<String> = vec![format!("{paid} purchases were paid, each once.")];
        orders.append(&mut one.because);
        for (_, other) in ones.by_ref() {
            orders.extend(other.because);
        }
        orders.truncate(24);
        one = One {
            because: orders,
            ..One::new(Verdict::TwoOrders, Next::TellCustomer, low.unwrap_or(Confidence::Medium))
        };
        for purchase in &asked {
            charges.extend(refs(purchase));
        }
    } else if let Some(purchase) = first {
        charges.extend(refs(purchase));
        if one.verdict == Verdict::ChargedTwice {
            too_much = self::too_much(purchase);
        }
    }
    charges.sort();
    charges.dedup();
    Triage {
        verdict: one.verdict,
        cause: one.cause,
        note: one.note,
        charges,
        next: one.next,
        confidence: one.confidence,
        story: one.story,
        because: one.because,
        missing: Vec::new(),
        too_much,
    }
}

/// Whether the paid purchases are told apart by their orders or, where one has none, by whose they are.
fn apart(purchases: &[&Purchase<'_>]) -> bool {
    let paid: Vec<_> = purchases.iter().filter(|purchase| purchase.standing().next().is_some()).collect();
    let scopes: BTreeSet<_> = paid.iter().filter_map(|purchase| purchase.scope).collect();
    if scopes.len() == paid.len() {
        return true;
    }
    let orders: BTreeSet<_> = paid.iter().filter_map(|purchase| purchase.order.as_deref()).collect();
    let both: BTreeSet<_> = paid.iter().map(|purchase| (purchase.order.as_deref(), purchase.scope)).collect();
    // One order of two scopes is two; one order of a scope and of nobody may be one.
    orders.len() == paid.len()
        || (both.len() == paid.len()
            && paid.iter().all(|purchase| purchase.order.is_some() && purchase.scope.is_some()))
}

/// The evidence cannot tell.
fn unclear(why: String) -> One {
    One { because: vec![why], ..One::new(Verdict::NotKnown, Next::HandOver, Confidence::Low) }
}

/// The purchases the question is about: those of the scope that was asked for, when one can be told; else all.
fn about<'a, 'b>(books: &'b Books<'a>) -> Vec<&'b Purchase<'a>> {
    let named = |purchase: &&Purchase<'_>| {
        let asked = books.case.asked.as_deref().unwrap_or_default();
        let mut words =
            asked.split(|c: char| c.is_whitespace() || "\"',;()?!".contains(c)).filter(|word| !word.is_empty());
        words.any(|word| {
            purchase.order.as_deref() == Some(word)
                || purchase.keys.iter().any(|id| id.key.as_str() == word)
                || purchase.charges.iter().any(|charge| charge.seen.name == word)
                || purchase.payments.iter().any(|payment| payment.id.as_ref().is_some_and(|id| id.as_str() == word))
        })
    };
    let real = |purchase: &&Purchase<'_>| {
        !purchase.charges.is_empty() || !purchase.payments.is_empty() || !purchase.records.is_empty()
    };
    let scopes: BTreeSet<&str> = books.purchases.iter().filter(named).filter_map(|purchase| purchase.scope).collect();
    let scope = scopes.first().copied().filter(|_| scopes.len() == 1);
    let same = |purchase: &&Purchase<'_>| match (scope, purchase.scope) {
        (Some(asked), Some(of)) => asked == of,
        (Some(_) | None, None) | (None, Some(_)) => true,
    };
    books.purchases.iter().filter(real).filter(same).collect()
}

/// Which verdict stands for a case with several purchases.
fn urgency(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::ChargedTwice => 0,
        Verdict::LatentDouble => 1,
        Verdict::PaidNotRecorded => 2,
        Verdict::NotKnown => 3,
        Verdict::InDoubt => 4,
        Verdict::ChargedOnce | Verdict::TwoOrders => 5,
        Verdict::NotCharged => 6,
    }
}

/// Nothing was bought, as far as we can see.
fn nothing(books: &Books<'_>) -> One {
    if books.case.charges.is_some() && books.case.payments.is_some() {
        let mut one = One::new(Verdict::NotCharged, Next::TellCustomer, Confidence::Medium);
        one.because.push("Neither the provider nor our books know of a charge or a payment.".to_owned());
        one
    } else {
        let mut one = One::new(Verdict::NotKnown, Next::HandOver, Confidence::Low);
        one.because.push("There is no charge and no payment to judge by.".to_owned());
        one
    }
}

fn of(books: &Books<'_>, purchase: &Purchase<'_>) -> One {
    let standing: Vec<&Placed<'_>> = purchase.standing().collect();
    let mut one = match standing.as_slice() {
        [] => none(books, purchase),
        [charge] => single(books, purchase, charge),
        [..] => several(books, purchase, &standing),
    };
    let clash = clash::clashes(books, purchase);
    if !clash.is_empty() {
        // Two charges that stand are two, whatever else does not fit; but nobody gives money back on it unseen.
        let verdict = if one.verdict == Verdict::ChargedTwice { one.verdict } else { Verdict::NotKnown };
        let (cause, story) = if verdict == Verdict::ChargedTwice { (one.cause, one.story) } else { (None, None) };
        one = One { because: one.because, cause, story, ..One::new(verdict, Next::HandOver, Confidence::Low) };
    }
    if one.because.is_empty() {
        one.because = words::rows(purchase);
    }
    one.because.extend(clash.into_iter().map(|what| format!("The evidence contradicts itself: {what}.")));
    if one.verdict == Verdict::ChargedOnce
        && let [charge] = standing.as_slice()
        && let Some(what) = clash::other_amount(charge)
    {
        one.because.push(what);
        one.confidence = Confidence::Low;
    }
    one
}

fn none(books: &Books<'_>, purchase: &Purchase<'_>) -> One {
    let refused = |placed: &&Placed<'_>| placed.seen.money == Money::Refused;
    let waiting = purchase.charges.iter().any(|charge| charge.seen.money == Money::Open)
        || (purchase.charges.iter().any(|charge| charge.seen.money == Money::Held) && purchase.open().next().is_some());
    let open = purchase.open().next().is_some() || purchase.processing().next().is_some();
    if waiting {
        return One::new(Verdict::InDoubt, Next::Wait, certain(books));
    }
    if open && purchase.at_work(books.case.now) {
        return One::new(Verdict::InDoubt, Next::Wait, Confidence::Medium);
    }
    if open {
        // Every call has a final no: only our books are behind.
        let answered = !purchase.charges.is_empty() && purchase.charges.iter().all(|charge| refused(&charge));
        let next = if answered { Next::Resume } else { Next::Lookup };
        return One::new(Verdict::InDoubt, next, Confidence::Medium);
    }
    if books.case.charges.is_none() {
        return One::new(Verdict::NotKnown, Next::Lookup, Confidence::Medium);
    }
    One::new(Verdict::NotCharged, Next::TellCustomer, certain(books))
}

fn single(books: &Books<'_>, purchase: &Purchase<'_>, charge: &Placed<'_>) -> One {
    let own = |row: &&&crate::domain::case::PaymentRow| charge.payment.is_some_and(|of| std::ptr::eq(of, **row));
    // A payment whose own charge has a final no, or was given back, is not a second one on its way.
    let ended = |row: &crate::domain::case::PaymentRow| {
        purchase.charge_of(row).is_some_and(|placed| matches!(placed.seen.money, Money::Refused | Money::GivenBack))
    };
    let open: Vec<_> = purchase.open().collect();
    let others = open.iter().filter(|row| !own(row) && !ended(row)).count();
    let pending = purchase.charges.iter().any(|other| other.seen.money == Money::Open);
    let paid_keys = charge.key.as_ref();
    let stuck = purchase.processing().any(|record| {
        let of_this = paid_keys.is_none_or(|key| record.key.as_ref() == Some(&key.key));
        let paid_for = open.iter().chain(&purchase.payments).any(|row| row.key == record.key);
        !of_this && !paid_for
    });
    if others > 0 || pending || stuck {
        let mut one =
            One::new(Verdict::LatentDouble, if pending { Next::Wait } else { Next::Lookup }, Confidence::Medium);
        one.story = Some(format!(
            "{} was paid once, and another attempt on it has no known outcome: if it succeeded, it is a double charge.",
            upper(&purchase.name)
        ));
        return one;
    }
    // What only our own books say may hide a second charge.
    if books.case.charges.is_none() && charge.seen.source == Source::Books {
        return One::new(Verdict::NotKnown, Next::Lookup, Confidence::Medium);
    }
    let recorded = match (&books.case.payments, charge.payment.map(|row| &row.status)) {
        (None, _) | (_, Some(Some(PaymentStatus::Succeeded))) => true,
        (Some(_), _) => purchase
            .payments
            .iter()
            .any(|row| row.status == Some(PaymentStatus::Succeeded) && row.provider_ref.is_none()),
    };
    if !recorded {
        let next = match charge.payment.and_then(|row| row.status.as_ref()) {
            Some(PaymentStatus::Created | PaymentStatus::Pending | PaymentStatus::Unknown) => Next::Resume,
            // A word nobody taught us may say the same as `succeeded`: a person has to read it.
            Some(PaymentStatus::Succeeded | PaymentStatus::Failed | PaymentStatus::Unrecognised(_)) | None => {
                Next::HandOver
            }
        };
        let mut one = One::new(Verdict::PaidNotRecorded, next, surely(books, charge));
        let said = charge
            .payment
            .and_then(|row| row.status.as_ref())
            .map_or_else(|| "no payment of it".to_owned(), ToString::to_string);
        one.story = Some(format!(
            "The provider took {} once, at {}; our books say: {said}.",
            charge.seen.name,
            cause::at(charge.seen.at)
        ));
        return one;
    }
    let mut one = One::new(Verdict::ChargedOnce, Next::TellCustomer, surely(books, charge));
    one.note = note::of(books, purchase);
    if note::timed_out(books, purchase) {
        one.confidence = one.confidence.max(Confidence::Medium);
        one.because = words::rows(purchase);
        one.because
            .push("Another attempt was marked failed after a time-out; the provider lists no charge of it.".to_owned());
    }
    one
}

/// Several charges stand: one purchase paid more than once, unless the amounts say that they are its parts.
fn several(books: &Books<'_>, purchase: &Purchase<'_>, standing: &[&Placed<'_>]) -> One {
    match parts::of(purchase, standing) {
        Parts::OfOne(price) => {
            let mut one = One::new(Verdict::ChargedOnce, Next::TellCustomer, Confidence::Medium);
            one.note = note::of(books, purchase);
            one.because = words::rows(purchase);
            one.because.push(format!("Together they are not more than the price, {price}: it was taken in parts."));
            one
        }
        Parts::NotKnown => {
            let mut one = unclear(
                "The amounts differ, and each has a paid payment and a key of its own: this may be \
                one purchase charged twice, or two parts of it."
                    .to_owned(),
            );
            one.because.extend(words::rows(purchase));
            one
        }
        Parts::Whole => twice(books, purchase, standing),
    }
}

fn twice(books: &Books<'_>, purchase: &Purchase<'_>, standing: &[&Placed<'_>]) -> One {
    let mut one = One::new(Verdict::ChargedTwice, Next::RefundOne, certain(books));
    // Only our books say so: the provider has to agree before anything is given back.
    if standing.iter().any(|charge| charge.seen.source != Source::Provider) {
        one.confidence = Confidence::Medium;
    }
    // The provider's report has a charge that its own list lacks: it has to say which is right.
    if books.case.charges.is_some() && standing.iter().any(|charge| charge.seen.source == Source::Told) {
        one.next = Next::Lookup;
    }
    let twice = Twice { books, purchase, standing: standing.to_vec() };
    let (cause, story) = cause::of(&twice);
    if cause == super::Cause::Unknown {
        one.confidence = one.confidence.max(Confidence::Medium);
    }
    one.cause = Some(cause);
    one.story = story;
    one
}

/// As certain as the sources, and less when the provider itself does not list the charge.
fn surely(books: &Books<'_>, charge: &Placed<'_>) -> Confidence {
    if charge.seen.source == Source::Provider { certain(books) } else { Confidence::Medium }
}

/// High when both our books and the provider were read.
fn certain(books: &Books<'_>) -> Confidence {
    if books.case.charges.is_some() && books.case.payments.is_some() { Confidence::High } else { Confidence::Medium }
}

/// What stands beyond the largest charge of a currency: that one was owed.
fn too_much(purchase: &Purchase<'_>) -> Totals {
    let mut largest: BTreeMap<Currency, (usize, i64)> = BTreeMap::new();
    let standing: Vec<Amount> =
        purchase.standing().filter_map(|charge| Some(Amount::new(charge.seen.kept?, charge.seen.currency?))).collect();
    for (nth, amount) in standing.iter().enumerate() {
        let known = largest.entry(amount.currency.clone()).or_insert((nth, amount.minor));
        if amount.minor > known.1 {
            *known = (nth, amount.minor);
        }
    }
    // In several currencies one of the charges was owed: the earliest, and nobody can say which is larger.
    let owed = match standing.first() {
        Some(first) => largest.get(&first.currency).map(|(nth, _)| *nth),
        None => None,
    };
    standing.into_iter().enumerate().filter(|(nth, _)| Some(*nth) != owed).map(|(_, amount)| amount).collect()
}

fn refs<'b>(purchase: &'b Purchase<'_>) -> impl Iterator<Item = ProviderRef> + 'b {
    purchase.standing().map(|charge| ProviderRef::new(charge.seen.name.clone()))
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
