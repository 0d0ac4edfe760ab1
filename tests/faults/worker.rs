//! The console in a process of its own, so that it can be ended like one: the product's own hands and store, at the
//! word of a harness. Started from this very test binary.

use std::env;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnectOptions;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use unstuck::domain::action::Request;
use unstuck::domain::approval;
use unstuck::domain::guard::{Refused, Words};
use unstuck::domain::ids::{LogId, ProviderName};
use unstuck::domain::log::Outcome;
use unstuck::domain::port::Store as _;
use unstuck::domain::time::Seconds;
use unstuck::lab::service::PROVIDER;
use unstuck::provider::{self, HttpProvider, Limits};
use unstuck::store::contract::Question;
use unstuck::store::library::Library;
use unstuck::store::options::StoreOptions;
use unstuck::store::profile::{self, Profile};

use crate::support::scene::{Console, Scene, Stuck};

/// The test that is the console; without [`SEAT`] it is over at once.
pub const NAME: &str = "faults::worker::a_console_at_the_harness_word";

/// The variable with a [`Seat`] as JSON.
pub const SEAT: &str = "UNSTUCK_FAULT_SEAT";

/// Where a console sits, and who.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seat {
    pub database: String,
    pub provider: String,
    /// Where orders come from.
    pub desk: String,
    pub operator: String,
    /// How long the provider remembers a key, in seconds.
    pub retention: u64,
}

/// What a person does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Deed {
    LookUp,
    Resume,
    Hold,
    Release,
    Note,
    HandOver,
    Ask,
    Approve,
    Refuse,
    Withdraw,
    TakeBack,
    /// Asks what came of the intent of this number.
    ReadBack(i64),
}

/// One order to the console.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    pub deed: Deed,
    pub scope: String,
    pub key: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    Done,
    Refused(String),
    Conflict(String),
    Unknown(Option<i64>),
    /// There was no plan to send.
    NoPlan(String),
    /// The intent's outcome, by its word; `None`: the log has none.
    Outcome(Option<String>),
}

/// The reference profile with what an action asks and calls, and nothing else: hundreds of consoles are opened.
fn small() -> Arc<Vec<Profile>> {
    const ASKED: &[&str] =
        &["record", "evidence", "timeline", "environment", "rights", "outcome", "approvals", "requests"];
    let asked = |question: &Question| ASKED.iter().any(|word| question.word() == format!("get_{word}"));
    let head = Library::shipped().text("reference/profile.toml").expect("a profile").to_owned();
    let head = head.split("# Indexes").next().unwrap_or_default().replace("without = \"uninstalled\"", "");
    let cannot = Question::ALL.iter().filter(|question| !asked(question));
    let cannot: Vec<String> = cannot.map(|question| format!("{} = \"not asked here\"", question.word())).collect();
    let head = format!("{head}\n{}\n", cannot.join("\n"));
    let files = Library::shipped().of_profile("reference");
    let kept = files.iter().filter(|(path, _)| {
        let stem = path.trim_end_matches(".sql");
        stem.starts_with("do_") || Question::from_word(stem).is_some_and(|question| asked(&question))
    });
    let kept = kept.map(|(path, source)| (format!("reference/{path}"), source.text.clone()));
    let made = [
        ("reference/profile.toml".to_owned(), head),
        ("reference/install.sql".to_owned(), "CREATE SCHEMA IF NOT EXISTS unstuck;".to_owned()),
    ];
    let files: Vec<(String, String)> = kept.chain(made).collect();
    let library = Library::of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    Arc::new(profile::load(&library).unwrap_or_else(|mistakes| panic!("{mistakes}")))
}

/// A console over these addresses, as a worker has it and as the harness has it.
pub async fn open(seat: &Seat) -> Console {
    let server: PgConnectOptions = seat.database.parse().expect("an address");
    let options = Scene::patient(StoreOptions::new(server, small()));
    let adapter = provider::built_in("lab").expect("the lab's adapter");
    let adapter = adapter.named(ProviderName::new(PROVIDER)).at(seat.provider.clone());
    let limits = Limits { per_second: 500, ..Limits::default() };
    let adapter = HttpProvider::open(adapter, &|_| None, limits).expect("an adapter");
    let mut console = Console::open(&seat.operator, options, adapter).await;
    // A slow machine makes no evidence old.
    console.context.policy.evidence_freshness = Seconds(900);
    for terms in console.context.terms.values_mut() {
        terms.key_retention = Some(Seconds(seat.retention));
    }
    console
}

#[test]
fn a_console_at_the_harness_word() {
    let Ok(seat) = env::var(SEAT) else { return };
    let seat: Seat = serde_json::from_str(&seat).expect("a seat");
    tokio::runtime::Runtime::new().expect("a runtime").block_on(serve(seat));
}

async fn serve(seat: Seat) {
    let desk = TcpStream::connect(&seat.desk).await.expect("the desk");
    let mut console = open(&seat).await;
    let mut desk = BufReader::new(desk);
    desk.write_all(b"\"Done\"\n").await.expect("the desk hears");
    let mut line = String::new();
    while desk.read_line(&mut line).await.is_ok_and(|count| count > 0) {
        let order: Order = serde_json::from_str(&line).expect("an order");
        let ended = carry_out(&mut console, &order).await;
        let said = serde_json::to_string(&ended).expect("words");
        desk.write_all(format!("{said}\n").as_bytes()).await.expect("the desk hears");
        line.clear();
    }
}

async fn carry_out(console: &mut Console, order: &Order) -> Ended {
    if let Deed::ReadBack(intent) = order.deed {
        let entry = console.store.read_back(LogId(intent)).await.expect("the database answers");
        return Ended::Outcome(entry.and_then(|entry| entry.result));
    }
    let id = unstuck::domain::ids::RecordId::new(order.scope.clone(), order.key.clone());
    let stuck = Stuck { id, order: String::new(), amount: 0 };
    let outcome = match act(console, order.deed, &stuck).await {
        Ok(outcome) => outcome,
        Err(refused) => return Ended::NoPlan(refused.to_string()),
    };
    match outcome {
        Outcome::Done { .. } => Ended::Done,
        Outcome::Refused { why } => Ended::Refused(why),
        Outcome::Conflict { why } => Ended::Conflict(why),
        Outcome::Unknown { intent, .. } => Ended::Unknown(intent.map(|intent| intent.0)),
    }
}

/// Goes the whole way of a person: read, plan, read again, arm, send.
pub async fn act(console: &mut Console, deed: Deed, stuck: &Stuck) -> Result<Outcome, Refused> {
    let request = match deed {
        Deed::LookUp => Request::LookUp,
        Deed::Resume => Request::Resume,
        Deed::Hold => Request::Hold,
        Deed::Release => Request::Release,
        Deed::Note => Request::Note,
        Deed::HandOver => Request::HandOver,
        Deed::Ask | Deed::Approve | Deed::Refuse | Deed::Withdraw | Deed::TakeBack | Deed::ReadBack(_) => {
            return consent(console, deed, stuck).await;
        }
    };
    let armed = console.armed(request, stuck).await?;
    Ok(console.act(armed).await.outcome)
}

async fn consent(console: &mut Console, deed: Deed, stuck: &Stuck) -> Result<Outcome, Refused> {
    let facts = console.read(stuck).await;
    let none = || Refused::new("there is no request", "");
    let reason = "two look-ups found nothing";
    let consent = match deed {
        Deed::Ask => console.ask(stuck).await?,
        Deed::TakeBack => {
            let resume = facts.resumes.first().ok_or_else(none)?;
            approval::withdraw_hand_back(resume, reason, &console.context)?
        }
        Deed::LookUp
        | Deed::Resume
        | Deed::Hold
        | Deed::Release
        | Deed::Note
        | Deed::HandOver
        | Deed::ReadBack(_)
        | Deed::Approve
        | Deed::Refuse
        | Deed::Withdraw => {
            let request = facts.approvals.first().ok_or_else(none)?;
            if deed == Deed::Approve {
                let phrase = approval::approvable(request, &facts, &console.context)?.shown().to_owned();
                let words = Words { reason: reason.to_owned(), phrase, ..Words::default() };
                approval::approve(request, &facts, &words, &console.context)?
            } else if deed == Deed::Refuse {
                approval::refuse(request, reason, &console.context, facts.at)?
            } else {
                approval::withdraw(request, reason, &console.context)?
            }
        }
    };
    Ok(console.consent(consent).await.outcome)
}
