//! `[policy]`: the numbers a payments team sets. What is not set keeps its default.

use std::ops::Range;

use crate::domain::evidence::Mode;
use crate::domain::policy::{Policy, RulePolicy, TicketPattern};
use crate::domain::time::Seconds;
use crate::provider::declared::Section;

/// Reads the section over the defaults.
pub fn read(mut section: Section<'_>) -> Policy {
    let default = Policy::default();
    let mut length = |key: &'static str, default: Seconds, allowed: Range<u64>, why: &str| {
        let Some(found) = section.length(key) else {
            return default;
        };
        if !allowed.contains(&found.get_ref().0) {
            section.wrong(&found.span(), format!("`policy.{key}` {why}"));
        }
        *found.get_ref()
    };
    let any = 0..u64::MAX;
    let some = 1..u64::MAX;
    let stuck_after = length("stuck_after", default.stuck_after, any.clone(), "");
    let plan_life = length("plan_life", default.plan_life, some.clone(), "must be longer than 0s");
    let evidence_freshness = length(
        "evidence_freshness",
        default.evidence_freshness,
        some.clone(),
        "must be longer than 0s, or no look-up would ever decide",
    );
    let not_found_gap = length(
        "not_found_gap",
        default.not_found_gap,
        some.clone(),
        "must be longer than 0s: two look-ups at once are one look-up",
    );
    let not_found_gap_max = length("not_found_gap_max", default.not_found_gap_max, any.clone(), "");
    let key_margin = length("key_margin", default.key_margin, any.clone(), "");
    let skew = length("skew", default.skew, any, "");
    let hold_max = length(
        "hold_max",
        default.hold_max,
        1..901,
        "must be between \"1s\" and \"15m\": a hold keeps the service's own recovery away",
    );
    if not_found_gap > not_found_gap_max {
        let what = "`policy.not_found_gap` is longer than `policy.not_found_gap_max`: no two look-ups could ever agree";
        section.wrong(&section.place(), what);
    }
    let mode = section.parsed("mode", mode).map(toml::Spanned::into_inner);
    let ticket_pattern = section.parsed("ticket_pattern", |text| {
        TicketPattern::parse(text).map_err(|_| "is not a regular expression".to_owned())
    });
    let reason_min = section.number("reason_min").and_then(|found| {
        let number = usize::try_from(*found.get_ref()).ok().filter(|n| *n <= 500);
        if number.is_none() {
            section.wrong(&found.span(), "`policy.reason_min` must be at most 500 letters");
        }
        number
    });
    let rules = section.section("rules").map(rules);
    section.close();
    Policy {
        stuck_after,
        plan_life,
        evidence_freshness,
        not_found_gap,
        not_found_gap_max,
        key_margin,
        skew,
        hold_max,
        mode,
        ticket_pattern: ticket_pattern.map_or(default.ticket_pattern, toml::Spanned::into_inner),
        reason_min: reason_min.unwrap_or(default.reason_min),
        rules: rules.unwrap_or(default.rules),
    }
}

/// `live` or `test`.
pub fn mode(word: &str) -> Result<Mode, String> {
    match word {
        "live" => Ok(Mode::Live),
        "test" => Ok(Mode::Test),
        _ => Err("must be \"live\" or \"test\"".to_owned()),
    }
}

/// `[policy.rules]`: what the invariants need to know. What is absent makes its rules NOT KNOWN.
fn rules(mut section: Section<'_>) -> RulePolicy {
    let mut length = |key: &'static str| section.length(key).map(|found| found.get_ref().0);
    let rules = RulePolicy {
        retention_s: length("retention"),
        retry_window_s: length("retry_window"),
        provider_timeout_s: length("provider_timeout"),
        outbox_limit_s: length("outbox_limit"),
        saga_limit_s: length("saga_limit"),
        grace_s: length("grace"),
    };
    section.close();
    rules
}
