//! The header of a rule: what it says about itself, in comment lines `-- word: value`.

use super::Mistake;
use crate::domain::rule::{Rule, Severity};
use crate::domain::time::Seconds;

/// The words of a header. Other comment lines are for people.
const WORDS: [&str; 6] = ["id", "sentence", "severity", "cadence", "next", "needs"];

/// The policy values a rule may need.
const POLICY: [&str; 6] =
    ["retention_s", "retry_window_s", "provider_timeout_s", "outbox_limit_s", "saga_limit_s", "grace_s"];

/// Reads a rule's header: the rule, and the policy values it cannot be judged without.
pub(super) fn parse(file: &str, text: &str) -> Result<(Rule, Vec<String>), Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut values: [Option<&str>; 6] = [None; 6];
    for line in text.lines().map_while(|line| line.trim().strip_prefix("--")) {
        let Some((word, value)) = line.trim().split_once(':') else {
            continue;
        };
        for (known, place) in WORDS.iter().zip(values.iter_mut()) {
            if *known == word && place.replace(value.trim()).is_some() {
                mistakes.push(Mistake::new(file, format!("the header says {word} twice")));
            }
        }
    }
    let [id, sentence, severity, cadence, next, needs] = values;
    let mut wanted = |word: &str, value: Option<&str>| {
        let value = value.unwrap_or("");
        if value.is_empty() {
            mistakes.push(Mistake::new(file, format!("the header lacks `-- {word}: …`")));
        }
        value.to_owned()
    };
    let (id, sentence, next) = (wanted("id", id), wanted("sentence", sentence), wanted("next", next));
    let (severity, cadence) = (wanted("severity", severity), wanted("cadence", cadence));
    let severity = match severity.as_str() {
        "critical" => Severity::Critical,
        "caution" | "" => Severity::Caution,
        other => {
            mistakes.push(Mistake::new(file, format!("severity {other} is neither critical nor caution")));
            Severity::Caution
        }
    };
    let cadence = seconds(&cadence).unwrap_or_else(|| {
        if !cadence.is_empty() {
            mistakes.push(Mistake::new(file, format!("cadence {cadence} is not a time like 10s or 5m")));
        }
        Seconds(10)
    });
    let needs: Vec<String> =
        needs.unwrap_or("").split(',').map(str::trim).filter(|need| !need.is_empty()).map(str::to_owned).collect();
    for need in needs.iter().filter(|need| !POLICY.contains(&need.as_str())) {
        mistakes.push(Mistake::new(file, format!("{need} is not a value of the policy")));
    }
    if mistakes.is_empty() {
        Ok((Rule { id, sentence, severity, cadence, next, file: file.to_owned() }, needs))
    } else {
        Err(mistakes)
    }
}

/// `10s`, `5m`.
fn seconds(text: &str) -> Option<Seconds> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok()?;
    match unit {
        "s" => Some(Seconds(number)),
        "m" => Some(Seconds(number.checked_mul(60)?)),
        _ => None,
    }
    .filter(|seconds| seconds.0 > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "-- id: I1\n-- sentence: One success per order.\n-- severity: critical\n-- cadence: 10s\n\
        -- next: Open triage.\n-- needs: retention_s, grace_s\n-- $1: since: when\nSELECT 1";

    #[test]
    fn a_header_is_read() {
        let (rule, needs) = parse("p/rules/i1.sql", GOOD).unwrap();
        assert_eq!((rule.id.as_str(), rule.severity, rule.cadence), ("I1", Severity::Critical, Seconds(10)));
        assert_eq!(rule.next, "Open triage.");
        assert_eq!(needs, ["retention_s", "grace_s"]);
    }

    #[test]
    fn every_mistake_is_told_with_the_file() {
        let mistakes = parse(
            "p/rules/x.sql",
            "-- id: I1\n-- id: I2\n-- severity: bad\n-- cadence: soon\n-- needs: luck\nSELECT 1",
        )
        .unwrap_err();
        let all: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(
            all,
            [
                "p/rules/x.sql: the header says id twice",
                "p/rules/x.sql: the header lacks `-- sentence: …`",
                "p/rules/x.sql: the header lacks `-- next: …`",
                "p/rules/x.sql: severity bad is neither critical nor caution",
                "p/rules/x.sql: cadence soon is not a time like 10s or 5m",
                "p/rules/x.sql: luck is not a value of the policy",
            ]
        );
    }

    #[test]
    fn a_header_ends_where_the_statement_begins() {
        let text = format!("{GOOD}\n-- id: I2");
        assert_eq!(parse("f", &text).unwrap().0.id, "I1");
    }
}
