//! The functions of schema `unstuck`, called by hand: what a modified client could send.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, Row};

/// What a function answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub outcome: String,
    pub why: String,
    pub log: Option<i64>,
}

impl Said {
    pub fn is(&self, outcome: &str, why: &str) -> bool {
        self.outcome == outcome && self.why.contains(why)
    }
}

/// Calls one function with one order.
pub async fn call(line: &mut PgConnection, function: &str, order: &Value) -> Said {
    let query = format!("SELECT outcome, why, log_id FROM unstuck.{function}($1)");
    let row = sqlx::query(AssertSqlSafe(query)).bind(order).fetch_one(line).await;
    let row = row.unwrap_or_else(|error| panic!("{function} {order}: {error}"));
    let why: Option<String> = row.get("why");
    Said { outcome: row.get("outcome"), why: why.unwrap_or_default(), log: row.get("log_id") }
}

/// An order about record acme k-102, with `more` over it.
pub fn order(more: &Value) -> Value {
    over(
        json!({
            "environment": "demo", "operator": "kim", "scope": "acme", "key": "k-102", "plan_hash": "p1",
            "reason": "the worker died", "ticket": "INC-1", "note": "look at the provider",
        }),
        more,
    )
}

/// The members of `more` over those of `order`.
pub fn over(mut order: Value, more: &Value) -> Value {
    let members = more.as_object().expect("an object").clone();
    order.as_object_mut().expect("an object").extend(members);
    order
}

/// An intent, and the order that may follow it.
pub async fn intent(line: &mut PgConnection, action: &str, more: &Value) -> Value {
    let order = over(order(more), &json!({ "action": action }));
    let said = call(line, "do_intent", &order).await;
    assert_eq!(said.outcome, "done", "{order}: {said:?}");
    over(order, &json!({ "intent": said.log }))
}
