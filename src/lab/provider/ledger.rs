//! The charges that exist, and the idempotency keys they were made with.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::{Charge, ChargeStatus, Fate};
use crate::lab::clock;

/// What a client asks for. Two requests with one key must be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) order_id: String,
    pub(super) reference: Option<String>,
    pub(super) amount: i64,
    pub(super) currency: String,
}

/// What a key already stands for.
#[derive(Debug)]
pub(super) enum Claim {
    /// Nothing: it is now in flight, and the caller must call [`Ledger::make`] or [`Ledger::forget`].
    Fresh,
    /// Another request with it is being worked on.
    InFlight,
    /// It made this charge.
    Made(Charge),
    /// It was used for a different request.
    Mismatch,
}

/// Whether a refund moved money.
#[derive(Debug)]
pub(super) enum Refunded {
    Now(Charge),
    /// It was given back earlier, or there was nothing to give back.
    Before(Charge),
}

#[derive(Debug)]
pub(super) struct Ledger {
    seed: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    charges: Vec<Charge>,
    keys: HashMap<String, (Wanted, Option<String>)>,
}

impl Ledger {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, state: Mutex::default() }
    }

    pub(super) fn claim(&self, key: Option<&str>, wanted: &Wanted) -> Claim {
        let Some(key) = key else { return Claim::Fresh };
        let mut state = self.lock();
        match state.keys.get(key) {
            None => {
                state.keys.insert(key.to_owned(), (wanted.clone(), None));
                Claim::Fresh
            }
            Some((first, _)) if first != wanted => Claim::Mismatch,
            Some((_, None)) => Claim::InFlight,
            Some((_, Some(id))) => match state.charges.iter().find(|charge| charge.id == *id) {
                Some(charge) => Claim::Made(charge.clone()),
                None => Claim::InFlight,
            },
        }
    }

    /// The request came to nothing: the key is free again.
    pub(super) fn forget(&self, key: Option<&str>) {
        if let Some(key) = key {
            self.lock().keys.remove(key);
        }
    }

    /// The keys' retention is over. The charges stay: money does not expire.
    pub(super) fn forget_all(&self) {
        self.lock().keys.clear();
    }

    pub(super) fn make(&self, key: Option<&str>, wanted: &Wanted, fate: &Fate) -> Charge {
        let mut state = self.lock();
        let nth = state.charges.iter().filter(|charge| charge.order_id == wanted.order_id).count();
        let taken = if fate.status == ChargeStatus::Succeeded { wanted.amount } else { 0 };
        let charge = Charge {
            id: self.id(&wanted.order_id, nth),
            reference: wanted.reference.clone(),
            idempotency_key: key.map(str::to_owned),
            order_id: wanted.order_id.clone(),
            status: fate.status,
            amount: wanted.amount,
            captured: taken,
            refunded: 0,
            currency: wanted.currency.clone(),
            created: clock::now().timestamp(),
            livemode: false,
            failure_code: fate.failure_code.map(str::to_owned),
        };
        state.charges.push(charge.clone());
        if let Some((_, made)) = key.and_then(|key| state.keys.get_mut(key)) {
            *made = Some(charge.id.clone());
        }
        charge
    }

    /// Decides the open charges of an order, and returns them.
    pub(super) fn decide(&self, order: &str, status: ChargeStatus) -> Vec<Charge> {
        let open = |charge: &Charge| matches!(charge.status, ChargeStatus::Pending | ChargeStatus::Authorised);
        let mut state = self.lock();
        let mut decided = Vec::new();
        for charge in state.charges.iter_mut().filter(|charge| charge.order_id == order && open(charge)) {
            charge.status = status;
            charge.captured = if status == ChargeStatus::Succeeded { charge.amount } else { 0 };
            decided.push(charge.clone());
        }
        decided
    }

    /// Gives back everything that was taken; `None` when there is no such charge. A second time changes nothing.
    pub(super) fn refund(&self, id: &str) -> Option<Refunded> {
        let mut state = self.lock();
        let charge = state.charges.iter_mut().find(|charge| charge.id == id)?;
        if charge.captured == 0 || charge.refunded == charge.captured {
            return Some(Refunded::Before(charge.clone()));
        }
        charge.refunded = charge.captured;
        Some(Refunded::Now(charge.clone()))
    }

    pub(super) fn get(&self, id: &str) -> Option<Charge> {
        self.lock().charges.iter().find(|charge| charge.id == id).cloned()
    }

    pub(super) fn of_order(&self, order: &str) -> Vec<Charge> {
        self.matching(|charge| charge.order_id == order)
    }

    pub(super) fn matching(&self, matches: impl Fn(&Charge) -> bool) -> Vec<Charge> {
        self.lock().charges.iter().filter(|charge| matches(charge)).cloned().collect()
    }

    /// From the seed, the order and its how-manieth charge this is: the same story has the same ids,
    /// in whatever order its requests arrive.
    fn id(&self, order: &str, nth: usize) -> String {
        format!("ch_{}", self.letters(order, nth))
    }

    /// The id of the nth event of an order, from its charge.
    pub(super) fn event_id(&self, charge: &str, nth: usize) -> String {
        format!("evt_{}", self.letters(charge, nth))
    }

    fn letters(&self, of: &str, nth: usize) -> String {
        let digest = Sha256::digest(format!("{}/{of}/{nth}", self.seed));
        digest.iter().take(10).map(|byte| letter(*byte)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn letter(byte: u8) -> char {
    char::from_digit(u32::from(byte) % 36, 36).unwrap_or('0')
}
