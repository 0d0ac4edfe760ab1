//! Two people who hand a record back: one asks, one approves, each on look-ups of their own.

use std::time::Duration;

use unstuck::cli::demo::lab_policy;
use unstuck::domain::action::{Change, Request};
use unstuck::domain::approval::{self, ApprovalState};
use unstuck::domain::guard::{Armed, Words};
use unstuck::domain::ids::ProviderName;
use unstuck::domain::log::Outcome;
use unstuck::domain::policy::{Policy, ProviderTerms};
use unstuck::domain::port::Store as _;
use unstuck::domain::time::Seconds;
use unstuck::lab::provider::{Answer, Fate};
use unstuck::lab::service::{PROVIDER, ServiceOptions};
use unstuck::lab::world::World;
use unstuck::provider::{self, HttpProvider, Limits};
use unstuck::shell::clock;

use super::scene::{Console, Scene, Stuck, by_hand};

/// The shortest times there are: a second between two look-ups, and nothing is under way after the lease.
pub fn brisk() -> (Policy, ProviderTerms) {
    let policy = Policy { not_found_gap: Seconds(1), skew: Seconds(0), ..lab_policy() };
    (policy, ProviderTerms { key_retention: Some(Seconds(86_400)), settle: Seconds(0) })
}

/// A service that goes by them; its recoverer serves hand backs and sweeps nothing.
pub fn brisk_service() -> ServiceOptions {
    let (policy, terms) = brisk();
    ServiceOptions { policy, terms, lease: Duration::from_secs(3), ..by_hand() }
}

/// A record whose call never reached the provider.
pub fn never_arrived() -> Fate {
    Fate { answer: Answer::NeverArrived, ..Fate::default() }
}

/// An asker and an approver at their consoles.
pub struct Two {
    pub kim: Console,
    pub lee: Console,
}

impl Two {
    /// Two logins, two consoles, and a database whose limits are as short as theirs.
    pub async fn at(scene: &mut Scene) -> Self {
        scene.run("SELECT unstuck.set_limit('absence_gap_s', 1), unstuck.set_limit('settle_s', 0)").await;
        let (asker, approver) =
            (scene.login_in("kim", "unstuck_operator").await, scene.login_in("lee", "unstuck_approver").await);
        let mut two = Self { kim: scene.console("kim", &asker).await, lee: scene.console("lee", &approver).await };
        for console in [&mut two.kim, &mut two.lee] {
            let (policy, terms) = brisk();
            console.context.policy = policy;
            console.context.terms = [(ProviderName::new(PROVIDER), terms)].into_iter().collect();
        }
        two
    }

    /// The two logins of a world, and the demo's own times.
    pub async fn in_world(world: &World) -> Self {
        let adapter = || {
            let adapter = provider::built_in("lab").expect("the lab's adapter").named(ProviderName::new(PROVIDER));
            let limits = Limits { per_second: 500, ..Limits::default() };
            HttpProvider::open(adapter.at(world.provider_url()), &|_| None, limits).expect("an adapter")
        };
        Self {
            kim: Console::open("kim", Scene::store_options(world.console_options()), adapter()).await,
            lee: Console::open("lee", Scene::store_options(world.approver_options()), adapter()).await,
        }
    }

    /// Everything up to the key that sends it: two look-ups apart, asked, approved on the approver's own look-up, and
    /// looked up once more. The records go side by side, so that they wait together.
    pub async fn approved(&mut self, records: &[&Stuck]) -> Vec<Armed> {
        let settle = self.kim.context.terms.values().map(|terms| terms.settle.0).max().unwrap_or(0);
        let settle = settle + self.kim.context.policy.skew.0;
        let pause = |seconds: u64| tokio::time::sleep(Duration::from_secs(seconds) + Duration::from_millis(200));
        // Not synchronisation: time has to pass before "not found" means anything.
        pause(settle).await;
        for stuck in records {
            self.kim.look_up(stuck).await;
        }
        pause(self.kim.context.policy.not_found_gap.0).await;
        let mut armed = Vec::new();
        for stuck in records {
            self.kim.look_up(stuck).await;
            self.ask(stuck).await;
            self.approve(stuck).await;
            self.kim.look_up(stuck).await;
            armed.push(self.kim.armed(Request::Resume, stuck).await.unwrap_or_else(|no| panic!("{stuck:?}: {no}")));
        }
        armed
    }

    async fn ask(&self, stuck: &Stuck) {
        let facts = self.kim.read(stuck).await;
        let plan = self.kim.plan(Request::Resume, stuck).await.unwrap_or_else(|no| panic!("{stuck:?}: {no}"));
        assert!(matches!(plan.change(), Change::HandBack { .. }), "{:?}", plan.change());
        let words = Words {
            reason: "two look-ups found nothing".to_owned(),
            ticket: "INC-2291".to_owned(),
            ..Words::default()
        };
        let asked = plan.ask(&facts, &words, &self.kim.context, clock::now()).unwrap_or_else(|no| panic!("{no}"));
        done(&self.kim.store.consent(asked).await);
    }

    async fn approve(&mut self, stuck: &Stuck) {
        self.lee.look_up(stuck).await;
        let facts = self.lee.read(stuck).await;
        let waiting =
            facts.approvals.iter().find(|request| request.state == ApprovalState::Waiting).expect("a request");
        let context = &self.lee.context;
        let phrase = approval::approvable(waiting, &facts, context).unwrap_or_else(|no| panic!("{no}"));
        let words = Words { phrase: phrase.shown().to_owned(), ..Words::default() };
        let yes = approval::approve(waiting, &facts, &words, context).unwrap_or_else(|no| panic!("{no}"));
        done(&self.lee.store.consent(yes).await);
    }

    /// Hands one record back; the number of the hand back.
    pub async fn hand_back(&mut self, stuck: &Stuck) -> i64 {
        let armed = self.approved(&[stuck]).await.remove(0);
        done(&self.kim.act(armed).await.outcome);
        self.kim.read(stuck).await.resumes[0].number.0
    }

    /// Takes it back again.
    pub async fn withdraw(&self, stuck: &Stuck) {
        let resume = self.kim.read(stuck).await.resumes[0].clone();
        let back = approval::withdraw_hand_back(&resume, "", &self.kim.context).unwrap_or_else(|no| panic!("{no}"));
        done(&self.kim.store.consent(back).await);
    }
}

#[track_caller]
fn done(outcome: &Outcome) {
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
}
