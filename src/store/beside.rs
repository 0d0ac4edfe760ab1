//! Work beside the polls, one piece at a time: the hour of requests before the start, and full audits.
//!
//! On a connection of its own, so that no poll waits for it. An audit that does not finish in its time
//! is NOT KNOWN, never "holds".

use std::collections::BTreeMap;
use std::sync::Arc;

use super::connect::{Bound, Standing};
use super::poll::rates::{back_fill, give_up_back_fill, wants_back_fill};
use super::poll::rules::policy_document;
use super::poll::{Asking, each};
use super::postgres::PgStore;
use super::profile::RuleFile;
use super::reading::{self, Given, Line, Reading};
use super::{clock, locked, rows};
use crate::domain::port::{Beside, StoreError};

impl PgStore {
    /// Does the next piece of work that is due. Meant to be called again and again by one task.
    ///
    /// # Errors
    /// The database went away, or a piece could not be read; what that means for the screen is already
    /// in the next snapshot.
    pub(super) async fn next_piece(&self) -> Result<Beside, StoreError> {
        let Some((looked, bound)) = self.known() else {
            return Ok(Beside::Idle);
        };
        let mut line = self.beside.lock().await;
        let age = clock().duration_since(looked);
        let due = match bound.standing() {
            Standing::Whole => false,
            Standing::CutShort => age >= self.options.look_again,
            Standing::Unfit => age >= self.options.look_again.saturating_mul(6),
        };
        if due {
            self.look_around().await?;
            return Ok(Beside::Worked);
        }
        if wants_back_fill(&locked(&self.books)) {
            return self.one_slice(&mut line, bound).await;
        }
        self.one_audit(&mut line, bound).await
    }

    async fn one_slice(&self, kept: &mut Option<Line>, bound: Arc<Bound>) -> Result<Beside, StoreError> {
        let line = self.line(kept).await?;
        let time = self.options.read_within;
        let books = &self.books;
        let read = reading::read(&self.options, line, time, "the last hour", async |reading: &mut Reading<'_>| {
            let mut denied = BTreeMap::new();
            let mut asking = Asking { bound: &bound, denied: &mut denied, reading };
            back_fill(&mut asking, books).await
        })
        .await;
        *kept = self.kept(read.line);
        match read.result {
            Ok(()) => Ok(Beside::Worked),
            Err(error @ (StoreError::TimedOut { .. } | StoreError::Unreachable { .. })) => Err(error),
            Err(error) => {
                give_up_back_fill(&mut locked(&self.books));
                Err(error)
            }
        }
    }

    async fn one_audit(&self, kept: &mut Option<Line>, bound: Arc<Bound>) -> Result<Beside, StoreError> {
        let line = self.line(kept).await?;
        let policy = &self.options.policy.rules;
        let began = clock();
        let books = &self.books;
        let read = reading::read(
            &self.options,
            line,
            self.options.audit_within,
            "the full audit",
            async |reading: &mut Reading<'_>| {
                let now = reading.now();
                let Some(file) = locked(books).rules.next_audit(bound.rules(), policy, now) else {
                    return Ok(None);
                };
                let given = [Given::At(None), Given::Json(policy_document(policy))];
                let found = reading.ask(&file.checked, &given).await;
                let found = found.and_then(|rows| each(rows::breach)(file.checked.file(), &rows));
                Ok(Some((file, now, found)))
            },
        )
        .await;
        *kept = self.kept(read.line);
        let Some((file, at, found)) = read.result? else {
            return Ok(Beside::Idle);
        };
        let took = clock().duration_since(began);
        let every = self.options.audit_every;
        let found = found.map_err(|why| self.unfinished(&file, &why));
        locked(&self.books).rules.audited(&file.rule.id, found, at, took, every);
        Ok(Beside::Worked)
    }

    fn unfinished(&self, file: &RuleFile, why: &StoreError) -> String {
        match why {
            StoreError::TimedOut { .. } => format!(
                "the full audit of {} did not finish within {} s",
                file.rule.id,
                self.options.audit_within.as_secs()
            ),
            StoreError::Unreachable { .. }
            | StoreError::Denied { .. }
            | StoreError::Contract { .. }
            | StoreError::CannotAnswer { .. }
            | StoreError::Database { .. } => why.to_string(),
        }
    }

    async fn line(&self, kept: &mut Option<Line>) -> Result<Line, StoreError> {
        match kept.take() {
            Some(line) => Ok(line),
            None => Line::open(&self.options).await,
        }
    }
}
