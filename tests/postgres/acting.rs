//! Guarded calls: done once, refused by value, fought over, and cut off after sending.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::DateTime;
use sqlx::Executor;
use unstuck::domain::action::Request;
use unstuck::domain::clue::Clue;
use unstuck::domain::evidence::{Class, Evidence, LookupOutcome, LookupStep, Mode, Observed, ObservedMoney};
use unstuck::domain::guard::{Armed, Context, Words, draw};
use unstuck::domain::ids::{Operator, PaymentId, ProviderKey, ProviderName, ProviderRef, RecordId};
use unstuck::domain::log::Outcome;
use unstuck::domain::port::{Dossier, RefusedEvent, Store};
use unstuck::domain::time::Now;
use unstuck::store::postgres::PgStore;

use crate::support::store::{Ground, Tables, demo, policy, server_timers};

const PAYMENT: &str = "SELECT status || ' ' || coalesce(provider_ref, '-') FROM payments WHERE id = 'P-102'";
const LOG: &str = "SELECT coalesce(string_agg(concat_ws(' ', entry, action, result), ', ' ORDER BY id), '') FROM unstuck.action_log WHERE scope = 'acme'";

fn stuck() -> RecordId {
    RecordId::new("acme", "k-102")
}

fn context(operator: &str) -> Context {
    Context {
        environment: demo(),
        operator: Operator::new(operator),
        role: "console".to_owned(),
        policy: policy(),
        terms: BTreeMap::new(),
    }
}

/// The guard, walked by a person who types everything right.
fn arm(request: Request, dossier: &Dossier, context: &Context) -> Armed {
    let now = Now(dossier.at);
    let plan = draw(request, dossier, context, now).unwrap_or_else(|refused| panic!("{refused}"));
    let words = Words {
        reason: "the worker died after the provider charged".to_owned(),
        ticket: "INC-2291".to_owned(),
        phrase: plan.phrase().shown().to_owned(),
        owner: String::new(),
        incident: String::new(),
    };
    plan.arm(dossier, &words, context, now).unwrap_or_else(|refused| panic!("{refused}"))
}

async fn dossier(store: &PgStore) -> Dossier {
    store.dossier(&stuck()).await.unwrap().expect("the record")
}

/// What the provider says about P-102: charged, once.
fn charged(context: &Context, started_at: DateTime<chrono::Utc>) -> Evidence {
    Evidence {
        id: None,
        operator: context.operator.clone(),
        provider: ProviderName::new("lab"),
        started_at,
        outcome: LookupOutcome::Found {
            observed: vec![Observed {
                provider_ref: ProviderRef::new("ch_102"),
                reference: Some(PaymentId::new("P-102")),
                order: None,
                provider_key: Some(ProviderKey::new("pay:acme:k-102")),
                class: Class::Succeeded,
                raw: "paid".to_owned(),
                money: ObservedMoney {
                    amount: 4200,
                    captured: Some(4200),
                    refunded: Some(0),
                    currency: "EUR".to_owned(),
                },
                created_at: None,
                mode: Some(Mode::Test),
            }],
        },
        steps: vec![LookupStep {
            asked: "GET /charges".to_owned(),
            answered: "200".to_owned(),
            body_sha256: None,
            retry_after_s: None,
        }],
    }
}

/// Looks up and stores what was said; returns the record as it then is.
async fn looked_up(store: &PgStore, context: &Context) -> Dossier {
    let before = dossier(store).await;
    let armed = arm(Request::LookUp, &before, context);
    let intent = store.begin_lookup(&armed).await.unwrap();
    let kept = store.keep(armed, intent, &charged(context, before.at)).await;
    assert!(matches!(kept, Outcome::Done { .. }), "{kept:?}");
    let after = dossier(store).await;
    assert_eq!(after.evidence.len(), before.evidence.len() + 1);
    after
}

#[tokio::test]
async fn a_charge_is_adopted_once_and_the_log_says_so() {
    let mut ground = Ground::new(Tables::Installed).await;
    let (store, context) = (ground.store(), context("kim"));
    let dossier = looked_up(&store, &context).await;
    let outcome = store.act(arm(Request::Resume, &dossier, &context)).await;
    assert!(matches!(&outcome, Outcome::Done { log: Some(_), .. }), "{outcome:?}");
    assert_eq!(ground.text(PAYMENT).await, "succeeded ch_102");
    assert_eq!(ground.text(LOG).await, "intent lookup, outcome lookup found, intent adopt, outcome adopt done");
    // The same plan again, from facts of before: refused or in conflict, and nothing happens twice.
    let again = store.act(arm(Request::Resume, &dossier, &context)).await;
    assert!(matches!(again, Outcome::Refused { .. } | Outcome::Conflict { .. }), "{again:?}");
    assert_eq!(ground.number("SELECT count(*) FROM outbox WHERE payment_id = 'P-102'").await, 1);
}

#[tokio::test]
async fn a_record_is_held_noted_handed_over_and_released() {
    let mut ground = Ground::new(Tables::Installed).await;
    let (store, context) = (ground.store(), context("kim"));
    for request in [Request::Hold, Request::Note, Request::Release, Request::HandOver] {
        let outcome = store.act(arm(request, &dossier(&store).await, &context)).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{request:?}: {outcome:?}");
    }
    let handed = store.poll().await.unwrap().handed_over;
    assert_eq!(handed.value().unwrap().len(), 1);
    let log = ground.text(LOG).await;
    assert_eq!(log.matches("outcome").count(), 4, "{log}");
}

#[tokio::test]
async fn two_consoles_resume_one_record_and_one_wins() {
    let mut ground = Ground::new(Tables::Installed).await;
    let (store, context) = (Arc::new(ground.store()), context("kim"));
    let dossier = looked_up(&store, &context).await;
    let mut racing = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let store = PgStore::new(ground.options());
        store.connect().await.unwrap();
        let armed = arm(Request::Resume, &dossier, &context);
        racing.spawn(async move { store.act(armed).await });
    }
    let outcomes = racing.join_all().await;
    let done = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Done { .. })).count();
    let unknown = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Unknown { .. })).count();
    assert_eq!((done, unknown), (1, 0), "{outcomes:?}");
    assert_eq!(ground.number("SELECT count(*) FROM outbox WHERE payment_id = 'P-102'").await, 1);
    let open = "SELECT count(*) FROM unstuck.action_log i WHERE i.entry = 'intent' AND NOT EXISTS \
        (SELECT 1 FROM unstuck.action_log o WHERE o.intent_id = i.id)";
    assert_eq!(ground.number(open).await, 0, "every intent has its outcome");
}

#[tokio::test]
async fn a_connection_lost_after_sending_is_unknown_and_read_back_never_repeated() {
    let mut ground = Ground::new(Tables::Installed).await;
    let (store, context) = (Arc::new(ground.store()), context("kim"));
    let dossier = looked_up(&store, &context).await;
    let mut locker = ground.other().await;
    locker.execute("BEGIN; SELECT 1 FROM idempotency_keys WHERE key = 'k-102' FOR UPDATE").await.unwrap();
    let acting = {
        let (store, armed) = (Arc::clone(&store), arm(Request::Resume, &dossier, &context));
        tokio::spawn(async move { store.act(armed).await })
    };
    // Cut it while it waits for our lock; before that it is not there to be cut.
    let waiting = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() \
        AND application_name = 'unstuck' AND query LIKE '%do_adopt%' AND wait_event_type = 'Lock'";
    while ground.number(waiting).await == 0 {
        if acting.is_finished() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let outcome = acting.await.unwrap();
    let Outcome::Unknown { intent: Some(intent), .. } = outcome else { panic!("{outcome:?}") };
    locker.execute("ROLLBACK").await.unwrap();
    assert_eq!(ground.text(PAYMENT).await, "unknown -");
    let entry = store.read_back(intent).await.unwrap().expect("an outcome");
    assert_eq!((entry.result.as_deref(), entry.intent), (Some("not done"), Some(intent)));
    let again = store.read_back(intent).await.unwrap().expect("the same outcome");
    assert_eq!(again.id, entry.id);
}

#[tokio::test]
async fn a_record_somebody_holds_a_lock_on_is_a_conflict_and_the_intent_is_closed() {
    if !server_timers("a locked record").await {
        return;
    }
    let mut ground = Ground::new(Tables::Installed).await;
    let (store, context) = (ground.store(), context("kim"));
    let dossier = looked_up(&store, &context).await;
    let mut locker = ground.other().await;
    locker.execute("BEGIN; SELECT 1 FROM idempotency_keys WHERE key = 'k-102' FOR UPDATE").await.unwrap();
    let outcome = store.act(arm(Request::Resume, &dossier, &context)).await;
    locker.execute("ROLLBACK").await.unwrap();
    assert!(matches!(outcome, Outcome::Conflict { .. }), "{outcome:?}");
    assert_eq!(ground.text(PAYMENT).await, "unknown -");
    let log = ground.text(LOG).await;
    assert_eq!(log.matches("intent").count(), log.matches("outcome").count(), "{log}");
}

#[tokio::test]
async fn nothing_is_sent_where_nothing_can_be_changed() {
    let ground = Ground::new(Tables::Installed).await;
    let context = context("kim");
    let first = ground.store();
    let armed = arm(Request::Hold, &dossier(&first).await, &context);
    let mut options = ground.options();
    options.environment = options.environment.map(|mut environment| {
        environment.name = "prod".to_owned();
        environment
    });
    let store = PgStore::new(options);
    let outcome = store.act(armed).await;
    let Outcome::Refused { why } = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("The database says it is demo") && why.contains("Nothing was sent"), "{why}");
}

#[tokio::test]
async fn what_was_refused_in_the_console_is_written_down() {
    let mut ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    let event = RefusedEvent {
        operator: Operator::new("kim"),
        environment: "demo".to_owned(),
        what: "typed: rm k-102".to_owned(),
        target: Some(stuck()),
    };
    store.refused(&event).await.unwrap();
    assert_eq!(ground.text(LOG).await, "event refused command refused");
}

#[tokio::test]
async fn any_id_finds_its_record() {
    let ground = Ground::new(Tables::Installed).await;
    let store = ground.store();
    for id in ["k-102", "O-102", "P-102", " P-102 ", "C-3"] {
        let found = store.find(&Clue::Id(id.to_owned())).await.unwrap();
        assert!(found.iter().any(|candidate| candidate.id == stuck()), "{id}: {found:?}");
    }
    assert_eq!(store.find(&Clue::Id("nothing-like-it".to_owned())).await.unwrap(), Vec::new());
    assert!(store.dossier(&RecordId::new("acme", "no-such-key")).await.unwrap().is_none());
    assert!(dossier(&store).await.timeline.value().is_some_and(|lines| !lines.is_empty()));
}
