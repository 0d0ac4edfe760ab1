//! The timeline of a case in lanes: client, API, record, provider, webhook, settlement.

use std::collections::BTreeMap;

use super::case::{Case, Charge, PaymentRow, Request, money};
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

/// The timeline of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lanes {
    /// In time order; what happened at once, in the order of the lanes.
    pub entries: Vec<Entry>,
    /// The lanes without an entry, and why.
    pub gaps: Vec<(Lane, Gap)>,
}

impl Lanes {
    /// The timeline of a case.
    pub fn of(case: &Case) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        case.requests.iter().flatten().for_each(|row| request(row, &mut entries));
        records(case, &mut entries);
        payments(case, &mut entries);
        entries.extend(case.charges.iter().flatten().map(charge));
        hooks(case, &mut entries);
        entries.extend(case.settlements.iter().flatten().map(|line| Entry {
            at: line.at,
            lane: Lane::Settlement,
            what: with_money(
                &format!("{} settled", line.kind.as_deref().unwrap_or("line")),
                line.amount,
                line.currency.as_ref(),
            ),
            reference: line.provider_ref.as_ref().map(ToString::to_string),
        }));
        entries.sort_by(|a, b| (a.at.is_none(), a).cmp(&(b.at.is_none(), b)));
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

fn request(row: &Request, entries: &mut Vec<Entry>) {
    let reference = row.key.as_ref().map(|key| match &row.scope {
        Some(scope) => format!("{scope}/{key}"),
        None => key.to_string(),
    });
    let asked = [row.method.as_deref(), row.path.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let asked = if asked.is_empty() { "request".to_owned() } else { asked };
    entries.push(Entry {
        at: row.at,
        lane: Lane::Client,
        what: with_money(&asked, row.amount, row.currency.as_ref()),
        reference: reference.clone(),
    });
    if let Some(status) = row.status {
        let how = if row.replayed == Some(true) { ", the stored answer" } else { "" };
        entries.push(Entry { at: row.at, lane: Lane::Api, what: format!("answered {status}{how}"), reference });
    }
}

fn records(case: &Case, entries: &mut Vec<Entry>) {
    let mut first: BTreeMap<RecordId, Instant> = BTreeMap::new();
    for row in case.requests.iter().flatten() {
        if let (Some(scope), Some(key), Some(at)) = (&row.scope, &row.key, row.at) {
            let id = RecordId::new(scope.as_str(), key.as_str());
            first.entry(id).and_modify(|known| *known = at.min(*known)).or_insert(at);
        }
    }
    for row in case.records.iter().flatten() {
        let id = RecordId::new(
            row.scope.as_ref().map_or("", |scope| scope.as_str()),
            row.key.as_ref().map_or("", |key| key.as_str()),
        );
        // What a removed record leaves behind: a request that is older than it.
        let younger = row.created_at.zip(first.get(&id).copied()).filter(|(stored, used)| age(*used, *stored).0 > 5);
        let younger = younger
            .map(|(stored, used)| format!(", {} after its first request", words(age(used, stored))))
            .unwrap_or_default();
        entries.push(Entry {
            at: row.created_at,
            lane: Lane::Record,
            what: format!("record stored{younger}"),
            reference: Some(id.to_string()),
        });
        if row.status.as_deref() != Some("done") {
            entries.push(Entry {
                at: row.locked_until,
                lane: Lane::Record,
                what: "lease ends, the record is not done".to_owned(),
                reference: Some(id.to_string()),
            });
        }
    }
}

fn payments(case: &Case, entries: &mut Vec<Entry>) {
    let name = |row: &PaymentRow| row.id.as_ref().map(ToString::to_string);
    for row in case.payments.iter().flatten() {
        entries.push(Entry {
            at: row.created_at,
            lane: Lane::Record,
            what: with_money("payment created", row.amount, row.currency.as_ref()),
            reference: name(row),
        });
        // Without the changes, where it stands now is all there is.
        if case.transitions.is_none() {
            let status = row.status.as_ref().map_or_else(|| "not known".to_owned(), ToString::to_string);
            entries.push(Entry {
                at: row.updated_at.or(row.created_at),
                lane: Lane::Record,
                what: format!("payment is {status}"),
                reference: name(row),
            });
        }
    }
    for change in case.transitions.iter().flatten() {
        let word = |status: &Option<super::payment::PaymentStatus>| {
            status.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string)
        };
        let by = change.by.as_deref().map(|by| format!(" ({by})")).unwrap_or_default();
        entries.push(Entry {
            at: change.at,
            lane: Lane::Record,
            what: format!("payment {} to {}{by}", word(&change.from), word(&change.to)),
            reference: change.payment.as_ref().map(ToString::to_string),
        });
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
    Entry {
        at: row.created_at,
        lane: Lane::Provider,
        what: format!("charge {}{back}{key}", with_money(class, row.amount, row.currency.as_ref())),
        reference: row.provider_ref.as_ref().map(ToString::to_string),
    }
}

fn hooks(case: &Case, entries: &mut Vec<Entry>) {
    for row in case.webhooks.iter().flatten() {
        let reference = row.provider_ref.as_ref().map(ToString::to_string).or_else(|| row.event.clone());
        let kind = row.kind.as_deref().unwrap_or("event");
        entries.push(Entry {
            at: row.at,
            lane: Lane::Webhook,
            what: format!("{kind} received"),
            reference: reference.clone(),
        });
        if row.applied_at.is_some() || row.times_applied.is_some_and(|times| times > 0) {
            let times = row.times_applied.filter(|times| *times > 1);
            let times = times.map(|times| format!(" {times} times")).unwrap_or_default();
            let at = row.applied_at.or(row.at);
            entries.push(Entry { at, lane: Lane::Webhook, what: format!("{kind} applied{times}"), reference });
        }
    }
}
