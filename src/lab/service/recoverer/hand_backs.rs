//! Records that people handed back: taken at once, looked up again, and charged with the same key only if the
//! recovery table says so and the hand back's time is not up.
//!
//! A hand back ends `finished` or `refused`. Whatever keeps it from ending (a death, a call without an answer) leaves
//! it taken, and it is followed up when the lease is over: also by the next recoverer that logs in.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::postgres::PgListener;

use super::{Deed, Memory, Recovered, Worker, left};
use crate::domain::recovery::{Decision, Step};
use crate::lab::service::StallPoint;
use crate::lab::service::records::{Ending, HandBack, Held, Take};

/// The channel on which a hand back is announced.
const CHANNEL: &str = "unstuck_resume";
/// An announcement can get lost with its connection: what waits is asked for as well.
const EVERY: Duration = Duration::from_secs(2);

impl Worker {
    /// Serves hand backs for ever.
    pub(in crate::lab::service) async fn serve_hand_backs(self) {
        let mut known = HashMap::new();
        loop {
            if let Err(error) = self.listen(&mut known).await {
                tracing::debug!(%error, "the recoverer could not serve hand backs");
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn listen(&self, known: &mut HashMap<i64, Memory>) -> Result<(), sqlx::Error> {
        if !self.flow.records.may_serve().await? {
            return Ok(());
        }
        let mut listener = PgListener::connect_with(self.pool()).await?;
        listener.listen(CHANNEL).await?;
        loop {
            self.serve_all(known).await?;
            if let Ok(heard) = tokio::time::timeout(EVERY, listener.recv()).await {
                heard?;
            }
        }
    }

    async fn serve_all(&self, known: &mut HashMap<i64, Memory>) -> Result<(), sqlx::Error> {
        let unfinished = self.flow.records.unfinished().await?;
        known.retain(|id, _| unfinished.iter().any(|asked| asked.id == *id));
        for asked in &unfinished {
            let ended = self.follow_up(asked, known.entry(asked.id).or_default()).await;
            skipped(asked, ended);
        }
        for asked in &self.flow.records.waiting().await? {
            let ended = self.serve(asked).await;
            skipped(asked, ended);
        }
        Ok(())
    }

    async fn serve(&self, asked: &HandBack) -> Result<(), sqlx::Error> {
        let records = &self.flow.records;
        let (before, held) = match records.take_handed_back(asked).await? {
            Take::Taken(taken) => *taken,
            Take::Later => return Ok(()),
            Take::Refused(why) => return self.end(asked, Ending::Refused, &why).await,
        };
        self.note(&format!("took hand back {}: {} {}", asked.id, asked.record.scope, asked.record.key)).await?;
        self.flow.stalls.pass(&held.order, StallPoint::BeforeLookUp).await;
        // The people's look-ups and our own, on the record as it was before our take.
        let mut evidence = records.looked_up(asked.id).await?;
        evidence.push(self.look_up(&held).await?);
        let decision = self.decide(&before, &evidence).await?;
        self.go(asked, &held, &decision).await
    }

    /// Does what was decided about a record whose lease is ours, and says how it ended.
    async fn go(&self, asked: &HandBack, held: &Held, decision: &Decision) -> Result<(), sqlx::Error> {
        let Some(deed) = Deed::of(&decision.step) else {
            return self.refuse(asked, held, &left(decision)).await;
        };
        match self.carry_out(held, &deed).await? {
            Err(not_sent) => self.refuse(asked, held, not_sent.why()).await,
            Ok(answer) => match Recovered::by(&answer) {
                Recovered::Finished => {
                    let how = match &deed {
                        Deed::Adopt(charge) => format!("found charge {}, charged nothing", charge.provider_ref),
                        Deed::Fail(_, reason) => format!("the provider had said no ({reason}), charged nothing"),
                        Deed::Charge => "sent one charge with the same key".to_owned(),
                    };
                    let ending = self.ending(&asked.record).await?.unwrap_or_default();
                    self.end(asked, Ending::Finished, &format!("{how}: {ending}")).await
                }
                // Not ended: it is followed up when the lease is over.
                Recovered::Left(_) | Recovered::Unknown => Ok(()),
            },
        }
    }

    /// What was taken and has not ended: its worker died, or its call had no answer.
    async fn follow_up(&self, asked: &HandBack, memory: &mut Memory) -> Result<(), sqlx::Error> {
        let records = &self.flow.records;
        if let Some(ending) = self.ending(&asked.record).await? {
            return self.end(asked, Ending::Finished, &format!("found it done: {ending}")).await;
        }
        let now = records.now().await?;
        let Some(before) = records.facts(&asked.record).await? else {
            return self.end(asked, Ending::Refused, "the record is not there any more").await;
        };
        if before.record.lease.is_live(now) || memory.again.is_some_and(|again| again > now) {
            return Ok(());
        }
        let Some(seen) = Held::seen(&before) else {
            return self.end(asked, Ending::Refused, "it has no payment or no provider key").await;
        };
        let decision = self.judge(&before, &seen, memory).await?;
        // A charge is still what was approved only if nobody but the worker that died took the record since.
        let same = before.record.attempt.is_some_and(|attempt| attempt.0 == asked.attempt.saturating_add(1));
        match &decision.step {
            Step::HandBack if now >= asked.not_after || !same => {
                self.end(asked, Ending::Refused, "nothing was charged, and it is too late for it: hand it back again")
                    .await
            }
            Step::Adopt { .. } | Step::FinishAsFailed { .. } | Step::HandBack => {
                let Some(mut held) = records.take_as_seen(&before).await? else { return Ok(()) };
                held.not_after = Some(asked.not_after);
                self.go(asked, &held, &decision).await
            }
            Step::Wait { .. } | Step::LookUpFirst { .. } | Step::NothingToDo if now < asked.not_after => Ok(()),
            Step::Wait { .. }
            | Step::LookUpFirst { .. }
            | Step::NothingToDo
            | Step::Refuse(_)
            | Step::FinishAsReversed { .. }
            | Step::FinishAsNotCharged => self.end(asked, Ending::Refused, &left(&decision)).await,
        }
    }

    /// Gives the lease back, so that a person need not wait for its end.
    async fn refuse(&self, asked: &HandBack, held: &Held, why: &str) -> Result<(), sqlx::Error> {
        self.flow.records.give_back(held, why).await?;
        self.end(asked, Ending::Refused, why).await
    }

    async fn end(&self, asked: &HandBack, how: Ending, detail: &str) -> Result<(), sqlx::Error> {
        // Ended by somebody else, or the log is busy and it comes again: nothing to tell.
        if self.flow.records.end_hand_back(asked, how, detail).await? != "done" {
            return Ok(());
        }
        self.note(&format!("hand back {} {}: {detail}", asked.id, how.word())).await
    }
}

/// One that cannot be served now keeps nobody waiting: it comes again.
fn skipped(asked: &HandBack, ended: Result<(), sqlx::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, hand_back = asked.id, "a hand back could not be served");
    }
}
