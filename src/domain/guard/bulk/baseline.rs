//! What the rules said before the first record was touched: a breach that was there is not the canary's doing.

use std::collections::BTreeSet;

use super::super::super::rule::{Breach, RuleReport, RuleState};
use super::super::super::time::{Instant, Seconds};

/// A rule that is read less often than this is not waited for: its last look counts.
const WAITED_FOR: Seconds = Seconds(30);

/// The breaches and the judged rules of one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    breaches: BTreeSet<Vec<String>>,
    judged: BTreeSet<String>,
}

impl Baseline {
    /// What is so now.
    pub fn of(rules: &[RuleReport]) -> Self {
        let judged = |report: &&RuleReport| !matches!(report.state, RuleState::NotKnown { .. });
        Self {
            breaches: rules.iter().flat_map(|r| r.breaches().iter().map(|b| name(r, b))).collect(),
            judged: rules.iter().filter(judged).map(|report| report.rule.id.clone()).collect(),
        }
    }

    /// True when no rule could be judged.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    /// How many rules could be judged.
    pub fn len(&self) -> usize {
        self.judged.len()
    }

    /// What is wrong now and was not then; a rule that can no longer be judged is no reason to go on, either.
    pub fn surprise(&self, rules: &[RuleReport]) -> Option<String> {
        for report in rules {
            if let Some(new) = report.breaches().iter().find(|breach| !self.breaches.contains(&name(report, breach))) {
                let id = &report.rule.id;
                return Some(format!("A new breach of {id} ({}): {}.", report.rule.sentence, whose(new)));
            }
        }
        let known =
            |id: &String| rules.iter().any(|r| r.rule.id == *id && !matches!(r.state, RuleState::NotKnown { .. }));
        let lost = self.judged.iter().find(|id| !known(id))?;
        Some(format!("Whether {lost} still holds is NOT KNOWN."))
    }

    /// The rules that have not been read since `since`, of those that are waited for.
    pub fn unread(&self, rules: &[RuleReport], since: Instant) -> usize {
        let read = |report: &RuleReport| match &report.state {
            RuleState::Holds { checked_at, .. } | RuleState::Violated { checked_at, .. } => *checked_at > since,
            RuleState::NotKnown { .. } => false,
        };
        let waits = |report: &&RuleReport| {
            self.judged.contains(&report.rule.id) && report.rule.cadence <= WAITED_FOR && !read(report)
        };
        rules.iter().filter(waits).count()
    }
}

/// What makes two sightings the same breach. A detail such as "for 12 s" changes with every look.
fn name(report: &RuleReport, breach: &Breach) -> Vec<String> {
    let said = |text: Option<String>| text.unwrap_or_default();
    vec![
        report.rule.id.clone(),
        said(breach.scope.as_ref().map(ToString::to_string)),
        said(breach.key.as_ref().map(ToString::to_string)),
        said(breach.order.as_ref().map(ToString::to_string)),
        said(breach.payment.as_ref().map(ToString::to_string)),
        said(breach.reference.clone()),
    ]
}

fn whose(breach: &Breach) -> String {
    let record = breach.scope.as_ref().zip(breach.key.as_ref()).map(|(scope, key)| format!("record {scope}/{key}"));
    let payment = || breach.payment.as_ref().map(|payment| format!("payment {payment}"));
    let order = || breach.order.as_ref().map(|order| format!("order {order}"));
    record.or_else(payment).or_else(order).or_else(|| breach.reference.clone()).unwrap_or_else(|| breach.detail.clone())
}
