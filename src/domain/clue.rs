//! What a customer gives, as things to look for: ids, and an amount with a day.
//!
//! Owns the order in which they are tried. The text as it stands comes first, since it may be an id with spaces in it;
//! then its words; an amount last, and only when no id was found: it names a purchase of anybody.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::money::Money;
use super::port::MOST_CANDIDATES;
use super::time::Instant;

mod amount;
mod day;

pub use amount::AskedAmount;
pub use day::Span;

/// The shortest word that is looked for by itself, and the most of them.
const SHORTEST: usize = 4;
const MOST_WORDS: usize = 40;

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clue {
    /// An order, payment, key, provider ref or customer, as it is written.
    Id(String),
    /// What was paid, and when.
    Paid(Paid),
}

/// An amount and the time it was paid in, as the customer says them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paid {
    /// What the words may mean: without a currency, several amounts of minor units.
    pub amounts: Vec<AskedAmount>,
    /// From when to when; more than one where a day is written so that it may be two.
    pub spans: Vec<Span>,
}

impl Paid {
    /// Whether an amount is one that may be meant.
    pub fn means(&self, money: &Money) -> bool {
        self.amounts.iter().any(|asked| asked.means(money))
    }
}

/// The clues of a text that were not tried yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trail {
    whole: Option<Clue>,
    more: VecDeque<Clue>,
    /// How many of the words were tried.
    tried: usize,
}

impl Trail {
    /// Everything in a text that may lead to a purchase. `now` says what "yesterday" is.
    pub fn of(text: &str, now: Instant) -> Self {
        let text = text.trim();
        let (spans, rest) = day::spans(text, now);
        let (amounts, rest) = amount::amounts(&rest);
        let paid = (!amounts.is_empty()).then_some(Clue::Paid(Paid { amounts, spans }));
        // What is a day or an amount is no id: an order with that number is somebody else's.
        let more = words(&rest, text).into_iter().map(Clue::Id).chain(paid).collect();
        Self { whole: Some(Clue::Id(text.to_owned())), more, tried: 0 }
    }

    /// What to look for next, when so much was found so far; `None`: that is all.
    pub fn next(&mut self, found: usize) -> Option<Clue> {
        if let Some(whole) = self.whole.take() {
            return Some(whole);
        }
        let whole_was_it = self.tried == 0 && found > 0;
        let amount_is_left = matches!(self.more.front(), Some(Clue::Paid(_)));
        if whole_was_it || found >= MOST_CANDIDATES || (amount_is_left && found > 0) {
            self.more.clear();
        }
        self.tried = self.tried.saturating_add(1);
        self.more.pop_front()
    }
}

/// The words of a text that are long enough for an id, each once, without what stands around words.
fn words(text: &str, whole: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let around = |c: char| c.is_whitespace() || ",;()[]{}<>\"'`!?#=".contains(c);
    for word in text.split(around) {
        let word = word.trim_matches(['.', ':', '/', '-', '_', '*']);
        let known = words.iter().any(|known| known == word);
        if may_be_an_id(word) && word != whole && !known && words.len() < MOST_WORDS {
            words.push(word.to_owned());
        }
    }
    words
}

/// A short word is an id only with letters and digits in it: `A1`, but not `I`, `2` or `EUR`.
fn may_be_an_id(word: &str) -> bool {
    let mixed = word.chars().any(char::is_alphabetic) && word.chars().any(|c| c.is_ascii_digit());
    word.chars().count() >= SHORTEST || mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Instant {
        chrono::DateTime::parse_from_rfc3339("2026-12-01T05:00:00Z").unwrap().to_utc()
    }

    fn all(text: &str) -> Vec<Clue> {
        let mut trail = Trail::of(text, now());
        std::iter::from_fn(|| trail.next(0)).collect()
    }

    #[test]
    fn a_message_is_taken_apart_into_words_that_may_be_ids() {
        let found = words(
            "Hi, was I charged twice (order #ord_88213)? ref: ch_77ab. ord_88213!",
            "Hi, was I charged twice (order #ord_88213)? ref: ch_77ab. ord_88213!",
        );
        assert_eq!(found, ["charged", "twice", "order", "ord_88213", "ch_77ab"]);
        assert_eq!(words("order A1 for 2, EUR 5", "order A1 for 2, EUR 5"), ["order", "A1"]);
        assert!(words("ord_88213", "ord_88213").is_empty(), "one word is the whole text");
        assert_eq!(words(&"abcd1 ".repeat(1_000), "").len(), 1);
        let many: Vec<String> = (0..1_000).map(|nth| format!("word{nth}")).collect();
        assert_eq!(words(&many.join(" "), "").len(), MOST_WORDS);
    }

    #[test]
    fn an_amount_is_tried_last_and_only_when_no_id_was_found() {
        let text = "You took 128,40 EUR twice on 2026-11-30, order ord_88213";
        let clues = all(text);
        assert_eq!(clues.first(), Some(&Clue::Id(text.to_owned())));
        let Some(Clue::Paid(paid)) = clues.last() else { panic!("{clues:?}") };
        let at = chrono::DateTime::parse_from_rfc3339("2026-11-30T12:00:00Z").unwrap().to_utc();
        assert!(paid.means(&Money::new(12_840, "EUR")) && !paid.means(&Money::new(12_840, "USD")));
        assert!(paid.spans.iter().all(|span| span.from <= at && at < span.to), "{paid:?}");
        assert!(!clues.contains(&Clue::Id("128,40".to_owned())) && !clues.contains(&Clue::Id("2026-11-30".to_owned())));
        let mut trail = Trail::of(text, now());
        let mut tried = Vec::new();
        while let Some(clue) = trail.next(usize::from(tried.contains(&Clue::Id("ord_88213".to_owned())))) {
            tried.push(clue);
        }
        assert!(tried.iter().all(|clue| matches!(clue, Clue::Id(_))), "{tried:?}");
    }

    proptest::proptest! {
        /// Whatever is pasted: it ends, it is short, and nothing panics.
        #[test]
        fn any_text_is_a_short_trail(text in "(?s)[0-9€£$đA-Za-z .,/'\u{a0}\u{202e}\\-]{0,400}", at in proptest::num::i32::ANY) {
            let now = chrono::DateTime::from_timestamp(i64::from(at) * 4_000, 0).unwrap_or(Instant::MAX_UTC);
            let mut trail = Trail::of(&text, now);
            let mut clues = 0;
            while let Some(clue) = trail.next(0) {
                clues += 1;
                if let Clue::Paid(paid) = clue {
                    proptest::prop_assert!(!paid.spans.is_empty() && paid.spans.iter().all(|span| span.from < span.to));
                    proptest::prop_assert!(paid.amounts.iter().all(|asked| asked.minor > 0));
                }
            }
            proptest::prop_assert!(clues <= MOST_WORDS + 2);
        }
    }

    #[test]
    fn what_the_whole_text_found_is_enough() {
        let mut trail = Trail::of("cus 7 of the shop", now());
        assert!(trail.next(0).is_some());
        assert_eq!(trail.next(1), None);
        assert_eq!(Trail::default().next(0), None);
    }

    #[test]
    fn a_text_without_an_amount_has_none() {
        for text in ["ord_88213", "I paid on 2026-11-30 for 2 tickets", "call me at 0301234567", ""] {
            assert!(all(text).iter().all(|clue| matches!(clue, Clue::Id(_))), "{text}");
        }
    }
}
