//! Money: minor units and an ISO 4217 currency. Never a float, never summed across currencies.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// An ISO 4217 code as it was written. An unknown code is kept and shown, with no exponent assumed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Currency(String);

impl Currency {
    /// Takes the code as it is; letters are compared in upper case, as ISO writes them.
    pub fn new(code: impl AsRef<str>) -> Self {
        Self(code.as_ref().trim().to_ascii_uppercase())
    }

    /// The code.
    pub fn code(&self) -> &str {
        &self.0
    }

    /// How many digits of the minor unit stand behind the decimal point (ISO 4217).
    /// `None` for a code that ISO does not list, or that has no minor unit: then amounts are
    /// shown in minor units and said to be so.
    pub fn exponent(&self) -> Option<u32> {
        iso_currency::Currency::from_code(&self.0)?.exponent().map(u32::from)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An amount of one currency, in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Money {
    /// Minor units: cents for EUR, yen for JPY, fils for KWD.
    pub minor: i64,
    /// What they are units of.
    pub currency: Currency,
}

/// Why two amounts could not be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Amounts of different currencies are listed side by side, never added.
    #[error("{0} and {1} cannot be added")]
    CurrenciesDiffer(Currency, Currency),
    /// The sum does not fit: the inputs cannot be real money.
    #[error("the sum is larger than any real amount of money")]
    TooLarge,
}

impl Money {
    /// An amount in minor units.
    pub fn new(minor: i64, currency: impl AsRef<str>) -> Self {
        Self { minor, currency: Currency::new(currency) }
    }

    /// The sum of two amounts of the same currency.
    pub fn checked_add(&self, other: &Self) -> Result<Self, MoneyError> {
        if self.currency != other.currency {
            return Err(MoneyError::CurrenciesDiffer(self.currency.clone(), other.currency.clone()));
        }
        let minor = self.minor.checked_add(other.minor).ok_or(MoneyError::TooLarge)?;
        Ok(Self { minor, currency: self.currency.clone() })
    }

    /// The amount alone, in major units with the currency's own number of decimals: `1934.20`, `500`, `1.250`.
    /// A currency without a known exponent is shown in minor units, marked: `1250 minor`.
    pub fn amount(&self) -> String {
        match self.currency.exponent() {
            Some(exponent) => decimal(self.minor, exponent),
            None => format!("{} minor", self.minor),
        }
    }

    /// The amount with thousands set apart, for reading: `1,934.20`.
    pub fn amount_grouped(&self) -> String {
        let plain = self.amount();
        let (sign, rest) = plain.strip_prefix('-').map_or(("", plain.as_str()), |rest| ("-", rest));
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, fraction) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            let left = whole.len().saturating_sub(place);
            if place > 0 && left.is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        format!("{sign}{grouped}{fraction}")
    }
}

/// How much of a currency's code is shown.
const LONGEST_CODE: usize = 12;

/// `minor` with `exponent` digits behind the point, without ever touching a float.
fn decimal(minor: i64, exponent: u32) -> String {
    let sign = if minor < 0 { "-" } else { "" };
    let digits = minor.unsigned_abs().to_string();
    let places = usize::try_from(exponent).unwrap_or(0);
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = places.saturating_add(1));
    let (whole, fraction) = padded.split_at_checked(padded.len().saturating_sub(places)).unwrap_or((&padded, ""));
    format!("{sign}{whole}.{fraction}")
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A code is three letters; one that fills a screen would hide the amount.
        let code = self.currency.to_string();
        let code = match code.char_indices().nth(LONGEST_CODE).and_then(|(at, _)| code.get(..at)) {
            Some(start) => format!("{start}..."),
            None => code,
        };
        f.pad(&format!("{code} {}", self.amount_grouped()))
    }
}

/// Sums by currency. Several currencies are listed, never added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals(BTreeMap<Currency, i64>);

impl Totals {
    /// Adds one amount to the sum of its currency. A sum that would not fit stays at its limit:
    /// it is then absurd to the eye, which is what it should be.
    pub fn add(&mut self, money: &Money) {
        let sum = self.0.entry(money.currency.clone()).or_insert(0);
        *sum = sum.saturating_add(money.minor);
    }

    /// One sum per currency, in alphabetical order of the code.
    pub fn iter(&self) -> impl Iterator<Item = Money> + '_ {
        self.0.iter().map(|(currency, minor)| Money { minor: *minor, currency: currency.clone() })
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Money> for Totals {
    fn from_iter<I: IntoIterator<Item = Money>>(amounts: I) -> Self {
        let mut totals = Self::default();
        for money in amounts {
            totals.add(&money);
        }
        totals
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, money) in self.iter().enumerate() {
            if place > 0 {
                f.write_str(" + ")?;
            }
            write!(f, "{money}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_follow_the_currency() {
        assert_eq!(Money::new(193_420, "EUR").to_string(), "EUR 1,934.20");
        assert_eq!(Money::new(500, "JPY").to_string(), "JPY 500");
        assert_eq!(Money::new(1250, "KWD").to_string(), "KWD 1.250");
        assert_eq!(Money::new(5, "eur").to_string(), "EUR 0.05");
        assert_eq!(Money::new(-5, "EUR").to_string(), "EUR -0.05");
        assert_eq!(Money::new(i64::MIN, "EUR").amount(), "-92233720368547758.08");
    }

    #[test]
    fn an_unknown_currency_is_not_given_decimals() {
        assert_eq!(Money::new(1250, "ZZQ").to_string(), "ZZQ 1,250 minor");
        assert_eq!(Money::new(1, "C".repeat(1_000_000)).to_string(), "CCCCCCCCCCCC... 1 minor");
    }

    #[test]
    fn currencies_are_never_added() {
        let euro = Money::new(1, "EUR");
        assert!(euro.checked_add(&Money::new(1, "USD")).is_err());
        assert_eq!(euro.checked_add(&Money::new(i64::MAX, "EUR")), Err(MoneyError::TooLarge));
        let totals: Totals = [Money::new(100, "USD"), euro, Money::new(50, "USD")].into_iter().collect();
        assert_eq!(totals.to_string(), "EUR 0.01 + USD 1.50");
    }
}
