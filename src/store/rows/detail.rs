//! Records, evidence, breaches and log rows.

use serde::Deserialize;
use sqlx::postgres::PgRow;

use super::Reader;
use crate::domain::chain::ChainRow;
use crate::domain::evidence::{Absence, Evidence, LookupOutcome, LookupStep, Observed};
use crate::domain::ids::{
    Attempt, EvidenceId, Holder, Key, LogId, Operator, OrderId, PaymentId, ProviderKey, ProviderName, ProviderRef,
    RecordId, Scope, Version,
};
use crate::domain::log::LogEntry;
use crate::domain::money::Money;
use crate::domain::payment::PaymentStatus;
use crate::domain::port::StoreError;
use crate::domain::record::{Lease, Record, RecordDetail, RecordStatus, RecoveryPoint, Sibling};
use crate::domain::rule::Breach;

pub(in crate::store) fn record(file: &str, row: &PgRow) -> Result<Record, StoreError> {
    let reader = Reader::new(file, row);
    Ok(Record {
        id: reader.record_id()?,
        order: reader.id_maybe("order_id", OrderId::new)?,
        payment: reader.id_maybe("payment_id", PaymentId::new)?,
        status: RecordStatus::from_word(&reader.text("status")?),
        payment_status: reader.text_maybe("payment_status")?.as_deref().map(PaymentStatus::from_word),
        recovery_point: reader.text_maybe("recovery_point")?.as_deref().map(RecoveryPoint::from_word),
        lease: Lease {
            until: reader.instant_maybe("lease_until")?,
            holder: reader.id_maybe("lease_holder", Holder::new)?,
        },
        attempt: reader.int_maybe("attempt")?.map(Attempt),
        provider: reader.id_maybe("provider", ProviderName::new)?,
        provider_ref: reader.id_maybe("provider_ref", ProviderRef::new)?,
        money: reader.money()?,
        first_key_use: reader.instant_maybe("first_key_use")?,
        created_at: reader.instant("created_at")?,
        changed_at: reader.instant("changed_at")?,
        owner: reader.id_maybe("owner", Operator::new)?,
        version: Version::new(reader.text("version")?),
    })
}

pub(in crate::store) fn record_detail(file: &str, row: &PgRow) -> Result<RecordDetail, StoreError> {
    let reader = Reader::new(file, row);
    Ok(RecordDetail {
        record: record(file, row)?,
        fingerprint: reader.text_maybe("fingerprint")?,
        response_code: reader.small_maybe("response_code")?,
        provider_key: reader.id_maybe("provider_key", ProviderKey::new)?,
        last_attempt_at: reader.instant_maybe("last_attempt_at")?,
        siblings: siblings(&reader)?,
        ref_owner: reader.id_maybe("ref_owner", PaymentId::new)?,
    })
}

/// One element of the column `siblings`.
#[derive(Debug, Deserialize)]
struct SiblingRow {
    payment_id: String,
    status: String,
    amount: Option<i64>,
    currency: Option<String>,
    provider_ref: Option<String>,
    scope: String,
    key: String,
}

fn siblings(reader: &Reader<'_>) -> Result<Vec<Sibling>, StoreError> {
    let rows: Vec<SiblingRow> = document(reader, "siblings")?;
    Ok(rows
        .into_iter()
        .map(|row| Sibling {
            payment: PaymentId::new(row.payment_id),
            status: PaymentStatus::from_word(&row.status),
            money: row.amount.zip(row.currency).map(|(minor, currency)| Money::new(minor, currency)),
            provider_ref: row.provider_ref.map(ProviderRef::new),
            scope: Scope::new(row.scope),
            key: Key::new(row.key),
        })
        .collect())
}

/// Reads a document of a known form. What does not fit is named, and its content stays out of the message.
fn document<T: serde::de::DeserializeOwned>(reader: &Reader<'_>, column: &str) -> Result<T, StoreError> {
    serde_json::from_value(reader.json(column)?).map_err(|error| {
        tracing::warn!(column, error = %error, "a document could not be read");
        reader.wrong(column, "a list of the contract's form", "another form")
    })
}

pub(in crate::store) fn evidence(file: &str, row: &PgRow) -> Result<Evidence, StoreError> {
    let reader = Reader::new(file, row);
    let why = reader.text_maybe("why")?.unwrap_or_default();
    let definitive = reader.flag("definitive")?;
    let steps: Vec<LookupStep> = document(&reader, "steps")?;
    let outcome = match reader.text("outcome")?.as_str() {
        "found" => {
            let observed: Vec<Observed> = document(&reader, "observed")?;
            if observed.is_empty() {
                return Err(reader.wrong("observed", "a charge that was found", "an empty list"));
            }
            LookupOutcome::Found { observed }
        }
        "not_found" => LookupOutcome::NotFound {
            absence: if definitive { Absence::Consistent } else { Absence::MayHaveMissed },
            why,
        },
        "unreachable" => {
            // Whoever reads it next has to wait as long as whoever asked.
            LookupOutcome::Unreachable { why, retry_after_s: steps.iter().filter_map(|step| step.retry_after_s).max() }
        }
        other => return Err(reader.wrong("outcome", "found, not_found or unreachable", other)),
    };
    Ok(Evidence {
        id: Some(EvidenceId(reader.int("id")?)),
        operator: Operator::new(reader.text("operator")?),
        provider: ProviderName::new(reader.text("provider")?),
        started_at: reader.instant("started_at")?,
        outcome,
        steps,
    })
}

pub(in crate::store) fn breach(file: &str, row: &PgRow) -> Result<Breach, StoreError> {
    let reader = Reader::new(file, row);
    Ok(Breach {
        scope: reader.id_maybe("scope", Scope::new)?,
        key: reader.id_maybe("key", Key::new)?,
        order: reader.id_maybe("order_id", OrderId::new)?,
        payment: reader.id_maybe("payment_id", PaymentId::new)?,
        reference: reader.text_maybe("ref")?,
        money: reader.money()?,
        at: reader.instant_maybe("at")?,
        detail: reader.text("detail")?,
    })
}

pub(in crate::store) fn log_entry(file: &str, row: &PgRow) -> Result<LogEntry, StoreError> {
    let reader = Reader::new(file, row);
    let target = reader.text_maybe("scope")?.zip(reader.text_maybe("key")?);
    Ok(LogEntry {
        id: LogId(reader.int("id")?),
        at: reader.instant("at")?,
        entry: reader.text("entry")?,
        action: reader.text("action")?,
        target: target.map(|(scope, key)| RecordId::new(scope, key)),
        operator: reader.id_maybe("operator", Operator::new)?,
        session_user: reader.text("session_user")?,
        environment: reader.text("environment")?,
        plan_hash: reader.text_maybe("plan_hash")?,
        reason: reader.text_maybe("reason")?,
        ticket: reader.text_maybe("ticket")?,
        result: reader.text_maybe("result")?,
        detail: reader.text_maybe("detail")?,
        intent: reader.int_maybe("intent_id")?.map(LogId),
    })
}

pub(in crate::store) fn chain_row(file: &str, row: &PgRow) -> Result<ChainRow, StoreError> {
    let reader = Reader::new(file, row);
    Ok(ChainRow {
        id: LogId(reader.int("id")?),
        // An instant beyond ours, or infinity, was never written by the log: its row is judged without it.
        at: reader.instant_maybe("at").unwrap_or_default(),
        entry: reader.text_maybe("entry")?,
        action: reader.text_maybe("action")?,
        scope: reader.text_maybe("scope")?,
        key: reader.text_maybe("key")?,
        operator: reader.text_maybe("operator")?,
        session_user: reader.text_maybe("session_user")?,
        application: reader.text_maybe("application")?,
        environment: reader.text_maybe("environment")?,
        plan_hash: reader.text_maybe("plan_hash")?,
        reason: reader.text_maybe("reason")?,
        ticket: reader.text_maybe("ticket")?,
        result: reader.text_maybe("result")?,
        detail: reader.text_maybe("detail")?,
        intent: reader.int_maybe("intent_id")?.map(LogId),
        evidence: reader.int_maybe("evidence_id")?,
        data: reader.text_maybe("data")?,
        prev_hash: reader.text_maybe("prev_hash")?,
        hash: reader.text_maybe("hash")?,
    })
}
