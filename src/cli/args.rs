//! What can be typed after `unstuck`. Parsing only; every meaning is elsewhere.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::audit::args::AuditArgs;
use super::lab::args::LabArgs;
use super::reconcile::args::ReconcileArgs;
use super::triage::args::TriageArgs;
use crate::domain::environment::EnvironmentKind;

/// Asks, resumes, watches: the console for payments that got stuck. It has no way to remove a record.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "unstuck",
    version,
    about,
    after_help = "Without a command the console opens.\n\
        Exit codes of check: 0 ok, 1 warning, 2 critical, 3 not known. \
        Of the others: 0 done, 1 a finding or a refusal, 3 could not tell. A usage error is 3 everywhere."
)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub common: Common,
    /// The command; none opens the console.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command understands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Common {
    /// Configuration file [default: ./unstuck.toml, then ~/.config/unstuck/, then /etc/unstuck/]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Environment of the configuration to work in
    #[arg(long, value_name = "NAME", global = true)]
    pub environment: Option<String>,
    /// Let guarded actions change records; without it they are only shown
    #[arg(long, global = true)]
    pub act: bool,
    /// Draw with ASCII characters only
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Colours: dark, light or mono
    #[arg(long, value_name = "NAME", global = true)]
    pub theme: Option<String>,
    /// Folder with query files that take the place of the shipped ones of the same name
    #[arg(long, value_name = "DIR", global = true)]
    pub queries: Option<PathBuf>,
    /// Seconds between two polls, at least 1
    #[arg(long, value_name = "SECONDS", global = true, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub poll: Option<u64>,
    /// Record what the console shows into this new file, to be played by: unstuck replay FILE
    #[arg(long, value_name = "FILE", global = true)]
    pub record: Option<PathBuf>,
    /// Write the console's own log to this file
    #[arg(long, value_name = "FILE", global = true)]
    pub log: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Practise on a throw-away world with a live incident
    Demo(DemoArgs),
    /// One line on how bad it is, for monitoring (exit 0, 1, 2 or 3)
    Check(CheckArgs),
    /// One record whole, with its evidence, timeline and next step
    Show(ShowArgs),
    /// Was this customer charged twice, and why? The verdict, what proves it, and what to say
    Triage(TriageArgs),
    /// Load settlement reports, and say where they and our books disagree
    Reconcile(ReconcileArgs),
    /// What the console can and cannot do here, each with its fix
    Doctor,
    /// The log of actions: whether it was tampered with, and a copy to take away
    Audit(AuditArgs),
    /// The throw-away world without a console: what payment services do right and wrong, measured
    Lab(LabArgs),
    /// Print or apply the schema that actions need
    Install(InstallArgs),
    /// Play a recording of a console, without any database
    Replay(ReplayArgs),
}

/// `unstuck demo`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct DemoArgs {
    /// Which incident to tell [default: oom-kill]; --list shows them all
    pub incident: Option<String>,
    /// Show every incident there is, in a sentence each
    #[arg(long, conflicts_with_all = ["incident", "seed", "join"])]
    pub list: bool,
    /// The same seed tells the same story
    #[arg(long, value_name = "NUMBER", default_value_t = 7)]
    pub seed: u64,
    /// What the provider can do: full, no-keys (every request is a charge) or no-lookup (only by its own ids)
    #[arg(long, value_name = "KIND", default_value = "full", conflicts_with = "join")]
    pub provider: ProviderKind,
    /// The same incident with a coach, a clock and a debrief; :learn lists the drills
    #[arg(long, value_name = "INCIDENT", conflicts_with = "incident")]
    pub drill: Option<String>,
    /// Write the debrief of the drill to this new file, as Markdown
    #[arg(long, value_name = "FILE", requires = "drill")]
    pub debrief: Option<PathBuf>,
    /// Sit down as the second person at a demo that runs in another terminal; :second there shows DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["incident", "seed", "drill", "debrief"])]
    pub join: Option<PathBuf>,
}

/// What the demo's provider can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProviderKind {
    /// Keys and look-ups.
    Full,
    /// It reads no keys.
    NoKeys,
    /// It can be asked by its own ids only.
    NoLookup,
}

/// `unstuck check`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CheckArgs {
    /// The same as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Read every invariant in full, not only what changed in the last minute
    #[arg(long)]
    pub audit: bool,
}

/// `unstuck show`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ShowArgs {
    /// The namespace of the key: tenant, user or client
    pub scope: String,
    /// The idempotency key
    pub key: String,
    /// As one JSON object; what is not known is null
    #[arg(long)]
    pub json: bool,
}

/// `unstuck replay`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ReplayArgs {
    /// The recording: what unstuck --record FILE wrote
    pub file: PathBuf,
}

/// `unstuck install`
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    after_help = "--apply connects with UNSTUCK_INSTALL_DATABASE_URL, an administrator's address. \
        The console's own role cannot, and must not be able to, install anything.",
    group = clap::ArgGroup::new("way").required(true).args(["print", "apply"])
)]
pub struct InstallArgs {
    /// Print the script
    #[arg(long)]
    pub print: bool,
    /// Run the script in one transaction and name the environment
    #[arg(long, requires = "kind")]
    pub apply: bool,
    /// What kind of environment the database is
    #[arg(long, value_name = "KIND")]
    pub kind: Option<KindArg>,
    /// The profile to install for
    #[arg(long, value_name = "NAME", default_value = "reference")]
    pub profile: String,
}

/// An environment's kind on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindArg {
    /// Real customers, real money
    Production,
    /// A rehearsal of production
    Staging,
    /// A developer's own
    Development,
    /// A throw-away world
    Demo,
}

impl From<KindArg> for EnvironmentKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Production => Self::Production,
            KindArg::Staging => Self::Staging,
            KindArg::Development => Self::Development,
            KindArg::Demo => Self::Demo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_may_stand_anywhere() {
        let before = Cli::try_parse_from(["unstuck", "--environment", "prod", "check"]).unwrap();
        let after = Cli::try_parse_from(["unstuck", "check", "--environment", "prod"]).unwrap();
        assert_eq!(before, after);
        assert!(Cli::try_parse_from(["unstuck"]).unwrap().command.is_none());
    }

    #[test]
    fn there_is_no_way_to_ask_for_a_removal() {
        for word in ["delete", "remove", "drop", "clean", "purge", "unlock", "rm"] {
            assert!(Cli::try_parse_from(["unstuck", word]).is_err(), "{word}");
        }
        let mut command = Cli::command();
        let help = command.render_long_help().to_string();
        for sub in command.get_subcommands_mut() {
            assert_ne!(sub.get_name(), "delete");
        }
        assert!(!help.contains("--force"), "{help}");
    }

    #[test]
    fn install_wants_to_be_told_which() {
        for bad in [
            vec!["install"],
            vec!["install", "--print", "--apply", "--kind", "demo"],
            vec!["install", "--apply"],
            vec!["install", "--apply", "--kind", "prod"],
        ] {
            let all = std::iter::once("unstuck").chain(bad.iter().copied());
            assert!(Cli::try_parse_from(all).is_err(), "{bad:?}");
        }
    }
}
