//! The action log page by page, each page in a read-only transaction of its own. The log only grows,
//! so pages of different moments fit together.

use std::collections::BTreeMap;

use super::contract::Question;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::reading::{Given, Reading};
use super::rows;
use crate::domain::chain::ChainRow;
use crate::domain::ids::LogId;
use crate::domain::port::StoreError;
use crate::domain::time::Instant;

/// Rows of one page.
const PAGE: i64 = 500;

/// One page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPage {
    /// The rows, in the order of their numbers.
    pub rows: Vec<ChainRow>,
    /// The database's clock at the reading.
    pub at: Instant,
    /// Where the next page goes on; `None` when this was the last.
    pub next: Option<LogId>,
}

impl PgStore {
    /// The page of the log after `after`; `None` begins before any number there can be.
    ///
    /// # Errors
    /// No connection, no schema `unstuck`, or an answer that does not fit the contract.
    pub async fn chain(&self, after: Option<LogId>) -> Result<ChainPage, StoreError> {
        let bound = self.bound().await?;
        let given = [Given::Int(after.map_or(i64::MIN, |id| id.0)), Given::Int(PAGE)];
        self.at_desk("the log", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            let rows = asking.ask(Question::Chain, &given, each(rows::chain_row)).await?;
            let full = usize::try_from(PAGE).is_ok_and(|page| rows.len() >= page);
            let next = rows.last().map(|row| row.id).filter(|_| full);
            Ok(ChainPage { rows, at: asking.reading.now(), next })
        })
        .await
    }
}
