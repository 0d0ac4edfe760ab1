//! Days as people write them: `2026-11-30`, `30.11.2026`, `11/30/2026`, `30 Nov`, `yesterday`, `hôm qua`.

use std::sync::LazyLock;

use chrono::{Datelike, Days, NaiveDate};
use regex_lite::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::domain::time::{Instant, Seconds};

/// A customer's day is not a UTC day: it begins up to 14 hours before and ends up to 12 hours after.
const EAST: Seconds = Seconds(14 * 3_600);
const WEST: Seconds = Seconds(12 * 3_600);
/// The most days that are looked through, the latest.
const MOST: usize = 4;
/// Without a day the last so many are looked through.
const WITHOUT: u64 = 7;

/// From a moment to just before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first moment.
    pub from: Instant,
    /// The first moment that is no part of it.
    pub to: Instant,
}

static DAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(?P<y1>[0-9]{4})-(?P<m1>[0-9]{1,2})-(?P<d1>[0-9]{1,2})(?:T[0-9:.]+Z?|\b)
        | \b(?P<a>[0-9]{1,2})(?P<mark>[./-])(?P<b>[0-9]{1,2})[./-](?P<y2>[0-9]{4}|[0-9]{2})\b
        | \b(?P<d3>[0-9]{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?
            (?P<n3>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b
            \.?(?:,?\s+(?P<y3>[0-9]{4})\b)?
        | \b(?P<n4>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)
            \.?\s+(?P<d4>[0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<y4>[0-9]{4}))?\b
        | \b(?P<d5>[0-9]{1,2})\s+tháng\s+(?P<m5>[0-9]{1,2})(?:\s+(?:năm\s+)?(?P<y5>[0-9]{4}))?\b
        | \b(?P<d6>[0-9]{1,2})/(?P<m6>[0-9]{1,2})\b
        | \b(?P<d7>[0-9]{1,2})\.(?P<m7>[0-9]{1,2})\.(?:\s|$|[,;!?)])
        | (?P<today>\btoday\b|hôm\s+nay)
        | (?P<yesterday>\byesterday\b|hôm\s+qua)",
    )
    .ok()
});

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The days a text names, or the last week; and the text without them, since `30.11` might be an amount.
pub(super) fn spans(text: &str, now: Instant) -> (Vec<Span>, String) {
    let today = now.date_naive();
    let mut days: Vec<NaiveDate> = Vec::new();
    let mut named = Named::Loosely;
    let mut rest = String::new();
    let mut done = 0;
    for seen in DAY.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let found = if seen.name("today").is_some() || seen.name("yesterday").is_some() {
            relative(now, seen.name("yesterday").is_some())
        } else {
            read(&seen, today)
        };
        let Some(whole) = seen.get(0).filter(|_| !found.is_empty()) else { continue };
        if ["y1", "y2", "y3", "y4", "y5", "today", "yesterday"].iter().any(|name| seen.name(name).is_some()) {
            named = Named::WithItsYear;
        }
        // `5.10.` may be an amount at the end of a sentence: it stays in the text.
        if seen.name("d7").is_some() {
            days.extend(found);
            continue;
        }
        rest.push_str(text.get(done..whole.start()).unwrap_or_default());
        rest.push(' ');
        done = whole.end();
        days.extend(found);
    }
    rest.push_str(text.get(done..).unwrap_or_default());
    days.sort_unstable();
    days.dedup();
    // Who names many days has pasted a statement: it is no clue.
    let mut spans: Vec<Span> = days.iter().rev().take(MOST).filter_map(|day| span(*day)).collect();
    // `2 may` or `24/7` may be no day at all: the last week is looked through as well.
    if named == Named::Loosely {
        let from = now.checked_sub_days(Days::new(WITHOUT)).unwrap_or(now);
        spans.push(Span { from, to: WEST.after(now) });
    }
    (spans, rest)
}

/// Whether a day was named so that it cannot be anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    WithItsYear,
    Loosely,
}

/// Every date that is today, or yesterday, somewhere.
fn relative(now: Instant, yesterday: bool) -> Vec<NaiveDate> {
    let mut days = vec![WEST.before(now).date_naive(), EAST.after(now).date_naive()];
    days.dedup();
    if yesterday { days.iter().filter_map(NaiveDate::pred_opt).collect() } else { days }
}

fn span(day: NaiveDate) -> Option<Span> {
    let next = day.succ_opt()?;
    let at = |day: NaiveDate| day.and_hms_opt(0, 0, 0).map(|moment| moment.and_utc());
    Some(Span { from: EAST.before(at(day)?), to: WEST.after(at(next)?) })
}

/// The days that a mention may be: `03/11/2026` is two.
fn read(seen: &Captures<'_>, today: NaiveDate) -> Vec<NaiveDate> {
    let number = |name: &str| seen.name(name).and_then(|found| found.as_str().parse::<u32>().ok());
    let month = |name: &str| {
        let word = seen.name(name)?.as_str().to_ascii_lowercase();
        let nth = MONTHS.iter().position(|month| word.starts_with(month))?;
        u32::try_from(nth).ok()?.checked_add(1)
    };
    let dated = |year: Option<u32>, month: Option<u32>, day: Option<u32>| {
        let (month, day) = (month?, day?);
        match year {
            Some(year) => NaiveDate::from_ymd_opt(century(year)?, month, day),
            None => latest(today, month, day),
        }
    };
    let both = |year: Option<u32>, a: Option<u32>, b: Option<u32>| [dated(year, b, a), dated(year, a, b)];
    let all = [
        dated(number("y1"), number("m1"), number("d1")).filter(|_| seen.name("y1").is_some()),
        dated(number("y3"), month("n3"), number("d3")),
        dated(number("y4"), month("n4"), number("d4")),
        dated(number("y5"), number("m5"), number("d5")),
        dated(None, number("m7"), number("d7")),
    ];
    let slashed =
        both(number("y2"), number("a"), number("b")).into_iter().chain(both(None, number("d6"), number("m6")));
    all.into_iter().chain(slashed).flatten().collect()
}

/// Two digits are a year of this century.
fn century(year: u32) -> Option<i32> {
    i32::try_from(if year < 100 { year.saturating_add(2_000) } else { year }).ok()
}

/// A day without a year is the latest that has been, or is tomorrow.
fn latest(today: NaiveDate, month: u32, day: u32) -> Option<NaiveDate> {
    let limit = today.succ_opt()?;
    let in_year = |year: i32| NaiveDate::from_ymd_opt(year, month, day);
    in_year(today.year()).filter(|found| *found <= limit).or_else(|| in_year(today.year().checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        chrono::DateTime::parse_from_rfc3339("2026-12-01T05:00:00Z").unwrap().to_utc()
    }

    fn days(text: &str) -> Vec<String> {
        let (spans, _) = spans(text, now());
        let days = spans.iter().filter(|span| span.to - span.from < chrono::TimeDelta::days(3));
        let mut days: Vec<String> = days.map(|span| EAST.after(span.from).format("%Y-%m-%d").to_string()).collect();
        days.sort();
        days
    }

    #[test]
    fn days_are_read_as_people_write_them() {
        for text in [
            "2026-11-30",
            "on 30.11.2026",
            "30.11.26",
            "11/30/2026",
            "30-11-2026",
            "30 Nov",
            "30th of November 2026",
            "Nov 30",
            "November 30th, 2026",
            "ngày 30 tháng 11",
            "30/11",
            "on 30.11.",
            "2026-11-30T14:03Z",
        ] {
            assert_eq!(days(text), ["2026-11-30"], "{text}");
        }
        assert_eq!(days("today or hôm nay"), ["2026-11-30", "2026-12-01"], "west of Greenwich it is still November");
        assert_eq!(days("yesterday"), days("hôm qua"));
        assert_eq!(days("yesterday"), ["2026-11-29", "2026-11-30"]);
        for text in ["2 separate charges", "maybe 2 of them", "market 5", "12.50. Please"] {
            assert_eq!(days(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(days("01/11, 02/11, 03/11").last().map(String::as_str), Some("2026-11-03"), "the latest are kept");
        assert_eq!(days("03/11/2026"), ["2026-03-11", "2026-11-03"]);
        assert_eq!(days("24 Dec"), ["2025-12-24"], "it has not been this year");
        assert_eq!(days("31.02.2026"), Vec::<String>::new(), "there is no such day");
    }

    #[test]
    fn without_a_day_the_last_week_is_looked_through_and_a_day_is_any_time_zones() {
        let (spans, rest) = spans("EUR 5 please", now());
        assert_eq!((spans.len(), rest.as_str()), (1, "EUR 5 please"));
        assert_eq!((spans[0].to - spans[0].from).num_hours(), 7 * 24 + 12);
        assert_eq!(super::spans("24/7 EUR 5", now()).0.len(), 2, "a day that may be none, and the last week");
        let (spans, rest) = super::spans("30.11.2026 EUR 5", now());
        assert_eq!((spans[0].to - spans[0].from).num_hours(), 14 + 24 + 12);
        assert_eq!(rest.trim(), "EUR 5");
    }

    #[test]
    fn the_end_of_time_is_no_panic() {
        for text in ["9999-12-31", "0000-01-01", "99/99/9999", "31 tháng 12 9999"] {
            let _ = spans(text, Instant::MAX_UTC);
            let _ = spans(text, Instant::MIN_UTC);
        }
    }
}
