//! Adyen: the settlement detail report. Debit and credit stand in columns of their own; times in a zone named beside them.

use super::{Format, Row, first_record};
use crate::cli::reconcile::line::{Item, Line, LineKind, decimal, zoned};
use crate::domain::money::Money;

pub(super) const FORMAT: Format = Format {
    name: "adyen",
    columns: &["Psp Reference", "Type", "Gross Currency", "Gross Debit (GC)", "Gross Credit (GC)"],
    is_head: first_record,
    read,
};

fn read(row: &Row<'_>) -> Result<Item, String> {
    let kind = match row.get("Type") {
        "Settled" | "SettledInInstallments" | "SettledBulk" => LineKind::Charge,
        "Refunded" | "RefundedBulk" | "RefundedReversed" => LineKind::Refund,
        "Chargeback" | "SecondChargeback" | "ChargebackReversed" => LineKind::Chargeback,
        "Fee" | "InvoiceDeduction" | "MiscCosts" => LineKind::Fee,
        "" => return Err("Type is empty".to_owned()),
        _ => LineKind::Other,
    };
    let currency = row.get("Gross Currency");
    if currency.is_empty() {
        // Payouts and corrections have their amounts in the net columns only.
        return match kind {
            LineKind::Charge | LineKind::Refund | LineKind::Chargeback => Err("Gross Currency is empty".to_owned()),
            LineKind::Fee | LineKind::Other => Ok(Item::Nothing),
        };
    }
    let side = |name: &str| match row.get(name) {
        "" => Ok(Money::new(0, currency)),
        text => decimal(text, currency),
    };
    let (debit, credit) = (side("Gross Debit (GC)")?, side("Gross Credit (GC)")?);
    if debit.minor != 0 && credit.minor != 0 {
        return Err("both debit and credit are filled".to_owned());
    }
    let minor = credit.minor.checked_sub(debit.minor).ok_or("the amount is larger than any real one")?;
    Ok(Item::Line(Line {
        kind,
        reference: row.maybe("Psp Reference"),
        order: row.maybe("Merchant Reference"),
        money: Money::new(minor, currency),
        at: zoned(row.get("Creation Date"), row.get("TimeZone"))?,
    }))
}
