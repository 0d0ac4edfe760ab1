//! One line of a report against the books.

use sqlx::Row;
use sqlx::postgres::PgRow;

use super::{Class, Finding, Orphans, Remedy};
use crate::lab::service::PROVIDER;
use crate::lab::service::flow::Flow;
use crate::lab::service::gateway::Found;
use crate::lab::service::webhook::{Applied, Evidence};

/// What a line is.
#[derive(Debug)]
pub(in crate::lab::service) enum Judged {
    /// The books say the same.
    Matches,
    /// Somebody is at work on the payment: look again.
    Again,
    /// They differ.
    Differs(Finding),
}

#[derive(Debug)]
struct Charge {
    line: i64,
    id: String,
    /// Minor units.
    amount: i64,
    currency: String,
    reference: Option<String>,
    key: Option<String>,
}

/// A payment the charge may belong to.
#[derive(Debug)]
struct Payment {
    id: String,
    status: String,
    amount: i64,
    currency: String,
    provider_ref: Option<String>,
}

/// Judges a line of `settlement_lines`, joined with its names; finishes the payment if the line is its evidence.
pub(in crate::lab::service) async fn classify(
    flow: &Flow,
    line: &PgRow,
    orphans: Orphans,
) -> Result<Judged, sqlx::Error> {
    let charge = Charge {
        line: line.try_get("id")?,
        id: line.try_get("provider_ref")?,
        amount: line.try_get("amount")?,
        currency: line.try_get("currency")?,
        reference: line.try_get("reference")?,
        key: line.try_get("idempotency_key")?,
    };
    if listed_before(flow, &charge).await? {
        let finding = charge.finding(Class::Duplicate, Remedy::CountOnce, None, "listed twice");
        return Ok(Judged::Differs(finding));
    }
    let Some(payment) = payment_of(flow, &charge).await? else {
        let remedy = match orphans {
            Orphans::Refund => Remedy::Refund,
            Orphans::Report => Remedy::Person,
        };
        return Ok(Judged::Differs(charge.finding(Class::Orphan, remedy, None, "no payment of ours accounts for it")));
    };
    let of = Some(payment.id.as_str());
    let person = |detail: &str| Ok(Judged::Differs(charge.finding(Class::Amount, Remedy::Person, of, detail)));
    let ours = payment.provider_ref.as_ref().is_none_or(|known| *known == charge.id);
    match payment.status.as_str() {
        "succeeded" if !ours => {
            let detail = "a second charge of a payment that has one";
            Ok(Judged::Differs(charge.finding(Class::Duplicate, Remedy::Refund, of, detail)))
        }
        "succeeded" if payment.amount == charge.amount && payment.currency == charge.currency => Ok(Judged::Matches),
        "succeeded" => person(&format!("our payment says {} {}", payment.amount, payment.currency)),
        "failed" => person("our payment says failed, the provider was paid"),
        // Not final: the report is the evidence it waited for.
        _ => match flow.apply("charge.succeeded", &charge.evidence(&payment)).await? {
            Applied::Changed | Applied::Nothing => {
                let detail = "not final until the report said so";
                Ok(Judged::Differs(charge.finding(Class::Late, Remedy::Finish, of, detail)))
            }
            Applied::Kept("somebody is at work on it" | "somebody else was quicker") => Ok(Judged::Again),
            Applied::Kept(why) => person(why),
        },
    }
}

impl Charge {
    fn finding(&self, class: Class, remedy: Remedy, payment: Option<&str>, detail: &str) -> Finding {
        Finding {
            class,
            remedy,
            provider_ref: self.id.clone(),
            payment: payment.map(str::to_owned),
            detail: format!("{} {}: {detail}", self.amount, self.currency),
        }
    }

    fn evidence(&self, payment: &Payment) -> Evidence {
        Evidence {
            charge: Found {
                id: self.id.clone(),
                status: "succeeded".to_owned(),
                amount: self.amount,
                currency: self.currency.clone(),
                failure_code: None,
            },
            reference: Some(payment.id.clone()),
            refunded: 0,
        }
    }
}

async fn listed_before(flow: &Flow, charge: &Charge) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM settlement_lines WHERE provider = $1 AND provider_ref = $2 AND type = 'charge' AND id < $3)",
    )
    .bind(PROVIDER)
    .bind(&charge.id)
    .bind(charge.line)
    .fetch_one(&flow.records.pool)
    .await
}

/// By the charge's id first, then by our names for it: a payment that never got an answer knows no id.
async fn payment_of(flow: &Flow, charge: &Charge) -> Result<Option<Payment>, sqlx::Error> {
    let row = sqlx::query(
        "SELECT p.id, p.status, p.amount, p.currency, coalesce(p.provider_ref, k.provider_ref) AS provider_ref
         FROM payments p LEFT JOIN idempotency_keys k ON k.scope = p.scope AND k.key = p.key
         WHERE p.provider = $1 AND (p.provider_ref = $2 OR k.provider_ref = $2 OR p.id = $3 OR k.provider_key = $4)
         ORDER BY (coalesce(p.provider_ref, k.provider_ref) IS NOT DISTINCT FROM $2) DESC, p.created_at LIMIT 1",
    )
    .bind(PROVIDER)
    .bind(&charge.id)
    .bind(&charge.reference)
    .bind(&charge.key)
    .fetch_optional(&flow.records.pool)
    .await?;
    row.map(|row| {
        Ok(Payment {
            id: row.try_get("id")?,
            status: row.try_get("status")?,
            amount: row.try_get("amount")?,
            currency: row.try_get("currency")?,
            provider_ref: row.try_get("provider_ref")?,
        })
    })
    .transpose()
}
