//! In which order records stand, and which of them a filter leaves.

use std::cmp::Ordering;

use crate::domain::record::Record;

/// By what records are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Oldest first.
    #[default]
    Age,
    /// Largest amount first, currency by currency: amounts of two currencies are not compared.
    Money,
    /// The provider's key window that ends first.
    KeyLeft,
    /// By scope and key.
    Key,
}

impl Sort {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Age => "AGE",
            Self::Money => "MONEY",
            Self::KeyLeft => "KEY LEFT",
            Self::Key => "KEY",
        }
    }

    pub(super) fn next(self) -> Self {
        match self {
            Self::Age => Self::Money,
            Self::Money => Self::KeyLeft,
            Self::KeyLeft => Self::Key,
            Self::Key => Self::Age,
        }
    }
}

/// Which way a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Most pressing first.
    #[default]
    Pressing,
    /// The other way round.
    Reversed,
}

/// The order of two records, most pressing first.
pub(super) fn compare(sort: Sort, a: &Record, b: &Record) -> Ordering {
    let by_age = || a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id));
    match sort {
        Sort::Age => by_age(),
        Sort::Money => match (&a.money, &b.money) {
            (Some(x), Some(y)) => x.currency.cmp(&y.currency).then(y.minor.cmp(&x.minor)).then_with(by_age),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => by_age(),
        },
        // An unknown first use is the most pressing: nothing can be relied on.
        Sort::KeyLeft => a.first_key_use.cmp(&b.first_key_use).then_with(by_age),
        Sort::Key => a.id.cmp(&b.id),
    }
}

/// Whether a record has every word of a filter: `word`, `field:value`, `!word`.
pub fn matches(record: &Record, filter: &str) -> bool {
    let fields: [(&str, String); 8] = [
        ("scope", record.id.scope.to_string()),
        ("key", record.id.key.to_string()),
        ("order", record.order.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("payment", record.payment.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("provider", record.provider.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("at", record.recovery_point.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("status", record.payment_status.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("amount", record.money.as_ref().map(|m| format!("{m} {}", m.amount())).unwrap_or_default()),
    ];
    filter.split_whitespace().all(|word| {
        let (negated, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
        let word = word.to_lowercase();
        let hit = match word.split_once(':').filter(|(field, _)| fields.iter().any(|(name, _)| name == field)) {
            Some((field, value)) => {
                fields.iter().any(|(name, text)| *name == field && text.to_lowercase().contains(value))
            }
            None => fields.iter().any(|(_, text)| text.to_lowercase().contains(&word)),
        };
        hit != negated
    })
}
