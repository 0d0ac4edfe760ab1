//! One poll: every question of the first screens in one transaction, one picture of one moment.
//!
//! A question that fails leaves only its own panel not known. Signals and lists are asked every time,
//! the rest every few seconds, rules when their window is due. Nothing here waits for a full audit or
//! for the hour of requests before the start: those are read beside (`beside`).

pub(super) mod rates;
pub(super) mod rules;

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::postgres::PgRow;
use tokio::time::Instant;

use super::clock;
use super::connect::Bound;
use super::contract::Question;
use super::options::StoreOptions;
use super::reading::{Given, Line, Reading};
use super::rows;
use crate::domain::answer::Answer;
use crate::domain::approval::{ApprovalRequest, ResumeRequest};
use crate::domain::log::LogEntry;
use crate::domain::port::StoreError;
use crate::domain::recon::Reconciliation;
use crate::domain::snapshot::{Cost, HandedOver, Offender, ProviderHealth, Recoverer, Snapshot, WhatChanged};
use crate::domain::time::Seconds;
use rates::RatesBook;
use rules::RuleBook;

/// How often the slower panels are asked.
const SLOW: Duration = Duration::from_secs(5);

/// How long a question that was denied is left alone.
const DENIED_AGAIN: Duration = Duration::from_secs(10);

/// How far back the providers' numbers, the offenders and the changes go.
const PROVIDERS_BACK: Seconds = Seconds(600);
const OFFENDERS_BACK: Seconds = Seconds(900);
const CHANGES_BACK: Seconds = Seconds(7_200);

/// How many lines the short lists have.
const SHORT: i64 = 50;

/// What polls keep between each other.
#[derive(Default)]
pub(super) struct PollState {
    /// The connection; none before the first poll and after a loss.
    pub(super) line: Option<Line>,
    slow: Option<(Instant, Slow)>,
    denied: Denied,
}

impl PollState {
    /// Forgets what was true of the last connection only.
    pub(super) fn connected(&mut self) {
        self.denied.clear();
        self.slow = None;
    }
}

/// Questions our role may not ask, and since when: tried again after a while, so that a GRANT shows by itself.
pub(super) type Denied = BTreeMap<Question, (Instant, StoreError)>;

/// The panels that are asked less often.
#[derive(Clone)]
struct Slow {
    providers: Answer<Vec<ProviderHealth>>,
    recoverer: Answer<Recoverer>,
    offenders: Answer<Vec<Offender>>,
    changes: Answer<Vec<WhatChanged>>,
    log: Answer<Vec<LogEntry>>,
    handed_over: Answer<Vec<HandedOver>>,
    approvals: Answer<Vec<ApprovalRequest>>,
    resumes: Answer<Vec<ResumeRequest>>,
    reconciliation: Answer<Reconciliation>,
}

/// What polls and the work beside them share.
#[derive(Default)]
pub(super) struct Books {
    pub(super) rates: RatesBook,
    pub(super) rules: RuleBook,
}

/// Asks everything that is due, in the running transaction.
pub(super) async fn poll(
    options: &StoreOptions,
    bound: &Bound,
    state: &mut PollState,
    books: &std::sync::Mutex<Books>,
    reading: &mut Reading<'_>,
) -> Result<Snapshot, StoreError> {
    let began = clock();
    let now = reading.now();
    let mut asking = Asking { bound, denied: &mut state.denied, reading };
    let stuck_after = int(options.policy.stuck_after);
    let outbox_limit = int(Seconds(options.policy.rules.outbox_limit_s.unwrap_or(60)));
    let page = Given::Int(options.page);

    let pulse = asking.panel(Question::Pulse, &[stuck_after.clone(), outbox_limit], rows::pulses).await;
    let stuck = asking.panel(Question::Stuck, &[stuck_after, page.clone()], each(rows::record)).await;
    let unknown = asking.panel(Question::Unknown, std::slice::from_ref(&page), each(rows::record)).await;
    let rates = rates::tail(&mut asking, books).await;
    let slow = match &state.slow {
        Some((due, slow)) if clock() < *due => slow.clone(),
        Some(_) | None => {
            let slow = slow_panels(&mut asking, &page).await;
            state.slow = Some((clock() + SLOW, slow.clone()));
            slow
        }
    };
    rules::windows(&options.policy.rules, &mut asking, books).await;
    asking.reading.lost()?;
    let rules = super::locked(books).rules.reports(bound.rules(), &bound.profile.rules_off, &options.policy.rules);
    Ok(Snapshot {
        db_now: now,
        pulse,
        stuck,
        unknown,
        rates,
        providers: slow.providers,
        recoverer: slow.recoverer,
        offenders: slow.offenders,
        changes: slow.changes,
        rules,
        log: slow.log,
        handed_over: slow.handed_over,
        approvals: slow.approvals,
        resumes: slow.resumes,
        reconciliation: slow.reconciliation,
        cost: Cost {
            queries: asking.reading.asked(),
            millis: u64::try_from(clock().duration_since(began).as_millis()).unwrap_or(u64::MAX),
        },
    })
}

/// The reports and what is open of them: known together or not at all.
async fn reconciliation(asking: &mut Asking<'_, '_>, page: &Given) -> Answer<Reconciliation> {
    let at = asking.reading.now();
    let given = std::slice::from_ref(page);
    let reports = match asking.ask(Question::Reports, given, each(rows::report)).await {
        Ok(reports) => reports,
        Err(why) => return Answer::not_known(why.to_string()),
    };
    match asking.ask(Question::Breaks, given, each(rows::broken)).await {
        Ok(breaks) => Answer::known(Reconciliation { reports, breaks }, at),
        Err(why) => Answer::not_known(why.to_string()),
    }
}

async fn slow_panels(asking: &mut Asking<'_, '_>, page: &Given) -> Slow {
    let now = asking.reading.now();
    let back = |length: Seconds| Given::At(Some(length.before(now)));
    let short = Given::Int(SHORT);
    Slow {
        providers: asking.panel(Question::Providers, &[back(PROVIDERS_BACK)], each(rows::provider)).await,
        recoverer: asking.panel(Question::Recoverer, &[], only(rows::recoverer)).await,
        offenders: asking
            .panel(Question::Offenders, &[back(OFFENDERS_BACK), short.clone()], each(rows::offender))
            .await,
        changes: asking.panel(Question::Changes, &[back(CHANGES_BACK), short.clone()], each(rows::change)).await,
        log: asking.panel(Question::Log, std::slice::from_ref(&short), each(rows::log_entry)).await,
        approvals: asking.panel(Question::Approvals, std::slice::from_ref(&short), each(rows::approval)).await,
        resumes: asking.panel(Question::Requests, &[short], each(rows::resume)).await,
        handed_over: asking.panel(Question::HandedOver, std::slice::from_ref(page), each(rows::handed_over)).await,
        reconciliation: reconciliation(asking, page).await,
    }
}

/// A transaction in which the questions of one profile are asked.
pub(super) struct Asking<'a, 'l> {
    pub(super) bound: &'a Bound,
    pub(super) denied: &'a mut Denied,
    pub(super) reading: &'a mut Reading<'l>,
}

impl Asking<'_, '_> {
    /// Asks one question and reads its rows.
    pub(super) async fn ask<T>(
        &mut self,
        question: Question,
        given: &[Given],
        read: impl FnOnce(&str, &[PgRow]) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some((since, why)) = self.denied.get(&question)
            && clock().duration_since(*since) < DENIED_AGAIN
        {
            return Err(why.clone());
        }
        let checked = self.bound.question(question)?;
        let rows = self.reading.ask(checked, given).await;
        if let Err(denied @ StoreError::Denied { .. }) = &rows {
            self.denied.insert(question, (clock(), denied.clone()));
        }
        read(checked.file(), &rows?)
    }

    /// The same as a panel: a failure is an answer.
    async fn panel<T>(
        &mut self,
        question: Question,
        given: &[Given],
        read: impl FnOnce(&str, &[PgRow]) -> Result<T, StoreError>,
    ) -> Answer<T> {
        match self.ask(question, given, read).await {
            Ok(value) => Answer::known(value, self.reading.now()),
            Err(why) => Answer::not_known(why.to_string()),
        }
    }
}

/// Reads every row the same way; one that cannot be read makes the whole list not known, because a
/// list with a hole looks like a list without.
pub(super) fn each<T>(
    read: fn(&str, &PgRow) -> Result<T, StoreError>,
) -> impl FnOnce(&str, &[PgRow]) -> Result<Vec<T>, StoreError> {
    move |file, rows| rows.iter().map(|row| read(file, row)).collect()
}

/// Reads the one row there must be.
fn only<T>(read: fn(&str, &PgRow) -> Result<T, StoreError>) -> impl FnOnce(&str, &[PgRow]) -> Result<T, StoreError> {
    move |file, rows| match rows {
        [row] => read(file, row),
        _ => Err(StoreError::CannotAnswer { why: format!("{file} gave {} rows instead of one", rows.len()) }),
    }
}

/// Seconds as a parameter.
fn int(seconds: Seconds) -> Given {
    Given::Int(i64::try_from(seconds.0).unwrap_or(i64::MAX))
}
