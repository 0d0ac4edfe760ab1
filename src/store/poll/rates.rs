//! The hour of requests: a tail read in every poll, and the time before it read beside.
//!
//! The tail owns every minute from the first full one after the start, the back-fill every minute
//! before it, so that nothing is counted twice. Both go by the watermark; the table is never walked.

use chrono::DateTime;
use std::sync::Mutex;

use super::{Asking, Books, each};
use crate::domain::answer::Answer;
use crate::domain::port::StoreError;
use crate::domain::rates::Rates;
use crate::domain::time::{Instant, Seconds};
use crate::store::contract::Question;
use crate::store::locked;
use crate::store::reading::Given;
use crate::store::rows::{self, RatesLine, Reader};

/// How many requests are read at once.
pub(in crate::store) const SLICE: i64 = 20_000;

/// How many slices one poll reads at most.
const SLICES: u32 = 3;

/// How far back the tail starts, and the back-fill.
const TAIL_MINUTES: i64 = 2;
const HOUR_MINUTES: i64 = 60;

/// What is known of the last hour.
#[derive(Default)]
pub(in crate::store) struct RatesBook {
    rates: Rates,
    tail: Option<Tail>,
    back_fill: BackFill,
}

/// The tail: next id, and the first minute it owns.
#[derive(Clone, Copy)]
struct Tail {
    after: i64,
    from: Instant,
}

/// The hour before the tail.
#[derive(Clone, Copy, Default)]
enum BackFill {
    #[default]
    NotBegun,
    /// Next id, and the first minute that will be whole.
    At {
        after: i64,
        from: Instant,
    },
    Done,
}

impl RatesBook {
    fn begin(&mut self, after: i64, now: Instant) {
        let from = next_minute(minutes(TAIL_MINUTES).before(now));
        self.tail = Some(Tail { after, from });
        self.rates.known_since = Some(from);
    }

    fn add(&mut self, lines: &[RatesLine], now: Instant) {
        let Some(tail) = self.tail.as_mut() else {
            return;
        };
        for line in lines {
            if line.minute >= tail.from {
                self.rates.add(line.minute, line.counts, now);
            }
            tail.after = tail.after.max(line.next_id);
        }
    }

    fn fill(&mut self, lines: &[RatesLine], now: Instant) {
        let (Some(tail), BackFill::At { after, from }) = (self.tail, self.back_fill) else {
            return;
        };
        let mut reached = lines.is_empty();
        let mut next = after;
        for line in lines {
            if line.minute >= tail.from {
                reached = true;
            } else {
                self.rates.add(line.minute, line.counts, now);
            }
            next = next.max(line.next_id);
        }
        if reached || next == after {
            self.back_fill = BackFill::Done;
            self.rates.known_since = Some(from);
        } else {
            self.back_fill = BackFill::At { after: next, from };
        }
    }
}

/// Reads what came since the last poll.
pub(in crate::store) async fn tail(asking: &mut Asking<'_, '_>, books: &Mutex<Books>) -> Answer<Rates> {
    let now = asking.reading.now();
    match read_tail(asking, books).await {
        Ok(()) => Answer::known(locked(books).rates.rates.clone(), now),
        Err(why) => Answer::not_known(why.to_string()),
    }
}

async fn read_tail(asking: &mut Asking<'_, '_>, books: &Mutex<Books>) -> Result<(), StoreError> {
    let now = asking.reading.now();
    if locked(books).rates.tail.is_none() {
        let after = start(asking, TAIL_MINUTES).await?;
        locked(books).rates.begin(after, now);
    }
    for _ in 0..SLICES {
        let after = locked(books).rates.tail.map_or(0, |tail| tail.after);
        let given = [Given::Int(after), Given::Int(SLICE)];
        let lines = asking.ask(Question::Rates, &given, each(rows::rates)).await?;
        locked(books).rates.add(&lines, now);
        let read: u64 = lines.iter().map(|line| line.counts.requests).sum();
        if i64::try_from(read).unwrap_or(i64::MAX) < SLICE {
            break;
        }
    }
    Ok(())
}

async fn start(asking: &mut Asking<'_, '_>, minutes: i64) -> Result<i64, StoreError> {
    asking
        .ask(Question::RatesStart, &[Given::Int(minutes)], |file, rows| match rows {
            [row] => Reader::new(file, row).int("start_id"),
            _ => Err(StoreError::CannotAnswer { why: format!("{file} gave {} rows instead of one", rows.len()) }),
        })
        .await
}

/// Reads one slice of the hour before the tail.
pub(in crate::store) async fn back_fill(asking: &mut Asking<'_, '_>, books: &Mutex<Books>) -> Result<(), StoreError> {
    let now = asking.reading.now();
    let begun = match locked(books).rates.back_fill {
        BackFill::At { after, .. } => Some(after),
        BackFill::NotBegun | BackFill::Done => None,
    };
    let after = if let Some(after) = begun {
        after
    } else {
        let after = start(asking, HOUR_MINUTES).await?;
        let hour = minutes(HOUR_MINUTES).before(now);
        let from = next_minute(hour);
        locked(books).rates.back_fill = BackFill::At { after, from };
        after
    };
    let given = [Given::Int(after), Given::Int(SLICE)];
    let lines = asking.ask(Question::Rates, &given, each(rows::rates)).await?;
    locked(books).rates.fill(&lines, now);
    Ok(())
}

/// Whether the hour before the tail is still to be read.
pub(in crate::store) fn wants_back_fill(books: &Books) -> bool {
    books.rates.tail.is_some() && !matches!(books.rates.back_fill, BackFill::Done)
}

/// Gives the back-fill up: the profile cannot answer. The minutes before the tail stay not known.
pub(in crate::store) fn give_up_back_fill(books: &mut Books) {
    books.rates.back_fill = BackFill::Done;
}

fn minutes(count: i64) -> Seconds {
    Seconds(u64::try_from(count).unwrap_or(0).saturating_mul(60))
}

/// The start of the first full minute after `instant`.
fn next_minute(instant: Instant) -> Instant {
    let minute = instant.timestamp().div_euclid(60).saturating_add(1);
    DateTime::from_timestamp(minute.saturating_mul(60), 0).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::rates::Minute;

    fn at(minute: i64) -> Instant {
        DateTime::from_timestamp(1_800_000_000 + minute * 60, 0).unwrap()
    }

    fn line(minute: i64, requests: u64, next_id: i64) -> RatesLine {
        RatesLine { minute: at(minute), counts: Minute { requests, ok: requests, ..Minute::default() }, next_id }
    }

    fn totals(book: &RatesBook) -> Vec<u64> {
        book.rates.iter().map(|(_, counts)| counts.requests).collect()
    }

    #[test]
    fn tail_and_back_fill_share_the_hour_without_counting_twice() {
        let now = at(60);
        let mut book = RatesBook::default();
        book.begin(1_000, now);
        assert_eq!(book.rates.known_since, Some(at(59)));
        // The tail starts in the middle of minute 58, which is not its own.
        book.add(&[line(58, 7, 1_007), line(59, 5, 1_012)], now);
        book.add(&[line(59, 1, 1_020), line(60, 2, 1_020)], now);
        assert_eq!(totals(&book), [6, 2]);
        book.back_fill = BackFill::At { after: 10, from: at(1) };
        book.fill(&[line(57, 3, 500)], now);
        book.fill(&[line(58, 9, 1_012), line(59, 5, 1_012)], now);
        assert_eq!(totals(&book), [3, 9, 6, 2]);
        assert_eq!(book.rates.known_since, Some(at(1)));
        assert!(matches!(book.back_fill, BackFill::Done));
    }

    #[test]
    fn a_back_fill_that_finds_nothing_is_done() {
        let mut book = RatesBook::default();
        book.begin(0, at(60));
        book.back_fill = BackFill::At { after: 0, from: at(1) };
        book.fill(&[], at(60));
        assert_eq!(book.rates.known_since, Some(at(1)));
    }

    #[test]
    fn the_watermark_never_goes_back() {
        let mut book = RatesBook::default();
        book.begin(1_000, at(60));
        book.add(&[line(60, 1, 900)], at(60));
        assert_eq!(book.tail.map(|tail| tail.after), Some(1_000));
    }
}
