//! A time names its day where there are several, and what nobody told us is not "none".

use super::*;
use crate::domain::case::Request;
use crate::domain::time::Instant;
use crate::domain::triage::judge;

fn lanes(days: &[i64]) -> Lanes {
    let request =
        |day: &i64| Request { at: Instant::from_timestamp(1_775_034_000 + day * 86_400, 0), ..Request::default() };
    Lanes::of(&Case { requests: Some(days.iter().map(request).collect()), ..Case::default() })
}

fn stamps(lanes: &Lanes) -> Vec<String> {
    lanes.entries.iter().filter(|entry| entry.what == "request").map(|entry| stamp(lanes, entry)).collect()
}

#[test]
fn a_timeline_of_several_days_names_the_day_of_every_time() {
    assert_eq!(stamps(&lanes(&[0])), ["09:00:00.000Z"]);
    assert_eq!(stamps(&lanes(&[0, 1])), ["2026-04-01 09:00:00.000Z", "2026-04-02 09:00:00.000Z"]);
}

#[test]
fn the_end_of_time_is_no_day() {
    let mut never = lanes(&[0]);
    for entry in never.entries.iter_mut().skip(1) {
        entry.at = Some(Instant::MAX_UTC);
    }
    assert_eq!(days(&never).as_deref(), Some("2026-04-01"));
    assert_eq!(never.entries.last().map(|entry| stamp(&never, entry)).as_deref(), Some("far away"));
}

#[test]
fn charges_that_nobody_told_us_of_are_not_none() {
    let said = |case: &Case| standing(case, &judge(case)).join(", ");
    assert_eq!(said(&Case::default()), "not known");
    let none = Case { charges: Some(Vec::new()), payments: Some(Vec::new()), ..Case::default() };
    assert_eq!(said(&none), "none");
}
