//! Reads one charge out of an answer. What cannot be read makes the whole look-up unusable:
//! a charge that is half understood is not evidence.

use chrono::DateTime;

use crate::domain::evidence::{Class, Mode, Observed, ObservedMoney};
use crate::domain::ids::{OrderId, PaymentId, ProviderRef};
use crate::domain::money::Currency;
use crate::domain::port::Query;
use crate::domain::time::Instant;

use super::adapter::Adapter;
use super::json::{Json, Pointer};
use super::template::Id;

/// The longest id or word that is taken.
const LONGEST: usize = 512;

/// One charge, or why it cannot be read. The reason names fields, never values.
pub fn charge(adapter: &Adapter, json: &Json) -> Result<Observed, String> {
    let fields = &adapter.fields;
    let provider_ref = text(json, Some(&fields.provider_ref), "id")?.ok_or("a charge without its id")?;
    let raw = text(json, Some(&fields.status), "status")?.unwrap_or_default();
    let class = adapter.words.get(&raw).copied().unwrap_or(Class::Unrecognised);
    Ok(Observed {
        provider_ref: ProviderRef::new(provider_ref),
        reference: text(json, fields.reference.as_ref(), "reference")?.map(PaymentId::new),
        order: text(json, fields.order.as_ref(), "order")?.map(OrderId::new),
        provider_key: text(json, fields.provider_key.as_ref(), "key")?.map(|stored| adapter.key_encoding.read(stored)),
        class,
        raw,
        money: money(adapter, json)?,
        created_at: fields.created.as_ref().and_then(|at| instant(json.at(at)?)),
        mode: fields.live.as_ref().and_then(|at| mode(json.at(at)?)),
    })
}

/// An id or a word; absent when it is null or empty.
fn text(json: &Json, at: Option<&Pointer>, field: &str) -> Result<Option<String>, String> {
    let Some(value) = at.and_then(|at| json.at(at)) else {
        return Ok(None);
    };
    match value {
        Json::Text(text) | Json::Number(text) if text.chars().count() <= LONGEST => {
            // No database keeps a NUL: a word with one would be a look-up that cannot be stored.
            Ok(Some(text.replace('\0', "\u{fffd}")).filter(|text| !text.is_empty()))
        }
        Json::Text(_) | Json::Number(_) => Err(format!("a charge whose {field} is endless")),
        Json::Null | Json::Truth(_) | Json::List(_) | Json::Object(_) => {
            Err(format!("a charge whose {field} is {}", value.kind()))
        }
    }
}

fn money(adapter: &Adapter, json: &Json) -> Result<ObservedMoney, String> {
    let fields = &adapter.fields;
    let code = text(json, Some(&fields.currency), "currency")?.ok_or("a charge without its currency")?;
    let currency = Currency::new(code);
    let value = json.at(&fields.amount).ok_or("a charge without its amount")?;
    let amount = adapter.counting.minor(value, &currency)?;
    let part = |at: Option<&Pointer>| match at.and_then(|at| json.at(at)) {
        None => Ok(None),
        // Some providers only say whether all of it was captured.
        Some(Json::Truth(all)) => Ok(Some(if *all { amount } else { 0 })),
        Some(value) => adapter.counting.minor(value, &currency).map(Some),
    };
    Ok(ObservedMoney {
        amount,
        captured: part(fields.captured.as_ref())?,
        refunded: part(fields.refunded.as_ref())?,
        currency: currency.code().to_owned(),
    })
}

fn instant(value: &Json) -> Option<Instant> {
    match value {
        Json::Number(text) => DateTime::from_timestamp(text.parse().ok()?, 0),
        Json::Text(text) => Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc()),
        Json::Null | Json::Truth(_) | Json::List(_) | Json::Object(_) => None,
    }
}

fn mode(value: &Json) -> Option<Mode> {
    match value {
        Json::Truth(live) => Some(Mode::from(*live)),
        Json::Text(word) if word.eq_ignore_ascii_case("live") => Some(Mode::Live),
        Json::Text(word) if word.eq_ignore_ascii_case("test") => Some(Mode::Test),
        Json::Text(_) | Json::Null | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
    }
}

/// How a hit relates to what was asked, checked on our side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// It carries an id that was asked about, or does not say: the recovery table judges it.
    Ours,
    /// It carries another id: the provider's filter let it through.
    Foreign,
}

/// Re-checks a hit of a look-up by `matched`.
pub fn recheck(hit: &Observed, matched: Id, query: &Query) -> Hit {
    let says = |id: Id| match id {
        Id::ProviderRef => query.provider_ref.as_ref().map(|wanted| *wanted == hit.provider_ref),
        Id::ProviderKey => both(query.provider_key.as_ref(), hit.provider_key.as_ref()),
        Id::Payment => both(query.payment.as_ref(), hit.reference.as_ref()),
        Id::Order => both(query.order.as_ref(), hit.order.as_ref()),
    };
    match says(matched) {
        None | Some(true) => Hit::Ours,
        Some(false) => {
            let other =
                [Id::ProviderRef, Id::ProviderKey, Id::Payment, Id::Order].into_iter().any(|id| says(id) == Some(true));
            if other { Hit::Ours } else { Hit::Foreign }
        }
    }
}

/// Whether two ids agree; `None` when one side does not say.
fn both<T: PartialEq>(asked: Option<&T>, said: Option<&T>) -> Option<bool> {
    Some(asked? == said?)
}
