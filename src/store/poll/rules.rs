//! The invariants: windows read in polls, full audits read beside, and what both together say.
//!
//! A window reads what was touched since the last one, an audit everything. What a window found stays
//! until an audit no longer sees it. A failure, a missing policy value or an unfinished audit is NOT KNOWN;
//! a breach that was seen is a breach whatever fails afterwards.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use super::rates::RatesBook;
use super::{Asking, Books, each};
use crate::domain::policy::RulePolicy;
use crate::domain::port::StoreError;
use crate::domain::rule::{Breach, MOST_BREACHES, Rule, RuleReport, RuleState};
use crate::domain::time::{Instant, Seconds};
use crate::store::locked;
use crate::store::profile::RuleFile;
use crate::store::reading::Given;
use crate::store::rows;

/// How far back the very first window reads. The audit reads the rest.
const FIRST_WINDOW: Seconds = Seconds(60);

/// A console that was just opened asks every rule at least this often, for so long: whoever opens one because
/// something goes wrong does not wait a minute for a rule that is otherwise asked once a minute.
const EAGER_CADENCE: Seconds = Seconds(10);
const EAGER_FOR: Seconds = Seconds(90);

/// What is known about every rule, by id.
#[derive(Default)]
pub(in crate::store) struct RuleBook {
    entries: BTreeMap<String, Entry>,
    /// The first window of this connection.
    began: Option<Instant>,
}

/// What is known about one rule.
#[derive(Default, Clone)]
struct Entry {
    checked_at: Option<Instant>,
    /// When a window was last asked for, whatever came of it: a failing one waits for its turn again.
    tried_at: Option<Instant>,
    audited_at: Option<Instant>,
    /// What windows found, with the moment of the window.
    seen: Vec<(Instant, Breach)>,
    /// What the last finished audit found.
    audited: Vec<Breach>,
    violated_since: Option<Instant>,
    window_failed: Option<String>,
    audit_failed: Option<String>,
    audit_due: Option<Instant>,
}

/// What makes two sightings the same breach: a detail such as "for 12 s" changes with every look.
fn same(a: &Breach, b: &Breach) -> bool {
    (&a.scope, &a.key, &a.order, &a.payment, &a.reference) == (&b.scope, &b.key, &b.order, &b.payment, &b.reference)
}

impl Entry {
    fn window(&mut self, found: Vec<Breach>, at: Instant) {
        for breach in found {
            self.seen.retain(|(_, old)| !same(old, &breach));
            self.seen.push((at, breach));
        }
        let excess = self.seen.len().saturating_sub(MOST_BREACHES);
        self.seen.drain(..excess);
        self.checked_at = Some(at);
        self.window_failed = None;
        self.since(at);
    }

    fn audit(&mut self, found: Vec<Breach>, at: Instant) {
        self.audited = found;
        self.seen.retain(|(seen, _)| *seen > at);
        self.audited_at = Some(at);
        self.checked_at = self.checked_at.max(Some(at));
        self.audit_failed = None;
        self.since(at);
    }

    fn since(&mut self, at: Instant) {
        let breaches = self.breaches();
        if breaches.is_empty() {
            self.violated_since = None;
        } else {
            let earliest = breaches.iter().filter_map(|breach| breach.at).min();
            let known = self.violated_since.unwrap_or(at);
            self.violated_since = Some(earliest.map_or(known, |earliest| earliest.min(known)));
        }
    }

    /// What windows saw and the audit found, each once; the newest look first.
    fn breaches(&self) -> Vec<Breach> {
        let mut breaches: Vec<Breach> = self.seen.iter().rev().map(|(_, breach)| breach.clone()).collect();
        for breach in &self.audited {
            if !breaches.iter().any(|known| same(known, breach)) {
                breaches.push(breach.clone());
            }
        }
        breaches.truncate(MOST_BREACHES);
        breaches
    }

    fn state(&self) -> RuleState {
        let breaches = self.breaches();
        if let (false, Some(checked_at)) = (breaches.is_empty(), self.checked_at) {
            return RuleState::Violated { checked_at, breaches, since: self.violated_since.unwrap_or(checked_at) };
        }
        let failed = self.window_failed.as_ref().or(self.audit_failed.as_ref());
        match (failed, self.checked_at) {
            (Some(why), _) => RuleState::NotKnown { why: why.clone() },
            (None, None) => RuleState::NotKnown { why: "not checked yet".to_owned() },
            (None, Some(checked_at)) => RuleState::Holds { checked_at, audited_at: self.audited_at },
        }
    }
}

impl RuleBook {
    /// What is known about every rule, those included that this schema cannot be judged by.
    pub(in crate::store) fn reports(
        &self,
        rules: &[(RuleFile, Option<StoreError>)],
        off: &[(Rule, String)],
        policy: &RulePolicy,
    ) -> Vec<RuleReport> {
        let judged = rules.iter().map(|(file, off)| {
            let state = match unanswerable(file, off.as_ref(), policy) {
                Some(why) => RuleState::NotKnown { why },
                None => self.entries.get(&file.rule.id).cloned().unwrap_or_default().state(),
            };
            RuleReport { rule: file.rule.clone(), state }
        });
        let not_judged = off
            .iter()
            .map(|(rule, why)| RuleReport { rule: rule.clone(), state: RuleState::NotKnown { why: why.clone() } });
        let mut reports: Vec<RuleReport> = judged.chain(not_judged).collect();
        // I2 before I10.
        reports.sort_by_key(|report| (report.rule.id.len(), report.rule.id.clone()));
        reports
    }

    /// The rule whose audit is most overdue at `now`, with when it became due.
    pub(in crate::store) fn next_audit(
        &self,
        rules: &[(RuleFile, Option<StoreError>)],
        policy: &RulePolicy,
        now: Instant,
    ) -> Option<RuleFile> {
        rules
            .iter()
            .filter(|(file, off)| unanswerable(file, off.as_ref(), policy).is_none())
            .map(|(file, _)| (self.entries.get(&file.rule.id).and_then(|entry| entry.audit_due), file))
            .filter(|(due, _)| due.is_none_or(|due| due <= now))
            .min_by_key(|(due, _)| *due)
            .map(|(_, file)| file.clone())
    }

    /// Writes down how an audit ended. What was found is looked at again soon, so that a repair is seen;
    /// an audit that took long is repeated less often than it would like.
    pub(in crate::store) fn audited(
        &mut self,
        id: &str,
        result: Result<Vec<Breach>, String>,
        at: Instant,
        took: Duration,
        every: Duration,
    ) {
        let entry = self.entries.entry(id.to_owned()).or_default();
        let soon = took.saturating_mul(20).clamp(Duration::from_secs(10), every.max(Duration::from_secs(10)));
        let again = match result {
            Ok(found) => {
                let again = if found.is_empty() { every } else { soon };
                entry.audit(found, at);
                again
            }
            Err(why) => {
                entry.audit_failed = Some(why);
                soon.max(Duration::from_mins(1))
            }
        };
        entry.audit_due = Some(Seconds(again.as_secs()).after(at));
    }

    /// After a loss the database may be another one: everything is audited again, from the start.
    fn reconnected(&mut self) {
        self.began = None;
        for entry in self.entries.values_mut() {
            entry.audit_due = None;
            entry.tried_at = None;
        }
    }

    fn due(&self, file: &RuleFile, now: Instant) -> bool {
        let tried = self.entries.get(&file.rule.id).and_then(|entry| entry.tried_at);
        let eager = self.began.is_none_or(|began| now < EAGER_FOR.after(began));
        let cadence = if eager { file.rule.cadence.min(EAGER_CADENCE) } else { file.rule.cadence };
        tried.is_none_or(|tried| cadence.after(tried) <= now)
    }

    fn since(&self, id: &str, now: Instant) -> Instant {
        self.entries.get(id).and_then(|entry| entry.checked_at).unwrap_or_else(|| FIRST_WINDOW.before(now))
    }
}

impl Books {
    /// Forgets what hangs on one particular server: watermarks, and when what was audited.
    pub(in crate::store) fn reconnected(&mut self) {
        self.rates = RatesBook::default();
        self.rules.reconnected();
    }
}

/// Why a rule cannot be judged at all: its file does not fit, or the policy lacks what it needs.
fn unanswerable(file: &RuleFile, off: Option<&StoreError>, policy: &RulePolicy) -> Option<String> {
    if let Some(off) = off {
        return Some(off.to_string());
    }
    let values = policy_document(policy);
    // Named as they are written in the configuration.
    let missing: Vec<&str> = file
        .needs
        .iter()
        .filter(|need| values.get(need).is_none_or(serde_json::Value::is_null))
        .map(|need| need.strip_suffix("_s").unwrap_or(need))
        .collect();
    let verb = if missing.len() == 1 { "is" } else { "are" };
    if missing.is_empty() { None } else { Some(format!("{} {verb} not set in [policy.rules]", missing.join(", "))) }
}

/// The `$policy` parameter.
pub(in crate::store) fn policy_document(policy: &RulePolicy) -> serde_json::Value {
    serde_json::to_value(policy).unwrap_or(serde_json::Value::Null)
}

/// Reads the windows that are due.
pub(in crate::store) async fn windows(policy: &RulePolicy, asking: &mut Asking<'_, '_>, books: &Mutex<Books>) {
    let now = asking.reading.now();
    let document = policy_document(policy);
    locked(books).rules.began.get_or_insert(now);
    for (file, off) in asking.bound.rules() {
        let due = {
            let book = &locked(books).rules;
            (unanswerable(file, off.as_ref(), policy).is_none() && book.due(file, now))
                .then(|| book.since(&file.rule.id, now))
        };
        let Some(since) = due else { continue };
        let given = [Given::At(Some(since)), Given::Json(document.clone())];
        let found = asking.reading.ask(&file.checked, &given).await;
        let found = found.and_then(|rows| each(rows::breach)(file.checked.file(), &rows));
        let mut books = locked(books);
        let entry = books.rules.entries.entry(file.rule.id.clone()).or_default();
        entry.tried_at = Some(now);
        match found {
            Ok(found) => entry.window(found, now),
            // The next window starts where the last good one ended: nothing is skipped.
            Err(why) => entry.window_failed = Some(why.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::OrderId;
    use crate::store::library::Library;
    use chrono::DateTime;

    fn at(second: i64) -> Instant {
        DateTime::from_timestamp(1_800_000_000 + second, 0).unwrap()
    }

    fn breach(order: &str) -> Breach {
        Breach {
            scope: None,
            key: None,
            order: Some(OrderId::new(order)),
            payment: None,
            reference: None,
            money: None,
            at: None,
            detail: format!("seen {order}"),
        }
    }

    fn orders(state: &RuleState) -> Vec<String> {
        match state {
            RuleState::Violated { breaches, .. } => {
                breaches.iter().filter_map(|breach| breach.order.as_ref()).map(ToString::to_string).collect()
            }
            RuleState::Holds { .. } | RuleState::NotKnown { .. } => Vec::new(),
        }
    }

    #[test]
    fn a_breach_stays_until_an_audit_no_longer_sees_it() {
        let mut entry = Entry::default();
        entry.window(vec![breach("a")], at(1));
        entry.window(Vec::new(), at(11));
        assert_eq!(orders(&entry.state()), ["a"]);
        entry.audit(vec![breach("b")], at(5));
        assert_eq!(orders(&entry.state()), ["b"], "the audit looked after a was seen, and did not see it");
        entry.audit(Vec::new(), at(20));
        assert_eq!(entry.state(), RuleState::Holds { checked_at: at(20), audited_at: Some(at(20)) });
    }

    #[test]
    fn a_window_newer_than_the_audit_is_kept() {
        let mut entry = Entry::default();
        entry.window(vec![breach("a")], at(10));
        entry.audit(Vec::new(), at(5));
        assert_eq!(orders(&entry.state()), ["a"]);
    }

    #[test]
    fn one_breach_seen_twice_is_one_breach_and_keeps_its_start() {
        let mut entry = Entry::default();
        entry.window(vec![breach("a")], at(1));
        entry.window(vec![Breach { detail: "longer".to_owned(), ..breach("a") }], at(11));
        entry.audit(vec![breach("a")], at(11));
        let RuleState::Violated { breaches, since, .. } = entry.state() else { panic!("not violated") };
        assert_eq!((breaches.len(), since), (1, at(1)));
    }

    #[test]
    fn what_failed_is_not_known_but_what_was_seen_stays_seen() {
        let mut entry = Entry::default();
        assert!(matches!(entry.state(), RuleState::NotKnown { .. }));
        entry.window(Vec::new(), at(1));
        entry.audit_failed = Some("the audit did not finish".to_owned());
        assert_eq!(entry.state(), RuleState::NotKnown { why: "the audit did not finish".to_owned() });
        entry.window(vec![breach("a")], at(2));
        assert_eq!(orders(&entry.state()), ["a"]);
    }

    #[test]
    fn a_missing_policy_value_is_not_known_and_named() {
        let profiles = crate::store::profile::load(&Library::shipped()).unwrap();
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        let rules: Vec<_> = reference.rules.iter().map(|file| (file.clone(), None)).collect();
        let reports = RuleBook::default().reports(&rules, &[], &RulePolicy::default());
        let i5 = reports.iter().find(|report| report.rule.id == "I5").unwrap();
        assert_eq!(i5.state, RuleState::NotKnown { why: "retention is not set in [policy.rules]".to_owned() });
    }

    #[test]
    fn a_console_that_was_just_opened_asks_every_rule_often() {
        let profiles = crate::store::profile::load(&Library::shipped()).unwrap();
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        let slow = reference.rules.iter().find(|file| file.rule.cadence > EAGER_CADENCE).unwrap();
        let mut book = RuleBook { began: Some(at(0)), ..RuleBook::default() };
        let tried = |seconds| Entry { tried_at: Some(at(seconds)), ..Entry::default() };
        book.entries.insert(slow.rule.id.clone(), tried(5));
        assert!(!book.due(slow, at(14)) && book.due(slow, at(15)));
        book.entries.insert(slow.rule.id.clone(), tried(95));
        assert!(!book.due(slow, at(110)) && book.due(slow, slow.rule.cadence.after(at(95))));
        // After a loss it may be another database, and somebody looks because of it.
        book.reconnected();
        assert!(book.due(slow, at(110)));
    }

    #[test]
    fn audits_go_round_and_violations_are_looked_at_sooner() {
        let profiles = crate::store::profile::load(&Library::shipped()).unwrap();
        let reference = profiles.iter().find(|profile| profile.name == "reference").unwrap();
        let rules: Vec<_> = reference.rules.iter().take(2).map(|file| (file.clone(), None)).collect();
        let every = Duration::from_mins(10);
        let policy = RulePolicy::default();
        let mut book = RuleBook::default();
        let first = book.next_audit(&rules, &policy, at(0)).unwrap();
        book.audited(&first.rule.id, Ok(vec![breach("a")]), at(0), Duration::from_millis(5), every);
        let second = book.next_audit(&rules, &policy, at(0)).unwrap();
        assert_ne!(first.rule.id, second.rule.id);
        book.audited(&second.rule.id, Ok(Vec::new()), at(0), Duration::from_millis(5), every);
        assert!(book.next_audit(&rules, &policy, at(9)).is_none());
        assert_eq!(book.next_audit(&rules, &policy, at(10)).unwrap().rule.id, first.rule.id);
        book.audited(&first.rule.id, Err("too slow".to_owned()), at(10), Duration::from_secs(30), every);
        assert!(book.next_audit(&rules, &policy, at(100)).is_none());
        assert!(book.next_audit(&rules, &policy, at(610)).is_some());
    }
}
