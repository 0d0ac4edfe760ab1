//! What to say: to the customer, without internal ids and without promises; to engineering, with times and refs.

use super::case::Case;
use super::time::Instant;
use super::triage::Triage;

/// The language a customer is answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Vietnamese.
    Vietnamese,
}

/// The text for the customer.
pub fn customer(case: &Case, triage: &Triage, language: Language) -> String {
    let _ = (case, triage, language);
    String::new()
}

/// The text for engineering: facts with UTC times, refs and the way back (`link`).
pub fn engineering(case: &Case, triage: &Triage, link: &str, now: Instant) -> String {
    let _ = (case, triage, link, now);
    String::new()
}
