//! People and machines with logins of their own, who call the database's functions directly: what a
//! changed client could send, without the console's own checks before it.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use super::store::Ground;

/// One login and the name its owner gives.
pub struct Person {
    pub name: &'static str,
    pub line: PgConnection,
}

/// What a function answered; `denied` when the server did not even let it be called.
#[derive(Debug)]
pub struct Said {
    pub outcome: String,
    pub why: String,
    pub back: Value,
}

impl Said {
    /// The outcome word, with the reason in the failure message.
    #[track_caller]
    pub fn is(&self, outcome: &str, part: &str) {
        assert!(self.outcome == outcome && self.why.contains(part), "wanted {outcome} ({part}), got {self:?}");
    }

    #[track_caller]
    pub fn done(self) -> Value {
        self.is("done", "");
        self.back
    }
}

/// The record of the fixture all of this is about.
pub const SCOPE: &str = "acme";
pub const KEY: &str = "k-102";

impl Person {
    /// A login in these roles.
    pub async fn new(ground: &mut Ground, name: &'static str, groups: &[&str]) -> Self {
        let login = ground.database.create_login(name, groups).await.expect("a login");
        let line = PgConnection::connect_with(&ground.database.login_options(&login)).await.expect("a connection");
        Self { name, line }
    }

    /// Calls one function with an order.
    pub async fn call(&mut self, function: &str, order: &Value) -> Said {
        let sql = format!("SELECT outcome, why, log_id, read_back FROM unstuck.{function}($1)");
        match sqlx::query(AssertSqlSafe(sql)).bind(order.clone()).fetch_one(&mut self.line).await {
            Ok(row) => Said {
                outcome: row.get(0),
                why: row.get::<Option<String>, _>(1).unwrap_or_default(),
                back: row.get::<Option<Value>, _>(3).unwrap_or(Value::Null),
            },
            Err(error) => Said { outcome: "denied".to_owned(), why: error.to_string(), back: Value::Null },
        }
    }

    /// An intent of this person for `action`, put into the order; the order alone when the intent is refused.
    pub async fn intend(&mut self, action: &str, order: &Value) -> Result<Value, Said> {
        let mut order = order.clone();
        order["action"] = json!(action);
        order["operator"] = json!(self.name);
        let sql = "SELECT outcome, why, log_id FROM unstuck.do_intent($1)";
        let row = sqlx::query(sql).bind(order.clone()).fetch_one(&mut self.line).await.map_err(|error| Said {
            outcome: "denied".to_owned(),
            why: error.to_string(),
            back: Value::Null,
        })?;
        let outcome: String = row.get(0);
        if outcome != "done" {
            return Err(Said { outcome, why: row.get::<Option<String>, _>(1).unwrap_or_default(), back: Value::Null });
        }
        order["intent"] = json!(row.get::<i64, _>(2));
        Ok(order)
    }

    /// Intent, then call, as this person.
    pub async fn go(&mut self, action: &str, function: &str, order: &Value) -> Said {
        match self.intend(action, order).await {
            Ok(order) => self.call(function, &order).await,
            Err(said) => said,
        }
    }

    /// Stores a look-up of this person; its number.
    pub async fn look_up(&mut self, outcome: &str, observed: Value) -> i64 {
        let order = json!({"environment": "demo", "scope": SCOPE, "key": KEY, "reason": "look", "evidence": {
            "provider": "lab", "started_at": "now", "outcome": outcome, "definitive": true,
            "observed": observed, "steps": []}});
        let said = self.go("lookup", "do_evidence", &order).await.done();
        said["evidence_id"].as_i64().expect("a number")
    }
}

/// The charge of P-102 as the provider reports it.
pub fn charge(class: &str) -> Value {
    let refunded = if class == "reversed" { 4200 } else { 0 };
    json!([{"ref": "ch_102", "reference": "P-102", "provider_key": "pay:acme:k-102", "class": class, "raw": class,
        "amount": 4200, "captured": if class == "failed" { 0 } else { 4200 }, "refunded": refunded, "currency": "EUR", "live": null}])
}

impl Ground {
    /// A look-up that found nothing, by somebody, that many seconds ago: no login could store one in the past.
    pub async fn nothing_found(&mut self, seconds: i64) -> i64 {
        let sql = "INSERT INTO unstuck.evidence (at, scope, key, operator, session_role, provider, started_at, outcome, definitive, observed, steps) \
            SELECT t, 'acme', 'k-102', 'nobody', 'nobody', 'lab', t, 'not_found', true, '[]', '[]' \
            FROM (SELECT now() - interval '1 second' * $1 AS t) x RETURNING id";
        sqlx::query_scalar(sql).bind(seconds).fetch_one(&mut self.admin).await.expect("a look-up")
    }

    /// A plan for the record as it is now, by `person`, and the order that goes with it.
    pub async fn plan(&mut self, person: &str, action: &str, evidence: i64) -> Value {
        let sql = "SELECT unstuck.service_version('acme', 'k-102'), attempt::bigint FROM idempotency_keys WHERE scope = 'acme' AND key = 'k-102'";
        let row = sqlx::query(sql).fetch_one(&mut self.admin).await.expect("the record");
        let (version, attempt): (String, i64) = (row.get(0), row.get(1));
        let hashed =
            json!([SCOPE, KEY, version, attempt.to_string(), action, "demo", person, "the change", "what was seen"]);
        let hash: String = sqlx::query_scalar("SELECT unstuck.plan_hash($1)")
            .bind(hashed.clone())
            .fetch_one(&mut self.admin)
            .await
            .expect("a hash");
        let reference = if ["hand_back", "not_charged"].contains(&action) { Value::Null } else { json!("ch_102") };
        let expect = json!({"payment_id": "P-102", "provider_ref": reference, "amount": 4200, "currency": "EUR"});
        json!({
            "environment": "demo", "scope": SCOPE, "key": KEY, "version": version, "attempt": attempt, "plan_hash": hash,
            "reason": "the worker died", "ticket": "INC-1", "evidence_id": evidence, "expect": expect, "for_action": action,
            "key_retention_s": 86_400,
            "plan": {"hash": hash, "hashed": hashed, "expect": expect},
        })
    }

    /// Changes one of the limits, as the administrator.
    pub async fn limit(&mut self, name: &str, value: i64) {
        let set = sqlx::query("SELECT unstuck.set_limit($1, $2)").bind(name).bind(value);
        set.execute(&mut self.admin).await.expect("a limit");
    }
}

/// The same order with one thing changed.
pub fn with(order: &Value, field: &str, value: impl Into<Value>) -> Value {
    let mut order = order.clone();
    order[field] = value.into();
    order
}
