//! Requests for approval and hand backs.

use sqlx::postgres::PgRow;

use super::Reader;
use crate::domain::approval::{ApprovalRequest, ApprovalState, ResumeRequest, ResumeState};
use crate::domain::ids::{ApprovalId, Attempt, EvidenceId, Operator, OrderId, PlanHash, ResumeId, Version};
use crate::domain::port::StoreError;

pub(in crate::store) fn approval(file: &str, row: &PgRow) -> Result<ApprovalRequest, StoreError> {
    let reader = Reader::new(file, row);
    let word = reader.text("state")?;
    Ok(ApprovalRequest {
        number: ApprovalId(reader.int("id")?),
        at: reader.instant("at")?,
        action: reader.text("action")?,
        id: reader.record_id()?,
        order: reader.id_maybe("order_id", OrderId::new)?,
        money: reader.money()?,
        operator: Operator::new(reader.text("operator")?),
        session_user: reader.text("session_user")?,
        reason: reader.text("reason")?,
        ticket: reader.text_maybe("ticket")?,
        plan_hash: PlanHash::new(reader.text("plan_hash")?),
        version: Version::new(reader.text("version")?),
        attempt: reader.int_maybe("attempt")?.map(Attempt),
        evidence: EvidenceId(reader.int("evidence_id")?),
        expires_at: reader.instant("expires_at")?,
        state: ApprovalState::from_word(&word)
            .ok_or_else(|| reader.wrong("state", "a state of an approval", word.as_str()))?,
        decided_by: reader.id_maybe("decided_by", Operator::new)?,
        decided_session: reader.text_maybe("decided_session")?,
        decided_at: reader.instant_maybe("decided_at")?,
        decided_reason: reader.text_maybe("decided_reason")?,
        act_until: reader.instant_maybe("act_until")?,
        break_glass_from: reader.instant_maybe("break_glass_from")?,
        // Any operator can store a plan: one that cannot be read must not hide the others.
        plan: serde_json::from_value(reader.json("plan")?).ok(),
    })
}

pub(in crate::store) fn resume(file: &str, row: &PgRow) -> Result<ResumeRequest, StoreError> {
    let reader = Reader::new(file, row);
    let word = reader.text("state")?;
    Ok(ResumeRequest {
        number: ResumeId(reader.int("id")?),
        at: reader.instant("at")?,
        id: reader.record_id()?,
        order: reader.id_maybe("order_id", OrderId::new)?,
        money: reader.money()?,
        attempt: Attempt(reader.int("attempt")?),
        version: Version::new(reader.text("version")?),
        plan_hash: PlanHash::new(reader.text("plan_hash")?),
        approval: ApprovalId(reader.int("approval")?),
        operator: Operator::new(reader.text("operator")?),
        reason: reader.text("reason")?,
        ticket: reader.text_maybe("ticket")?,
        not_after: reader.instant("not_after")?,
        state: ResumeState::from_word(&word)
            .ok_or_else(|| reader.wrong("state", "a state of a hand back", word.as_str()))?,
        state_at: reader.instant("state_at")?,
        worker: reader.text_maybe("worker")?,
        detail: reader.text_maybe("detail")?,
    })
}
