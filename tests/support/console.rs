//! A model with a world behind it that answers its effects: keys in, pictures out.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use chrono::TimeDelta;
use unstuck::app::effect::Effect;
use unstuck::app::key::{Chord, Key};
use unstuck::app::msg::{Acted, GuardMsg, Polled};
use unstuck::app::{Acting, Model, Msg, update};
use unstuck::domain::answer::Answer;
use unstuck::domain::approval::ApprovalRequest;
use unstuck::domain::evidence::{Class, Evidence, LookupOutcome, LookupStep};
use unstuck::domain::ids::{Attempt, EvidenceId, Holder, LogId, ProviderName, ProviderRef, RecordId, Version};
use unstuck::domain::log::Outcome;
use unstuck::domain::payment::PaymentStatus;
use unstuck::domain::port::{Dossier, StoreError};
use unstuck::domain::record::{Lease, Record, RecordStatus, RecoveryPoint};
use unstuck::domain::rule::RuleState;
use unstuck::domain::snapshot::{Signal, Snapshot};
use unstuck::domain::time::{Now, Seconds};
use unstuck::domain::trend::History;

use super::desk::Desk;
use super::recorded::Recorded;
use super::scenario::{ago, charge, dossier, facts, hostile, incident, log, look, noon, setup, stuck_records};
use super::second::{aged, consented, handed_back};
/// A model with a world behind it that answers its effects.
pub struct Console {
    /// The model.
    pub model: Model,
    /// The time, moved by [`Console::wait`] and by typing.
    pub now: Now,
    /// What the provider will say.
    pub provider: LookupOutcome,
    /// What the provider will say about each record, when that differs from record to record.
    pub each: Option<fn(&Record) -> LookupOutcome>,
    /// What the database will say to an action.
    pub verdict: Option<Outcome>,
    /// Records as the database has them.
    pub records: BTreeMap<RecordId, Dossier>,
    /// Every effect so far, in words.
    pub effects: Vec<String>,
    /// What is known to the ticket screen, and what it exported.
    pub desk: Desk,
    /// Texts that were copied.
    pub copied: Vec<String>,
    /// How many effects could change something, look-ups aside.
    pub acts: usize,
    /// How many look-ups were sent.
    pub lookups: usize,
    /// What a recording of it has, when it is recorded.
    pub recorded: Option<Recorded>,
    generation: u64,
    wished: Vec<Effect>,
    world: Option<Snapshot>,
    polled: Now,
}

impl Console {
    /// A console in production with `--act`, connected, looking at a snapshot.
    pub fn on(snapshot: Snapshot) -> Self {
        Self::with(snapshot, "dark", Acting::On)
    }

    /// The same, in a look.
    pub fn with(snapshot: Snapshot, look_name: &str, acting: Acting) -> Self {
        static HISTORIES: OnceLock<BTreeMap<Signal, History>> = OnceLock::new();
        let mut console = Self::blank(look_name, acting);
        let is_incident = snapshot == incident();
        console.model.histories =
            if is_incident { HISTORIES.get_or_init(|| histories(&snapshot)).clone() } else { histories(&snapshot) };
        console.send(Msg::Connected(Box::new(facts())));
        console.poll(snapshot);
        console
    }

    /// A console that knows nothing yet.
    pub fn blank(look_name: &str, acting: Acting) -> Self {
        static RECORDS: OnceLock<BTreeMap<RecordId, Dossier>> = OnceLock::new();
        let records = RECORDS.get_or_init(|| {
            let all = hostile();
            all.stuck.value().expect("records").iter().map(|r| (r.id.clone(), dossier(r, noon()))).collect()
        });
        let records = records.clone();
        let first = stuck_records().remove(0);
        Self {
            model: Model::new(setup(look(look_name), acting)),
            now: Now(noon()),
            provider: LookupOutcome::Found { observed: vec![charge(&first, Class::Succeeded)] },
            each: None,
            verdict: None,
            records,
            effects: vec![],
            desk: Desk::default(),
            copied: vec![],
            acts: 0,
            lookups: 0,
            recorded: None,
            generation: 0,
            wished: vec![],
            world: None,
            polled: Now(noon()),
        }
    }

    /// Sends a message; effects wait for [`Console::settle`].
    pub fn send(&mut self, msg: Msg) {
        let effects = self.take(msg);
        for effect in &effects {
            self.effects.push(name(effect));
            if is_look_up(effect) {
                self.lookups += 1;
            } else {
                self.acts += usize::from(effect.changes_something());
            }
        }
        self.wished.extend(effects);
        self.take(Msg::Drawn);
        if let Some(recorded) = &mut self.recorded {
            recorded.shown(&self.model, self.now);
        }
    }

    /// As the shell does: a recording notes a message before the model takes it.
    fn take(&mut self, msg: Msg) -> Vec<Effect> {
        if let Some(recorded) = &mut self.recorded {
            recorded.note(&self.model, &msg, self.now);
        }
        update(&mut self.model, msg, self.now)
    }

    /// A good poll.
    pub fn poll(&mut self, snapshot: Snapshot) {
        self.generation += 1;
        self.polled = self.now;
        self.world = Some(snapshot.clone());
        self.send(Msg::Polled(Polled { generation: self.generation, result: Ok(Box::new(snapshot)), next_try: None }));
    }

    /// A failed poll.
    pub fn fail(&mut self) {
        self.generation += 1;
        self.world = None;
        let why = StoreError::Unreachable { why: "connection refused".into() };
        let next_try = Some(Seconds(4).after(self.now.0));
        self.send(Msg::Polled(Polled { generation: self.generation, result: Err(why), next_try }));
    }

    /// Time passes.
    pub fn wait(&mut self, seconds: u64) {
        self.now = Now(Seconds(seconds).after(self.now.0));
        self.send(Msg::Wake);
    }

    /// A poll of the world as it is now, if there is one.
    pub fn poll_now(&mut self) {
        if let Some(world) = self.world.clone() {
            let records = &self.records;
            let open = |answer: &Answer<Vec<Record>>| match answer {
                Answer::Known { value, .. } => Answer::known(
                    value
                        .iter()
                        .map(|r| records.get(&r.id).map_or_else(|| r.clone(), |d| d.detail.record.clone()))
                        .filter(|r| r.status == RecordStatus::Processing)
                        .collect(),
                    self.now.0,
                ),
                Answer::NotKnown { why } => Answer::not_known(why.clone()),
            };
            let approvals = Answer::known(self.approvals(), self.now.0);
            self.poll(Snapshot {
                db_now: self.now.0,
                approvals,
                stuck: open(&world.stuck),
                unknown: open(&world.unknown),
                ..world
            });
        }
    }

    /// One key, half a second after the last.
    pub fn key(&mut self, chord: Chord) {
        self.now = Now(self.now.0 + TimeDelta::milliseconds(500));
        if self.now.0 - self.polled.0 >= TimeDelta::seconds(2) {
            self.poll_now();
        }
        self.send(Msg::Key(chord));
    }

    /// Requests for approval of all records, newest first.
    pub fn approvals(&self) -> Vec<ApprovalRequest> {
        let asked = self.records.iter().filter(|(_, dossier)| !dossier.approvals.is_empty());
        let mut all: Vec<ApprovalRequest> =
            asked.filter_map(|(id, _)| self.read(id)).flat_map(|dossier| dossier.approvals).collect();
        all.sort_by_key(|request| std::cmp::Reverse(request.number));
        all
    }

    /// Keys in words: letters, and `<Enter>`, `<Esc>`, `<Del>`, `<Tab>`, `<C-k>`. Effects are answered.
    pub fn keys(&mut self, keys: &str) -> &mut Self {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            let (chord, after) = match named {
                Some((name, after)) if named_key(name).is_some() => (named_key(name).expect("a key"), after),
                _ => (Chord::char(c), rest.strip_prefix(c).expect("its first character")),
            };
            self.key(chord);
            self.settle();
            rest = after;
        }
        self
    }

    /// Answers every effect until none is left.
    pub fn settle(&mut self) {
        while !self.wished.is_empty() {
            for effect in std::mem::take(&mut self.wished) {
                self.answer(effect);
            }
        }
    }

    /// A poll that has just read every rule.
    pub fn read_rules(&mut self) {
        let mut world = self.world.clone().expect("a picture");
        world.db_now = self.now.0;
        for report in &mut world.rules {
            match &mut report.state {
                RuleState::Holds { checked_at, .. } | RuleState::Violated { checked_at, .. } => {
                    *checked_at = self.now.0;
                }
                RuleState::NotKnown { .. } => {}
            }
        }
        self.poll(world);
        self.settle();
    }

    /// Seconds pass one by one, with a poll every two and everything answered.
    pub fn run_for(&mut self, seconds: u64) {
        for second in 0..seconds {
            if second % 2 == 1 {
                self.read_rules();
            }
            self.wait(1);
            self.settle();
        }
    }

    fn read(&self, id: &RecordId) -> Option<Dossier> {
        let mut dossier = self.records.get(id).cloned()?;
        dossier.at = self.now.0;
        aged(&mut dossier, self.now.0);
        Some(dossier)
    }

    /// Answers what was asked to be read, and leaves the rest unanswered.
    pub fn settle_reads(&mut self) {
        while !self.wished.is_empty() {
            for effect in std::mem::take(&mut self.wished) {
                match effect {
                    Effect::Act(..) | Effect::Consent(..) => {}
                    Effect::Quit
                    | Effect::Redraw
                    | Effect::PollNow
                    | Effect::Open(_)
                    | Effect::Find(_)
                    | Effect::Prepare(..)
                    | Effect::Check(..)
                    | Effect::ReadBack(..)
                    | Effect::Copy(_)
                    | Effect::Ticket(_)
                    | Effect::Export(_)
                    | Effect::Refused(_) => self.answer(effect),
                }
            }
        }
    }

    fn answer(&mut self, effect: Effect) {
        match effect {
            Effect::Open(id) => {
                let read = self.read(&id).map(Box::new);
                self.send(Msg::Dossier(id, Ok(read)));
            }
            Effect::Prepare(run, id) => {
                let read = self.read(&id).map(Box::new);
                self.send(Msg::Guard(run, GuardMsg::Prepared(Ok(read))));
            }
            Effect::Check(run, id) => {
                let read = self.read(&id).map(Box::new);
                self.send(Msg::Guard(run, GuardMsg::Checked(Ok(read))));
            }
            Effect::Act(run, armed) => {
                let id = armed.id();
                let action = armed.order().action;
                let mut evidence = None;
                if action == "lookup" {
                    let stored = self.model.setup.acting == Acting::On;
                    let newest = self.records[&id].evidence.iter().filter_map(|e| Some(e.id?.0)).max().unwrap_or(0);
                    let found = Evidence {
                        id: stored.then_some(EvidenceId(newest.max(30) + 1)),
                        operator: self.model.setup.context.operator.clone(),
                        provider: ProviderName::new("acme-psp"),
                        started_at: self.now.0,
                        outcome: match self.each {
                            Some(each) => each(&self.records.get(&id).expect("a record").detail.record),
                            None => self.provider.clone(),
                        },
                        steps: vec![LookupStep {
                            asked: "GET /charges?key=…".into(),
                            answered: "200".into(),
                            body_sha256: None,
                            retry_after_s: None,
                        }],
                    };
                    if stored {
                        self.records.get_mut(&id).expect("a record").evidence.insert(0, found.clone());
                    }
                    evidence = Some(found);
                } else if self.verdict.is_none() {
                    self.change(&id, action, armed.order().expect.provider_ref.clone());
                }
                let kept = evidence.as_ref().is_none_or(|found| found.id.is_some());
                let done = Outcome::Done { log: kept.then_some(LogId(9921)), detail: None };
                let outcome = self.verdict.clone().unwrap_or(done);
                let after = Ok(self.read(&id));
                self.send(Msg::Guard(run, GuardMsg::Acted(Box::new(Acted { outcome, evidence, after }))));
            }
            Effect::Consent(run, consent) => {
                let (id, login) = (consent.id(), self.model.setup.context.role.clone());
                if self.verdict.is_none() {
                    let dossier = self.records.get_mut(&id).expect("a record");
                    consented(dossier, consent.order(), &login, self.now.0);
                }
                let outcome = self.verdict.clone().unwrap_or(Outcome::Done { log: Some(LogId(9921)), detail: None });
                let after = Ok(self.read(&id));
                self.send(Msg::Guard(run, GuardMsg::Acted(Box::new(Acted { outcome, evidence: None, after }))));
            }
            Effect::ReadBack(run, intent) => {
                let mut entry = log().remove(0);
                entry.intent = Some(intent);
                entry.result = Some("not done".into());
                entry.detail = Some("Closed: the change never reached the database.".into());
                self.send(Msg::Guard(run, GuardMsg::ReadBack(Ok(Some(Box::new(entry))))));
            }
            Effect::Copy(text) => {
                self.copied.push(text);
                self.send(Msg::Said("Copied.".into()));
            }
            Effect::Find(text) => self.send(Msg::Found(text, Ok(vec![]))),
            Effect::Ticket(wish) => {
                let heard = self.desk.answer(wish);
                self.send(Msg::Ticket(heard));
            }
            Effect::Export(files) => {
                self.desk.exported.extend(files);
                self.send(Msg::Said("Written.".into()));
            }
            Effect::Quit | Effect::Redraw | Effect::PollNow | Effect::Refused(_) => {}
        }
    }

    fn change(&mut self, id: &RecordId, action: &str, charge: Option<ProviderRef>) {
        let dossier = self.records.get_mut(id).expect("a record");
        if action == "hand_back" {
            // It takes no lease and changes nothing of the record.
            dossier.resumes.insert(0, handed_back(dossier, self.now.0));
            return;
        }
        let record = &mut dossier.detail.record;
        record.version = Version::new("f".repeat(64));
        record.changed_at = self.now.0;
        record.attempt = Some(Attempt(4));
        match action {
            "adopt" => {
                record.status = RecordStatus::Done;
                record.payment_status = Some(PaymentStatus::Succeeded);
                record.recovery_point = Some(RecoveryPoint::Done);
                record.provider_ref = charge;
                dossier.detail.response_code = Some(201);
            }
            "hold" => {
                record.lease =
                    Lease { until: Some(Seconds(900).after(self.now.0)), holder: Some(Holder::new("operator:dana")) }
            }
            _ => {}
        }
    }

    /// Types a text into a field.
    pub fn write(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.key(Chord::char(c));
        }
        self.settle();
        self
    }
}

/// An hour of samples that end at what the snapshot says.
fn histories(snapshot: &Snapshot) -> BTreeMap<Signal, History> {
    let mut all: BTreeMap<Signal, History> = BTreeMap::new();
    for signal in Signal::ALL {
        let count = snapshot.pulse_of(signal).map_or(0, |p| p.count);
        for minute in (1..60_u64).rev() {
            let value = if minute > 22 { 0 } else { count * (22 - minute) / 22 };
            all.entry(signal).or_default().push(ago(minute * 60), value);
        }
    }
    all
}

/// A look-up asks the provider and changes nothing.
fn is_look_up(effect: &Effect) -> bool {
    matches!(effect, Effect::Act(_, armed) if armed.order().action == "lookup")
}

fn named_key(name: &str) -> Option<Chord> {
    Some(match name {
        "Enter" => Key::Enter.into(),
        "Esc" => Key::Esc.into(),
        "Del" => Key::Delete.into(),
        "Tab" => Key::Tab.into(),
        "S-Tab" => Key::BackTab.into(),
        "BS" => Key::Backspace.into(),
        "Down" => Key::Down.into(),
        "Up" => Key::Up.into(),
        _ => match name.strip_prefix("C-")?.chars().next() {
            Some(c) => Chord::ctrl(c),
            None => return None,
        },
    })
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Act(run, armed) => format!("Act({}, {} {})", run.0, armed.order().action, armed.id()),
        Effect::Consent(run, consent) => format!("Consent({}, {} {})", run.0, consent.order().action, consent.id()),
        Effect::Prepare(run, id) => format!("Prepare({}, {id})", run.0),
        Effect::Check(run, id) => format!("Check({}, {id})", run.0),
        Effect::Refused(event) => format!("Refused({})", event.what),
        Effect::Open(id) => format!("Open({id})"),
        Effect::Export(files) => format!("Export({})", files.len()),
        Effect::Quit
        | Effect::Redraw
        | Effect::PollNow
        | Effect::Find(_)
        | Effect::ReadBack(..)
        | Effect::Ticket(_)
        | Effect::Copy(_) => {
            format!("{effect:?}")
        }
    }
}
