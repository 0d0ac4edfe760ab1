//! Which events a person who watches waits for.

use crate::app::keymap::Scope;
use crate::app::model::Model;
use crate::app::recording::{Event, WRONG};
use crate::domain::ids::{LogId, RecordId, Version};
use crate::domain::rule::RuleState;
use crate::domain::snapshot::{Signal, Snapshot};
use crate::domain::time::Now;

/// What of a picture a person would call changed: counts, records, rules, actions. Not its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Telling {
    counts: Vec<(Signal, u64)>,
    records: Vec<(RecordId, Version)>,
    rules: Vec<(String, &'static str, usize)>,
    log: Option<LogId>,
}

impl Telling {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let pulse = snapshot.pulse.value().into_iter().flatten();
        let records = [&snapshot.stuck, &snapshot.unknown].into_iter().filter_map(|answer| answer.value()).flatten();
        let state = |state: &RuleState| match state {
            RuleState::Holds { .. } => "holds",
            RuleState::Violated { .. } => "violated",
            RuleState::NotKnown { .. } => "not known",
        };
        Self {
            // The oldest open transaction is another one at every poll.
            counts: pulse.filter(|p| p.signal != Signal::Xmin).map(|p| (p.signal, p.count)).collect(),
            records: records.map(|record| (record.id.clone(), record.version.clone())).collect(),
            rules: snapshot
                .rules
                .iter()
                .map(|report| (report.rule.id.clone(), state(&report.state), report.breaches().len()))
                .collect(),
            log: snapshot.log.value().and_then(|log| log.first()).map(|entry| entry.id),
        }
    }
}

/// Whether an event changes what a person looks at. `before`: the picture before it, if the database answered.
pub(super) fn is_change(event: &Event, before: Option<&Telling>, operator: &Model) -> bool {
    match event {
        Event::Polled { result: Ok(snapshot), .. } => before != Some(&Telling::of(snapshot)),
        // The first of several in a row.
        Event::Polled { result: Err(_), .. } => before.is_some(),
        Event::Key(_)
        | Event::PhraseLetter
        | Event::Paste(_)
        | Event::Opened(_)
        | Event::Connected(_)
        | Event::Found(..)
        | Event::Guard(..)
        | Event::Ticket(_)
        | Event::Said(_)
        | Event::Left(..)
        | Event::Terminate
        | Event::End => true,
        // A record on view is read every few seconds: most readings say the same.
        Event::Dossier(id, Ok(Some(read))) => operator.dossiers.get(id).is_none_or(|kept| {
            kept.detail != read.detail
                || kept.timeline.value() != read.timeline.value()
                || kept.evidence.len() != read.evidence.len()
        }),
        Event::Dossier(_, Ok(None) | Err(_)) => operator.screens.record.trouble.is_none(),
        Event::Focus | Event::Resumed | Event::Resized(..) | Event::Drawn | Event::Wake => false,
    }
}

/// Whether an event is one step: anything that can be seen at all.
pub(super) fn is_step(event: &Event, _: Option<&Telling>, _: &Model) -> bool {
    match event {
        Event::Focus | Event::Resized(..) | Event::Drawn | Event::Wake => false,
        Event::Key(_)
        | Event::PhraseLetter
        | Event::Paste(_)
        | Event::Opened(_)
        | Event::Resumed
        | Event::Connected(_)
        | Event::Polled { .. }
        | Event::Dossier(..)
        | Event::Found(..)
        | Event::Guard(..)
        | Event::Ticket(_)
        | Event::Said(_)
        | Event::Terminate
        | Event::Left(..)
        | Event::End => true,
    }
}

/// What the operator pressed, in words.
pub(super) fn pressed(event: &Event, operator: &Model, now: Now) -> Option<String> {
    let typing = operator.scopes(now).iter().any(|s| matches!(s, Scope::Line | Scope::Reason | Scope::Phrase));
    match event {
        Event::Key(chord) if typing && chord.typed().is_some() => Some("typed a letter".to_owned()),
        Event::Key(chord) if chord.typed() == Some(WRONG) => Some("pressed a key that does nothing".to_owned()),
        Event::Key(chord) => Some(format!("pressed {chord}")),
        Event::PhraseLetter => Some("typed a letter of the phrase".to_owned()),
        Event::Paste(text) => Some(format!("pasted {} characters", text.chars().count())),
        Event::Opened(_) => Some("opened a record by a command".to_owned()),
        Event::Terminate => Some("was asked to end".to_owned()),
        Event::Focus
        | Event::Resumed
        | Event::Resized(..)
        | Event::Drawn
        | Event::Wake
        | Event::Connected(_)
        | Event::Polled { .. }
        | Event::Dossier(..)
        | Event::Found(..)
        | Event::Guard(..)
        | Event::Ticket(_)
        | Event::Said(_)
        | Event::Left(..)
        | Event::End => None,
    }
}
