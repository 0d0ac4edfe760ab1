//! The phrase: made of what a person must have read, never a constant.

use super::super::environment::Environment;
use super::super::ids::PlanHash;
use super::super::money::Totals;
use super::super::record::Record;

/// What has to be typed before a change runs: environment, scope, the tail of the key, the amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase(String);

impl Phrase {
    pub(super) fn of(environment: &Environment, record: &Record, hash: &PlanHash) -> Self {
        let tail = record.id.key.tail().unwrap_or_else(|| hash.short());
        let mut words = vec![typeable(&environment.name), typeable(record.id.scope.as_str()), tail];
        if let Some(money) = &record.money {
            words.push(format!("{} {}", typeable(money.currency.code()), money.amount()));
        }
        words.retain(|word| !word.is_empty());
        Self(words.join(" "))
    }

    /// For a list: environment, how many, and the sum of each currency.
    pub(super) fn of_bulk(environment: &Environment, count: usize, totals: &Totals) -> Self {
        let mut words = vec![typeable(&environment.name), count.to_string()];
        words.extend(totals.iter().map(|sum| format!("{} {}", typeable(sum.currency.code()), sum.amount())));
        words.retain(|word| !word.is_empty());
        Self(words.join(" "))
    }

    /// For a list of questions: how many.
    pub(super) fn of_count(count: usize) -> Self {
        Self(count.to_string())
    }

    /// What a second person types: the same words behind one of their own, so that the hand that approves is not
    /// the hand that acts.
    pub(in crate::domain) fn of_approval(environment: &Environment, record: &Record, hash: &PlanHash) -> Self {
        Self(format!("approve {}", Self::of(environment, record, hash).0))
    }

    /// The phrase as it is shown.
    pub fn shown(&self) -> &str {
        &self.0
    }

    /// Whether `typed` is it, to the letter; white space at the ends does not count.
    pub fn is(&self, typed: &str) -> bool {
        typed.trim() == self.0
    }

    /// How many letters are still missing when `typed` is a beginning of it; `None` when it went astray.
    pub fn left(&self, typed: &str) -> Option<usize> {
        self.0.strip_prefix(typed).map(|rest| rest.chars().count())
    }
}

/// What of a name can be typed on any keyboard: hostile or foreign characters are left out of the phrase
/// (the plan shows them, made visible), and a name is cut where typing it would prove nothing more.
fn typeable(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).take(24).collect()
}
