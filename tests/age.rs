//! How old the picture is: fresh, ageing, STALE, LOST; and which rows a filter keeps.

use unstuck::app::picture::{Freshness, Picture};
use unstuck::app::screen::records::matches;
use unstuck::domain::port::StoreError;
use unstuck::domain::time::{Now, Seconds};

use crate::support::scenario::{incident, noon, stuck_records};

const EVERY: Seconds = Seconds(2);

fn at(seconds: u64) -> Now {
    Now(Seconds(seconds).after(noon()))
}

fn refused() -> StoreError {
    StoreError::Unreachable { why: "connection refused".into() }
}

#[test]
fn freshness_goes_by_polls_and_then_by_seconds() {
    let mut picture = Picture::default();
    assert_eq!(picture.freshness(EVERY, at(0)), Freshness::Waiting);
    picture.take(1, Box::new(incident()), at(0));
    assert_eq!(picture.freshness(EVERY, at(4)), Freshness::Fresh(Seconds(4)));
    assert_eq!(picture.freshness(EVERY, at(5)), Freshness::Ageing(Seconds(5)));
    assert_eq!(picture.freshness(EVERY, at(15)), Freshness::Ageing(Seconds(15)));
    assert_eq!(picture.freshness(EVERY, at(16)), Freshness::Stale(Seconds(16)));
    assert!(picture.why_no_action(EVERY, at(15)).is_none());
    assert!(picture.why_no_action(EVERY, at(16)).is_some());
}

#[test]
fn two_failed_polls_in_a_row_are_lost_and_one_good_one_is_not() {
    let mut picture = Picture::default();
    picture.take(1, Box::new(incident()), at(0));
    picture.fail(2, refused(), None, at(2));
    assert_eq!(picture.freshness(EVERY, at(2)), Freshness::Fresh(Seconds(2)));
    picture.fail(3, refused(), None, at(4));
    assert_eq!(picture.freshness(EVERY, at(4)), Freshness::Lost(Some(Seconds(4))));
    assert_eq!(picture.lost_since(), Some(at(2)));
    for generation in 4..20 {
        picture.fail(generation, refused(), None, at(generation));
    }
    assert_eq!(picture.errors.len(), 4, "the last four are enough");
    picture.take(20, Box::new(incident()), at(60));
    assert_eq!(picture.freshness(EVERY, at(61)), Freshness::Fresh(Seconds(1)));
    assert_eq!(picture.failures(), 0);
}

#[test]
fn a_database_that_never_answered_is_lost_without_an_age() {
    let mut picture = Picture::default();
    picture.fail(1, refused(), None, at(0));
    picture.fail(2, refused(), None, at(2));
    assert_eq!(picture.freshness(EVERY, at(3)), Freshness::Lost(None));
    assert_eq!(picture.as_of(), "never");
}

#[test]
fn the_database_clock_runs_on_between_polls() {
    let mut picture = Picture::default();
    let mut snapshot = incident();
    snapshot.db_now = Seconds(100).after(noon());
    picture.take(1, Box::new(snapshot), at(0));
    assert_eq!(picture.db_now(at(3)), Seconds(103).after(noon()));
}

#[test]
fn a_filter_keeps_rows_that_have_every_word() {
    let record = stuck_records().remove(0);
    for kept in [
        "",
        "7q4k",
        "shop-eu ord_88213",
        "provider:acme",
        "at:provider_called",
        "amount:128.40",
        "!beta",
        "status:unknown",
    ] {
        assert!(matches(&record, kept), "{kept}");
    }
    for hidden in ["beta", "provider:beta", "!acme", "at:charged", "7q4k 2mz0", "!status:unknown"] {
        assert!(!matches(&record, hidden), "{hidden}");
    }
}
