//! Check, then act: the naive middleware. Between the two, everybody else checks as well.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::bare;
use super::super::flow::Flow;
use super::super::gateway::Called;
use super::super::records::{Intent, Outcome};
use super::{Conduct, Flaw};

/// Who may work on a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Whoever wins the insert; the insert is the first statement.
    UniqueConstraint,
    /// Whoever saw nothing and then inserts. A record that is there is replayed, finished or not.
    CheckThenInsert,
    /// Everybody who saw nothing: the record is written when the charge is done.
    StoredAfter,
}

pub(super) static FLAW: Flaw = Flaw {
    name: "check-then-act",
    does: "The service looks whether the key is there, and only then inserts it; what is there it replays, finished or not.",
    harm: "Clients are told 200 with an empty body while the charge is still on its way.",
    put_into: |conduct| Conduct { claim: Claim::CheckThenInsert, ..conduct },
};

/// Look, insert, charge, store. A time-out is thrown, and the record stays as it is.
pub(super) async fn insert_first(flow: &Flow, intent: &Intent) -> Result<Answer, sqlx::Error> {
    if let Some(existing) = replayed(flow, intent).await? {
        return Ok(existing);
    }
    flow.meetings.attend(&intent.order).await;
    let Some(mut held) = flow.records.claim(intent).await? else {
        return Ok(Answer::in_progress(1));
    };
    let Ok(called) = flow.call(&mut held).await? else {
        return Ok(Answer::in_progress(1));
    };
    let Called::Succeeded(found) = called else {
        return Ok(thrown());
    };
    let body = json!({"id": found.id, "amount": found.amount, "currency": found.currency});
    let outcome = Outcome {
        payment_status: "succeeded",
        reason: None,
        provider_ref: Some(found.id),
        code: StatusCode::OK,
        body: body.clone(),
    };
    flow.records.finish(&held, &outcome).await?;
    Ok(Answer::stored(StatusCode::OK, body, &held.payment))
}

/// Look, charge, store. Whoever comes meanwhile charges as well.
pub(super) async fn store_after(flow: &Flow, intent: &Intent) -> Result<Answer, sqlx::Error> {
    if let Some(existing) = replayed(flow, intent).await? {
        return Ok(existing);
    }
    flow.meetings.attend(&intent.order).await;
    let paid = bare::pay(flow, intent).await?;
    flow.records.store_done(intent, &paid.answer, paid.charge.as_deref()).await?;
    Ok(paid.answer)
}

/// `if (existing) return existing.response`: of a record that is not finished, that is nothing.
async fn replayed(flow: &Flow, intent: &Intent) -> Result<Option<Answer>, sqlx::Error> {
    let existing = flow.records.see(&intent.scope, &intent.key).await?;
    Ok(existing.map(|seen| {
        let (code, body) = seen.done.unwrap_or((StatusCode::OK, Value::Null));
        Answer::replay(code, body, seen.payment)
    }))
}

fn thrown() -> Answer {
    Answer::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "ETIMEDOUT")
}
