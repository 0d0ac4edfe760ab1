//! PayPal: the settlement report (STL). The first field of a record says what it is; amounts are unsigned minor units
//! with a column that says debit or credit.

use csv::StringRecord;

use super::{Format, Head, Row};
use crate::cli::reconcile::line::{Item, Line, LineKind, instant, minor};
use crate::domain::money::Money;

pub(super) const FORMAT: Format = Format {
    name: "paypal",
    columns: &[
        "Transaction ID",
        "Transaction Event Code",
        "Transaction Debit or Credit",
        "Gross Transaction Amount",
        "Gross Transaction Currency",
    ],
    is_head,
    read,
};

fn is_head(record: &StringRecord) -> Head {
    if record.get(0).is_some_and(|code| code.trim() == "CH") { Head::Yes } else { Head::NotYet }
}

/// The foot of a section: its currency, then the gross credits and the gross debits of its lines, unsigned minor units.
/// A foot that stops before them states no total.
fn total(record: &StringRecord) -> Result<Item, String> {
    let field = |nth: usize| record.get(nth).map(str::trim).filter(|text| !text.is_empty());
    let (Some(currency), Some(credits), Some(debits)) = (field(1), field(2), field(3)) else {
        return Ok(Item::Nothing);
    };
    let (credits, debits) = (minor(credits, currency)?, minor(debits, currency)?);
    if credits.minor < 0 || debits.minor < 0 {
        return Err("a total of SF is signed".to_owned());
    }
    let sum = credits.minor.checked_sub(debits.minor).ok_or("a total of SF is larger than any real one")?;
    Ok(Item::Total(Money { minor: sum, ..credits }))
}

fn read(row: &Row<'_>) -> Result<Item, String> {
    match row.record.get(0).unwrap_or("").trim() {
        "SB" => {}
        // How many body records the report has, over all its sections.
        "RC" => {
            let count = row.record.get(1).unwrap_or("").trim();
            return count.parse().map(Item::Count).map_err(|_| format!("RC says {count:?}, which is no number"));
        }
        "SF" => return total(row.record),
        "RH" | "FH" | "SH" | "CH" | "SC" | "RF" | "FF" | "" => return Ok(Item::Nothing),
        other => return Err(format!("a record of type {other:?} is not known")),
    }
    let code = row.get("Transaction Event Code");
    let kind = match code.get(..3) {
        Some("T00") => LineKind::Charge,
        Some("T11") => LineKind::Refund,
        Some("T12") => LineKind::Chargeback,
        Some("T01") => LineKind::Fee,
        Some(_) => LineKind::Other,
        None => return Err(format!("Transaction Event Code is {code:?}")),
    };
    let money = minor(row.get("Gross Transaction Amount"), row.get("Gross Transaction Currency"))?;
    if money.minor < 0 {
        return Err("Gross Transaction Amount is signed".to_owned());
    }
    let money = match row.get("Transaction Debit or Credit") {
        "CR" => money,
        "DR" => Money { minor: money.minor.saturating_neg(), ..money },
        other => return Err(format!("Transaction Debit or Credit is {other:?}")),
    };
    Ok(Item::Line(Line {
        kind,
        reference: row.maybe("Transaction ID"),
        order: row.maybe("Invoice ID").or_else(|| row.maybe("Custom Field")),
        money,
        at: instant(row.get("Transaction Initiation Date"))?,
    }))
}
