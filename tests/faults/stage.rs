//! One database and one provider, records made for one action each, and what is true of a record afterwards.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection};
use unstuck::domain::log::Outcome;
use unstuck::lab::cluster::Login;
use unstuck::lab::provider::{Fate, ProviderDesk};

use super::cast::{Action, NOTHING_FOUND, RECORD, SIBLING, Truth};
use super::worker::{self, Deed, Seat, act};
use crate::support::cluster::shared;
use crate::support::scene::{Console, Scene, Stuck, by_hand, call};

/// Where everything is played.
pub struct Stage {
    pub scene: Scene,
    pub admin: PgConnection,
    pub server: u16,
    pub retention: u64,
    kim: (Login, Console, PgConnection),
    lee: (Login, Console, PgConnection),
    client: reqwest::Client,
    made: usize,
}

/// What the database says of a record.
#[derive(Debug, PartialEq, Eq)]
pub struct Facts {
    /// How often the action came to pass.
    pub effect: i64,
    /// How often the log says so.
    pub said_done: i64,
    /// Intents without an outcome.
    pub open: Vec<i64>,
    /// The record's status.
    pub record: String,
    /// `status ref` of the payments of its key.
    pub payment: String,
}

impl Stage {
    /// `None` on a server that has no loopback port of ours.
    pub async fn open(purpose: &str, retention: u64) -> Option<Self> {
        let (server, _) = shared().await.loopback()?;
        let mut scene =
            Scene::open(purpose, unstuck::lab::service::ServiceOptions { pods: 1, connections: 1, ..by_hand() }).await;
        // Whoever takes up what is handed back comes when the rounds are over.
        scene.service.kill_recoverer();
        let mut admin = scene.admin().await;
        for (limit, value) in [("act_window_s", 3_600), ("settle_s", 0), ("max_key_retention_s", retention)] {
            let set =
                sqlx::query("SELECT unstuck.set_limit($1, $2)").bind(limit).bind(i64::try_from(value).unwrap_or(0));
            set.execute(&mut admin).await.expect("a limit");
        }
        let kim = scene.login("kim").await;
        let lee = scene.database.create_login("lee", &["unstuck_approver"]).await.expect("a login");
        let kim = person(&scene, server, retention, "kim", kim).await;
        let lee = person(&scene, server, retention, "lee", lee).await;
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        Some(Self { scene, admin, server, retention, kim, lee, client, made: 0 })
    }

    /// Looks at everything the consoles did, and takes the stage away.
    pub async fn close(self) {
        drop((self.kim, self.lee));
        self.scene.close().await;
    }

    /// The service's recoverer comes, and takes up everything that was handed back: each is charged once.
    pub async fn take_up(&mut self) {
        self.scene.service.revive_recoverer();
        let waiting = "SELECT count(*) FROM unstuck.resume_request q WHERE NOT EXISTS \
            (SELECT 1 FROM unstuck.resume_event e WHERE e.request = q.id AND e.event = 'finished')";
        self.scene.until(waiting, 0).await;
        let handed = "SELECT k.key, k.status, k.order_id, p.status, p.provider_ref FROM unstuck.resume_request q \
            JOIN idempotency_keys k ON k.key = q.key JOIN payments p ON p.key = q.key";
        let rows: Vec<(String, String, String, String, Option<String>)> =
            sqlx::query_as(handed).fetch_all(&mut self.admin).await.expect("what was handed back");
        for (key, record, order, payment, charge) in &rows {
            let charges: Vec<String> = self.desk().charges(order).into_iter().map(|charge| charge.id).collect();
            assert_eq!((record.as_str(), payment.as_str()), ("done", "succeeded"), "{key}");
            assert_eq!(
                charges,
                charge.iter().cloned().collect::<Vec<_>>(),
                "{key}: one charge, and the one that is stored"
            );
        }
        println!("{} records were taken up by the recoverer: one charge each", rows.len());
        self.scene.service.kill_recoverer();
    }

    pub fn desk(&self) -> ProviderDesk {
        self.scene.desk()
    }

    /// The login of a person.
    pub fn login(&self, who: &str) -> &Login {
        if who == "lee" { &self.lee.0 } else { &self.kim.0 }
    }

    /// A record that `action` can be done to.
    pub async fn record(&mut self, action: Action) -> Stuck {
        self.made += 1;
        let key = format!("F{:04}-{}", self.made, action.word().replace('_', "-"));
        for statement in RECORD {
            self.run(statement, &key).await;
        }
        let order = format!("ord_{key}");
        let id = unstuck::domain::ids::RecordId::new("shop-eu", key.clone());
        let stuck = Stuck { id, order, amount: 4_250 };
        match action.truth() {
            Truth::Charged => {
                self.charge(&stuck, Fate { latency: Some(std::time::Duration::ZERO), ..Fate::default() }).await;
            }
            Truth::Declined => {
                let fate = Fate { latency: Some(std::time::Duration::ZERO), ..Fate::declined("card_declined") };
                self.charge(&stuck, fate).await;
            }
            Truth::GivenBack => {
                self.charge(&stuck, Fate { latency: Some(std::time::Duration::ZERO), ..Fate::default() }).await;
                self.run(SIBLING, &key).await;
            }
            Truth::Absent => self.run(NOTHING_FOUND, &key).await,
        }
        self.prepare(action, &stuck).await;
        stuck
    }

    /// Everything that has to be done before `action` can be.
    async fn prepare(&mut self, action: Action, stuck: &Stuck) {
        match action {
            Action::LookUp | Action::Hold | Action::Note | Action::HandOver => {}
            Action::Adopt | Action::Fail | Action::Ask => self.look_up("kim", action, stuck).await,
            Action::Release => self.done("kim", Deed::Hold, stuck).await,
            Action::Refuse | Action::Withdraw | Action::Approve => {
                self.look_up("kim", action, stuck).await;
                self.done("kim", Deed::Ask, stuck).await;
                if action == Action::Approve {
                    self.look_up("lee", action, stuck).await;
                }
            }
            Action::HandBack | Action::NotCharged | Action::Reverse | Action::TakeBack => {
                self.look_up("kim", action, stuck).await;
                self.done("kim", Deed::Ask, stuck).await;
                self.look_up("lee", action, stuck).await;
                self.done("lee", Deed::Approve, stuck).await;
                self.look_up("kim", action, stuck).await;
                if action == Action::TakeBack {
                    self.done("kim", Deed::Resume, stuck).await;
                }
            }
        }
    }

    async fn done(&mut self, who: &str, deed: Deed, stuck: &Stuck) {
        let person = if who == "lee" { &mut self.lee } else { &mut self.kim };
        let outcome = act(&mut person.1, deed, stuck).await.unwrap_or_else(|refused| panic!("{deed:?}: {refused}"));
        assert!(matches!(outcome, Outcome::Done { .. }), "{deed:?} {stuck:?}: {outcome:?}");
    }

    /// Keeps a look-up of this person, with what the provider knows.
    async fn look_up(&mut self, who: &str, action: Action, stuck: &Stuck) {
        let (outcome, observed) = match (action.truth(), self.desk().charges(&stuck.order).first()) {
            (Truth::Absent, _) | (_, None) => ("not_found", json!([])),
            (truth, Some(charge)) => {
                let given_back = truth == Truth::GivenBack;
                let class = match truth {
                    Truth::Declined => "failed",
                    Truth::GivenBack => "reversed",
                    Truth::Charged | Truth::Absent => "succeeded",
                };
                let observed = json!([{
                    "ref": charge.id, "reference": charge.reference, "provider_key": charge.idempotency_key, "order": charge.order_id,
                    "class": class, "raw": class, "amount": charge.amount, "captured": charge.captured,
                    "refunded": if given_back { charge.captured } else { 0 }, "currency": charge.currency, "live": false,
                }]);
                ("found", observed)
            }
        };
        let order = json!({
            "environment": "demo", "operator": who, "scope": stuck.id.scope, "key": stuck.id.key, "reason": "look",
            "evidence": {"provider": "labpay", "started_at": "now", "outcome": outcome, "definitive": true, "observed": observed, "steps": []},
        });
        let person = if who == "lee" { &mut self.lee } else { &mut self.kim };
        let answered = call(&mut person.2, "do_evidence", &order).await;
        assert_eq!(answered.outcome, "done", "{answered:?}");
    }

    /// A charge as the pod asked for it.
    pub async fn charge(&self, stuck: &Stuck, fate: Fate) {
        self.desk().destine(&stuck.order, fate);
        let key = &stuck.id.key;
        let body: Value = json!({"order_id": stuck.order, "reference": format!("pay_{key}"), "amount": stuck.amount, "currency": "EUR"});
        let asked = self
            .client
            .post(format!("{}/v1/charges", self.scene.provider.url()))
            .header("idempotency-key", format!("pay:shop-eu:{key}"))
            .header("user-agent", "payment-service/fixture")
            .json(&body);
        asked.send().await.expect("the provider answers");
    }

    pub async fn run(&mut self, statement: &'static str, key: &str) {
        sqlx::query(statement)
            .bind(key)
            .execute(&mut self.admin)
            .await
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    }

    /// One number about a record.
    pub async fn number(&mut self, query: &'static str, key: &str) -> i64 {
        sqlx::query_scalar(query).bind(key).fetch_one(&mut self.admin).await.expect("a number")
    }

    /// What is true of the record after everything that was done to it.
    pub async fn facts(&mut self, action: Action, stuck: &Stuck) -> Facts {
        let key = stuck.id.key.as_str();
        let query = format!(
            "SELECT ({}), (SELECT count(*) FROM unstuck.action_log WHERE key = $1 AND entry = 'outcome' AND action = $2 AND result = $3), \
             (SELECT coalesce(array_agg(i.id ORDER BY i.id), '{{}}') FROM unstuck.action_log i WHERE i.key = $1 AND i.entry = 'intent' \
               AND NOT EXISTS (SELECT 1 FROM unstuck.action_log o WHERE o.intent_id = i.id)), \
             (SELECT coalesce(string_agg(status, ','), 'lost') FROM idempotency_keys WHERE key = $1), \
             (SELECT coalesce(string_agg(status || ' ' || coalesce(provider_ref, '-'), ', '), 'lost') FROM payments WHERE key = $1)",
            action.effect()
        );
        let done = if action == Action::LookUp { "found" } else { "done" };
        let (effect, said_done, open, record, payment) = sqlx::query_as(AssertSqlSafe(query))
            .bind(key)
            .bind(action.word())
            .bind(done)
            .fetch_one(&mut self.admin)
            .await
            .expect("what is true");
        Facts { effect, said_done, open, record, payment }
    }

    /// Where somebody would sit who goes by these ports.
    pub fn seat(&self, who: &str, database: u16, provider: u16, desk: String) -> Seat {
        let address = address(&self.scene, self.login(who), database);
        let provider = format!("http://127.0.0.1:{provider}");
        Seat { database: address, provider, desk, operator: who.to_owned(), retention: self.retention }
    }
}

fn address(scene: &Scene, login: &Login, port: u16) -> String {
    let name = scene.database.name();
    format!("postgres://{}:{}@127.0.0.1:{port}/{name}?sslmode=disable", login.name, login.password)
}

async fn person(scene: &Scene, port: u16, retention: u64, who: &str, login: Login) -> (Login, Console, PgConnection) {
    let seat = Seat {
        database: address(scene, &login, port),
        provider: scene.provider.url(),
        desk: String::new(),
        operator: who.to_owned(),
        retention,
    };
    let console = worker::open(&seat).await;
    let raw = scene.raw(&login).await;
    (login, console, raw)
}
