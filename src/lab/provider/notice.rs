//! Webhooks: what the provider tells the service without being asked.
//!
//! Signed, at least once, in no promised order. Each event has one id, however often it is delivered.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Charge, ChargeStatus};
use crate::lab::{LabError, clock, http, sign};

/// How often a delivery is tried before the provider gives up, and how long the first pause is.
const TRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How long the provider waits for the answer to a webhook.
const PATIENCE: Duration = Duration::from_secs(10);

/// The newest this many events and deliveries are remembered.
const KEPT: usize = 20_000;

/// A webhook leaves a moment after the answer did: whoever called has written down by then what it was told.
const SOON: Duration = Duration::from_millis(250);

/// What becomes of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Notice {
    /// Sent a moment later.
    #[default]
    Prompt,
    /// Sent this much later.
    Late(Duration),
    /// Sent, and sent again.
    Twice,
    /// Never sent.
    Lost,
    /// Kept until [`super::ProviderDesk::send_kept`].
    Kept,
}

/// In which order kept webhooks go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// As things happened.
    AsHappened,
    /// The newest first.
    Backwards,
}

/// One try to deliver a webhook, as the provider saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// `evt_…`, the same for every delivery of one event.
    pub event: String,
    /// `charge.succeeded` …
    pub kind: String,
    /// The order of the charge.
    pub order: String,
    /// The HTTP status it was answered with; `None` when there was no answer.
    pub answer: Option<u16>,
}

/// Something that happened to a charge.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) order: String,
    pub(super) body: Vec<u8>,
}

impl Event {
    /// What happened to `charge`, as it stands now.
    pub(super) fn of(id: String, charge: &Charge) -> Self {
        let kind = match charge.status {
            _ if charge.refunded > 0 => "charge.refunded",
            ChargeStatus::Succeeded => "charge.succeeded",
            ChargeStatus::Failed => "charge.failed",
            ChargeStatus::Pending => "charge.pending",
            ChargeStatus::Authorised => "charge.authorised",
            ChargeStatus::Canceled => "charge.canceled",
        };
        let body = json!({
            "id": id, "type": kind, "created": clock::now().timestamp(), "livemode": false, "data": {"object": charge},
        });
        Self { id, kind: kind.to_owned(), order: charge.order_id.clone(), body: body.to_string().into_bytes() }
    }
}

#[derive(Debug)]
struct Sending {
    event: Event,
    after: Duration,
}

/// All events so far, those that are kept, and the way to the postman.
#[derive(Debug)]
pub(super) struct Notices {
    state: Mutex<State>,
    // Unbounded: a shop's day is thousands of events, and the postman waits for nobody.
    postman: mpsc::UnboundedSender<Sending>,
}

#[derive(Debug, Default)]
struct State {
    targets: Vec<String>,
    events: Vec<Event>,
    kept: Vec<Event>,
    deliveries: Vec<Delivery>,
}

/// Where the postman takes letters from.
#[derive(Debug)]
pub(super) struct Letters(mpsc::UnboundedReceiver<Sending>);

impl Notices {
    pub(super) fn new() -> (Self, Letters) {
        let (postman, letters) = mpsc::unbounded_channel();
        (Self { state: Mutex::default(), postman }, Letters(letters))
    }

    /// From now on webhooks go to these addresses, the next one when the first does not answer.
    pub(super) fn subscribe(&self, targets: Vec<String>) {
        self.with(|state| state.targets = targets);
    }

    /// An event happened. Without a subscriber nobody is told, then or later.
    pub(super) fn post(&self, event: Event, notice: Notice) {
        let heard = self.with(|state| {
            if state.targets.is_empty() {
                return false;
            }
            trim(&mut state.events);
            state.events.push(event.clone());
            true
        });
        if !heard {
            return;
        }
        match notice {
            Notice::Prompt => self.send(event, SOON),
            Notice::Late(after) => self.send(event, after),
            Notice::Twice => {
                self.send(event.clone(), SOON);
                self.send(event, SOON);
            }
            Notice::Lost => {}
            Notice::Kept => self.with(|state| state.kept.push(event)),
        }
    }

    pub(super) fn send_kept(&self, order: &str, sequence: Sequence) -> usize {
        let mut events = self.with(|state| {
            let (wanted, others) = std::mem::take(&mut state.kept).into_iter().partition(|kept| kept.order == order);
            state.kept = others;
            let wanted: Vec<Event> = wanted;
            wanted
        });
        match sequence {
            Sequence::AsHappened => {}
            Sequence::Backwards => events.reverse(),
        }
        let sent = events.len();
        for event in events {
            self.send(event, Duration::ZERO);
        }
        sent
    }

    /// Every event of an order once more, lost ones included: what a provider's dashboard calls "resend".
    pub(super) fn resend(&self, order: &str) -> usize {
        let events: Vec<Event> =
            self.with(|state| state.events.iter().filter(|event| event.order == order).cloned().collect());
        let sent = events.len();
        for event in events {
            self.send(event, Duration::ZERO);
        }
        sent
    }

    pub(super) fn deliveries(&self) -> Vec<Delivery> {
        self.with(|state| state.deliveries.clone())
    }

    /// How many events an order has had.
    pub(super) fn of_order(&self, order: &str) -> usize {
        self.with(|state| state.events.iter().filter(|event| event.order == order).count())
    }

    fn send(&self, event: Event, after: Duration) {
        // The postman is gone only when the provider is.
        self.postman.send(Sending { event, after }).ok();
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn trim<T>(all: &mut Vec<T>) {
    if all.len() >= KEPT {
        all.drain(..KEPT / 2);
    }
}

/// Delivers what is posted until its owner ends it.
pub(super) async fn deliver_all(shared: std::sync::Arc<super::Shared>, mut letters: Letters) -> Result<(), LabError> {
    let client = http::client("labpay-webhooks/1.0")?;
    let mut on_the_way = JoinSet::new();
    while let Some(Sending { event, after }) = letters.0.recv().await {
        while on_the_way.try_join_next().is_some() {}
        let (shared, client) = (std::sync::Arc::clone(&shared), client.clone());
        on_the_way.spawn(async move {
            tokio::time::sleep(after).await;
            deliver(&shared.notices, &client, &event).await;
        });
    }
    Ok(())
}

async fn deliver(notices: &Notices, client: &reqwest::Client, event: &Event) {
    let mut pause = FIRST_PAUSE;
    for nth in 0..TRIES {
        let targets = notices.with(|state| state.targets.clone());
        let Some(target) = targets.iter().cycle().nth(usize::try_from(nth).unwrap_or(0)) else { return };
        // Signed anew each time: a retry is not an old message.
        let request = client
            .post(target)
            .header(CONTENT_TYPE, "application/json")
            .header(sign::HEADER, sign::sign(sign::SECRET, clock::now().timestamp(), &event.body))
            .timeout(PATIENCE)
            .body(event.body.clone());
        let answer = request.send().await.ok().map(|answer| answer.status().as_u16());
        notices.with(|state| {
            trim(&mut state.deliveries);
            state.deliveries.push(Delivery {
                event: event.id.clone(),
                kind: event.kind.clone(),
                order: event.order.clone(),
                answer,
            });
        });
        if answer.is_some_and(|code| (200..300).contains(&code)) {
            return;
        }
        tokio::time::sleep(pause).await;
        pause *= 2;
    }
}
