//! Steady background traffic: what a shop's service sees on an ordinary day, from a seed.
//!
//! Most clients pay once; some send twice at the same moment, some ask again later, a few are
//! declined, and one tenant's client reuses a key for another amount. Where there is a warehouse, some fill
//! a basket and check out.

use std::time::Duration;

use tokio::task::JoinSet;

use super::client::Clients;
use super::names;
use super::provider::{Fate, ProviderDesk};
use super::task::Task;

/// A client keeps at it for longer than a lease lives, so that nothing of the background stays stuck.
const TRIES: usize = 30;

/// How much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrafficRate {
    /// None.
    Off,
    /// This many purchases a second.
    PerSecond(u32),
}

/// Whether some of the clients check out a basket instead of paying an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Baskets {
    None,
    Some,
}

/// One client in so many has a basket, where there are any.
const BASKET_EVERY: u64 = 6;

/// Running traffic; dropping it stops it.
#[derive(Debug)]
pub(super) struct Traffic {
    _task: Option<Task>,
}

impl Traffic {
    pub(super) fn start(
        clients: Clients,
        provider: ProviderDesk,
        seed: u64,
        rate: TrafficRate,
        baskets: Baskets,
    ) -> Self {
        let task = match rate {
            TrafficRate::Off | TrafficRate::PerSecond(0) => None,
            TrafficRate::PerSecond(rate) => {
                Some(Task::spawn(flow(clients, provider, seed, Duration::from_secs(1) / rate, baskets)))
            }
        };
        Self { _task: task }
    }
}

async fn flow(clients: Clients, provider: ProviderDesk, seed: u64, every: Duration, baskets: Baskets) {
    // Owned by this task: aborting it aborts every client.
    let mut running = JoinSet::new();
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for nth in 0.. {
        ticks.tick().await;
        while running.try_join_next().is_some() {}
        match baskets {
            Baskets::Some if nth % BASKET_EVERY == 0 => {
                let (clients, (purchase, _)) = (clients.clone(), names::traffic(seed, nth));
                running.spawn(async move {
                    clients.check_out(0, &purchase).await;
                });
            }
            Baskets::None | Baskets::Some => {
                running.spawn(one(clients.clone(), provider.clone(), seed, nth));
            }
        }
    }
}

async fn one(clients: Clients, provider: ProviderDesk, seed: u64, nth: u64) {
    let (purchase, mut dice) = names::traffic(seed, nth);
    let pod = dice.usize(0..16);
    match dice.u8(0..100) {
        0..6 => {
            provider.destine(&purchase.order, Fate::declined("card_declined"));
            clients.insist(pod, &purchase, TRIES).await;
        }
        6..14 => {
            tokio::join!(clients.insist(pod, &purchase, TRIES), clients.insist(pod + 1, &purchase, TRIES));
        }
        14..22 => {
            clients.insist(pod, &purchase, TRIES).await;
            tokio::time::sleep(Duration::from_millis(dice.u64(200..1500))).await;
            clients.pay(pod + 1, &purchase).await;
        }
        22..100 => {
            clients.insist(pod, &purchase, TRIES).await;
            if purchase.scope == "partner-fit" && dice.u8(0..4) == 0 {
                let changed = names::Purchase { amount: purchase.amount + 1000, ..purchase };
                clients.pay(pod, &changed).await;
            }
        }
        _ => {}
    }
}
