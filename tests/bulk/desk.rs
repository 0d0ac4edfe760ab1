//! The whole console but its terminal: the real poller, store, provider and hands around the real model.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::postgres::PgConnectOptions;
use tokio::sync::mpsc;
use unstuck::app::dialog::Dialog;
use unstuck::app::dialog::bulk::Bulk;
use unstuck::app::effect::Effect;
use unstuck::app::key::{Chord, Key};
use unstuck::app::{Acting, Model, Msg, Setup, update};
use unstuck::cli::demo::lab_policy;
use unstuck::domain::guard::Context;
use unstuck::domain::ids::{Operator, ProviderName};
use unstuck::domain::port::Provider;
use unstuck::domain::time::Seconds;
use unstuck::lab::service::PROVIDER;
use unstuck::shell::act::{Hands, Keeping};
use unstuck::shell::{clock, open, poll};
use unstuck::store::postgres::PgStore;

use crate::support::PATIENCE;
use crate::support::picture::{draw, words};
use crate::support::scenario::look;
use crate::support::scene::Scene;
use crate::support::store::demo;

/// A person at a console.
pub struct Desk {
    pub model: Model,
    /// What was sent, and when by the model's time.
    pub sent: Vec<(DateTime<Utc>, String)>,
    polling: poll::Polling,
    answers: mpsc::Receiver<Msg>,
    hands: Hands,
}

impl Desk {
    /// Over a way of its own to the server.
    pub fn at(scene: &Scene, operator: &str, server: PgConnectOptions) -> Self {
        let store = Arc::new(PgStore::new(Scene::store_options(server)));
        let (said, answers) = mpsc::channel(256);
        let adapter = scene.adapter();
        let context = Context {
            environment: demo(),
            operator: Operator::new(operator),
            role: String::new(),
            policy: lab_policy(),
            terms: [(ProviderName::new(PROVIDER), adapter.terms())].into_iter().collect(),
        };
        let polling = poll::start(open::through(store), Seconds(1), said.clone());
        let provider: Arc<dyn Provider> = Arc::new(adapter);
        let (store, nudge) = (polling.store.clone(), Arc::clone(&polling.nudge));
        let hands = Hands::new(store, vec![provider], Operator::new(operator), nudge, said);
        let setup = Setup {
            context,
            acting: Acting::On,
            look: look("dark"),
            poll_every: Seconds(1),
            normals: std::collections::BTreeMap::new(),
            second: unstuck::app::model::SecondSeat::None,
            practice: unstuck::app::drill::Practice::default(),
        };
        Self { model: Model::new(setup), sent: Vec::new(), polling, answers, hands }
    }

    pub fn picture(&self) -> String {
        words(&draw(&self.model, 120, 60, clock::now()))
    }

    #[track_caller]
    pub fn flow(&self) -> &Bulk {
        match &self.model.dialog {
            Some(Dialog::Bulk(bulk)) => bulk,
            other => panic!("no bulk: {other:?}\n{}", self.picture()),
        }
    }

    fn take(&mut self, msg: Msg) {
        let now = clock::now();
        for effect in update(&mut self.model, msg, now) {
            if let Effect::Act(_, armed) = &effect {
                self.sent.push((now.0, format!("{} {}", armed.order().action, armed.id().key)));
            }
            self.hands.start(effect, Keeping::Stored);
        }
        update(&mut self.model, Msg::Drawn, now);
    }

    /// Takes the next thing that comes, as the loop of the console does, or gives up waiting for it.
    async fn step(&mut self, patience: Duration) {
        let now = clock::now();
        let wake = self.model.next_wake(now).signed_duration_since(now.0);
        let wake = wake.to_std().unwrap_or_default().max(Duration::from_millis(1));
        let msg = tokio::select! {
            Ok(()) = self.polling.latest.changed() => {
                let newest = self.polling.latest.borrow_and_update().clone();
                newest.map(Msg::Polled)
            }
            Some(msg) = self.answers.recv() => Some(msg),
            () = tokio::time::sleep(wake) => Some(Msg::Wake),
            () = tokio::time::sleep(patience) => None,
        };
        if let Some(msg) = msg {
            self.take(msg);
        }
    }

    /// Until the model is as wanted.
    pub async fn until(&mut self, what: &str, wanted: impl Fn(&Model) -> bool) {
        let watching = async {
            while !wanted(&self.model) {
                self.step(PATIENCE).await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, watching).await.is_ok();
        assert!(came, "never {what}:\n{}", self.picture());
    }

    /// Until so much time has passed for the model, which goes on meanwhile.
    async fn moment(&mut self, pause: chrono::TimeDelta) {
        let from = clock::now().0;
        while clock::now().0.signed_duration_since(from) <= pause {
            self.step(Duration::from_millis(10)).await;
        }
    }

    /// Until words are on the screen.
    pub async fn until_shown(&mut self, text: &str) {
        self.until(text, |model| words(&draw(model, 120, 60, clock::now())).contains(text)).await;
    }

    /// One key after another, each a moment after the last: no burst, and no step is answered before it was seen.
    pub async fn press(&mut self, keys: &[Key]) {
        for key in keys {
            self.moment(unstuck::app::input::DRAW_PAUSE).await;
            self.take(Msg::Key(Chord::plain(*key)));
        }
    }

    pub async fn write(&mut self, text: &str) {
        for c in text.chars() {
            self.moment(chrono::TimeDelta::milliseconds(30)).await;
            self.take(Msg::Key(Chord::char(c)));
        }
    }

    /// The list of `count` stuck records, all marked.
    pub async fn mark_all(&mut self, count: usize) {
        self.until("the stuck records", |model| {
            model.picture.snapshot().is_some_and(|s| s.stuck.value().is_some_and(|r| r.len() == count))
        })
        .await;
        self.write("2").await;
        for _ in 0..count {
            self.write(" j").await;
        }
        assert_eq!(self.model.marks.len(), count, "{}", self.picture());
    }

    /// Looks up all that is marked.
    pub async fn look_up(&mut self, count: usize) {
        self.write("al").await;
        self.until_shown("WHAT WILL HAPPEN, ONE BY ONE").await;
        self.press(&[Key::Enter]).await;
        self.write(&count.to_string()).await;
        self.press(&[Key::Enter]).await;
        self.until_shown("[4 Result]").await;
    }

    /// Plans to adopt all that is marked, and types everything right.
    pub async fn adopt(&mut self) {
        self.write("ar").await;
        self.until_shown("WHAT WILL HAPPEN, ONE BY ONE").await;
        self.press(&[Key::Enter]).await;
        self.write("the workers died after the charge").await;
        self.press(&[Key::Tab]).await;
        self.write("INC-2291").await;
        self.press(&[Key::Enter]).await;
        let phrase = self.flow().plan.as_ref().expect("a plan").phrase().shown().to_owned();
        self.write(&phrase).await;
        self.press(&[Key::Enter]).await;
    }

    /// Nothing is on its way any more.
    pub async fn leave(self) {
        self.hands.finish().await;
    }
}
