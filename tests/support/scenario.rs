//! Fixed worlds to drive the model in: one incident, its calm twin, and a database that goes away.
//!
//! Nothing here has a clock: every picture is the same on every run.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use chrono::DateTime;
use unstuck::app::drill::Practice;
use unstuck::app::model::SecondSeat;
use unstuck::app::{Acting, Setup};
use unstuck::domain::answer::Answer;
use unstuck::domain::environment::{Environment, EnvironmentKind};
use unstuck::domain::evidence::{Class, Mode, Observed, ObservedMoney};
use unstuck::domain::guard::Context;
use unstuck::domain::ids::{
    Attempt, Holder, Key as IdempotencyKey, LogId, Operator, OrderId, PaymentId, ProviderKey, ProviderName,
    ProviderRef, RecordId, Scope, Version,
};
use unstuck::domain::log::{LogEntry, TimelineEntry};
use unstuck::domain::money::{Money, Totals};
use unstuck::domain::payment::PaymentStatus;
use unstuck::domain::policy::{Policy, ProviderTerms};
use unstuck::domain::port::Dossier;
use unstuck::domain::rates::{Minute, Rates};
use unstuck::domain::record::{Lease, Record, RecordDetail, RecordStatus, RecoveryPoint};
use unstuck::domain::rule::{Breach, Rule, RuleReport, RuleState, Severity};
use unstuck::domain::snapshot::{
    Cost, HandedOver, Offender, ProviderHealth, Pulse, Recoverer, ServerFacts, Signal, Snapshot, WhatChanged,
};
use unstuck::domain::time::{Instant, Seconds};
use unstuck::ui::{Charset, Look, Theme};

use super::settled::{breaks, hostile_breaks, matching};

/// The moment of every picture: 14:03:27Z.
pub fn noon() -> Instant {
    DateTime::parse_from_rfc3339("2026-11-30T14:03:27Z").expect("a time").to_utc()
}

/// So many seconds before it.
pub fn ago(seconds: u64) -> Instant {
    Seconds(seconds).before(noon())
}

/// A look by name: `dark`, `light`, `mono`, `ascii`.
pub fn look(name: &str) -> Look {
    static LOOKS: OnceLock<Vec<(&str, Look)>> = OnceLock::new();
    let looks = LOOKS.get_or_init(|| {
        let unicode = |theme| Look::new(Theme::named(theme).expect("a theme"), Charset::Unicode);
        let ascii = Look::new(Theme::named("dark").expect("a theme"), Charset::Ascii);
        vec![("dark", unicode("dark")), ("light", unicode("light")), ("mono", unicode("mono")), ("ascii", ascii)]
    });
    looks.iter().find(|(known, _)| *known == name).expect("a look").1.clone()
}

fn policy() -> Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    POLICY
        .get_or_init(|| Policy {
            approval_limits: [Money::new(1_000_000, "EUR")].into_iter().collect(),
            ..Policy::default()
        })
        .clone()
}

/// What a console in production is started with.
pub fn setup(look: Look, acting: Acting) -> Setup {
    let terms = ProviderTerms { key_retention: Some(Seconds(86_400)), settle: Seconds(60) };
    Setup {
        context: Context {
            environment: Environment { name: "prod".into(), kind: EnvironmentKind::Production },
            operator: Operator::new("dana"),
            role: "not connected".into(),
            policy: policy(),
            terms: BTreeMap::from([(ProviderName::new("acme-psp"), terms)]),
        },
        acting,
        look,
        poll_every: Seconds(2),
        second: SecondSeat::None,
        practice: Practice::default(),
        normals: BTreeMap::from([("stuck".into(), 2), ("409".into(), 5), ("422".into(), 2), ("answers".into(), 400)]),
    }
}

/// One stuck record.
pub fn record(scope: &str, key: &str, order: &str, minor: i64, old: u64, point: RecoveryPoint) -> Record {
    let status = match point {
        RecoveryPoint::ProviderCalled => PaymentStatus::Unknown,
        RecoveryPoint::Created | RecoveryPoint::Charged | RecoveryPoint::Done | RecoveryPoint::Unrecognised(_) => {
            PaymentStatus::Pending
        }
    };
    Record {
        id: RecordId::new(scope, key),
        order: Some(OrderId::new(order)),
        payment: Some(PaymentId::new(order.replace("ord", "pay"))),
        status: RecordStatus::Processing,
        payment_status: Some(status),
        provider_ref: (point == RecoveryPoint::Charged).then(|| ProviderRef::new("ch_9001")),
        recovery_point: Some(point),
        lease: Lease { until: Some(ago(old - 30)), holder: Some(Holder::new("pod-a")) },
        attempt: Some(Attempt(3)),
        provider: Some(ProviderName::new("acme-psp")),
        money: Some(Money::new(minor, "EUR")),
        first_key_use: Some(ago(old)),
        created_at: ago(old),
        changed_at: ago(old - 10),
        owner: None,
        version: Version::new(format!("{:0>64}", format!("v1{}", key.to_lowercase().replace('-', "")))),
    }
}

/// The stuck records of the incident, oldest first.
pub fn stuck_records() -> Vec<Record> {
    use RecoveryPoint::{Charged, Created, ProviderCalled};
    vec![
        record("shop-eu", "ord-88213-7Q4K91", "ord_88213", 12_840, 1330, ProviderCalled),
        record("shop-eu", "ord-88219-2MZ017", "ord_88219", 4_900, 1318, ProviderCalled),
        record("shop-eu", "ord-88231-B81C55", "ord_88231", 61_200, 1202, ProviderCalled),
        record("shop-uk", "ord-88240-K0XA20", "ord_88240", 1_990, 1124, ProviderCalled),
        record("shop-eu", "ord-88244-M3RD74", "ord_88244", 8_800, 590, ProviderCalled),
        record("shop-eu", "ord-88251-ZZ1930", "ord_88251", 1_450, 552, ProviderCalled),
        record("shop-eu", "ord-88252-4QPE63", "ord_88252", 7_500, 517, Charged),
        record("shop-eu", "ord-88253-9TT208", "ord_88253", 6_890, 476, Charged),
        record("shop-eu", "ord-88260-H5WN09", "ord_88260", 3_100, 382, Created),
    ]
}

fn rates(bad_minutes: u64) -> Rates {
    let mut rates = Rates::default();
    rates.known_since = Some(ago(3_600));
    for minute in 0..60_u64 {
        let start = DateTime::from_timestamp(ago(minute * 60).timestamp() / 60 * 60, 0).expect("a minute");
        let conflict = if minute < bad_minutes { 20 } else { 1 };
        let counts = Minute {
            requests: 412,
            ok: 380,
            conflict,
            mismatch: u64::from(minute % 9 == 0),
            replayed: 9,
            unavailable: conflict / 3,
            failed: 0,
        };
        rates.add(start, counts, noon());
    }
    rates
}

fn rule(number: u8, sentence: &str, severity: Severity, state: RuleState) -> RuleReport {
    RuleReport {
        rule: Rule {
            id: format!("I{number}"),
            sentence: sentence.into(),
            severity,
            cadence: Seconds(10),
            next: "open the row, then a l = look up.".into(),
            file: format!("rules/{number:02}.sql"),
        },
        state,
    }
}

fn rules() -> Vec<RuleReport> {
    let holds = || RuleState::Holds { checked_at: ago(7), audited_at: Some(ago(400)) };
    let breach = |key: &str, minor: i64| Breach {
        scope: Some(Scope::new("shop-eu")),
        key: Some(IdempotencyKey::new(key)),
        order: None,
        payment: Some(PaymentId::new("pay_88252")),
        reference: None,
        money: Some(Money::new(minor, "EUR")),
        at: Some(ago(517)),
        detail: "charged at the provider, no done record".into(),
    };
    let breaches = vec![breach("ord-88252-4QPE63", 7_500), breach("ord-88253-9TT208", 6_890)];
    vec![
        rule(1, "one order has at most one succeeded payment", Severity::Critical, holds()),
        rule(2, "a done record has a stored answer", Severity::Caution, holds()),
        rule(
            3,
            "every success has a done record",
            Severity::Critical,
            RuleState::Violated { checked_at: ago(7), breaches, since: ago(507) },
        ),
        rule(
            4,
            "a provider ref belongs to one payment",
            Severity::Critical,
            RuleState::Holds { checked_at: ago(7), audited_at: None },
        ),
        rule(5, "no payment has lost its record", Severity::Critical, holds()),
        rule(
            7,
            "no lease is shorter than the provider time-out",
            Severity::Caution,
            RuleState::NotKnown { why: "[policy] provider_timeout_s is not set".into() },
        ),
        rule(
            12,
            "every charge in the settlement has one payment of the same amount and currency",
            Severity::Critical,
            holds(),
        ),
    ]
}

/// The newest rows of the action log.
pub fn log() -> Vec<LogEntry> {
    let entry = |id: i64, old: u64, action: &str, who: &str, key: &str, result: Option<&str>| LogEntry {
        id: LogId(id),
        at: ago(old),
        entry: if result.is_some() { "outcome".into() } else { "intent".into() },
        action: action.into(),
        target: Some(RecordId::new("shop-eu", key)),
        operator: Some(Operator::new(who)),
        session_user: format!("ops_{who}"),
        environment: "prod".into(),
        plan_hash: Some("4c91e2aa".into()),
        reason: Some("Look-up shows captured once; the recoverer cannot reach acme-psp".into()),
        ticket: Some("INC-2291".into()),
        result: result.map(Into::into),
        detail: result.map(|r| format!("{r}: attempt 4, ch_77ab")),
        intent: result.map(|_| LogId(id - 1)),
    };
    vec![
        entry(9917, 40, "adopt", "dana", "ord-88199-AA0001", Some("done")),
        entry(9916, 41, "adopt", "dana", "ord-88199-AA0001", None),
        entry(9914, 117, "adopt", "lee", "ord-88231-B81C55", Some("refused")),
        entry(9912, 280, "lookup", "kim", "ord-88219-2MZ017", Some("unknown")),
    ]
}

fn pulse(signal: Signal, count: u64, minor: i64, oldest: u64) -> Pulse {
    let money: Totals = (minor > 0).then(|| Money::new(minor, "EUR")).into_iter().collect();
    Pulse { signal, count, money, oldest: (count > 0).then(|| ago(oldest)) }
}

/// The incident: a provider that stopped answering 22 minutes ago.
pub fn incident() -> Snapshot {
    static INCIDENT: OnceLock<Snapshot> = OnceLock::new();
    INCIDENT.get_or_init(build_incident).clone()
}

fn build_incident() -> Snapshot {
    let at = noon();
    let stuck = stuck_records();
    let unknown: Vec<Record> =
        stuck.iter().filter(|r| r.payment_status == Some(PaymentStatus::Unknown)).cloned().collect();
    Snapshot {
        db_now: at,
        pulse: Answer::known(
            vec![
                pulse(Signal::Stuck, 9, 108_670, 1330),
                pulse(Signal::Unknown, 6, 91_180, 1330),
                pulse(Signal::Pending, 3, 17_490, 517),
                pulse(Signal::Outbox, 0, 0, 0),
                pulse(Signal::Webhooks, 0, 0, 0),
                pulse(Signal::HandedOver, 1, 0, 700),
                pulse(Signal::Xmin, 1, 0, 3),
            ],
            at,
        ),
        stuck: Answer::known(stuck, at),
        unknown: Answer::known(unknown, at),
        rates: Answer::known(rates(22), at),
        providers: Answer::known(
            vec![
                ProviderHealth {
                    provider: ProviderName::new("acme-psp"),
                    calls: 164,
                    timeouts: 100,
                    errors: 0,
                    p95_ms: Some(29_800),
                    unknown: 6,
                },
                ProviderHealth {
                    provider: ProviderName::new("beta-pay"),
                    calls: 268,
                    timeouts: 1,
                    errors: 0,
                    p95_ms: Some(420),
                    unknown: 0,
                },
            ],
            at,
        ),
        recoverer: Answer::known(
            Recoverer {
                last_at: Some(ago(660)),
                last_what: Some("attempt 3 timed out, 6 records".into()),
                next_at: Some(Seconds(40).after(at)),
            },
            at,
        ),
        offenders: Answer::known(
            vec![
                Offender {
                    scope: Scope::new("shop-eu"),
                    route: "POST /payments".into(),
                    key: Some(IdempotencyKey::new("ord-88213-7Q4K91")),
                    conflicts: 44,
                    mismatches: 0,
                    last_at: ago(8),
                },
                Offender {
                    scope: Scope::new("kiosk"),
                    route: "POST /payments".into(),
                    key: None,
                    conflicts: 2,
                    mismatches: 7,
                    last_at: ago(300),
                },
                Offender {
                    scope: Scope::new("shop-uk"),
                    route: "POST /payments".into(),
                    key: Some(IdempotencyKey::new("ord-77001-QQ0001")),
                    conflicts: 1,
                    mismatches: 0,
                    last_at: ago(900),
                },
            ],
            at,
        ),
        changes: Answer::known(
            vec![
                WhatChanged { at: ago(1500), kind: "deploy".into(), what: "api v812".into(), who: Some("lee".into()) },
                WhatChanged {
                    at: ago(1330),
                    kind: "provider".into(),
                    what: "acme-psp time-outs begin".into(),
                    who: None,
                },
            ],
            at,
        ),
        rules: rules(),
        log: Answer::known(log(), at),
        approvals: Answer::known(vec![], at),
        resumes: Answer::known(vec![], at),
        reconciliation: Answer::known(breaks(), at),
        handed_over: Answer::known(
            vec![HandedOver {
                id: RecordId::new("shop-eu", "ord-88101-CC0007"),
                owner: Some(Operator::new("lee")),
                by: Operator::new("kim"),
                at: ago(700),
                note: "two charges seen, customer called".into(),
            }],
            at,
        ),
        cost: Cost { queries: 9, millis: 4 },
    }
}

/// The same service on a good day.
pub fn calm() -> Snapshot {
    let at = noon();
    let mut snapshot = incident();
    snapshot.pulse = Answer::known(Signal::ALL.into_iter().map(|s| pulse(s, 0, 0, 0)).collect(), at);
    snapshot.stuck = Answer::known(vec![], at);
    snapshot.unknown = Answer::known(vec![], at);
    snapshot.handed_over = Answer::known(vec![], at);
    snapshot.reconciliation = Answer::known(matching(), at);
    snapshot.offenders = Answer::known(vec![], at);
    snapshot.providers = Answer::known(
        vec![ProviderHealth {
            provider: ProviderName::new("acme-psp"),
            calls: 430,
            timeouts: 0,
            errors: 0,
            p95_ms: Some(310),
            unknown: 0,
        }],
        at,
    );
    snapshot.rates = Answer::known(rates(0), at);
    for report in &mut snapshot.rules {
        report.state = RuleState::Holds { checked_at: ago(7), audited_at: Some(ago(400)) };
    }
    snapshot
}

/// A database that answers nothing but the time.
pub fn nothing_known() -> Snapshot {
    let mut snapshot = incident();
    let why = "get_pulse.sql: column amount is float8, the contract says int8";
    snapshot.pulse = Answer::not_known(why);
    snapshot.stuck = Answer::not_known("this profile has no lease");
    snapshot.unknown = Answer::not_known("the role may not read payments");
    snapshot.rates = Answer::not_known("this schema keeps no requests");
    snapshot.providers = Answer::not_known("this schema keeps no provider calls");
    snapshot.recoverer = Answer::not_known("this schema has no recoverer");
    snapshot.offenders = Answer::not_known("this schema keeps no requests");
    snapshot.changes = Answer::not_known("this schema keeps no deploys");
    snapshot.log = Answer::not_known("there is no schema unstuck");
    snapshot.handed_over = Answer::not_known("there is no schema unstuck");
    snapshot.approvals = Answer::not_known("there is no schema unstuck");
    snapshot.resumes = Answer::not_known("there is no schema unstuck");
    snapshot.reconciliation = Answer::not_known("there is no schema unstuck");
    for report in &mut snapshot.rules {
        report.state = RuleState::NotKnown { why: "the audit did not finish within 5s".into() };
    }
    snapshot
}

/// A record whose every text tries to be something else.
pub fn hostile() -> Snapshot {
    let mut snapshot = incident();
    let mut evil = record(
        "shop\u{202e}ue",
        "k\u{1b}]52;c;aGk=\u{7}\u{200b}91",
        "ord\n88213\u{e0041}",
        12_840,
        1330,
        RecoveryPoint::ProviderCalled,
    );
    evil.provider = Some(ProviderName::new("acme\u{1b}[31m"));
    evil.owner = Some(Operator::new("\u{9b}2Jroot"));
    evil.recovery_point = Some(RecoveryPoint::Unrecognised("charged\u{2028}done".into()));
    let mut all = vec![evil];
    all.extend(stuck_records());
    snapshot.stuck = Answer::known(all, noon());
    snapshot.reconciliation = Answer::known(hostile_breaks(), noon());
    snapshot
}

/// What is learned on connecting.
pub fn facts() -> ServerFacts {
    ServerFacts {
        profile: "reference".into(),
        server: "PostgreSQL 15.18".into(),
        database: "payments-eu1".into(),
        role: "ops_dana".into(),
        environment: Some(Environment { name: "prod".into(), kind: EnvironmentKind::Production }),
        excess_rights: Answer::known(vec![], noon()),
        off: vec![],
        sql: BTreeMap::from([(
            "get_stuck".into(),
            "-- The oldest stuck records.\nSELECT scope, key\nFROM idempotency_keys\nLIMIT $2".into(),
        )]),
        read_only: None,
    }
}

/// What the provider reports for a record.
pub fn charge(record: &Record, class: Class) -> Observed {
    let minor = record.money.as_ref().map_or(0, |m| m.minor);
    Observed {
        provider_ref: ProviderRef::new("ch_77ab"),
        reference: record.payment.clone(),
        order: record.order.clone(),
        provider_key: Some(ProviderKey::new(format!("pay:{}:{}", record.id.scope, record.id.key))),
        class,
        raw: "succeeded".into(),
        money: ObservedMoney { amount: minor, captured: Some(minor), refunded: Some(0), currency: "EUR".into() },
        created_at: Some(record.created_at),
        mode: Some(Mode::Live),
    }
}

/// A record read whole.
pub fn dossier(record: &Record, at: Instant) -> Dossier {
    let line = |old: u64, lane: &str, what: &str, detail: Option<&str>, reference: Option<&str>| TimelineEntry {
        at: ago(old),
        lane: lane.into(),
        what: what.into(),
        detail: detail.map(Into::into),
        reference: reference.map(Into::into),
        money: None,
    };
    Dossier {
        detail: RecordDetail {
            provider_key: Some(ProviderKey::new(format!("pay:{}:{}", record.id.scope, record.id.key))),
            record: record.clone(),
            fingerprint: Some("9b1e44c2aa".into()),
            response_code: None,
            last_attempt_at: Some(ago(660)),
            siblings: vec![],
            ref_owner: None,
        },
        evidence: vec![],
        timeline: Answer::known(
            vec![
                line(1332, "client", "POST /payments", Some("EUR 128.40"), None),
                line(1332, "record", "created", Some("attempt 1, pod-a"), None),
                line(1330, "api", "provider_called", None, Some("pay:shop-eu:ord-88213-7Q4K91")),
                line(1300, "provider", "time-out", Some("no answer in 30 s"), None),
                line(1296, "client", "same key again", Some("409 key in use"), None),
                line(660, "record", "attempt 3", Some("recoverer timed out"), None),
            ],
            at,
        ),
        approvals: vec![],
        resumes: vec![],
        environment: Some("prod".into()),
        at,
    }
}
