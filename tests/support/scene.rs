//! A payment service with stuck records, its provider, and consoles as people use them.
//!
//! Everything is real: pods over HTTP, leases that expire, a provider that loses an answer, and consoles
//! that go the whole way from look-up to guarded call. A scene is closed by [`Scene::close`], which
//! looks at what the consoles did: at the server, in the tables, at the provider.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, PgPool};
use tokio::sync::{Notify, mpsc, watch};
use unstuck::app::effect::{Effect, Run};
use unstuck::app::msg::{Acted, GuardMsg, Msg};
use unstuck::cli::demo::lab_policy;
use unstuck::domain::action::Request;
use unstuck::domain::approval::Consent;
use unstuck::domain::guard::{Armed, Context, Plan, Refused, Words, draw};
use unstuck::domain::ids::{Operator, ProviderName, RecordId};
use unstuck::domain::log::Outcome;
use unstuck::domain::port::{Dossier, Provider, Store};
use unstuck::lab::cluster::{Cluster, LabDatabase, Login};
use unstuck::lab::provider::{Answer, Fate, LabProvider, ProviderDesk};
use unstuck::lab::service::{PROVIDER, Recoverer, Service, ServiceOptions};
use unstuck::lab::sql;
use unstuck::provider::{self, HttpProvider, Limits};
use unstuck::shell::act::{Hands, Keeping};
use unstuck::shell::clock;
use unstuck::store::install;
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::postgres::PgStore;

use super::PATIENCE;
use super::cluster::shared;
use super::proof::{LogGuard, witness};
use super::store::{demo, shipped};

/// What a raw connection calls itself: the console's login, not the console.
pub const RAW: &str = "not-the-console";

/// A record that got stuck, and what a person would know about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    pub id: RecordId,
    pub order: String,
    pub amount: i64,
}

/// What a client was told; `fresh`: by whom did the work now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub code: u16,
    pub fresh: bool,
}

/// The service, the provider, the database.
pub struct Scene {
    pub service: Service,
    pub provider: LabProvider,
    pub database: LabDatabase,
    pub log: LogGuard,
    client: reqwest::Client,
    /// A superuser's, for looking.
    looking: PgPool,
    closed: Closed,
}

#[derive(PartialEq, Eq)]
enum Closed {
    NotYet,
    Done,
}

/// Short leases, so that they expire while a test waits; nobody recovers but who is asked to.
pub fn by_hand() -> ServiceOptions {
    ServiceOptions {
        lease: Duration::from_secs(1),
        provider_timeout: Duration::from_millis(300),
        recoverer: Recoverer::Off { why: "tests recover by hand" },
        ..ServiceOptions::default()
    }
}

impl Scene {
    pub async fn open(purpose: &str, options: ServiceOptions) -> Self {
        Self::on(shared().await, purpose, options).await
    }

    pub async fn on(cluster: &Cluster, purpose: &str, options: ServiceOptions) -> Self {
        let mut database = cluster.create_database(purpose).await.expect("a database of our own");
        let owner = database.admin_options();
        Service::create_schema(&owner).await.expect("the tables");
        let mut admin = owner.connect().await.expect("a connection");
        let script = install::script(&Library::shipped(), "reference").expect("a script");
        let installing = StoreOptions::new(owner.clone(), shipped());
        install::apply(&installing, &script, &demo()).await.expect("the installation");
        witness::install(&mut admin).await;
        admin.close().await.expect("a goodbye");
        let provider = LabProvider::start(7).await.expect("a provider");
        let recoverer = Service::recoverer_login(&mut database).await.expect("a login for the recoverer");
        let options = ServiceOptions { recoverer_as: Some(recoverer), ..options };
        let service = Service::start(&owner, &provider.url(), &options).await.expect("a service");
        let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
        let log = LogGuard::over(cluster);
        let looking = PgPoolOptions::new().max_connections(3).connect_lazy_with(owner);
        Self { service, provider, database, log, client, looking, closed: Closed::NotYet }
    }

    pub fn desk(&self) -> ProviderDesk {
        self.provider.desk()
    }

    /// A superuser's connection.
    pub async fn admin(&self) -> PgConnection {
        self.database.admin_options().connect().await.expect("a connection")
    }

    /// Runs a statement as the superuser.
    pub async fn run(&self, script: &str) {
        sql::run(&mut self.admin().await, script).await.unwrap_or_else(|error| panic!("{script}: {error}"));
    }

    /// One number as the superuser sees it.
    pub async fn number(&self, query: &str) -> i64 {
        let query = AssertSqlSafe(query.to_owned());
        sqlx::query_scalar(query).fetch_one(&self.looking).await.expect("one number")
    }

    /// One text as the superuser sees it.
    pub async fn text(&self, query: &str) -> String {
        let query = AssertSqlSafe(query.to_owned());
        sqlx::query_scalar(query).fetch_one(&self.looking).await.expect("one text")
    }

    /// A client's attempt, first or again: the HTTP status; `None` when nobody answered.
    pub async fn pay(&self, pod: usize, stuck: &Stuck) -> Option<u16> {
        self.told(pod, stuck).await.map(|told| told.code)
    }

    /// The same, with whether the work was done now or earlier.
    pub async fn told(&self, pod: usize, stuck: &Stuck) -> Option<Told> {
        self.told_in("EUR", pod, stuck).await
    }

    async fn told_in(&self, currency: &str, pod: usize, stuck: &Stuck) -> Option<Told> {
        let url = self.service.pod(pod).expect("a pod").url();
        let request = self
            .client
            .post(format!("{url}/payments"))
            .header("idempotency-key", stuck.id.key.as_str())
            .header("x-scope", stuck.id.scope.as_str())
            .json(
                &json!({"order_id": stuck.order, "amount": stuck.amount, "currency": currency, "customer_id": "cus_1"}),
            );
        let answer = request.send().await.ok()?;
        Some(Told { code: answer.status().as_u16(), fresh: !answer.headers().contains_key("idempotent-replayed") })
    }

    /// A pod's call that was under way for very long: the provider gets it now.
    pub async fn charge_directly(&self, stuck: &Stuck) {
        self.charge_with(&format!("pay:{}:{}", stuck.id.scope, stuck.id.key), stuck).await;
    }

    /// A charge for the record's payment with any provider key.
    pub async fn charge_with(&self, provider_key: &str, stuck: &Stuck) {
        let key = sql::literal(stuck.id.key.as_str());
        let payment = self.text(&format!("SELECT id FROM payments WHERE key = {key}")).await;
        let request = self
            .client
            .post(format!("{}/v1/charges", self.provider.url()))
            .header("user-agent", "payment-service/late")
            .header("idempotency-key", provider_key)
            .json(&json!({"order_id": stuck.order, "reference": payment, "amount": stuck.amount, "currency": "EUR"}));
        request.send().await.expect("an answer of the provider");
    }

    /// One record in a currency of its own whose charge was made and whose answer was lost, with an expired lease.
    pub async fn stuck_in(&self, currency: &str, key: &str, order: &str, amount: i64) -> Stuck {
        let stuck = Stuck { id: RecordId::new("shop-eu", key), order: order.to_owned(), amount };
        self.desk().destine(order, Fate { answer: Answer::Lost, ..Fate::default() });
        let told = self.told_in(currency, 0, &stuck).await.map(|told| told.code);
        assert_eq!(told, Some(503), "the answer was to be lost");
        assert!(self.desk().wait_for_charge(order, PATIENCE).await, "{stuck:?} was charged");
        self.until_expired(&stuck.id).await;
        stuck
    }

    /// Records whose charge was made and whose answer was lost, with expired leases.
    pub async fn stuck(&self, count: usize) -> Vec<Stuck> {
        let fate = Fate { answer: Answer::Lost, ..Fate::default() };
        self.stuck_as((0..count).map(|nth| (format!("K{nth:03}-ABCD"), format!("ord_{nth}"), fate.clone()))).await
    }

    /// The same, without waiting for the leases.
    pub async fn lost(&self, count: usize) -> Vec<Stuck> {
        let fate = Fate { answer: Answer::Lost, ..Fate::default() };
        self.begin((0..count).map(|nth| (format!("K{nth:03}-ABCD"), format!("ord_{nth}"), fate.clone()))).await
    }

    /// One record per key, order and fate, all stuck with an expired lease.
    pub async fn stuck_as(&self, cast: impl Iterator<Item = (String, String, Fate)>) -> Vec<Stuck> {
        let records = self.begin(cast).await;
        for stuck in &records {
            self.until_expired(&stuck.id).await;
        }
        records
    }

    async fn begin(&self, cast: impl Iterator<Item = (String, String, Fate)>) -> Vec<Stuck> {
        let cast: Vec<(Stuck, Fate)> = cast
            .map(|(key, order, fate)| (Stuck { id: RecordId::new("shop-eu", key), order, amount: 4_250 }, fate))
            .collect();
        // A few at a time: a pod that is slower than its own lease sends nothing, and there is nothing to lose.
        for some in cast.chunks(6) {
            let sent = some.iter().map(|(stuck, fate)| {
                self.desk().destine(&stuck.order, fate.clone());
                self.lose(stuck)
            });
            futures_util::future::join_all(sent).await;
        }
        for (stuck, fate) in &cast {
            if fate.answer == Answer::Lost {
                assert!(self.desk().wait_for_charge(&stuck.order, PATIENCE).await, "{stuck:?} was charged");
            }
        }
        cast.into_iter().map(|(stuck, _)| stuck).collect()
    }

    /// Asks until the service says that it does not know: on a slow machine the first lease may end before the call.
    async fn lose(&self, stuck: &Stuck) {
        let losing = async {
            loop {
                match self.pay(0, stuck).await {
                    Some(409) => tokio::time::sleep(Duration::from_millis(100)).await,
                    code => break assert_eq!(code, Some(503), "the answer was to be lost"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, losing).await.expect("an answer that is lost");
    }

    /// Waits until nobody holds a record that is processing.
    pub async fn until_expired(&self, id: &RecordId) {
        let query = format!(
            "SELECT count(*) FROM idempotency_keys WHERE scope = '{}' AND key = '{}' AND status = 'processing' AND locked_until < clock_timestamp()",
            id.scope, id.key
        );
        self.until(&query, 1).await;
    }

    /// Waits until a count is as wanted.
    pub async fn until(&self, query: &str, wanted: i64) {
        let look = async {
            while self.number(query).await != wanted {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, look).await.is_ok(), "never {wanted}: {query}");
    }

    /// Cuts connections until there was at least one to cut.
    pub async fn until_cut(&self, cut: &str) {
        let cutting = async {
            while self.number(cut).await == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, cutting).await.is_ok(), "there was never a connection to cut");
    }

    /// A login of an operator.
    pub async fn login(&mut self, name: &str) -> Login {
        self.login_in(name, "unstuck_operator").await
    }

    pub async fn login_in(&mut self, name: &str, group: &str) -> Login {
        self.database.create_login(name, &[group]).await.expect("a login")
    }

    pub fn options(&self, login: &Login) -> PgConnectOptions {
        self.database.login_options(login)
    }

    /// A connection with an operator's login that is not the console's.
    pub async fn raw(&self, login: &Login) -> PgConnection {
        self.options(login).application_name(RAW).connect().await.expect("a connection")
    }

    /// What a console is made with here. The patience is wide: these machines are slow and shared.
    pub fn store_options(server: PgConnectOptions) -> StoreOptions {
        Self::patient(StoreOptions::new(server, shipped()))
    }

    /// The lab's policy, and wide patience.
    pub fn patient(mut options: StoreOptions) -> StoreOptions {
        options.policy = lab_policy();
        options.environment = Some(demo());
        options.connect_within = Duration::from_secs(30);
        options.poll_within = Duration::from_secs(20);
        options.read_within = Duration::from_secs(20);
        options.act_within = Duration::from_mins(1);
        options
    }

    /// The adapter for this scene's provider, which may be asked as fast as a test can.
    pub fn adapter(&self) -> HttpProvider {
        let adapter = provider::built_in("lab").expect("the lab's adapter");
        let adapter = adapter.named(ProviderName::new(PROVIDER)).at(self.provider.url());
        HttpProvider::open(adapter, &|_| None, Limits { per_second: 500, ..Limits::default() }).expect("an adapter")
    }

    /// A person at a console.
    pub async fn console(&self, operator: &str, login: &Login) -> Console {
        self.console_over(operator, self.options(login)).await
    }

    /// The same, over a way of its own to the server.
    pub async fn console_over(&self, operator: &str, server: PgConnectOptions) -> Console {
        Console::open(operator, Self::store_options(server), self.adapter()).await
    }

    /// Payment rows of an order, as `status ref`.
    pub async fn payments(&self, order: &str) -> String {
        let query = "SELECT coalesce(string_agg(status || ' ' || coalesce(provider_ref, '-'), ', ' ORDER BY created_at, id), '') FROM payments WHERE order_id = ";
        self.text(&format!("{query}{}", sql::literal(order))).await
    }

    /// The log of one record: `intent adopt, outcome adopt done`.
    pub async fn story(&self, id: &RecordId) -> String {
        let query = "SELECT coalesce(string_agg(concat_ws(' ', entry, action, result), ', ' ORDER BY id), '') FROM unstuck.action_log WHERE key = ";
        self.text(&format!("{query}{}", sql::literal(id.key.as_str()))).await
    }

    /// Looks at everything the consoles did, and takes the scene away. Gives what the triggers saw.
    pub async fn close(mut self) -> witness::Seen {
        self.closed = Closed::Done;
        let mut admin = self.admin().await;
        for application in [unstuck::store::options::APPLICATION, RAW] {
            let seen = witness::seen(&mut admin, application).await;
            assert!(seen.broken.is_empty(), "{application} changed what it may not: {:#?}", seen.broken);
        }
        let open = "SELECT count(*) FROM unstuck.log_check WHERE NOT intact OR NOT follows";
        assert_eq!(self.number(open).await, 0, "the log's chain is whole");
        let asked = self.desk().access_log();
        let wrong: Vec<_> = asked
            .iter()
            .filter(|access| !access.client.starts_with("payment-service/") && access.method != "GET")
            .collect();
        assert!(wrong.is_empty(), "the provider was sent more than GET: {wrong:?}");
        self.log.look(|_| ());
        witness::seen(&mut admin, unstuck::store::options::APPLICATION).await
    }

    /// How often the provider was asked by a console.
    pub fn asked_by_consoles(&self) -> usize {
        self.desk().access_log().iter().filter(|access| access.client.starts_with("unstuck/")).count()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        assert!(self.closed == Closed::Done || std::thread::panicking(), "a scene ends with close()");
    }
}

/// A person at a console: store, provider and the hands that carry effects out.
pub struct Console {
    pub store: Arc<PgStore>,
    pub context: Context,
    hands: Hands,
    answers: mpsc::Receiver<Msg>,
    _keep: watch::Sender<Option<Arc<dyn Store>>>,
}

impl Console {
    pub async fn open(operator: &str, options: StoreOptions, adapter: HttpProvider) -> Self {
        let store = Arc::new(PgStore::new(options));
        let facts = store.connect().await.expect("a connection");
        assert_eq!(facts.read_only, None);
        let name = ProviderName::new(PROVIDER);
        let context = Context {
            environment: demo(),
            operator: Operator::new(operator),
            role: facts.role,
            policy: lab_policy(),
            terms: [(name, adapter.terms())].into_iter().collect(),
        };
        let (send, answers) = mpsc::channel(16);
        let port: Arc<dyn Store> = store.clone();
        let (keep, slot) = watch::channel(Some(port));
        let provider: Arc<dyn Provider> = Arc::new(adapter);
        let hands = Hands::new(slot, vec![provider], Operator::new(operator), Arc::new(Notify::new()), send);
        Self { store, context, hands, answers, _keep: keep }
    }

    /// The record, read again.
    pub async fn read(&self, stuck: &Stuck) -> Dossier {
        self.store.dossier(&stuck.id).await.expect("a reading").expect("the record")
    }

    /// A plan on a fresh reading.
    pub async fn plan(&self, request: Request, stuck: &Stuck) -> Result<Plan, Refused> {
        draw(request, &self.read(stuck).await, &self.context, clock::now())
    }

    /// A plan on one reading, armed on another, by a person who types everything right.
    pub async fn armed(&self, request: Request, stuck: &Stuck) -> Result<Armed, Refused> {
        let plan = self.plan(request, stuck).await?;
        self.arm(plan, stuck).await
    }

    /// Arms a plan on a fresh reading.
    pub async fn arm(&self, plan: Plan, stuck: &Stuck) -> Result<Armed, Refused> {
        let words = words(&plan);
        plan.arm(&self.read(stuck).await, &words, &self.context, clock::now())
    }

    /// A resume, asked for instead of sent.
    pub async fn ask(&self, stuck: &Stuck) -> Result<Consent, Refused> {
        let plan = self.plan(Request::Resume, stuck).await?;
        let words = words(&plan);
        plan.ask(&self.read(stuck).await, &words, &self.context, clock::now())
    }

    /// Carries an armed change out, and reads the record back.
    pub async fn act(&mut self, armed: Armed) -> Box<Acted> {
        self.send(Effect::Act(Run(1), Box::new(armed))).await
    }

    /// Sends a step of an approval, and reads the record back.
    pub async fn consent(&mut self, consent: Consent) -> Box<Acted> {
        self.send(Effect::Consent(Run(1), Box::new(consent))).await
    }

    async fn send(&mut self, effect: Effect) -> Box<Acted> {
        self.hands.start(effect, Keeping::Stored);
        loop {
            if let Msg::Guard(_, GuardMsg::Acted(acted)) = self.answers.recv().await.expect("the hands live") {
                return acted;
            }
        }
    }

    /// Asks the provider, and keeps what it said.
    pub async fn look_up(&mut self, stuck: &Stuck) {
        let armed = self.armed(Request::LookUp, stuck).await.expect("a look-up");
        let acted = self.act(armed).await;
        assert!(matches!(acted.outcome, Outcome::Done { .. }), "{:?}", acted.outcome);
    }

    /// Looks up and makes a resume ready to be sent.
    pub async fn ready(&mut self, stuck: &Stuck) -> Armed {
        self.look_up(stuck).await;
        self.armed(Request::Resume, stuck).await.unwrap_or_else(|refused| panic!("{stuck:?}: {refused}"))
    }

    /// Looks up and resumes.
    pub async fn resume(&mut self, stuck: &Stuck) -> Outcome {
        let armed = self.ready(stuck).await;
        self.act(armed).await.outcome
    }
}

/// What a person types who types everything right.
fn words(plan: &Plan) -> Words {
    Words {
        reason: "the worker died after the provider charged".to_owned(),
        ticket: "INC-2291".to_owned(),
        phrase: plan.phrase().shown().to_owned(),
        ..Words::default()
    }
}

/// What a guarded function answered to a raw call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    pub outcome: String,
    pub why: String,
    pub log_id: Option<i64>,
    pub read_back: Value,
}

/// Calls a guarded function with any order at all, as no console would.
pub async fn call(connection: &mut PgConnection, function: &str, order: &Value) -> Answered {
    let text = format!("SELECT outcome, why, log_id, read_back FROM unstuck.{function}($1::jsonb)");
    let row: (String, Option<String>, Option<i64>, Option<Value>) = sqlx::query_as(AssertSqlSafe(text))
        .bind(order)
        .fetch_one(connection)
        .await
        .unwrap_or_else(|error| panic!("{function}: {error}"));
    let (outcome, why, log_id, read_back) = row;
    Answered { outcome, why: why.unwrap_or_default(), log_id, read_back: read_back.unwrap_or(Value::Null) }
}

/// An intent for an order, and the order that follows it.
pub async fn intended(connection: &mut PgConnection, mut order: Value) -> Value {
    let begun = call(connection, "do_intent", &order).await;
    assert_eq!(begun.outcome, "done", "{begun:?}");
    order["intent"] = json!(begun.log_id);
    order
}
