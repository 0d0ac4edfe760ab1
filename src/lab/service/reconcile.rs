//! Reconciliation: the books against what the provider settled.
//!
//! Every difference has a class, and every class a default that can do no harm:
//!
//! | class | what it is | default |
//! |---|---|---|
//! | late | a payment of ours that is not final, and the report says how it ended | finish it: the report is evidence |
//! | orphan | money nobody's order accounts for | give it back, under one key (or only report it) |
//! | duplicate | a second charge of a payment that has one, or one charge listed twice | give the second back; count the line once |
//! | amount | another amount or currency, or a payment that says failed | change nothing: a person |
//! | missing | a success of ours that no report lists | change nothing: ask the provider, and look again |

mod classify;
mod findings;
mod report;

pub(super) use classify::{Judged, classify};
pub(super) use findings::{Finding, close, missing, note, returned, to_ask, to_refund};
pub(super) use report::import;

/// What was imported, and what was found.
pub(super) const TABLES: &str = "
CREATE TABLE settlement_reports (
  provider    text        NOT NULL,
  report      text        NOT NULL,
  closed_at   timestamptz NOT NULL,
  imported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider, report)
);
CREATE TABLE settlement_names (
  line_id         bigint PRIMARY KEY,
  reference       text,
  idempotency_key text,
  judged_at       timestamptz
);
CREATE TABLE settlement_findings (
  provider     text        NOT NULL,
  class        text        NOT NULL CHECK (class IN ('late', 'orphan', 'duplicate', 'amount', 'missing')),
  provider_ref text        NOT NULL,
  payment_id   text,
  remedy       text        NOT NULL CHECK (remedy IN ('finish', 'refund', 'count once', 'person', 'ask')),
  detail       text        NOT NULL,
  found_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  closed_at    timestamptz,
  PRIMARY KEY (provider, class, provider_ref)
);";

/// What is done about a charge nobody's order accounts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orphans {
    /// It is given back: the customer got nothing for it.
    #[default]
    Refund,
    /// It is reported, and a person decides.
    Report,
}

/// What kind of difference it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Late,
    Orphan,
    Duplicate,
    Amount,
    Missing,
}

/// What is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    Finish,
    Refund,
    CountOnce,
    Person,
    Ask,
}

impl Class {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Orphan => "orphan",
            Self::Duplicate => "duplicate",
            Self::Amount => "amount",
            Self::Missing => "missing",
        }
    }
}

impl Remedy {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Finish => "finish",
            Self::Refund => "refund",
            Self::CountOnce => "count once",
            Self::Person => "person",
            Self::Ask => "ask",
        }
    }
}
