//! How bad it is, in words: the sentence of the Overview and the line of `check` come from here,
//! so that the same fact has the same words everywhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::approval::{ResumeRequest, ResumeState};
use super::money::Totals;
use super::rule::{RuleState, Severity};
use super::snapshot::{Pulse, Signal, Snapshot};
use super::time::{self, Instant};
use super::trend::{History, Trend};

mod wave;

/// How urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Checked and good.
    Ok,
    /// Soon; you have time.
    Caution,
    /// It could not be told. Worse than caution: nobody knows.
    NotKnown,
    /// Act now.
    Critical,
}

impl Level {
    /// The sign in front of a line.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Caution => " !",
            Self::NotKnown => " ?",
            Self::Critical => "!!",
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Caution => "CAUTION",
            Self::NotKnown => "NOT KNOWN",
            Self::Critical => "CRITICAL",
        }
    }
}

/// What is normal for a signal, from `[normal]`; a signal without one has none, it is never invented.
pub type Normals = BTreeMap<String, u64>;

/// One alarm: one thing a person should do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// How urgent.
    pub level: Level,
    /// Count, noun and plain consequence.
    pub what: String,
    /// The money it is about, by currency.
    pub money: Totals,
    /// Since when.
    pub since: Option<Instant>,
    /// The signal, when it has a history.
    pub signal: Option<Signal>,
    /// What to do next.
    pub next: String,
}

/// Everything there is to say, worst first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    /// The worst level: critical over not known over caution over ok.
    pub level: Level,
    /// The alarms, worst first.
    pub alarms: Vec<Alarm>,
}

/// The level of one signal at this count. More than normal is a caution; what may have moved money is critical.
pub fn level_of(pulse: &Pulse, normals: &Normals) -> Level {
    let normal = normals.get(pulse.signal.word()).copied().unwrap_or(0);
    if pulse.count <= normal {
        return Level::Ok;
    }
    match pulse.signal {
        Signal::Unknown | Signal::Stuck => Level::Critical,
        Signal::Pending | Signal::Outbox | Signal::Webhooks | Signal::HandedOver => Level::Caution,
        // An open transaction is normal; it is shown as a cause, not raised as an alarm.
        Signal::Xmin => Level::Ok,
    }
}

/// Judges a snapshot. What is not known is an alarm of its own.
pub fn assess(snapshot: &Snapshot, normals: &Normals) -> Assessment {
    let mut alarms = Vec::new();
    match snapshot.pulse.value() {
        Some(pulses) => {
            alarms.extend(Signal::ALL.into_iter().filter_map(|signal| {
                let pulse = pulses.iter().find(|pulse| pulse.signal == signal)?;
                signal_alarm(pulse, normals)
            }));
        }
        None => alarms.push(not_known("The signals", snapshot.pulse.why_not())),
    }
    let stuck = alarms.iter().any(|alarm| alarm.signal == Some(Signal::Stuck));
    alarms.extend(unanswered(snapshot));
    alarms.extend(wave::mismatches(snapshot, normals));
    // Whoever retries a stuck record gets 409: its own alarm says so, and once is enough.
    alarms.extend(wave::conflicts(snapshot, normals).filter(|_| !stuck));
    alarms.extend(rule_alarms(snapshot));
    if let Some(why) = snapshot.stuck.why_not() {
        alarms.push(not_known("The list of stuck records", Some(why)));
    }
    alarms.sort_by_key(|alarm| std::cmp::Reverse(alarm.level));
    let level = alarms.iter().map(|alarm| alarm.level).max().unwrap_or(Level::Ok);
    Assessment { level, alarms }
}

fn not_known(what: &str, why: Option<&str>) -> Alarm {
    Alarm {
        level: Level::NotKnown,
        what: format!("{what} NOT KNOWN: {}.", why.unwrap_or("no answer").trim_end_matches('.')),
        money: Totals::default(),
        since: None,
        signal: None,
        next: "Run: unstuck doctor".to_owned(),
    }
}

fn signal_alarm(pulse: &Pulse, normals: &Normals) -> Option<Alarm> {
    let level = level_of(pulse, normals);
    if level == Level::Ok {
        return None;
    }
    let n = pulse.count;
    let s = if n == 1 { "" } else { "s" };
    let (what, next) = match pulse.signal {
        Signal::Unknown => (
            format!("{n} payment{s} with an UNKNOWN charge outcome. Money may have moved."),
            "3 then Enter on the oldest, then a l = provider look-up (no charge).",
        ),
        Signal::Stuck => (
            format!("{n} record{s} STUCK: customers get 409 and may have been charged."),
            "2 then Enter on the oldest, then a l = provider look-up (no charge).",
        ),
        Signal::Pending => {
            (format!("{n} payment{s} PENDING for long: no final answer yet."), "3 then Enter on the oldest.")
        }
        Signal::Outbox => (
            format!("{n} event{s} not published: other systems do not know of the payment yet."),
            "Check the outbox relay.",
        ),
        Signal::Webhooks => (format!("{n} provider event{s} received and not applied."), "Check the webhook worker."),
        Signal::HandedOver => (format!("{n} record{s} handed over and not taken up."), "8 shows who handed over what."),
        Signal::Xmin => return None,
    };
    Some(Alarm {
        level,
        what,
        money: pulse.money.clone(),
        since: pulse.oldest,
        signal: Some(pulse.signal),
        next: next.to_owned(),
    })
}

/// Records that everybody believes to be in the recoverer's hands, and nobody took. A list that is not known is no
/// alarm: many databases have none.
fn unanswered(snapshot: &Snapshot) -> Option<Alarm> {
    let open = snapshot.resumes.value()?.iter().filter(|one| one.state == ResumeState::Unanswered);
    let open: Vec<&ResumeRequest> = open.collect();
    let since = open.iter().map(|one| one.at).min()?;
    let n = open.len();
    let s = if n == 1 { "" } else { "s" };
    Some(Alarm {
        level: Level::Caution,
        what: format!("{n} record{s} handed back, and NOBODY ANSWERS: no recoverer took it up."),
        money: open.iter().filter_map(|one| one.money.clone()).collect(),
        since: Some(since),
        signal: None,
        next: "8 lists them. Call whoever runs the recoverer, or withdraw (a w).".to_owned(),
    })
}

fn rule_alarms(snapshot: &Snapshot) -> Vec<Alarm> {
    let mut alarms = Vec::new();
    let mut unjudged = Vec::new();
    for report in &snapshot.rules {
        match &report.state {
            RuleState::Holds { .. } => {}
            RuleState::NotKnown { why } => unjudged.push((&report.rule.id, why)),
            RuleState::Violated { since, .. } => {
                let level = match report.rule.severity {
                    Severity::Critical => Level::Critical,
                    Severity::Caution => Level::Caution,
                };
                let rows = report.count();
                alarms.push(Alarm {
                    level,
                    what: format!(
                        "Invariant {} VIOLATED ({rows} row{}): {}.",
                        report.rule.id,
                        if rows == "1" { "" } else { "s" },
                        report.rule.sentence.trim_end_matches('.')
                    ),
                    money: report.money(),
                    since: Some(*since),
                    signal: None,
                    next: format!("5 then Enter. {}", report.rule.next),
                });
            }
        }
    }
    if let Some((id, why)) = unjudged.first() {
        let more = unjudged.len().saturating_sub(1);
        let others = if more == 0 { String::new() } else { format!(" and {more} more") };
        alarms.push(Alarm {
            level: Level::NotKnown,
            what: format!("Invariant {id}{others} NOT KNOWN: {}.", why.trim_end_matches('.')),
            money: Totals::default(),
            since: None,
            signal: None,
            next: "5 shows which, and why.".to_owned(),
        });
    }
    alarms
}

/// The parts of the second line: money at risk, trend, since. Each only when it is known.
pub fn facts_line(alarm: &Alarm, histories: &BTreeMap<Signal, History>, now: Instant) -> String {
    let mut parts = Vec::new();
    if !alarm.money.is_empty() {
        parts.push(format!("At risk {}", alarm.money));
    }
    if let Some(history) = alarm.signal.and_then(|signal| histories.get(&signal)) {
        match history.trend(now) {
            Trend::TooEarly => parts.push("trend: too early to tell".to_owned()),
            trend @ (Trend::New { .. }
            | Trend::Rising { .. }
            | Trend::Falling { .. }
            | Trend::Ended { .. }
            | Trend::Steady) => parts.push(trend.to_string()),
        }
    }
    if let Some(since) = alarm.since {
        parts.push(format!("since {} ({})", time::since(since, now), time::words(time::age(since, now))));
    }
    parts.join(" · ")
}

/// How many alarms are not told in this place.
fn and_more(more: usize) -> String {
    format!("And {more} more alarm{}.", if more == 1 { "" } else { "s" })
}

/// The line of `check`: sign-free, one line, the worst alarm first and how many more there are.
pub fn check_line(assessment: &Assessment, now: Instant) -> String {
    let Some(worst) = assessment.alarms.first() else {
        return "OK: nothing stuck, nothing unknown, every invariant that was checked holds.".to_owned();
    };
    let facts = facts_line(worst, &BTreeMap::new(), now);
    let more = assessment.alarms.len().saturating_sub(1);
    let mut line = format!("{}: {}", assessment.level.word(), worst.what);
    if !facts.is_empty() {
        line.push(' ');
        line.push_str(&facts);
        line.push('.');
    }
    if more > 0 {
        line = format!("{line} {}", and_more(more));
    }
    line
}
