//! The numbers a payments team sets: how old evidence may be, how long a hold lasts, what a provider promises.
//!
//! Every default comes from the design's policy table; the lab uses seconds where production uses minutes.

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

use super::approval::ApprovalLimits;
use super::evidence::Mode;
use super::time::Seconds;

/// What the team decided. Every field can be set in `[policy]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Policy {
    /// A record counts as stuck this long after its lease ended.
    pub stuck_after: Seconds,
    /// A plan older than this is refused.
    pub plan_life: Seconds,
    /// Evidence older than this, counted from the start of the look-up, decides nothing.
    pub evidence_freshness: Seconds,
    /// Two look-ups that found nothing must be at least this far apart to agree.
    pub not_found_gap: Seconds,
    /// … and at most this far.
    pub not_found_gap_max: Seconds,
    /// A provider key is not relied on closer than this to the end of its retention.
    pub key_margin: Seconds,
    /// How far two clocks may differ.
    pub skew: Seconds,
    /// The longest hold a person may put on a record.
    pub hold_max: Seconds,
    /// The mode a charge must be in; `None` where both are accepted (the lab).
    pub mode: Option<Mode>,
    /// What a ticket or incident id looks like.
    pub ticket_pattern: TicketPattern,
    /// The shortest reason that is accepted, in letters.
    pub reason_min: usize,
    /// From which amount on a second person approves, in production. A currency without one: always.
    pub approval_limits: ApprovalLimits,
    /// What the invariants need to know; an absent value makes its rules NOT KNOWN.
    pub rules: RulePolicy,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            stuck_after: Seconds(300),
            plan_life: Seconds(120),
            evidence_freshness: Seconds(300),
            not_found_gap: Seconds(300),
            not_found_gap_max: Seconds(1_800),
            key_margin: Seconds(3_600),
            skew: Seconds(120),
            hold_max: Seconds(900),
            mode: None,
            ticket_pattern: TicketPattern::default(),
            reason_min: 15,
            approval_limits: ApprovalLimits::default(),
            rules: RulePolicy::default(),
        }
    }
}

/// What the rules are told, in seconds. Serialised as the `$policy` parameter of every rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePolicy {
    /// How long the service keeps a key.
    pub retention_s: Option<u64>,
    /// Within this time several keys for one order are one client retrying.
    pub retry_window_s: Option<u64>,
    /// The provider time-out in force: a lease must be longer.
    pub provider_timeout_s: Option<u64>,
    /// An event unpublished for longer is a breach.
    pub outbox_limit_s: Option<u64>,
    /// A saga past its pivot that does not move for longer is a breach.
    pub saga_limit_s: Option<u64>,
    /// Rows younger than this are not judged yet.
    pub grace_s: Option<u64>,
}

/// What a provider promises about its idempotency keys and its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProviderTerms {
    /// How long the provider remembers a key; `None` when it has no keys or publishes no retention.
    pub key_retention: Option<Seconds>,
    /// How long after a call a charge may still appear in look-ups.
    pub settle: Seconds,
}

/// What a ticket id must look like.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TicketPattern {
    regex: Regex,
    written: String,
}

impl TicketPattern {
    /// A regular expression that must match the whole ticket.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        let regex = Regex::new(&format!("^(?:{pattern})$")).map_err(|error| error.to_string())?;
        Ok(Self { regex, written: pattern.to_owned() })
    }

    /// Whether `text` is a ticket.
    pub fn accepts(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl TryFrom<String> for TicketPattern {
    type Error = String;

    fn try_from(pattern: String) -> Result<Self, String> {
        Self::parse(&pattern)
    }
}

impl From<TicketPattern> for String {
    fn from(pattern: TicketPattern) -> Self {
        pattern.written
    }
}

impl Default for TicketPattern {
    /// Letters, a dash, digits: `INC-2291`, `ZD-48812`.
    fn default() -> Self {
        match Self::parse("[A-Z][A-Z0-9]*-[0-9]+") {
            Ok(pattern) => pattern,
            Err(_) => unreachable!("the default pattern is a constant, and a test parses it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_matched_whole() {
        let pattern = TicketPattern::default();
        assert!(pattern.accepts("INC-2291"));
        assert!(!pattern.accepts("see INC-2291"));
        assert!(!pattern.accepts("fix"));
        assert!(TicketPattern::parse("(").is_err());
    }
}
