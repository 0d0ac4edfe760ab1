//! Amounts as providers write them, turned into ISO 4217 minor units without ever being a float.

use std::collections::BTreeMap;

use crate::domain::money::Currency;

use super::json::Json;

/// How a provider writes amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Whole minor units: `1934` for EUR 19.34.
    Minor,
    /// Major units with a decimal point: `19.34`.
    Decimal,
}

/// How a provider counts money: its notation, and where its exponents differ from ISO 4217.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counting {
    /// Minor or decimal.
    pub notation: Notation,
    /// Exponents that differ from ISO 4217, by currency code.
    pub exponents: BTreeMap<String, u32>,
}

impl Counting {
    /// The amount in ISO minor units, or why it cannot be told.
    pub fn minor(&self, value: &Json, currency: &Currency) -> Result<i64, String> {
        let text = match value {
            Json::Number(text) | Json::Text(text) => text,
            Json::Null | Json::Truth(_) | Json::List(_) | Json::Object(_) => {
                return Err(format!("an amount is {}", value.kind()));
            }
        };
        let iso = currency.exponent();
        let theirs = self.exponents.get(currency.code()).copied();
        if self.notation == Notation::Minor && text.contains('.') {
            return Err("an amount has a decimal point where whole units are declared".to_owned());
        }
        match (self.notation, iso, theirs) {
            (Notation::Minor, _, None) => scaled(text, 0, 0),
            (Notation::Minor, Some(iso), Some(theirs)) => scaled(text, theirs, iso),
            (Notation::Decimal, Some(iso), _) => scaled(text, 0, iso),
            (Notation::Minor | Notation::Decimal, None, _) => {
                Err("an amount is in a currency whose number of decimals is not known".to_owned())
            }
        }
    }
}

/// `text` shifted from `from` decimals to `to` decimals; every digit must find its place.
fn scaled(text: &str, from: u32, to: u32) -> Result<i64, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || (text.contains('.') && !digits(fraction)) {
        // Also signs and exponents such as 1e3: no real provider sends them for an amount.
        return Err("an amount is not a plain number".to_owned());
    }
    let fraction = fraction.trim_end_matches('0');
    let all = format!("{whole}{fraction}");
    let value: i128 = all
        .trim_start_matches('0')
        .parse()
        .or_else(|_| if all.bytes().all(|b| b == b'0') { Ok(0) } else { Err(()) })
        .map_err(|()| "an amount is larger than any real amount of money".to_owned())?;
    let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let shift = i64::from(to).saturating_sub(i64::from(from)).saturating_sub(places);
    let factor = |by: i64| {
        u32::try_from(by)
            .ok()
            .and_then(|by| 10_i128.checked_pow(by))
            .ok_or_else(|| "an amount has too many decimals".to_owned())
    };
    let minor = if shift >= 0 {
        value.checked_mul(factor(shift)?)
    } else {
        let divisor = factor(shift.saturating_neg())?;
        match value.checked_rem(divisor) {
            Some(0) => value.checked_div(divisor),
            Some(_) | None => {
                return Err("an amount has more decimals than its currency".to_owned());
            }
        }
    };
    minor
        .and_then(|minor| i64::try_from(minor).ok())
        .ok_or_else(|| "an amount is larger than any real amount of money".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(notation: Notation, text: &str, currency: &str) -> Result<i64, String> {
        let counting = Counting { notation, exponents: BTreeMap::from([("CLP".to_owned(), 2), ("ISK".to_owned(), 2)]) };
        counting.minor(&Json::Number(text.to_owned()), &Currency::new(currency))
    }

    #[test]
    fn decimals_follow_the_currency() {
        use Notation::Decimal;
        assert_eq!(read(Decimal, "19.34", "EUR"), Ok(1934));
        assert_eq!(read(Decimal, "19.3", "eur"), Ok(1930));
        assert_eq!(read(Decimal, "19", "EUR"), Ok(1900));
        assert_eq!(read(Decimal, "0.05", "EUR"), Ok(5));
        assert_eq!(read(Decimal, "500", "JPY"), Ok(500));
        assert_eq!(read(Decimal, "500.00", "JPY"), Ok(500));
        assert_eq!(read(Decimal, "1.250", "KWD"), Ok(1250));
        assert_eq!(read(Decimal, "0", "EUR"), Ok(0));
        assert_eq!(read(Decimal, "0.1", "EUR"), Ok(10), "a float would not be 10 after a sum");
        for (bad, currency) in [
            ("19.345", "EUR"),
            ("1.5", "JPY"),
            ("-1", "EUR"),
            ("1e3", "EUR"),
            (".5", "EUR"),
            ("5.", "EUR"),
            ("1,000", "EUR"),
            ("", "EUR"),
            ("1", "ZZQ"),
            ("99999999999999999999", "EUR"),
            ("9223372036854775807", "EUR"),
            ("0.00000000000000000000000000000000000000001", "EUR"),
        ] {
            assert!(read(Decimal, bad, currency).is_err(), "{bad} {currency}");
        }
    }

    #[test]
    fn minor_units_are_whole() {
        use Notation::Minor;
        assert_eq!(read(Minor, "1934", "EUR"), Ok(1934));
        assert_eq!(read(Minor, "0007", "ZZQ"), Ok(7), "no exponent is needed");
        assert!(read(Minor, "19.34", "EUR").is_err());
        assert!(read(Minor, "19.00", "EUR").is_err());
        assert_eq!(read(Minor, "9223372036854775807", "EUR"), Ok(i64::MAX));
        assert!(read(Minor, "9223372036854775808", "EUR").is_err());
    }

    #[test]
    fn a_provider_with_other_exponents_is_brought_to_iso() {
        use Notation::Minor;
        assert_eq!(read(Minor, "50000", "CLP"), Ok(500), "two decimals there, none in ISO 4217");
        assert!(read(Minor, "50050", "CLP").is_err());
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        let counting = Counting { notation: Notation::Minor, exponents: BTreeMap::new() };
        let euro = Currency::new("EUR");
        assert_eq!(counting.minor(&Json::Text("12".to_owned()), &euro), Ok(12));
        for bad in [Json::Truth(true), Json::List(Vec::new())] {
            assert!(counting.minor(&bad, &euro).is_err());
        }
    }

    proptest::proptest! {
        #[test]
        fn what_we_write_is_what_we_read(minor in 0..i64::MAX, code in proptest::sample::select(vec!["EUR", "JPY", "KWD"])) {
            let money = crate::domain::money::Money::new(minor, code);
            proptest::prop_assert_eq!(read(Notation::Decimal, &money.amount(), code), Ok(minor));
            proptest::prop_assert_eq!(read(Notation::Minor, &minor.to_string(), code), Ok(minor));
        }

        #[test]
        fn no_text_is_ever_half_read(text in "[-+0-9.eE_, ]{0,24}") {
            if let Ok(minor) = read(Notation::Decimal, &text, "EUR") {
                proptest::prop_assert!(minor >= 0 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
            }
        }
    }
}
