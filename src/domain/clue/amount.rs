//! Amounts as people write them: `EUR 1,934.20`, `1.934,20 €`, `14 500 JPY`, `128.40`.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

use crate::domain::money::{Currency, Money};

/// The most that are looked for: who writes more has pasted a statement.
const MOST: usize = 12;

/// Signs that stand for one currency. A dollar or a crown may be many.
const SIGNS: &[(&str, &str)] = &[("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("₫", "VND"), ("đ", "VND")];

/// Decimals of a currency that was not named: of none, of most, of a few (ISO 4217).
const EXPONENTS: [u32; 3] = [0, 2, 3];

/// What an amount may mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedAmount {
    /// In minor units.
    pub minor: i64,
    /// Of this currency; without one, of any whose minor unit has so many digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
    /// Digits of the minor unit.
    #[serde(skip)]
    exponent: u32,
}

impl AskedAmount {
    /// Whether this money may be meant.
    pub fn means(&self, money: &Money) -> bool {
        self.minor == money.minor
            && match &self.currency {
                Some(currency) => *currency == money.currency,
                None => money.currency.exponent() == Some(self.exponent),
            }
    }
}

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<before>[A-Za-z]{3}|[€£¥₫$])? [\s\u{a0}\u{202f}]?
        (?P<number>[0-9]{1,3}(?:[\s.,'’\u{a0}\u{202f}][0-9]{3})+(?:[.,][0-9]{1,3})?|[0-9]+(?:[.,][0-9]{1,3})?)
        [\s\u{a0}\u{202f}]? (?P<after>[A-Za-z]{3,9}|[€£¥₫đ$])?",
    )
    .ok()
});

/// The amounts in a text. A number alone is one only with two decimals: an order has a number, too.
pub(super) fn amounts(text: &str) -> Vec<AskedAmount> {
    let mut found: Vec<AskedAmount> = Vec::new();
    for seen in NUMBER.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let Some(number) = seen.name("number") else { continue };
        let before = seen.name("before").filter(|word| stands_alone(text, word.start(), word.end(), word.as_str()));
        let after = seen.name("after").filter(|word| stands_alone(text, word.start(), word.end(), word.as_str()));
        if before.is_none() && is_inside_a_word(text, number.start(), number.end(), after.is_some()) {
            continue;
        }
        let named = [before, after].into_iter().flatten().find_map(|word| currency(word.as_str()));
        let dollar = [seen.name("before"), seen.name("after")].into_iter().flatten().any(|sign| sign.as_str() == "$");
        let exponents: Vec<u32> = match &named {
            Some(currency) => currency.exponent().into_iter().collect(),
            None if dollar || two_decimals(number.as_str()) => EXPONENTS.to_vec(),
            None => continue,
        };
        for exponent in exponents {
            for minor in readings(number.as_str(), exponent) {
                let one = AskedAmount { minor, currency: named.clone(), exponent };
                if minor > 0 && !found.contains(&one) && found.len() < MOST {
                    found.push(one);
                }
            }
        }
    }
    found
}

/// A code that ISO lists, or a sign that stands for one.
fn currency(word: &str) -> Option<Currency> {
    if let Some((_, code)) = SIGNS.iter().find(|(sign, _)| *sign == word) {
        return Some(Currency::new(code));
    }
    let named = Currency::new(if word.eq_ignore_ascii_case("euro") { "EUR" } else { word });
    named.exponent().map(|_| named)
}

/// Whether letters are a word of their own: `EUR 5`, but not the end of `order 5`.
fn stands_alone(text: &str, start: usize, end: usize, word: &str) -> bool {
    let is_sign = !word.starts_with(|c: char| c.is_ascii_alphabetic());
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    is_sign
        || !(letter(text.get(..start).and_then(|t| t.chars().next_back()))
            || letter(text.get(end..).and_then(|t| t.chars().next())))
}

/// Whether digits are a part of something else: `ord_88213`, `v1.20`, `10.0.0.1`.
fn is_inside_a_word(text: &str, start: usize, end: usize, followed: bool) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-:/.,".contains(c));
    let before = text.get(..start).and_then(|t| t.chars().next_back());
    let mut after = text.get(end..).unwrap_or_default().chars();
    let (next, then) = (after.next(), after.next());
    // A full stop or a comma that ends the sentence is none of it.
    let ends = next.is_some_and(|c| ".,".contains(c)) && !then.is_some_and(char::is_alphanumeric);
    joins(before) || (!followed && !ends && joins(next))
}

fn two_decimals(number: &str) -> bool {
    let decimals = number.rsplit(['.', ',']).next().map_or(0, str::len);
    decimals == 2 && number.contains(['.', ','])
}

/// What a number may mean in minor units: a mark with three digits behind it may be either of the two.
fn readings(number: &str, exponent: u32) -> Vec<i64> {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let Ok(all) = digits.parse::<i64>() else { return Vec::new() };
    let behind = number.rfind(['.', ',']).and_then(|at| number.get(at.saturating_add(1)..)).map(str::len);
    let behind = behind.and_then(|digits| u32::try_from(digits).ok());
    let scaled = |decimals: u32| {
        let factor = 10_i64.checked_pow(exponent.checked_sub(decimals)?)?;
        all.checked_mul(factor)
    };
    match behind {
        Some(3) if exponent == 3 => scaled(3).into_iter().chain(scaled(0)).collect(),
        None | Some(3) => scaled(0).into_iter().collect(),
        Some(decimals) => scaled(decimals).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str, minor: i64, currency: &str) -> bool {
        amounts(text).iter().any(|asked| asked.means(&Money::new(minor, currency)))
    }

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, minor, currency) in [
            ("EUR 128.40", 12_840, "EUR"),
            ("you took 128,40 EUR, twice", 12_840, "EUR"),
            ("1.934,20 €", 193_420, "EUR"),
            ("EUR 1,934.20 each", 193_420, "EUR"),
            ("€5", 500, "EUR"),
            ("5 euro", 500, "EUR"),
            ("14 500 JPY", 14_500, "JPY"),
            ("JPY 14,500", 14_500, "JPY"),
            ("450.000 đ", 450_000, "VND"),
            ("450.000đ", 450_000, "VND"),
            ("VND 450000", 450_000, "VND"),
            ("KWD 5.000", 5_000, "KWD"),
            ("KWD 5.000", 5_000_000, "KWD"),
            ("$12.99 was taken", 1_299, "USD"),
            ("12.99", 1_299, "AUD"),
            ("usd 12", 1_200, "USD"),
            ("it was 12.99.", 1_299, "EUR"),
        ] {
            assert!(means(text, minor, currency), "{text}: {:?}", amounts(text));
        }
    }

    #[test]
    fn numbers_of_other_things_are_no_amounts() {
        for text in [
            "2 charges",
            "ord_88213",
            "order 88213",
            "ch_12.99",
            "version 1.20.3",
            "10.0.0.1",
            "14:03",
            "+84 901 234 567",
            "0.00",
            "EURO",
            "",
            "99999999999999999999.99 EUR",
        ] {
            assert_eq!(amounts(text), Vec::new(), "{text}");
        }
        assert!(!means("EUR 128.40", 12_840, "JPY"));
        assert!(!means("128.40", 12_840, "JPY"), "yen have no decimals");
    }

    #[test]
    fn a_statement_is_not_looked_for_whole() {
        let text: String = (100..500).map(|n| format!("EUR {n}.00")).collect::<Vec<_>>().join(" ");
        assert_eq!(amounts(&text).len(), MOST);
    }
}
