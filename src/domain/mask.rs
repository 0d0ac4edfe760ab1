//! What must never stand in a recording: e-mail addresses, card numbers, customer ids that say so, credentials.
//!
//! Pure text work. The same text gets the same mask within one recording, so that two records stay two records;
//! which text it was cannot be told from the mask.

use std::borrow::Cow;
use std::collections::BTreeMap;

use regex_lite::{Captures, Regex};

/// Masks kept apart by number; what comes later shares one without a number, so that nothing grows for ever.
const NUMBERED: usize = 10_000;

/// What a piece of text is masked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Mail,
    Card,
    Customer,
    Secret,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Mail => "e-mail",
            Self::Card => "card",
            Self::Customer => "customer",
            Self::Secret => "secret",
        }
    }
}

/// The patterns, and which masks were given so far.
#[derive(Debug)]
pub struct Masks {
    patterns: Vec<(Kind, Regex)>,
    given: Given,
}

/// Which masks were given, and the highest number that stood in the texts before: it is not given again.
#[derive(Debug, Default)]
struct Given {
    numbers: BTreeMap<(Kind, String), usize>,
    kept: usize,
}

/// Each pattern masks its group `x`; what stands around it stays.
const PATTERNS: &[(Kind, &str)] = &[
    // Credentials first: an address with a password in it also looks like an e-mail address.
    (Kind::Secret, r"://(?<x>[^\s/@]+)@"),
    (Kind::Secret, r"\b(?<x>(?:sk|rk|pk|whsec)_[A-Za-z0-9_]{8,})"),
    (Kind::Secret, r"(?i)\bbearer\s+(?<x>[^\s,;]+)"),
    (Kind::Secret, r#"(?i)\b(?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*(?<x>[^\s,;&]+)"#),
    (Kind::Mail, r"(?<x>[A-Za-z0-9._%+\-]+@[A-Za-z0-9.\-]+\.[A-Za-z]{2,})"),
    (Kind::Customer, r"\b(?<x>(?:cus|cust|customer)_[A-Za-z0-9]*[0-9][A-Za-z0-9]*)"),
    (Kind::Customer, r#"(?i)\bcustomer(?:[_ ]id)?["']?\s*[=:]\s*(?<x>[^\s,;&]+)"#),
    (Kind::Card, r"\b(?<x>[2-6](?:[ \-]?[0-9]){12,18})\b"),
];

impl Default for Masks {
    fn default() -> Self {
        let read = |(kind, pattern): &(Kind, &str)| Regex::new(pattern).ok().map(|regex| (*kind, regex));
        Self { patterns: PATTERNS.iter().filter_map(read).collect(), given: Given::default() }
    }
}

impl Masks {
    /// The text without what must not be kept.
    pub fn hide<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        self.hide_kinds(text, &[Kind::Secret, Kind::Mail, Kind::Customer, Kind::Card])
    }

    /// An id without what names a person. Numbers stay: an order may have as many digits as a card.
    pub fn hide_in_id<'t>(&mut self, id: &'t str) -> Cow<'t, str> {
        self.hide_kinds(id, &[Kind::Mail, Kind::Customer])
    }

    /// The mask of a customer, whatever it looks like. A mask stays as it is.
    pub fn customer(&mut self, id: &str) -> String {
        if id.starts_with("<customer ") { id.to_owned() } else { mask(&mut self.given, Kind::Customer, id) }
    }

    /// Takes the numbers of masks that stand in a text out of use: two customers must not become one.
    pub fn keep(&mut self, text: &str) {
        let numbers = text.split('<').skip(1).filter_map(|rest| {
            let (word, number) = rest.split_once('>')?.0.rsplit_once(' ')?;
            let ours = [Kind::Mail, Kind::Card, Kind::Customer, Kind::Secret].iter().any(|kind| kind.word() == word);
            ours.then(|| number.parse::<usize>().ok()).flatten()
        });
        self.given.kept = numbers.chain([self.given.kept]).max().unwrap_or(0);
    }

    fn hide_kinds<'t>(&mut self, text: &'t str, kinds: &[Kind]) -> Cow<'t, str> {
        let mut hidden = Cow::Borrowed(text);
        if !suspicious(text) {
            return hidden;
        }
        let Self { patterns, given } = self;
        for (kind, pattern) in patterns {
            if !kinds.contains(kind) || !pattern.is_match(&hidden) {
                continue;
            }
            let masked = pattern.replace_all(&hidden, |found: &Captures<'_>| {
                let whole = found.get(0).map_or("", |all| all.as_str());
                let secret = found.name("x").map_or(whole, |x| x.as_str());
                if secret.starts_with('<') || (*kind == Kind::Card && !is_card(secret)) {
                    return whole.to_owned();
                }
                whole.replacen(secret, &mask(given, *kind, secret), 1)
            });
            hidden = Cow::Owned(masked.into_owned());
        }
        hidden
    }
}

fn mask(given: &mut Given, kind: Kind, text: &str) -> String {
    let known = given.numbers.len();
    let named = (kind, text.to_owned());
    if !given.numbers.contains_key(&named) && known >= NUMBERED {
        return format!("<{}>", kind.word());
    }
    // Numbered over all kinds: a number alone then names one thing of the recording.
    let next = given.kept.saturating_add(known).saturating_add(1);
    let number = given.numbers.entry(named).or_insert(next);
    format!("<{} {number}>", kind.word())
}

/// Whether any pattern can match: most text of a picture is ids and times, and need not be searched.
fn suspicious(text: &str) -> bool {
    const WORDS: [&str; 8] = ["bearer", "passw", "secret", "token", "key", "_", "cust", "://"];
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 13 || text.contains('@') || {
        let lower = text.to_ascii_lowercase();
        WORDS.iter().any(|word| lower.contains(word))
    }
}

/// The check digit of card numbers (Luhn), and their beginnings.
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let doubled = digit.saturating_mul(2);
            match place % 2 {
                0 => *digit,
                _ if doubled > 9 => doubled.saturating_sub(9),
                _ => doubled,
            }
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        Masks::default().hide(text).into_owned()
    }

    #[test]
    fn every_pattern_is_read() {
        assert_eq!(Masks::default().patterns.len(), PATTERNS.len());
    }

    #[test]
    fn what_names_a_customer_or_opens_a_door_is_masked() {
        for (text, kept) in [
            ("mail dana@example.org now", "mail <e-mail 1> now"),
            ("card 4111 1111 1111 1111 declined", "card <card 1> declined"),
            ("5555555555554444", "<card 1>"),
            ("customer_id=991 called", "customer_id=<customer 1> called"),
            ("cus_9s6XKzkNRiz8i3", "<customer 1>"),
            ("postgres://ops:hunter2@db/payments", "postgres://<secret 1>@db/payments"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer <secret 1>"),
            ("used sk_live_51Habcdefgh here", "used <secret 1> here"),
            ("password=hunter2, sslmode=off", "password=<secret 1>, sslmode=off"),
        ] {
            assert_eq!(hidden(text), kept);
        }
    }

    #[test]
    fn ids_amounts_times_and_hashes_stay() {
        for text in [
            "shop-eu/ord-88213-7Q4K91",
            "pay:shop-eu:ord-88213-7Q4K91",
            "ch_77ab",
            "2026-11-30T14:03:27.123456Z",
            "4111111111111112",
            "9f4111111111111111ab",
            "column amount is float8, the contract says int8",
            "idempotency_keys",
        ] {
            assert_eq!(hidden(text), text);
        }
    }

    #[test]
    fn the_same_text_gets_the_same_mask_and_another_text_another() {
        let mut masks = Masks::default();
        assert_eq!(masks.hide("a@b.org c@d.org a@b.org"), "<e-mail 1> <e-mail 2> <e-mail 1>");
        assert_eq!(masks.hide("c@d.org"), "<e-mail 2>");
        assert_eq!(masks.hide("<e-mail 2>"), "<e-mail 2>", "a mask stays as it is");
    }

    #[test]
    fn an_id_keeps_its_digits_and_a_number_that_was_given_is_not_given_again() {
        let mut masks = Masks::default();
        masks.keep("asked by <customer 7>, <e-mail 2>, <b 90>, <customer x>");
        assert_eq!(masks.hide_in_id("user:a@b.org/4111111111111111"), "user:<e-mail 8>/4111111111111111");
        assert_eq!(masks.customer("90210"), "<customer 9>");
        assert_eq!(
            (masks.customer("90210"), masks.customer("<customer 7>")),
            ("<customer 9>".into(), "<customer 7>".into())
        );
    }
}
