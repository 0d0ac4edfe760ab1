//! The adapter against a real server on this machine: every odd answer a provider can give.

mod answers;
mod lists;
mod lookups;
mod secrets;
mod server;

use std::time::Duration;

use crate::domain::evidence::{Evidence, LookupOutcome, Observed};
use crate::domain::ids::{Operator, OrderId, PaymentId, ProviderKey, ProviderRef, RecordId};
use crate::domain::port::{Provider as _, Query};

use super::{Adapter, HttpProvider, Limits, built_in, read_adapter};
use server::Server;

/// Short limits: the tests wait for time-outs.
fn limits() -> Limits {
    Limits {
        request: Duration::from_millis(400),
        whole: Duration::from_millis(1_500),
        body: 64 * 1024,
        pages: 4,
        per_second: 1_000,
    }
}

fn lab() -> Adapter {
    built_in("lab").unwrap()
}

fn open(adapter: Adapter, server: &Server) -> HttpProvider {
    HttpProvider::open(adapter.at(server.address()), &|_| None, limits()).unwrap()
}

/// A record that carries every id.
fn query() -> Query {
    Query {
        id: RecordId::new("shop-eu", "k1"),
        provider_ref: Some(ProviderRef::new("ch_1")),
        provider_key: Some(ProviderKey::new("pay:shop-eu:k1")),
        payment: Some(PaymentId::new("pay_1")),
        order: Some(OrderId::new("A1")),
        money: None,
        operator: Operator::new("ada"),
    }
}

/// A record of which only the provider's id is known.
fn only_ref() -> Query {
    Query { provider_key: None, payment: None, order: None, ..query() }
}

/// A record whose provider call never came back.
fn without_ref() -> Query {
    Query { provider_ref: None, ..query() }
}

fn charge(id: &str, status: &str) -> String {
    format!(
        r#"{{"id":"{id}","reference":"pay_1","idempotency_key":"pay:shop-eu:k1","order_id":"A1","status":"{status}",
        "amount":1934,"captured":1934,"refunded":0,"currency":"eur","created":1764511200,"livemode":true,"failure_code":null}}"#
    )
}

fn page(items: &[String], has_more: &str) -> String {
    format!(r#"{{"data":[{}],"has_more":{has_more}}}"#, items.join(","))
}

const NO_SUCH_CHARGE: &str = r#"{"error":{"code":"charge_not_found"}}"#;

async fn ask(adapter: Adapter, server: &Server, query: &Query) -> Evidence {
    open(adapter, server).lookup(query).await
}

fn found(evidence: &Evidence) -> &[Observed] {
    match &evidence.outcome {
        LookupOutcome::Found { observed } => observed,
        other @ (LookupOutcome::NotFound { .. } | LookupOutcome::Unreachable { .. }) => {
            panic!("{other:?}")
        }
    }
}

#[track_caller]
fn unreachable(evidence: &Evidence, part: &str) {
    match &evidence.outcome {
        LookupOutcome::Unreachable { why, .. } => assert!(why.contains(part), "{why}"),
        other @ (LookupOutcome::NotFound { .. } | LookupOutcome::Found { .. }) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn every_built_in_adapter_reads() {
    for (name, text) in super::BUILT_IN {
        let adapter = read_adapter(text).unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}"));
        assert_eq!(adapter.name.as_str(), name);
    }
    assert!(built_in("adyen").is_none());
}
