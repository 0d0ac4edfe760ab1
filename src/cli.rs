//! The command line: one file per subcommand, and the configuration they share.
//!
//! [`run`] is the whole program. It owns exit codes and plain output; what the commands do is theirs.

pub mod args;
pub mod audit;
pub mod check;
pub mod config;
pub mod console;
pub mod demo;
pub mod doctor;
pub mod install;
pub mod lab;
pub mod log;
pub mod out;
pub mod replay;
pub mod settings;
pub mod show;
pub mod triage;

use std::ffi::OsString;
use std::path::Path;

use clap::Parser as _;
use clap::error::ErrorKind;

use args::{Cli, Command, Common};
use config::Surroundings;
use out::{ExitCode, Out};
use settings::Settings;

/// Runs a command line to its end.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Reports of panics, then the terminal put back before they are printed: in this order.
    let _ = color_eyre::install();
    crate::shell::terminal::install_panic_hook();
    let (mut plain, mut errors) = (std::io::stdout(), std::io::stderr());
    let mut out = Out::new(&mut plain, &mut errors);
    match Cli::try_parse_from(words) {
        Ok(cli) => start(&cli, &mut out),
        Err(error) => usage(&error, &mut out),
    }
}

/// Help and version are answers. Everything else is a usage error, and 3: 2 would page somebody.
fn usage(error: &clap::Error, out: &mut Out<'_>) -> ExitCode {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        out.block(&text);
        ExitCode::Ok
    } else {
        out.complain(&text);
        ExitCode::NotKnown
    }
}

/// Starts the runtime and the command in it.
fn start(cli: &Cli, out: &mut Out<'_>) -> ExitCode {
    if let Some(file) = &cli.common.log
        && let Err(error) = log::start(file)
    {
        out.complain(&format!("--log {}: cannot be written: {error}", file.display()));
        return ExitCode::NotKnown;
    }
    if cli.common.record.is_some() && !matches!(cli.command, None | Some(Command::Demo(_))) {
        out.complain("--record belongs to the console and to demo: unstuck --record FILE, unstuck demo --record FILE");
        return ExitCode::NotKnown;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(Box::pin(command(cli, out))),
        Err(error) => {
            out.complain(&format!("no threads can be started: {error}"));
            ExitCode::NotKnown
        }
    }
}

async fn command(cli: &Cli, out: &mut Out<'_>) -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    let done = match &cli.command {
        // These read no configuration: two make their own world, one is for administrators, two need no world.
        Some(Command::Demo(args)) => Ok(Box::pin(demo::run(args, &cli.common, &variable, out)).await),
        Some(Command::Lab(args)) => Ok(lab::run(args, out).await),
        Some(Command::Install(args)) => Ok(install::run(args, &cli.common, &variable, out).await),
        Some(Command::Replay(args)) => Ok(replay::run(args, &cli.common, &variable, out).await),
        Some(Command::Triage(args)) if args.from.is_some() => {
            Ok(triage::from_bundle(args, args.from.as_deref().unwrap_or(Path::new("-")), out))
        }
        asked => match settle(&cli.common, &variable) {
            Err(why) => {
                // Monitoring reads one line of the answer, whatever is wrong; the whole list is a complaint.
                if let Some(Command::Check(args)) = asked {
                    check::unusable(args, out);
                }
                Err(why)
            }
            Ok(settings) => Ok(match asked {
                Some(Command::Check(args)) => check::run(args, &settings, out).await,
                Some(Command::Show(args)) => show::run(args, &settings, out).await,
                Some(Command::Audit(args)) => Box::pin(audit::run(args, &settings, out)).await,
                Some(Command::Triage(args)) => Box::pin(triage::run(args, &settings, &variable, out)).await,
                Some(Command::Doctor) => doctor::run(&settings, &variable, out).await,
                Some(Command::Demo(_) | Command::Lab(_) | Command::Install(_) | Command::Replay(_)) | None => {
                    console::run(&settings, cli.common.record.as_deref(), &variable, out).await
                }
            }),
        },
    };
    done.unwrap_or_else(|why| {
        out.complain(&why);
        ExitCode::NotKnown
    })
}

/// Configuration and command line joined, or everything that is wrong with them.
fn settle(common: &Common, variable: &dyn Fn(&str) -> Option<String>) -> Result<Settings, String> {
    let around = Surroundings { variable, here: Path::new("."), system: Path::new("/etc") };
    let config = config::load(common.config.as_deref(), &around).map_err(|error| error.to_string())?;
    Settings::settle(common, config, variable).map_err(|error| error.to_string())
}
