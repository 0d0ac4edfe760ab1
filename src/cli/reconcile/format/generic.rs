//! A plain table: `ref, type, amount, currency, at` and, when it has them, `order` and `amount_minor`. A line of type
//! `total` states what the lines of its currency add up to.

use super::{Format, Row, first_record};
use crate::cli::reconcile::line::{Item, Line, LineKind, decimal, instant, minor};

pub(super) const FORMAT: Format =
    Format { name: "generic", columns: &["ref", "type", "currency"], is_head: first_record, read };

fn read(row: &Row<'_>) -> Result<Item, String> {
    let currency = row.get("currency");
    let money = match (row.get("amount_minor"), row.get("amount")) {
        ("", "") => return Err("neither amount nor amount_minor is filled".to_owned()),
        ("", amount) => decimal(amount, currency)?,
        (whole, "") => minor(whole, currency)?,
        (_, _) => return Err("both amount and amount_minor are filled".to_owned()),
    };
    let kind = match row.get("type") {
        "charge" => LineKind::Charge,
        "refund" => LineKind::Refund,
        "chargeback" => LineKind::Chargeback,
        "fee" => LineKind::Fee,
        "other" => LineKind::Other,
        "total" => return Ok(Item::Total(money)),
        other => return Err(format!("type is {other:?}: charge, refund, chargeback, fee, other or total")),
    };
    let reference = row.maybe("ref");
    if reference.is_none() && kind == LineKind::Charge {
        return Err("a charge has no ref".to_owned());
    }
    Ok(Item::Line(Line { kind, reference, order: row.maybe("order"), money, at: instant(row.get("at"))? }))
}
