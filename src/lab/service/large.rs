//! Answers too large to keep with the record: the record keeps a reference, a replay builds the answer again.
//!
//! What it is built from (the payment and its receipt) does not change once the payment succeeded; a hash
//! proves that the second answer is the first. An answer that cannot be built again is an error, never empty.

use serde_json::{Value, json};
use sqlx::Row;
use sqlx::postgres::PgPool;

/// The largest answer a record keeps, bytes.
const LARGEST: usize = 4096;

/// The lines a client wants on its receipt. They are as long as a shopping list gets.
pub(super) const TABLES: &str = "
CREATE TABLE receipts (
  payment_id text  PRIMARY KEY,
  lines      jsonb NOT NULL
);";

/// What a client is told of a success.
#[derive(Debug)]
pub(super) struct Success<'a> {
    pub(super) payment: &'a str,
    pub(super) order: &'a str,
    /// Minor units.
    pub(super) amount: i64,
    pub(super) currency: &'a str,
    pub(super) charge: &'a str,
    pub(super) lines: Option<Value>,
}

impl Success<'_> {
    pub(super) fn body(self) -> Value {
        let mut body = json!({
            "payment_id": self.payment, "order_id": self.order, "status": "succeeded",
            "amount": self.amount, "currency": self.currency, "charge_id": self.charge,
        });
        if let Some((lines, fields)) = self.lines.zip(body.as_object_mut()) {
            fields.insert("lines".to_owned(), lines);
        }
        body
    }
}

/// What the record keeps of an answer: itself, or a reference to what it is built from.
pub(super) fn kept(body: &Value, payment: &str) -> Value {
    let text = body.to_string();
    if text.len() <= LARGEST {
        return body.clone();
    }
    json!({"stored_by_reference": {"payment": payment, "bytes": text.len(), "sha256": hash(&text)}})
}

/// The answer behind what the record kept.
pub(super) async fn restored(pool: &PgPool, kept: Value) -> Result<Value, sqlx::Error> {
    let Some(reference) = kept.get("stored_by_reference") else { return Ok(kept) };
    let payment = reference.get("payment").and_then(Value::as_str).unwrap_or_default();
    let row = sqlx::query(
        "SELECT p.id, p.order_id, p.amount, p.currency, p.provider_ref, r.lines
         FROM payments p LEFT JOIN receipts r ON r.payment_id = p.id WHERE p.id = $1 AND p.status = 'succeeded'",
    )
    .bind(payment)
    .fetch_optional(pool)
    .await?
    .ok_or_else(|| lost("its payment is gone"))?;
    let (order, currency): (String, String) = (row.try_get("order_id")?, row.try_get("currency")?);
    let body = Success {
        payment,
        order: &order,
        amount: row.try_get("amount")?,
        currency: &currency,
        charge: &row.try_get::<String, _>("provider_ref")?,
        lines: row.try_get("lines")?,
    }
    .body();
    if reference.get("sha256").and_then(Value::as_str) == Some(hash(&body.to_string()).as_str()) {
        Ok(body)
    } else {
        Err(lost("what it is built from has changed"))
    }
}

/// The receipt of a payment, if its client wants one.
pub(super) async fn receipt(pool: &PgPool, payment: &str) -> Result<Option<Value>, sqlx::Error> {
    sqlx::query_scalar("SELECT lines FROM receipts WHERE payment_id = $1").bind(payment).fetch_optional(pool).await
}

fn hash(text: &str) -> String {
    super::api::hex(&[text], 32)
}

fn lost(why: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("a large answer cannot be built again: {why}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_too_large_is_kept_by_reference() {
        let success = |lines: usize| {
            let lines = Some(json!(vec!["a line of a receipt"; lines]));
            Success { payment: "pay_1", order: "ord_1", amount: 1, currency: "EUR", charge: "ch_1", lines }.body()
        };
        assert_eq!(kept(&success(3), "pay_1"), success(3));
        let reference = kept(&success(2_000), "pay_1");
        assert_eq!(reference["stored_by_reference"]["payment"], "pay_1");
        assert!(reference.to_string().len() < 200, "{reference}");
    }
}
