//! Stripe: the itemised balance or payout reconciliation report. Decimal major units, times in UTC.

use super::{Format, Row, first_record};
use crate::cli::reconcile::line::{Item, Line, LineKind, decimal, instant};

pub(super) const FORMAT: Format = Format {
    name: "stripe",
    columns: &["balance_transaction_id", "created_utc", "currency", "gross", "reporting_category"],
    is_head: first_record,
    read,
};

fn read(row: &Row<'_>) -> Result<Item, String> {
    let kind = match row.get("reporting_category") {
        "charge" | "payment" => LineKind::Charge,
        "refund" | "partial_capture_reversal" | "charge_failure" => LineKind::Refund,
        "dispute" | "dispute_reversal" => LineKind::Chargeback,
        "fee" | "network_cost" | "tax" => LineKind::Fee,
        "" => return Err("reporting_category is empty".to_owned()),
        _ => LineKind::Other,
    };
    Ok(Item::Line(Line {
        kind,
        reference: row.maybe("charge_id").or_else(|| row.maybe("source_id")).or_else(|| row.maybe("payment_intent_id")),
        order: row.maybe("payment_metadata[order_id]"),
        money: decimal(row.get("gross"), row.get("currency"))?,
        at: instant(row.get("created_utc"))?,
    }))
}
