//! What a break weighs: its money, its age, and by what breaks are sorted. Nothing here adds two currencies.

use std::cmp::Ordering;

use crate::domain::money::{Money, Totals};
use crate::domain::recon::{Break, BreakKind};
use crate::domain::time::{Instant, Seconds, age};

/// A break older than this is no longer the delay between two systems.
pub const OLD: Seconds = Seconds(24 * 3_600);

/// The ages breaks are counted by: where each begins, and its words.
pub const AGES: [(Seconds, &str); 4] =
    [(Seconds(0), "<1h"), (Seconds(3_600), "1-24h"), (OLD, "24-48h"), (Seconds(48 * 3_600), ">48h")];

/// Since when a break is one: when the money moved, as far as that is known. A moment after the break was first
/// seen is a wrong clock, and must not make it look new for ever.
pub fn since_of(one: &Break) -> Instant {
    one.at.map_or(one.first_seen, |at| at.min(one.first_seen))
}

/// How many breaks are of each of [`AGES`].
pub fn by_age(breaks: &[Break], at: Instant) -> [usize; AGES.len()] {
    let mut counts = [0; AGES.len()];
    for one in breaks {
        let old = age(since_of(one), at);
        let place = AGES.iter().rposition(|(from, _)| old >= *from).unwrap_or(0);
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    counts
}

/// By how much the two sides differ; the whole amount where one side has nothing; none between two currencies.
pub fn difference(one: &Break) -> Option<Money> {
    match (&one.ours, &one.theirs) {
        (Some(ours), Some(theirs)) if ours.currency == theirs.currency => {
            let minor = theirs.minor.checked_sub(ours.minor)?.checked_abs()?;
            Some(Money { minor, currency: ours.currency.clone() })
        }
        (Some(_), Some(_)) | (None, None) => None,
        (Some(only), None) | (None, Some(only)) => {
            Some(Money { minor: only.minor.checked_abs()?, currency: only.currency.clone() })
        }
    }
}

/// The money in question, by currency. Between two currencies both sides are: neither proves the other.
pub fn in_question<'a>(breaks: impl Iterator<Item = &'a Break>) -> Totals {
    let mut totals = Totals::default();
    for one in breaks {
        match difference(one) {
            Some(money) => totals.add(&money),
            // Without their signs: what came in on one side must not hide what went out on the other.
            None => one.ours.iter().chain(&one.theirs).for_each(|money| {
                totals.add(&Money { minor: money.minor.saturating_abs(), currency: money.currency.clone() });
            }),
        }
    }
    totals
}

/// By what breaks are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Oldest first.
    #[default]
    Age,
    /// Largest difference first, currency by currency.
    Money,
    /// In the order of the kinds.
    Kind,
}

impl Sort {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Age => "AGE",
            Self::Money => "MONEY",
            Self::Kind => "KIND",
        }
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Age => Self::Money,
            Self::Money => Self::Kind,
            Self::Kind => Self::Age,
        }
    }
}

/// The order of two breaks, most pressing first.
pub fn compare(sort: Sort, a: &Break, b: &Break) -> Ordering {
    let by_age = || since_of(a).cmp(&since_of(b)).then_with(|| a.number.cmp(&b.number));
    match sort {
        Sort::Age => by_age(),
        Sort::Money => match (difference(a), difference(b)) {
            (Some(x), Some(y)) => x.currency.cmp(&y.currency).then(y.minor.cmp(&x.minor)).then_with(by_age),
            // What cannot be put in one amount comes first: nobody knows how much it is.
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (None, None) => by_age(),
        },
        Sort::Kind => a.kind.cmp(&b.kind).then_with(by_age),
    }
}

/// The kind shown after this one; `None` is all of them. A kind without breaks is passed over.
pub fn next_kind(shown: Option<BreakKind>, breaks: &[Break]) -> Option<BreakKind> {
    let there = |kind: &BreakKind| breaks.iter().any(|one| one.kind == *kind);
    let from =
        shown.map_or(0, |kind| BreakKind::ALL.iter().position(|k| *k == kind).map_or(0, |at| at.saturating_add(1)));
    BreakKind::ALL.into_iter().skip(from).find(there)
}

/// How much matched, in thousandths of a percent, never rounded up: one line in a million that does not match must
/// not read as all. `None` when there are no lines, or more that match than there are.
pub fn matched(matched: u64, lines: u64) -> Option<String> {
    if matched > lines {
        return None;
    }
    let share = u128::from(matched).saturating_mul(100_000).checked_div(u128::from(lines))?;
    Some(format!("{}.{:03}%", share / 1_000, share % 1_000))
}
