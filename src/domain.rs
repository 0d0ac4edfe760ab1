//! What is true about money operations: ids, money, records, evidence, the recovery table, the guard.
//!
//! This room knows no screen, no database, no provider and no clock: everything is given as a
//! value, time included. The vocabulary is the glossary's (`ARCHITECTURE.md`), one word per concept.

pub mod action;
pub mod alarm;
pub mod answer;
pub mod approval;
pub mod case;
pub mod chain;
pub mod clue;
pub mod environment;
pub mod evidence;
pub mod fault;
pub mod guard;
pub mod ids;
pub mod lanes;
pub mod log;
pub mod mask;
pub mod money;
pub mod payment;
pub mod policy;
pub mod port;
pub mod promise;
pub mod rates;
pub mod recon;
pub mod record;
pub mod recovery;
pub mod reply;
pub mod rule;
#[cfg(test)]
pub(crate) mod samples;
pub mod snapshot;
pub mod time;
pub mod trend;
pub mod triage;
