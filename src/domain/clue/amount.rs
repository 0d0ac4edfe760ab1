//! Amounts as people write them: `EUR 1,934.20`, `1.934,20 €`, `14 500 JPY`, `128.40`.

use std::sync::LazyLock;

use regex_lite::{Match, Regex};
use serde::{Deserialize, Serialize};

use crate::domain::money::{Currency, Money};

/// The most that are looked for: who writes more has pasted a statement.
const MOST: usize = 12;

/// Signs that stand for one currency. A dollar or a crown may be many.
const SIGNS: &[(&str, &str)] = &[("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("₫", "VND"), ("đ", "VND")];

/// Words for a currency, and codes that people write in small letters. Others in small letters are words: `all`, `top`.
const WORDS: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("yen", "JPY"),
    ("dong", "VND"),
    ("đồng", "VND"),
    ("eur", "EUR"),
    ("usd", "USD"),
    ("gbp", "GBP"),
    ("jpy", "JPY"),
    ("vnd", "VND"),
    ("kwd", "KWD"),
    ("chf", "CHF"),
    ("sgd", "SGD"),
];

/// Words of currencies of which there are several; all of them have two decimals.
const SEVERAL: &[&str] = &["$", "dollar", "dollars", "pound", "pounds", "franc", "francs", "crowns"];

/// Two decimals: what an amount of a currency that was not named is taken to have.
const UNNAMED: u32 = 2;

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
        (?:(?P<before>[A-Za-z]{3}|[€£¥₫$])[\x20\u{a0}\u{202f}]?)?
        (?P<number>[0-9]{1,3}(?:[\x20.,'’\u{a0}\u{202f}][0-9]{3})+(?:[.,][0-9]{1,3})?|[0-9]+(?:[.,][0-9]{1,3})?)
        (?:[\x20\u{a0}\u{202f}]?(?P<after>[A-Za-zđĐồ]{3,9}|[€£¥₫đ$]))?",
    )
    .ok()
});

/// The amounts in a text, and the text without them. A number alone is one only with two decimals: an order has a
/// number, too.
pub(super) fn amounts(text: &str) -> (Vec<AskedAmount>, String) {
    let (mut found, mut rest, mut done, mut from) = (Vec::<AskedAmount>::new(), String::new(), 0, 0);
    let Some(pattern) = NUMBER.as_ref() else { return (found, text.to_owned()) };
    while let Some(seen) = pattern.captures_at(text, from) {
        let Some(number) = seen.name("number") else { break };
        let names = |word: &Match<'_>| {
            stands_alone(text, word.start(), word.end(), word.as_str())
                && (currency(word.as_str()).is_some() || is_several(word.as_str()))
        };
        let before = seen.name("before").filter(names);
        let after = seen.name("after").filter(names).filter(|word| before.is_some() || !leads_on(text, word.end()));
        from = after.map_or(number.end(), |word| word.end());
        let words: Vec<&str> = [before, after].into_iter().flatten().map(|word| word.as_str()).collect();
        if words.is_empty() && is_inside_a_word(text, number.start(), number.end()) {
            continue;
        }
        let start = before.map_or(number.start(), |word| word.start());
        let new = read(number.as_str(), &words);
        if new.is_empty() {
            continue;
        }
        rest.push_str(text.get(done..start).unwrap_or_default());
        rest.push(' ');
        done = from;
        for one in new {
            if one.minor > 0 && !found.contains(&one) && found.len() < MOST {
                found.push(one);
            }
        }
    }
    rest.push_str(text.get(done..).unwrap_or_default());
    (found, rest)
}

/// What a number with these words beside it may mean.
fn read(number: &str, words: &[&str]) -> Vec<AskedAmount> {
    let named = words.iter().find_map(|word| currency(word));
    let several = words.iter().any(|word| is_several(word));
    let exponent = match &named {
        Some(currency) => currency.exponent(),
        None if several || two_decimals(number) => Some(UNNAMED),
        None => None,
    };
    let Some(exponent) = exponent else { return Vec::new() };
    // `2 120.00` is two thousand or so, or two of something.
    let last = number.rsplit([' ', '\u{a0}', '\u{202f}']).next().filter(|last| *last != number);
    let readings =
        readings(number, exponent).into_iter().chain(last.into_iter().flat_map(|last| readings(last, exponent)));
    readings.map(|minor| AskedAmount { minor, currency: named.clone(), exponent }).collect()
}

fn is_several(word: &str) -> bool {
    SEVERAL.contains(&word.to_lowercase().as_str())
}

/// A code that ISO lists, or a sign or word that stands for one.
fn currency(word: &str) -> Option<Currency> {
    let known = SIGNS.iter().chain(WORDS).find(|(sign, _)| *sign == word.to_lowercase());
    if let Some((_, code)) = known {
        return Some(Currency::new(code));
    }
    let named = Currency::new(word);
    (word.chars().all(|c| c.is_ascii_uppercase())).then_some(())?;
    named.exponent().map(|_| named)
}

/// Whether a code stands before another number: in `88213 JPY 1800` it is the second one's.
fn leads_on(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']).starts_with(|c: char| c.is_ascii_digit())
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
fn is_inside_a_word(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-:/.,".contains(c));
    let before = text.get(..start).and_then(|t| t.chars().next_back());
    let mut after = text.get(end..).unwrap_or_default().chars();
    let (next, then) = (after.next(), after.next());
    // A full stop or a comma that ends the sentence is none of it.
    let ends = next.is_some_and(|c| ".,".contains(c)) && !then.is_some_and(char::is_alphanumeric);
    joins(before) || (!ends && joins(next))
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
        if let Some(missing) = exponent.checked_sub(decimals) {
            return all.checked_mul(10_i64.checked_pow(missing)?);
        }
        // `450,000.00 VND`: a bank writes decimals that the currency does not have.
        let factor = 10_i64.checked_pow(decimals.checked_sub(exponent)?)?;
        (all.checked_rem(factor)? == 0).then(|| all.checked_div(factor)).flatten()
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
        amounts(text).0.iter().any(|asked| asked.means(&Money::new(minor, currency)))
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
            ("12 euros and 5 dollars", 1_200, "EUR"),
            ("12 euros and 5 dollars", 500, "USD"),
            ("20 pounds", 2_000, "GBP"),
            ("450,000.00 VND", 450_000, "VND"),
            ("JPY 14,500.00", 14_500, "JPY"),
            ("2 120.00 EUR charges", 12_000, "EUR"),
            ("Qty 1\n250.00 EUR", 25_000, "EUR"),
            ("12.99 all in", 1_299, "EUR"),
            ("try 12.99", 1_299, "EUR"),
            ("order 88213 JPY 1800", 1_800, "JPY"),
        ] {
            assert!(means(text, minor, currency), "{text}: {:?}", amounts(text).0);
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
            assert_eq!(amounts(text).0, Vec::new(), "{text}");
        }
        assert!(!means("order 88213 JPY 1800", 88_213, "JPY"));
        assert!(!means("9.99", 9_990, "KWD") && !means("EUR 128.40", 12_840, "JPY"));
        let (_, rest) = amounts("you took EUR 128.40 for ord_88213, and 12.99.");
        assert_eq!(rest.split_whitespace().collect::<Vec<_>>().join(" "), "you took for ord_88213, and .");
        assert!(!means("128.40", 12_840, "JPY"), "yen have no decimals");
    }

    #[test]
    fn a_statement_is_not_looked_for_whole() {
        let text: String = (100..500).map(|n| format!("EUR {n}.00")).collect::<Vec<_>>().join(" ");
        assert_eq!(amounts(&text).0.len(), MOST);
    }
}
