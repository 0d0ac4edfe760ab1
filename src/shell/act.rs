//! Carrying out effects. Each becomes a task; its answer comes back as a message. None is awaited by the loop.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use super::export;
#[cfg(debug_assertions)]
use super::fault::{self, Fault};
use super::poll::StoreSlot;
use crate::app::effect::{Effect, Run, TicketWish};
use crate::app::msg::{Acted, GuardMsg, Msg, TicketMsg};
use crate::domain::action::Change;
use crate::domain::approval::Consent;
use crate::domain::clue::Clue;
use crate::domain::evidence::Evidence;
use crate::domain::guard::Armed;
use crate::domain::ids::{LogId, Operator, RecordId};
use crate::domain::log::Outcome;
use crate::domain::port::{Dossier, Provider, Query, Store, StoreError};

/// Where evidence of a look-up goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Into the database, with an intent and an outcome in the log.
    Stored,
    /// Nowhere: it is kept by the console for this session, and marked so.
    ForTheSession,
}

/// What carries effects out.
pub struct Hands {
    store: StoreSlot,
    providers: Vec<Arc<dyn Provider>>,
    operator: Operator,
    nudge: Arc<Notify>,
    msgs: mpsc::Sender<Msg>,
    tasks: JoinSet<()>,
}

impl Hands {
    /// Hands for this operator.
    pub fn new(
        store: StoreSlot,
        providers: Vec<Arc<dyn Provider>>,
        operator: Operator,
        nudge: Arc<Notify>,
        msgs: mpsc::Sender<Msg>,
    ) -> Self {
        #[cfg(debug_assertions)]
        fault::listen();
        Self { store, providers, operator, nudge, msgs, tasks: JoinSet::new() }
    }

    /// Starts an effect. Effects of the loop itself (quit, redraw, copy) are not for the hands.
    pub fn start(&mut self, effect: Effect, keeping: Keeping) {
        while self.tasks.try_join_next().is_some() {}
        match effect {
            Effect::PollNow => self.nudge.notify_one(),
            Effect::Open(id) => self.answer(move |work| async move {
                let read = work.dossier(&id).await;
                Msg::Dossier(id, read)
            }),
            Effect::Find(text) => self.answer(move |work| async move {
                let found = match work.store() {
                    Ok(store) => store.find(&Clue::Id(text.clone())).await,
                    Err(away) => Err(away),
                };
                Msg::Found(text, found)
            }),
            Effect::Prepare(run, id) => {
                self.answer(move |work| async move { Msg::Guard(run, GuardMsg::Prepared(work.dossier(&id).await)) });
            }
            Effect::Check(run, id) => {
                self.answer(move |work| async move { Msg::Guard(run, GuardMsg::Checked(work.dossier(&id).await)) });
            }
            Effect::Act(run, armed) => {
                let (id, work) = (armed.id(), self.work());
                self.change(run, id, work.act(*armed, keeping));
            }
            Effect::Consent(run, consent) => {
                let (id, work) = (consent.id(), self.work());
                self.change(run, id, work.consent(*consent));
            }
            Effect::ReadBack(run, intent) => self.answer(move |work| async move {
                Msg::Guard(run, GuardMsg::ReadBack(work.read_back(intent).await.map(|entry| entry.map(Box::new))))
            }),
            Effect::Refused(event) => self.answer(move |work| async move {
                let written = match work.store() {
                    Ok(store) => store.refused(&event).await,
                    Err(away) => Err(away),
                };
                match written {
                    Ok(()) => Msg::Said("The refusal was written to the log.".to_owned()),
                    Err(why) => Msg::Said(format!("The refusal was not written to the log: {why}.")),
                }
            }),
            Effect::Ticket(wish) => self.answer(move |work| work.ticket(wish)),
            Effect::Export(files) => self.answer(move |_| async move { Msg::Said(export::write(files).await) }),
            Effect::Quit | Effect::Redraw | Effect::Copy(_) => {}
        }
    }

    /// Brings about the panic that a test asked for, if one did.
    #[cfg(debug_assertions)]
    pub fn fault(&mut self) {
        match Fault::asked() {
            None => {}
            Some(fault @ Fault::Ui) => drop(fault.strike()),
            Some(fault @ Fault::Task) => self.answer(move |_| async move { Msg::Said(fault.strike()) }),
        }
    }

    /// Waits for what is still running: an action that was sent must get its answer.
    pub async fn finish(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn work(&self) -> Work {
        Work { store: self.store.clone(), providers: self.providers.clone(), operator: self.operator.clone() }
    }

    fn answer<F, A>(&mut self, task: F)
    where
        F: FnOnce(Work) -> A,
        A: Future<Output = Msg> + Send + 'static,
    {
        let msgs = self.msgs.clone();
        let work = task(self.work());
        self.tasks.spawn(async move {
            let msg = match tokio::spawn(work).await {
                Ok(msg) => msg,
                Err(_) => Msg::Said("A background task died; the log has the details.".to_owned()),
            };
            // The console is gone: nobody to tell.
            let _ = msgs.send(msg).await;
        });
    }

    /// Starts what may change something about a record, and reads the record back when it ended, however it did.
    fn change<A>(&mut self, run: Run, id: RecordId, sending: A)
    where
        A: Future<Output = (Outcome, Option<Evidence>)> + Send + 'static,
    {
        let msgs = self.msgs.clone();
        let reader = self.work();
        let changing = async move {
            let (outcome, evidence) = match tokio::spawn(watched(sending)).await {
                Ok(done) => done,
                Err(_) => {
                    (Outcome::Unknown { why: "the task died; the log has the details".to_owned(), intent: None }, None)
                }
            };
            let after = reader.dossier(&id).await.map(|read| read.map(|dossier| *dossier));
            let evidence = evidence.map(|heard| stored_twin(&after, &heard).unwrap_or(heard));
            let acted = Acted { outcome, evidence, after };
            let _ = msgs.send(Msg::Guard(run, GuardMsg::Acted(Box::new(acted)))).await;
        };
        self.tasks.spawn(watched(changing));
    }
}

/// A task of an action: a test may stop it at every await.
#[cfg(debug_assertions)]
fn watched<F: Future>(work: F) -> impl Future<Output = F::Output> {
    fault::action(work)
}

/// A task of an action.
#[cfg(not(debug_assertions))]
fn watched<F: Future>(work: F) -> F {
    work
}

/// The stored form of what a look-up just heard: the same words with the id of their row. None: it was not stored.
fn stored_twin(after: &Result<Option<Dossier>, StoreError>, heard: &Evidence) -> Option<Evidence> {
    let dossier = after.as_ref().ok()?.as_ref()?;
    let same = |stored: &&Evidence| {
        stored.id.is_some()
            && stored.operator == heard.operator
            // The database rounds to microseconds.
            && stored.started_at.signed_duration_since(heard.started_at).num_milliseconds() == 0
            && stored.outcome.word() == heard.outcome.word()
    };
    dossier.evidence.iter().find(same).cloned()
}

/// What one task needs.
#[derive(Clone)]
struct Work {
    store: StoreSlot,
    providers: Vec<Arc<dyn Provider>>,
    operator: Operator,
}

impl Work {
    fn store(&self) -> Result<Arc<dyn Store>, StoreError> {
        let known = self.store.borrow().clone();
        known.ok_or_else(|| StoreError::Unreachable { why: "not connected yet".to_owned() })
    }

    async fn dossier(&self, id: &RecordId) -> Result<Option<Box<Dossier>>, StoreError> {
        let store = self.store()?;
        Ok(store.dossier(id).await?.map(Box::new))
    }

    async fn read_back(&self, intent: LogId) -> Result<Option<crate::domain::log::LogEntry>, StoreError> {
        self.store()?.read_back(intent).await
    }

    async fn ticket(self, wish: TicketWish) -> Msg {
        let store = self.store();
        Msg::Ticket(match wish {
            TicketWish::Find(question, clue) => TicketMsg::Found(
                question,
                match store {
                    Ok(store) => store.find(&clue).await,
                    Err(away) => Err(away),
                },
            ),
            TicketWish::Case(id) => {
                let read = match store {
                    Ok(store) => store.case(&id).await,
                    Err(away) => Err(away),
                };
                TicketMsg::Case(id, read)
            }
            TicketWish::Others(cause, since) => TicketMsg::Others(
                cause,
                since,
                match store {
                    Ok(store) => store.others(cause, since).await,
                    Err(away) => Err(away),
                },
            ),
        })
    }

    async fn act(self, armed: Armed, keeping: Keeping) -> (Outcome, Option<Evidence>) {
        let store = match self.store() {
            Ok(store) => store,
            Err(why) => {
                return (Outcome::Refused { why: format!("Nothing was sent: {why}.") }, None);
            }
        };
        if armed.change() == &Change::LookUp {
            self.look_up(store.as_ref(), armed, keeping).await
        } else {
            (store.act(armed).await, None)
        }
    }

    async fn consent(self, consent: Consent) -> (Outcome, Option<Evidence>) {
        match self.store() {
            Ok(store) => (store.consent(consent).await, None),
            Err(why) => (Outcome::Refused { why: format!("Nothing was sent: {why}.") }, None),
        }
    }

    async fn look_up(&self, store: &dyn Store, armed: Armed, keeping: Keeping) -> (Outcome, Option<Evidence>) {
        let refused = |why: String| (Outcome::Refused { why }, None);
        let dossier = match store.dossier(&armed.id()).await {
            Ok(Some(dossier)) => dossier,
            Ok(None) => return refused("Nothing was sent: the record is not there.".to_owned()),
            Err(why) => return refused(format!("Nothing was sent: {why}.")),
        };
        let record = &dossier.detail.record;
        let Some(provider) = self.providers.iter().find(|provider| Some(provider.name()) == record.provider.as_ref())
        else {
            let name = record.provider.as_ref().map_or("(not known)", |name| name.as_str());
            return refused(format!(
                "Nothing was sent: no adapter is configured for provider {name}. Add it to unstuck.toml."
            ));
        };
        let query = Query {
            id: record.id.clone(),
            provider_ref: record.provider_ref.clone(),
            provider_key: dossier.detail.provider_key.clone(),
            payment: record.payment.clone(),
            order: record.order.clone(),
            money: record.money.clone(),
            operator: self.operator.clone(),
        };
        match keeping {
            Keeping::ForTheSession => {
                let evidence = provider.lookup(&query).await;
                (Outcome::Done { log: None, detail: Some(evidence.outcome.word().to_owned()) }, Some(evidence))
            }
            Keeping::Stored => {
                let intent = match store.begin_lookup(&armed).await {
                    Ok(intent) => intent,
                    Err(why) => {
                        return refused(format!("Nothing was sent: the intent could not be logged ({why})."));
                    }
                };
                let evidence = provider.lookup(&query).await;
                let outcome = store.keep(armed, intent, &evidence).await;
                (outcome, Some(evidence))
            }
        }
    }
}
