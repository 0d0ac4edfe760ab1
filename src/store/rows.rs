//! Rows of the contract → domain values.
//!
//! What a database holds is hostile until it is read here: every column has its type, sign and range
//! checked, and what does not fit is an error that names file and column, never a panic. Status words
//! the console does not know are kept as `Unrecognised`, so that a new word is seen and not guessed at.

mod approval;
mod detail;
mod lists;
mod reader;
mod recon;

pub(super) use approval::{approval, resume};
pub(super) use detail::{breach, chain_row, evidence, log_entry, record, record_detail};
pub(super) use lists::{
    RatesLine, candidate, change, handed_over, offender, other, provider, pulses, rates, recoverer, timeline,
};
pub(super) use reader::Reader;
pub(super) use recon::{broken, report};
