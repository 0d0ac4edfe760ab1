//! A line of a settlement report, whoever wrote it, and how its amounts and times are read.

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use crate::domain::money::{Currency, Money};
use crate::domain::time::Instant;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Money that a customer paid: compared with our payments.
    Charge,
    /// Given back.
    Refund,
    /// Taken back by the bank.
    Chargeback,
    /// What the provider keeps.
    Fee,
    /// Payouts, reserves, conversions: between us and the provider.
    Other,
}

impl LineKind {
    /// Its word in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Refund => "refund",
            Self::Chargeback => "chargeback",
            Self::Fee => "fee",
            Self::Other => "other",
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is about.
    pub kind: LineKind,
    /// The provider's id of the charge.
    pub reference: Option<String>,
    /// The order or invoice, as the provider stored it.
    pub order: Option<String>,
    /// How much; what leaves us is below zero.
    pub money: Money,
    /// When, where the report says it in a zone we know.
    pub at: Option<Instant>,
}

/// What a record of the file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line.
    Line(Line),
    /// A total that the report states for its lines.
    Total(Money),
    /// How many lines the report says it has.
    Count(u64),
    /// Head, foot, what is not for us.
    Nothing,
}

/// Reads an amount in major units, as `1,934.20`, `1.934,20`, `1 934,20`, `(5.00)` or `-5.00`, without ever touching a
/// float. What could mean two things is refused.
pub fn decimal(text: &str, currency: &str) -> Result<Money, String> {
    let code = Currency::new(currency);
    let exponent = code.exponent().ok_or_else(|| format!("currency {currency:?} is not in ISO 4217"))?;
    let places = usize::try_from(exponent).unwrap_or(0);
    let wrong = || format!("{text:?} is not an amount of {code}");
    let plain: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{a0}' && *c != '\'').collect();
    let (plain, below) = match plain.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => (inner.to_owned(), true),
        None => match plain.strip_prefix('-') {
            Some(rest) => (rest.to_owned(), true),
            None => (plain.strip_prefix('+').unwrap_or(&plain).to_owned(), false),
        },
    };
    let (whole, fraction) = match decimal_mark(&plain, places) {
        Point::Mark(mark) => plain.rsplit_once(mark).ok_or_else(wrong)?,
        Point::None => (plain.as_str(), ""),
        Point::Unclear => return Err(format!("{text:?} may mean two amounts of {code}")),
    };
    let whole: String = whole.chars().filter(|c| !",.".contains(*c)).collect();
    let kept = fraction.get(..places.min(fraction.len())).ok_or_else(wrong)?;
    let rest = fraction.get(kept.len()..).ok_or_else(wrong)?;
    if !rest.chars().all(|c| c == '0') {
        return Err(format!("{text:?} has more decimals than {code}"));
    }
    let digits = format!("{whole}{kept:0<places$}");
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) || whole.is_empty() {
        return Err(wrong());
    }
    let minor: i64 = digits.parse().map_err(|_| format!("{text:?} is larger than any real amount"))?;
    Ok(Money { minor: if below { minor.saturating_neg() } else { minor }, currency: code })
}

/// What stands before the decimals of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// This mark.
    Mark(char),
    /// There are no decimals.
    None,
    /// Nobody can tell.
    Unclear,
}

fn decimal_mark(text: &str, places: usize) -> Point {
    match (text.rfind(','), text.rfind('.')) {
        (None, None) => Point::None,
        (Some(comma), Some(point)) => Point::Mark(if comma > point { ',' } else { '.' }),
        (None, Some(at)) => single(text, '.', at, places),
        (Some(at), None) => single(text, ',', at, places),
    }
}

fn single(text: &str, mark: char, at: usize, places: usize) -> Point {
    let after = text.len().saturating_sub(at).saturating_sub(1);
    match (text.matches(mark).count(), after) {
        // `1,934,200`: only thousands are set apart more than once.
        (2.., _) => Point::None,
        // `1,934` of a currency with three decimals may be either.
        (_, 3) if places == 3 && mark == ',' => Point::Unclear,
        (_, 3) if places != 3 && mark == ',' => Point::None,
        _ => Point::Mark(mark),
    }
}

/// Reads an amount in minor units.
pub fn minor(text: &str, currency: &str) -> Result<Money, String> {
    let minor: i64 = text.trim().parse().map_err(|_| format!("{text:?} is not a whole number of minor units"))?;
    if Currency::new(currency).exponent().is_none() {
        return Err(format!("currency {currency:?} is not in ISO 4217"));
    }
    Ok(Money::new(minor, currency))
}

/// Reads a time. Without a zone it is UTC.
pub fn instant(text: &str) -> Result<Option<Instant>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(Some(at.to_utc()));
    }
    for form in ["%Y/%m/%d %H:%M:%S %z", "%Y-%m-%d %H:%M:%S %z"] {
        if let Ok(at) = DateTime::parse_from_str(text, form) {
            return Ok(Some(at.to_utc()));
        }
    }
    for form in ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"] {
        if let Ok(at) = NaiveDateTime::parse_from_str(text, form) {
            return Ok(Some(at.and_utc()));
        }
    }
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().and_then(|day| day.and_hms_opt(0, 0, 0));
    day.map(|at| Some(at.and_utc())).ok_or_else(|| format!("{text:?} is not a time"))
}

/// A time in a zone that is named beside it; a zone nobody taught us leaves it unknown.
pub fn zoned(text: &str, zone: &str) -> Result<Option<Instant>, String> {
    const ZONES: &[(&str, i64)] = &[
        ("UTC", 0),
        ("GMT", 0),
        ("BST", 1),
        ("CET", 1),
        ("CEST", 2),
        ("EST", -5),
        ("EDT", -4),
        ("PST", -8),
        ("PDT", -7),
        ("SGT", 8),
        ("ICT", 7),
        ("JST", 9),
    ];
    let Some(at) = instant(text)? else { return Ok(None) };
    let hours = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(zone.trim())).map(|(_, hours)| *hours);
    Ok(hours.and_then(|hours| at.checked_sub_signed(TimeDelta::hours(hours))).map(|at: DateTime<Utc>| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        for (text, currency, minor) in [
            ("128.40", "EUR", 12_840),
            ("1,934.20", "EUR", 193_420),
            ("1.934,20", "EUR", 193_420),
            ("1 934,20", "EUR", 193_420),
            ("-5", "EUR", -500),
            ("(5.00)", "EUR", -500),
            ("1,934", "EUR", 193_400),
            ("1,934,200", "JPY", 1_934_200),
            ("500.00", "JPY", 500),
            ("1.250", "KWD", 1_250),
            ("12,5", "EUR", 1_250),
            ("0.07", "usd", 7),
            ("1'000.00", "CHF", 100_000),
        ] {
            assert_eq!(decimal(text, currency).map(|money| money.minor), Ok(minor), "{text} {currency}");
        }
        for (text, currency) in [
            ("1,250", "KWD"),
            ("12.345", "EUR"),
            ("", "EUR"),
            ("abc", "EUR"),
            ("1e5", "EUR"),
            ("5", "XX"),
            (".", "EUR"),
            ("--5", "EUR"),
            ("500.50", "JPY"),
            ("99999999999999999999", "EUR"),
            ("١٢", "EUR"),
        ] {
            assert!(decimal(text, currency).is_err(), "{text} {currency}: {:?}", decimal(text, currency));
        }
    }

    #[test]
    fn times_are_utc_unless_they_say_otherwise() {
        let noon = Some("2026-03-01T12:00:00Z".parse().expect("a time"));
        for text in ["2026-03-01T12:00:00Z", "2026-03-01 12:00:00", "2026/03/01 13:00:00 +0100"] {
            assert_eq!(instant(text), Ok(noon), "{text}");
        }
        assert_eq!(zoned("2026-03-01 13:00:00", "CET"), Ok(noon));
        assert_eq!(zoned("2026-03-01 13:00:00", "Mars"), Ok(None));
        assert!(instant("yesterday").is_err());
    }
}
