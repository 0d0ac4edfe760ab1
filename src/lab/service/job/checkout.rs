//! The orchestrator of checkouts: one saga at a time, from the step it is known to have reached.

use std::time::Duration;

use futures_util::FutureExt;

use super::{Job, Tally, Workshop};
use crate::lab::LabError;
use crate::lab::service::StallPoint;
use crate::lab::service::checkout::{Checkout, Ended, SagaState, Step, backoff};

pub(super) static JOB: Job = Job {
    name: "checkout",
    sentence: "moves checkouts forward; before the capture also back",
    every: Duration::from_millis(250),
    pass: |workshop| pass(workshop).boxed(),
};

async fn pass(workshop: &Workshop) -> Result<Tally, LabError> {
    let mut tally = Tally::default();
    // A worker that dies gives its saga back by itself, after as long as a payment's lease.
    while let Some(checkout) = Checkout::next(workshop.pool(), workshop.options.lease).await? {
        tally.seen += 1;
        let moved = match checkout.state {
            SagaState::Running => forward(workshop, &checkout).await?,
            SagaState::Undoing => back(workshop, &checkout).await?,
            SagaState::Shipped | SagaState::Cancelled => false,
        };
        tally.changed += usize::from(moved);
    }
    Ok(tally)
}

/// Whether the saga reached its end, or turned round.
async fn forward(workshop: &Workshop, checkout: &Checkout) -> Result<bool, LabError> {
    let pool = workshop.pool();
    for (step, status) in checkout.steps(pool).await? {
        if status == "done" {
            continue;
        }
        let mut connection = pool.acquire().await?;
        checkout.step(&mut connection, step, "running").await?;
        drop(connection);
        let ended = match step {
            Step::Reserve => checkout.reserve(pool).await?,
            Step::Capture => checkout.capture(&workshop.flow).await?,
            Step::Ship => checkout.ship(pool, &workshop.http, workshop.options.carrier.as_deref()).await?,
        };
        workshop.flow.stalls.pass(&checkout.order, stall_after(step)).await;
        match ended {
            Ended::Done => {
                let mut connection = pool.acquire().await?;
                checkout.step(&mut connection, step, "done").await?;
            }
            Ended::Again => {
                checkout.wait(pool, backoff(checkout.tries)).await?;
                return Ok(false);
            }
            Ended::Refused(why) => {
                let mut tx = pool.begin().await?;
                checkout.step(&mut tx, step, "failed").await?;
                checkout.turn(&mut tx, SagaState::Undoing, Some(&why)).await?;
                tx.commit().await?;
                return back(workshop, checkout).await;
            }
        }
    }
    let mut connection = pool.acquire().await?;
    checkout.turn(&mut connection, SagaState::Shipped, None).await?;
    Ok(true)
}

async fn back(workshop: &Workshop, checkout: &Checkout) -> Result<bool, LabError> {
    let pool = workshop.pool();
    for (step, status) in checkout.steps(pool).await?.into_iter().rev() {
        match (step, status.as_str()) {
            (Step::Reserve, "done" | "compensating") => {
                let mut connection = pool.acquire().await?;
                checkout.step(&mut connection, step, "compensating").await?;
                drop(connection);
                workshop.flow.stalls.pass(&checkout.order, StallPoint::BeforeUndone).await;
                if let Ended::Refused(_) = checkout.release(pool).await? {
                    // Cannot happen unless somebody else captured meanwhile: forward again.
                    let mut tx = pool.begin().await?;
                    checkout.step(&mut tx, step, "done").await?;
                    checkout.turn(&mut tx, SagaState::Running, None).await?;
                    tx.commit().await?;
                    return Ok(false);
                }
            }
            // Nothing was taken, or nothing was sent: there is nothing to undo.
            (Step::Reserve | Step::Capture | Step::Ship, _) => {}
        }
    }
    let mut connection = pool.acquire().await?;
    checkout.turn(&mut connection, SagaState::Cancelled, None).await?;
    Ok(true)
}

fn stall_after(step: Step) -> StallPoint {
    match step {
        Step::Reserve => StallPoint::AfterReserve,
        Step::Capture => StallPoint::AfterCapture,
        Step::Ship => StallPoint::AfterShip,
    }
}
