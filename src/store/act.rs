//! The guarded calls: intent first, in a transaction of its own, then one call, then its answer.
//!
//! A call that was sent and not answered is Unknown: it is read back by its intent, never repeated and
//! never cancelled. An error the server reports means the call's transaction is gone, and nothing changed.

pub(super) mod call;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Line, Reading};
use super::rows;
use crate::domain::action::Change;
use crate::domain::approval::Consent;
use crate::domain::evidence::{Absence, Evidence, LookupOutcome};
use crate::domain::guard::Armed;
use crate::domain::ids::LogId;
use crate::domain::log::{LogEntry, Outcome};
use crate::domain::port::{RefusedEvent, StoreError};
use call::{Answered, Failed, Word, call};

/// The function behind a change; `None` for what the store does not carry out.
fn function(change: &Change) -> Option<&'static str> {
    match change {
        Change::Adopt { .. } => Some("do_adopt"),
        Change::Fail { .. } => Some("do_fail"),
        Change::Reverse { .. } => Some("do_reverse"),
        Change::NotCharged { .. } => Some("do_not_charged"),
        Change::HandBack { .. } => Some("do_hand_back"),
        Change::Hold { .. } => Some("do_hold"),
        Change::Release => Some("do_release"),
        Change::Note => Some("do_note"),
        Change::HandOver => Some("do_hand_over"),
        // A look-up changes nothing of the database's; what is withdrawn is a consent.
        Change::LookUp | Change::Withdraw { .. } => None,
    }
}

/// Carries out an armed change.
pub(super) async fn act(store: &PgStore, armed: Armed) -> Outcome {
    let Some(function) = function(armed.change()) else {
        return Outcome::Refused { why: "This is not a change of the database. Nothing was sent.".to_owned() };
    };
    let mut line = match ready(store).await {
        Ok(line) => line,
        Err(why) => {
            return Outcome::Refused { why: format!("{why}. Nothing was sent.") };
        }
    };
    let intent = match begin(store, &mut line, as_value(armed.order())).await {
        Ok(intent) => intent,
        Err(outcome) => return outcome,
    };
    let order = order(&armed, intent);
    finish(store, line, function, intent, order).await
}

/// Carries out a step of an approval: a question, an answer, or a withdrawal.
pub(super) async fn consent(store: &PgStore, consent: Consent) -> Outcome {
    let function = match consent.order().action {
        "ask" => "do_ask",
        "withdraw" => "do_withdraw",
        _ => "do_decide",
    };
    let mut line = match ready(store).await {
        Ok(line) => line,
        Err(why) => {
            return Outcome::Refused { why: format!("{why}. Nothing was sent.") };
        }
    };
    let mut order = as_value(consent.order());
    let intent = match begin(store, &mut line, order.clone()).await {
        Ok(intent) => intent,
        Err(outcome) => return outcome,
    };
    if let Value::Object(order) = &mut order {
        order.insert("intent".to_owned(), json!(intent));
    }
    finish(store, line, function, intent, order).await
}

/// Writes the intent of a look-up.
pub(super) async fn begin_lookup(store: &PgStore, armed: &Armed) -> Result<LogId, StoreError> {
    let mut line = ready(store).await?;
    let begun = begin(store, &mut line, as_value(armed.order())).await;
    line.close().await;
    begun.map_err(|outcome| StoreError::CannotAnswer {
        why: match outcome {
            Outcome::Refused { why } | Outcome::Conflict { why } | Outcome::Unknown { why, .. } => why,
            Outcome::Done { .. } => "The intent was not written.".to_owned(),
        },
    })
}

/// Keeps what a look-up said, with the outcome of its intent.
pub(super) async fn keep(store: &PgStore, armed: Armed, intent: LogId, evidence: &Evidence) -> Outcome {
    let line = match ready(store).await {
        Ok(line) => line,
        Err(why) => {
            return Outcome::Refused { why: format!("{why}. The answer is kept for this session only.") };
        }
    };
    let mut order = order(&armed, intent);
    if let Value::Object(order) = &mut order {
        order.insert("evidence".to_owned(), stored(evidence));
    }
    finish(store, line, "do_evidence", intent, order).await
}

/// A fresh connection, when anything may be changed here at all.
async fn ready(store: &PgStore) -> Result<Line, StoreError> {
    let bound = store.bound().await?;
    if let Some(why) = &bound.facts.read_only {
        return Err(StoreError::CannotAnswer { why: why.trim_end_matches('.').to_owned() });
    }
    Line::open(&store.options).await
}

/// Appends the intent row. Whatever goes wrong here, nothing was changed: the call was not sent.
async fn begin(store: &PgStore, line: &mut Line, order: Value) -> Result<LogId, Outcome> {
    let refused = |why: String| Outcome::Refused { why };
    match call(store, line, "do_intent", order).await {
        Ok(Answered { word: Word::Done, log: Some(intent), .. }) => Ok(intent),
        Ok(Answered { word: Word::Conflict, why, .. }) => Err(Outcome::Conflict { why: sentence(why) }),
        Ok(Answered { why, .. }) => Err(refused(sentence(why))),
        Err(Failed::Conflict(why)) => Err(Outcome::Conflict { why: format!("{why} Nothing was changed.") }),
        Err(Failed::Nothing(why)) => Err(refused(format!("{why} Nothing was changed."))),
        Err(Failed::Lost(why)) => {
            Err(refused(format!("{why} It was lost before the change was sent: nothing was changed.")))
        }
    }
}

/// Sends the call that follows an intent, and says what came of it.
async fn finish(store: &PgStore, mut line: Line, function: &str, intent: LogId, order: Value) -> Outcome {
    let who = order.get("operator").cloned().unwrap_or(Value::Null);
    let outcome = match call(store, &mut line, function, order).await {
        Ok(Answered { word: Word::Done, why, log, .. }) => {
            return done(line, why, log).await;
        }
        Ok(Answered { word: Word::Refused, why, .. }) => Outcome::Refused { why: sentence(why) },
        Ok(Answered { word: Word::Conflict, why, log: Some(_), .. }) => Outcome::Conflict { why: sentence(why) },
        Ok(Answered { word: Word::Conflict, why, log: None, .. }) => {
            close(store, &mut line, intent, &who).await;
            Outcome::Conflict { why: sentence(why) }
        }
        Err(Failed::Conflict(why)) => {
            close(store, &mut line, intent, &who).await;
            Outcome::Conflict { why: format!("{why} Nothing was changed.") }
        }
        Err(Failed::Nothing(why)) => {
            close(store, &mut line, intent, &who).await;
            Outcome::Refused { why: format!("{why} Nothing was changed.") }
        }
        // The line is of no more use, and what it carried must not be cancelled.
        Err(Failed::Lost(why)) => {
            return Outcome::Unknown { why: format!("{why} It may or may not have been done."), intent: Some(intent) };
        }
    };
    line.close().await;
    outcome
}

/// What the function itself read back stays in the log: the console reads the record back on its own.
async fn done(line: Line, why: Option<String>, log: Option<LogId>) -> Outcome {
    line.close().await;
    Outcome::Done { log, detail: why }
}

/// Gives an intent its outcome "not done". When that fails it stays open, and is read back later.
async fn close(store: &PgStore, line: &mut Line, intent: LogId, who: &Value) {
    let order =
        json!({ "intent": intent, "operator": who, "reason": "the server reported an error: nothing was changed" });
    if let Err(why) = call(store, line, "do_close", order).await {
        tracing::warn!(intent = intent.0, why = ?why, "an intent stays open");
    }
}

/// What came of an intent. One that has no outcome is closed first, so that a late change finds it closed.
pub(super) async fn read_back(store: &PgStore, intent: LogId) -> Result<Option<LogEntry>, StoreError> {
    if let Some(entry) = outcome_of(store, intent).await? {
        return Ok(Some(entry));
    }
    let mut line = ready(store).await?;
    let order = json!({ "intent": intent, "reason": "read back: the change did not arrive" });
    let closed = call(store, &mut line, "do_close", order).await;
    line.close().await;
    match closed {
        Ok(_) => outcome_of(store, intent).await,
        Err(Failed::Conflict(why) | Failed::Nothing(why) | Failed::Lost(why)) => Err(StoreError::Unreachable { why }),
    }
}

async fn outcome_of(store: &PgStore, intent: LogId) -> Result<Option<LogEntry>, StoreError> {
    let bound = store.bound().await?;
    let given = [super::reading::Given::Int(intent.0)];
    let entries = store
        .at_desk("the outcome", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            asking.ask(Question::Outcome, &given, each(rows::log_entry)).await
        })
        .await?;
    Ok(entries.into_iter().next())
}

/// Writes down that something was refused in the console.
pub(super) async fn refused(store: &PgStore, event: &RefusedEvent) -> Result<(), StoreError> {
    let mut line = ready(store).await?;
    let order = json!({
        "action": "refused command",
        "environment": event.environment,
        "operator": event.operator,
        "why": event.what,
        "scope": event.target.as_ref().map(|id| &id.scope),
        "key": event.target.as_ref().map(|id| &id.key),
    });
    let answer = call(store, &mut line, "do_refusal", order).await;
    line.close().await;
    match answer {
        Ok(Answered { word: Word::Done, .. }) => Ok(()),
        Ok(Answered { why, .. }) => Err(StoreError::CannotAnswer { why: sentence(why) }),
        Err(Failed::Conflict(why) | Failed::Nothing(why) | Failed::Lost(why)) => Err(StoreError::Unreachable { why }),
    }
}

/// An order as the database reads it.
fn as_value(order: &impl Serialize) -> Value {
    serde_json::to_value(order).unwrap_or(Value::Null)
}

/// Everything the function re-checks, and the intent it follows.
fn order(armed: &Armed, intent: LogId) -> Value {
    let mut order = match as_value(armed.order()) {
        Value::Object(order) => order,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    order.insert("intent".to_owned(), json!(intent));
    if matches!(armed.change(), Change::Note | Change::HandOver) {
        order.insert("note".to_owned(), json!(armed.order().reason));
    }
    Value::Object(order)
}

/// Evidence as the database keeps it.
fn stored(evidence: &Evidence) -> Value {
    let (outcome, absence, why, observed) = match &evidence.outcome {
        LookupOutcome::Found { observed } => ("found", None, None, json!(observed)),
        LookupOutcome::NotFound { absence, why } => ("not_found", Some(*absence), Some(why), json!([])),
        LookupOutcome::Unreachable { why, .. } => ("unreachable", None, Some(why), json!([])),
    };
    json!({
        "provider": evidence.provider,
        "started_at": evidence.started_at,
        "outcome": outcome,
        "definitive": absence == Some(Absence::Consistent),
        "why": why,
        "observed": observed,
        "steps": evidence.steps,
    })
}

fn sentence(why: Option<String>) -> String {
    why.unwrap_or_else(|| "The database gave no reason.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::evidence::LookupStep;
    use crate::domain::ids::{Operator, ProviderName};

    fn evidence(outcome: LookupOutcome) -> Evidence {
        Evidence {
            id: None,
            operator: Operator::new("kim"),
            provider: ProviderName::new("lab"),
            started_at: chrono::DateTime::UNIX_EPOCH,
            outcome,
            steps: vec![LookupStep {
                asked: "GET /charges".to_owned(),
                answered: "200".to_owned(),
                body_sha256: None,
                retry_after_s: None,
            }],
        }
    }

    #[test]
    fn evidence_is_stored_in_the_words_of_the_contract() {
        let absent = LookupOutcome::NotFound { absence: Absence::Consistent, why: "no such object".to_owned() };
        let stored_absent = stored(&evidence(absent));
        assert_eq!(stored_absent["outcome"], "not_found");
        assert_eq!(stored_absent["definitive"], true);
        let silent = LookupOutcome::Unreachable { why: "503".to_owned(), retry_after_s: Some(3) };
        let stored_silent = stored(&evidence(silent));
        assert_eq!((&stored_silent["outcome"], &stored_silent["definitive"]), (&json!("unreachable"), &json!(false)));
        assert_eq!(stored_silent["steps"][0]["asked"], "GET /charges");
    }
}
