//! What a store would answer the ticket screen, and cases to answer with.

use std::collections::BTreeMap;

use unstuck::app::effect::{ExportFile, TicketWish};
use unstuck::app::msg::TicketMsg;
use unstuck::domain::case::Case;
use unstuck::domain::clue::Clue;
use unstuck::domain::ids::{OrderId, PaymentId, ProviderRef, RecordId};
use unstuck::domain::money::Money;
use unstuck::domain::port::{Candidate, Matched, Other};

use super::scenario::ago;

/// What is known, and what was asked and written.
#[derive(Default)]
pub struct Desk {
    /// What every question finds.
    pub found: Vec<Candidate>,
    /// What an amount and a day find.
    pub paid: Vec<Candidate>,
    /// The only text that finds it.
    pub exactly: Option<&'static str>,
    /// What is known about the orders of records.
    pub cases: BTreeMap<RecordId, Case>,
    /// Others with whatever cause is asked for.
    pub others: Vec<Other>,
    /// The texts that were looked for.
    pub asked: Vec<String>,
    /// The files that were written.
    pub exported: Vec<ExportFile>,
}

impl Desk {
    pub fn answer(&mut self, wish: TicketWish) -> TicketMsg {
        match wish {
            TicketWish::Find(question, clue) => {
                let (text, paid) = match clue {
                    Clue::Id(text) => (text, false),
                    Clue::Paid(paid) => (format!("{:?}", paid.amounts), true),
                };
                let found = match self.exactly {
                    _ if paid => self.paid.clone(),
                    Some(only) if only != text => vec![],
                    Some(_) | None => self.found.clone(),
                };
                self.asked.push(text);
                TicketMsg::Found(question, Ok(found))
            }
            TicketWish::Case(id) => {
                let case = self.cases.get(&id).cloned().map(Box::new);
                TicketMsg::Case(id, Ok(case))
            }
            TicketWish::Others(cause, since) => {
                let since_then = self.others.iter().filter(|other| other.at >= since).cloned().collect();
                TicketMsg::Others(cause, since, Ok(since_then))
            }
        }
    }
}

/// The oldest stuck record of the incident: cases are told of it.
pub fn oldest() -> RecordId {
    RecordId::new("shop-eu", "ord-88213-7Q4K91")
}

/// A case of the fixtures, by the beginning of its name, told of the incident's first two records and its evening.
pub fn case(name: &str) -> Case {
    let text = match name {
        "twice" => include_str!("../fixtures/triage/shared/01-new-key-per-attempt.toml"),
        "hold" => include_str!("../fixtures/triage/shared/04-hold-only.toml"),
        "latent" => include_str!("../fixtures/triage/shared/05-latent-double.toml"),
        "three" => include_str!("../fixtures/triage/own/three-charges.toml"),
        "contradiction" => include_str!("../fixtures/triage/own/contradiction-books-and-provider.toml"),
        other => panic!("no case {other}"),
    };
    let text = text.replace("\"shop\"", "\"shop-eu\"");
    let text = text.replace("\"k-1\"", "\"ord-88213-7Q4K91\"").replace("\"k-2\"", "\"ord-88219-2MZ017\"");
    toml::from_str(&text).expect("a case")
}

/// The same without the provider's word: nobody has asked yet.
pub fn unasked(name: &str) -> Case {
    Case { charges: None, webhooks: None, settlements: None, ..case(name) }
}

pub fn candidate(scope: &str, key: &str, order: &str, why: &str) -> Candidate {
    Candidate {
        id: RecordId::new(scope, key),
        order: Some(OrderId::new(order)),
        payment: Some(PaymentId::new(order.replace("ord", "pay"))),
        why: why.into(),
        money: Some(Money::new(12_840, "EUR")),
        at: Some(ago(1_332)),
        matched: Matched::Id,
    }
}

/// One candidate, which is what was asked for.
pub fn exact() -> Vec<Candidate> {
    vec![candidate("shop-eu", "ord-88213-7Q4K91", "ord_88213", "order ord_88213")]
}

/// The same order's name in two scopes, and an amount.
pub fn ambiguous() -> Vec<Candidate> {
    vec![
        candidate("shop-eu", "ord-88213-7Q4K91", "ord_88213", "order ord_88213"),
        candidate("shop-uk", "ord-88213-9XX111", "ord_88213", "order ord_88213"),
        Candidate {
            matched: Matched::Amount,
            ..candidate("shop-eu", "ord-88219-2MZ017", "ord_88219", "amount and day")
        },
    ]
}

/// Others: one of today, one of an amount nobody knows, one of last week.
pub fn others() -> Vec<Other> {
    let orphan = Other {
        id: None,
        order: None,
        provider_ref: Some(ProviderRef::new("ch_orphan1")),
        at: ago(5_000),
        at_risk: Some(Money::new(1_200, "EUR")),
        what: "charge of acme-psp in report 2026-11-30, and no payment of ours".into(),
    };
    let other = |key: &str, order: &str, seconds: u64, at_risk: Option<Money>| Other {
        id: Some(RecordId::new("shop-eu", key)),
        order: Some(OrderId::new(order)),
        provider_ref: None,
        at: ago(seconds),
        at_risk,
        what: "two keys for one order, two charges".into(),
    };
    vec![
        other("ord-88219-2MZ017", "ord_88219", 600, Some(Money::new(4_900, "EUR"))),
        other("ord-88231-B81C55", "ord_88231", 7_200, None),
        orphan,
        other("ord-70001-AAAA11", "ord_70001", 3 * 86_400, Some(Money::new(500, "JPY"))),
    ]
}
