//! The timeline of a case in lanes: client, API, record, provider, webhook, settlement.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Charge, KeyRecord, PaymentRow, Request, money};
use super::ids::RecordId;
use super::time::{Instant, age, words};

/// Whose lane an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The client sent something.
    Client,
    /// The API, or a pod of it, answered.
    Api,
    /// The record or the payment changed.
    Record,
    /// The provider did something, by its own clock.
    Provider,
    /// An event of the provider arrived or was applied.
    Webhook,
    /// The settlement report names it.
    Settlement,
}

impl Lane {
    /// All of them, from left to right.
    pub const ALL: [Self; 6] = [Self::Client, Self::Api, Self::Record, Self::Provider, Self::Webhook, Self::Settlement];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Api => "API",
            Self::Record => "record",
            Self::Provider => "provider",
            Self::Webhook => "webhook",
            Self::Settlement => "settlement",
        }
    }
}

/// One entry of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// When; absent for what has no time, which stands at the end.
    pub at: Option<Instant>,
    /// In which lane.
    pub lane: Lane,
    /// What happened, short.
    pub what: String,
    /// An id that goes with it.
    pub reference: Option<String>,
}

/// Why a lane is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// We have the source and it says nothing.
    NotReached,
    /// We do not have this source.
    NoSource,
}

impl Gap {
    /// What stands in the lane.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotReached => "not reached",
            Self::NoSource => "we do not have this source",
        }
    }
}

/// What follows what when one lane tells of one moment: nothing is applied before it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Asked,
    Answered,
    Stored,
    Made,
    Changed,
    StandsNow,
    LeaseEnds,
    Charged,
    Received,
    Applied,
    Settled,
}

/// The entries while they are gathered.
type Found = Vec<(Step, Entry)>;

/// The timeline of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// In time order; what happened at once, in the order of the lanes, and in a lane as one thing follows another.
    pub entries: Vec<Entry>,
    /// The lanes without an entry, and why.
    pub gaps: Vec<(Lane, Gap)>,
}

impl Lanes {
    /// The timeline of a case.
    pub fn of(case: &Case) -> Self {
        let mut found = Found::new();
        case.requests.iter().flatten().for_each(|row| request(row, &mut found));
        records(case, &mut found);
        payments(case, &mut found);
        found.extend(case.charges.iter().flatten().map(|row| (Step::Charged, charge(row))));
        hooks(case, &mut found);
        found.extend(case.settlements.iter().flatten().map(|line| {
            let what = format!("{} settled", line.kind.as_deref().unwrap_or("line"));
            let what = with_money(&what, line.amount, line.currency.as_ref());
            let reference = line.provider_ref.as_ref().map(ToString::to_string);
            (Step::Settled, Entry { at: line.at, lane: Lane::Settlement, what, reference })
        }));
        let place = |(step, entry): &(Step, Entry)| (entry.at.is_none(), entry.at, entry.lane, *step);
        found.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.1.cmp(&b.1)));
        let entries: Vec<Entry> = found.into_iter().map(|(_, entry)| entry).collect();
        let gaps = Lane::ALL.into_iter().filter(|lane| !entries.iter().any(|entry| entry.lane == *lane));
        let gaps =
            gaps.map(|lane| (lane, if has_source(case, lane) { Gap::NotReached } else { Gap::NoSource })).collect();
        Self { entries, gaps }
    }

    /// How much later than the first entry: `+11.2s`, `+1m05s`; nothing for what has no time.
    pub fn after_start(&self, entry: &Entry) -> Option<String> {
        let first = self.entries.first()?.at?;
        let passed = entry.at?.signed_duration_since(first);
        let millis = passed.num_milliseconds();
        Some(match millis {
            0..60_000 => format!("+{}.{}s", millis / 1_000, millis % 1_000 / 100),
            _ => format!("+{}", words(age(first, entry.at?))),
        })
    }
}

fn has_source(case: &Case, lane: Lane) -> bool {
    match lane {
        Lane::Client | Lane::Api => case.requests.is_some(),
        Lane::Record => case.records.is_some() || case.payments.is_some(),
        Lane::Provider => case.charges.is_some(),
        Lane::Webhook => case.webhooks.is_some(),
        Lane::Settlement => case.settlements.is_some(),
    }
}

fn with_money(what: &str, amount: Option<i64>, currency: Option<&String>) -> String {
    money(amount, currency).map_or_else(|| what.to_owned(), |money| format!("{what} {money}"))
}

fn request(row: &Request, found: &mut Found) {
    let reference = row.key.as_ref().map(|key| match &row.scope {
        Some(scope) => format!("{scope}/{key}"),
        None => key.to_string(),
    });
    let asked = [row.method.as_deref(), row.path.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let asked = if asked.is_empty() { "request".to_owned() } else { asked };
    let what = with_money(&asked, row.amount, row.currency.as_ref());
    found.push((Step::Asked, Entry { at: row.at, lane: Lane::Client, what, reference: reference.clone() }));
    // A request whose answer nobody noted is not one that was never answered.
    let what = match (row.status, row.replayed) {
        (Some(status), Some(true)) => format!("answered {status}, the stored answer"),
        (Some(status), Some(false) | None) => format!("answered {status}"),
        (None, Some(_) | None) => "answer not known".to_owned(),
    };
    found.push((Step::Answered, Entry { at: row.at, lane: Lane::Api, what, reference }));
}

fn records(case: &Case, found: &mut Found) {
    let mut first: BTreeMap<RecordId, Instant> = BTreeMap::new();
    let mut used: BTreeSet<RecordId> = BTreeSet::new();
    for row in case.requests.iter().flatten() {
        if let (Some(scope), Some(key)) = (&row.scope, &row.key) {
            let id = RecordId { scope: scope.clone(), key: key.clone() };
            if let Some(at) = row.at {
                first.entry(id.clone()).and_modify(|known| *known = at.min(*known)).or_insert(at);
            }
            used.insert(id);
        }
    }
    for row in case.records.iter().flatten() {
        let (scope, key) = (row.scope.as_ref(), row.key.as_ref());
        let id = RecordId::new(scope.map_or("", |scope| scope.as_str()), key.map_or("", |key| key.as_str()));
        // What a removed record leaves behind: a request that is older than it.
        let younger = row.created_at.zip(first.get(&id).copied()).filter(|(stored, used)| age(*used, *stored).0 > 5);
        let younger = younger
            .map(|(stored, used)| format!(", {} after its first request", words(age(used, stored))))
            .unwrap_or_default();
        let reference = Some(id.to_string());
        let what = format!("record stored{younger}");
        found
            .push((Step::Stored, Entry { at: row.created_at, lane: Lane::Record, what, reference: reference.clone() }));
        if let Some(what) = not_done(row) {
            let what = what.to_owned();
            found.push((Step::LeaseEnds, Entry { at: row.locked_until, lane: Lane::Record, what, reference }));
        }
        used.remove(&id);
    }
    // A key that was used and has no record left is a gap, and may be the cause: where we have the records.
    for id in used.into_iter().filter(|_| case.records.is_some()) {
        let what = "no record of this key".to_owned();
        found.push((Step::StandsNow, Entry { at: None, lane: Lane::Record, what, reference: Some(id.to_string()) }));
    }
}

/// What is said of the lease of a record that may be at work.
fn not_done(row: &KeyRecord) -> Option<&'static str> {
    match (row.status.as_deref(), row.locked_until) {
        (Some("done"), Some(_) | None) => None,
        (Some(_), Some(_)) => Some("lease ends, the record is not done"),
        (Some(_), None) => Some("the record is not done, its lease is not known"),
        (None, Some(_)) => Some("lease ends, whether the record is done is not known"),
        (None, None) => Some("whether the record is done is not known"),
    }
}

fn payments(case: &Case, found: &mut Found) {
    let name = |row: &PaymentRow| row.id.as_ref().map(ToString::to_string);
    for row in case.payments.iter().flatten() {
        let what = with_money("payment created", row.amount, row.currency.as_ref());
        found.push((Step::Made, Entry { at: row.created_at, lane: Lane::Record, what, reference: name(row) }));
        // Without the changes, where it stands now is all there is.
        if case.transitions.is_none() {
            let status = row.status.as_ref().map_or_else(|| "not known".to_owned(), ToString::to_string);
            let (at, what) = (row.updated_at.or(row.created_at), format!("payment is {status}"));
            found.push((Step::StandsNow, Entry { at, lane: Lane::Record, what, reference: name(row) }));
        }
    }
    for change in case.transitions.iter().flatten() {
        let word = |status: &Option<super::payment::PaymentStatus>| {
            status.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string)
        };
        let by = change.by.as_deref().map(|by| format!(" ({by})")).unwrap_or_default();
        let what = format!("payment {} to {}{by}", word(&change.from), word(&change.to));
        let reference = change.payment.as_ref().map(ToString::to_string);
        found.push((Step::Changed, Entry { at: change.at, lane: Lane::Record, what, reference }));
    }
}

fn charge(row: &Charge) -> Entry {
    let class = row.class.map_or("state not known", super::evidence::Class::word);
    let key = match row.provider_key.as_ref().map(super::ids::ProviderKey::as_str) {
        Some("") => ", sent without a key".to_owned(),
        Some(key) => format!(", key {key}"),
        None => String::new(),
    };
    let back = row.refunded.filter(|back| *back > 0);
    let back = back.map(|back| with_money(", given back", Some(back), row.currency.as_ref())).unwrap_or_default();
    // What was taken counts, and it may be less than what was asked for.
    let moved = row.class.is_some_and(super::evidence::Class::moved_money);
    let what = match row.captured.filter(|taken| moved && Some(*taken) != row.amount) {
        Some(taken) => {
            let of = with_money("", row.amount, row.currency.as_ref());
            let of = if of.is_empty() { of } else { format!(" of{of}") };
            format!("{}{of}", with_money(class, Some(taken), row.currency.as_ref()))
        }
        None => with_money(class, row.amount, row.currency.as_ref()),
    };
    Entry {
        at: row.created_at,
        lane: Lane::Provider,
        what: format!("charge {what}{back}{key}"),
        reference: row.provider_ref.as_ref().map(ToString::to_string),
    }
}

fn hooks(case: &Case, found: &mut Found) {
    for row in case.webhooks.iter().flatten() {
        let reference = row.provider_ref.as_ref().map(ToString::to_string).or_else(|| row.event.clone());
        let kind = row.kind.as_deref().unwrap_or("event");
        let what = format!("{kind} received");
        found.push((Step::Received, Entry { at: row.at, lane: Lane::Webhook, what, reference: reference.clone() }));
        if row.applied_at.is_some() || row.times_applied.is_some_and(|times| times > 0) {
            let times = row.times_applied.filter(|times| *times > 1);
            let times = times.map(|times| format!(" {times} times")).unwrap_or_default();
            let (at, what) = (row.applied_at.or(row.at), format!("{kind} applied{times}"));
            found.push((Step::Applied, Entry { at, lane: Lane::Webhook, what, reference }));
        }
    }
}

#[cfg(test)]
mod tests;
