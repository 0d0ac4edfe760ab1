//! Settlement reports and breaks.

use std::collections::BTreeMap;

use sqlx::postgres::PgRow;

use super::Reader;
use crate::domain::ids::{OrderId, PaymentId, ProviderName, ProviderRef, RecordId};
use crate::domain::money::{Money, Totals};
use crate::domain::port::StoreError;
use crate::domain::recon::{Break, BreakKind, Report};

pub(in crate::store) fn report(file: &str, row: &PgRow) -> Result<Report, StoreError> {
    let reader = Reader::new(file, row);
    let sums = |column: &str| -> Result<Totals, StoreError> { totals(&reader, column, &reader.json(column)?) };
    let stated = reader.json_maybe("stated")?;
    Ok(Report {
        hash: reader.text("hash")?,
        name: reader.text("name")?,
        provider: ProviderName::new(reader.text("provider")?),
        lines: reader.count("lines")?,
        matched: reader.count("matched")?,
        loaded_at: reader.instant("loaded_at")?,
        from: reader.instant_maybe("from_at")?,
        to: reader.instant_maybe("to_at")?,
        ours: sums("ours")?,
        theirs: sums("theirs")?,
        stated: stated.map(|stated| totals(&reader, "stated", &stated)).transpose()?,
    })
}

fn totals(reader: &Reader<'_>, column: &str, value: &serde_json::Value) -> Result<Totals, StoreError> {
    let sums: BTreeMap<String, i64> =
        serde_json::from_value(value.clone()).map_err(|_| reader.wrong(column, "sums by currency", "another form"))?;
    Ok(sums.into_iter().map(|(currency, minor)| Money::new(minor, currency)).collect())
}

pub(in crate::store) fn broken(file: &str, row: &PgRow) -> Result<Break, StoreError> {
    let reader = Reader::new(file, row);
    let word = reader.text("kind")?;
    let kind = BreakKind::ALL.into_iter().find(|kind| kind.word() == word);
    let side = |amount: &str, currency: &str| -> Result<Option<Money>, StoreError> {
        let money = reader.int_maybe(amount)?.zip(reader.text_maybe(currency)?);
        Ok(money.map(|(minor, currency)| Money::new(minor, currency)))
    };
    let record = reader.text_maybe("scope")?.zip(reader.text_maybe("key")?);
    Ok(Break {
        number: reader.int("id")?,
        kind: kind.ok_or_else(|| reader.wrong("kind", "a kind of break", word))?,
        provider: ProviderName::new(reader.text("provider")?),
        provider_ref: reader.id_maybe("ref", ProviderRef::new)?,
        record: record.map(|(scope, key)| RecordId::new(scope, key)),
        order: reader.id_maybe("order_id", OrderId::new)?,
        payment: reader.id_maybe("payment_id", PaymentId::new)?,
        ours: side("ours_amount", "ours_currency")?,
        theirs: side("theirs_amount", "theirs_currency")?,
        at: reader.instant_maybe("at")?,
        first_seen: reader.instant("first_seen")?,
        owner: reader.text_maybe("owner")?,
        report: reader.text("report")?,
        line: reader.int_maybe("line")?.and_then(|line| u64::try_from(line).ok()),
    })
}
