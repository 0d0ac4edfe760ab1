//! `unstuck demo [INCIDENT]`: a throw-away PostgreSQL, the lab on it, and the console on that. Nothing to
//! install, nothing left behind. Without a terminal it tells the incident for a while and prints `check` lines.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use color_eyre::eyre::{Result, WrapErr as _, eyre};

use super::args::{Common, DemoArgs, ProviderKind};
use super::console::{can_record, not_recorded};
use super::out::{ExitCode, Out};
use super::settings;
use crate::app::drill::Practice;
use crate::app::model::{Acting, SecondSeat, Setup};
use crate::domain::alarm;
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::guard::Context;
use crate::domain::ids::{Operator, ProviderName};
use crate::domain::policy::Policy;
use crate::domain::port::{Provider, Store as _};
use crate::domain::time::Seconds;
use crate::lab::incident::Incident;
use crate::lab::provider::{Habits, Keys};
use crate::lab::world::{self, SecondSeat as SecondSeatFile, World, WorldOptions};
use crate::provider::{self, HttpProvider, Limits};
use crate::shell::record::Paper;
use crate::shell::{clock, open};
use crate::store::library::Library;
use crate::store::options::StoreOptions;
use crate::store::postgres::PgStore;
use crate::store::profile::{self, Profile};
use crate::ui::Look;

mod drill;
mod join;

pub use drill::practice;

/// How long the demo runs without a terminal, and how often it says how things are.
const HEADLESS: (u64, u64) = (20, 5);

/// The incident that is told when none is named.
const FIRST: &str = "oom-kill";

/// Tells an incident until the person leaves. Reads no configuration and no address of a database.
pub async fn run(
    args: &DemoArgs,
    common: &Common,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    if args.list {
        for incident in crate::lab::incident::ALL {
            out.line(&format!("{:<18} {}", incident.name, incident.sentence));
        }
        return ExitCode::Ok;
    }
    if let Some(directory) = &args.join {
        return Box::pin(join::run(directory, common, variable, out)).await;
    }
    let asked = args.drill.as_deref().or(args.incident.as_deref()).unwrap_or(FIRST);
    let incident = match crate::lab::incident::find(asked) {
        Ok(incident) => incident,
        Err(error) => return not_told(&error.to_string(), out),
    };
    let look = match settings::look(common, None, variable) {
        Ok(look) => look,
        Err(error) => return not_told(&error.to_string(), out),
    };
    if let Some(Err(code)) = common.record.as_deref().map(|file| can_record(file, out)) {
        return code;
    }
    let terminal = std::io::stdout().is_terminal();
    if args.drill.is_some() && !terminal {
        return not_told("A drill is played at a console: it needs a terminal.", out);
    }
    if let Err(code) = drill::can_debrief(args.debrief.as_deref(), out) {
        return code;
    }
    let options = DemoOptions {
        incident,
        practice: practice(args.drill.as_ref().map(|_| incident)),
        seed: args.seed,
        provider: match args.provider {
            ProviderKind::Full => Habits::default(),
            ProviderKind::NoKeys => Habits::without_keys(),
            ProviderKind::NoLookup => Habits::without_lookup(),
        },
        look,
        poll: common.poll.map_or(settings::POLL, Seconds),
        operator: settings::operator(variable),
    };
    let told = match Stage::start(options).await {
        Err(error) => Err(error),
        Ok(stage) => {
            out.line(&stage.sentence());
            if terminal {
                // Made now that there is a world: a demo that does not start leaves no empty file.
                let paper = match common.record.as_deref().map(Paper::create).transpose() {
                    Ok(paper) => paper,
                    Err(error) => return not_recorded(&error, out),
                };
                Box::pin(stage.console(paper)).await
            } else {
                Box::pin(stage.headless(|line| out.line(line))).await.map(|()| None)
            }
        }
    };
    match told {
        Ok(Some(debrief)) => drill::tell(&debrief, args.debrief.as_ref(), out),
        Ok(None) => ExitCode::Ok,
        Err(error) => not_told(&format!("{error:#}"), out),
    }
}

fn not_told(why: &str, out: &mut Out<'_>) -> ExitCode {
    out.complain(why);
    ExitCode::NotKnown
}

/// What the demo is started with.
pub struct DemoOptions {
    /// The story.
    pub incident: &'static Incident,
    /// The same seed tells the same story.
    pub seed: u64,
    /// What kind of provider the service and the console talk to.
    pub provider: Habits,
    /// Theme and characters.
    pub look: Look,
    /// Time between two polls.
    pub poll: Seconds,
    /// Who is at the console.
    pub operator: Operator,
    /// What there is to practise, and the drill that this is.
    pub practice: Practice,
}

/// The policy of the lab: seconds where production has minutes, so that a drill fits in one.
pub fn lab_policy() -> Policy {
    crate::lab::policy::policy()
}

/// A running demo world with what a console needs to be opened on it.
pub struct Stage {
    // First, so that nobody finds the way to a world that is going.
    _seat: SecondSeatFile,
    world: World,
    table: Table,
}

impl Stage {
    /// Starts the world.
    pub async fn start(options: DemoOptions) -> Result<Self> {
        let DemoOptions { seed, provider, incident, .. } = options;
        let world = World::start(WorldOptions { seed, provider, ..WorldOptions::demo(incident) }).await?;
        let seat = world.second_seat(options.operator.as_str()).wrap_err("the second seat")?;
        let second =
            SecondSeat::Free(format!("{} demo --join {}", program(), quoted(&seat.directory().to_string_lossy())));
        let store = StoreOptions::new(world.console_options(), profiles()?);
        let options = TableOptions {
            operator: options.operator,
            look: options.look,
            poll: options.poll,
            second,
            practice: options.practice,
            keys: provider.keys,
        };
        let table = Table::lay(store, world.provider_url(), options)?;
        Ok(Self { _seat: seat, world, table })
    }

    /// What the server is, and how the demo is left.
    pub fn sentence(&self) -> String {
        format!("{}, throw-away; it is gone when you leave.", self.world.source())
    }

    /// Opens the console and runs it until it is left. Gives the debrief, when it was a drill.
    pub async fn console(self, paper: Option<Paper>) -> Result<Option<String>> {
        let greeting = self.sentence();
        let left =
            open::open(self.table.setup, open::through(self.table.store), self.table.providers, Some(greeting), paper)
                .await;
        let debrief = left.as_ref().ok().and_then(|model| drill::after(model, &self.world));
        self.world.shutdown().await?;
        left?;
        Ok(debrief)
    }

    /// Tells the incident without a terminal: one `check` line every few seconds, through `say`.
    pub async fn headless(self, mut say: impl FnMut(&str)) -> Result<()> {
        let (length, every) = HEADLESS;
        self.table.store.connect().await?;
        for _ in 0..length.checked_div(every).unwrap_or(1) {
            clock::pause(Duration::from_secs(every)).await;
            match self.table.store.poll().await {
                Ok(snapshot) => {
                    let assessment = alarm::assess(&snapshot, &self.table.setup.normals);
                    say(&alarm::check_line(&assessment, snapshot.db_now));
                }
                Err(error) => say(&format!("NOT KNOWN: {error}.")),
            }
        }
        self.world.shutdown().await?;
        Ok(())
    }
}

/// How a seat at the lab's table is laid.
struct TableOptions {
    operator: Operator,
    look: Look,
    poll: Seconds,
    second: SecondSeat,
    practice: Practice,
    keys: Keys,
}

/// What a console needs to be opened on a lab's world, whoever sits at it.
struct Table {
    setup: Setup,
    providers: Vec<Arc<dyn Provider>>,
    store: Arc<PgStore>,
}

impl Table {
    fn lay(mut store: StoreOptions, provider_url: String, options: TableOptions) -> Result<Self> {
        let name = ProviderName::new(crate::lab::service::PROVIDER);
        let adapter = provider::built_in("lab").ok_or_else(|| eyre!("the lab's adapter is not built in"))?;
        let mut adapter = adapter.named(name.clone()).at(provider_url);
        if options.keys == Keys::Ignored {
            adapter.terms.key_retention = None;
        }
        let provider = HttpProvider::open(adapter, &|_| None, Limits::default()).wrap_err("the lab's provider")?;
        let environment = Environment { name: world::ENVIRONMENT.to_owned(), kind: EnvironmentKind::Demo };
        let context = Context {
            environment: environment.clone(),
            operator: options.operator,
            role: String::new(),
            policy: lab_policy(),
            terms: [(name, provider.terms())].into_iter().collect(),
        };
        store.policy = context.policy.clone();
        store.environment = Some(environment);
        let setup = Setup {
            context,
            acting: Acting::On,
            look: options.look,
            poll_every: options.poll,
            normals: BTreeMap::new(),
            second: options.second,
            practice: options.practice,
        };
        Ok(Self { setup, providers: vec![Arc::new(provider)], store: Arc::new(PgStore::new(store)) })
    }
}

fn profiles() -> Result<Arc<Vec<Profile>>> {
    profile::load(&Library::shipped()).map(Arc::new).map_err(|mistakes| eyre!("{mistakes}"))
}

/// This very program, as it is typed in another terminal.
fn program() -> String {
    std::env::current_exe().map_or_else(|_| "unstuck".to_owned(), |path| quoted(&path.to_string_lossy()))
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%,:=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_typed_so_that_a_shell_takes_it_whole() {
        assert_eq!(quoted("/tmp/unstuck-lab-a1"), "/tmp/unstuck-lab-a1");
        assert_eq!(quoted("/tmp/my demo's"), r"'/tmp/my demo'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
