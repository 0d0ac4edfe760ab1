//! `unstuck`: the console on a real database.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::app::model::{Acting, SecondSeat, Setup};
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::guard::Context;
use crate::domain::port::Provider;
use crate::shell::open;
use crate::shell::record::{CannotRecord, Paper};

/// Opens the console and runs it until it is left.
///
/// A database that is away is a screen; only what can never work ends here, before the screen is taken.
pub async fn run(
    settings: &Settings,
    record: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
    out: &mut Out<'_>,
) -> ExitCode {
    if settings.environment.is_none() && settings.acting == Acting::On {
        out.complain(
            "--act needs to know where it is: write [environments.NAME] with its kind into unstuck.toml (see \
             unstuck.example.toml). The database has to agree with the name.",
        );
        return ExitCode::NotKnown;
    }
    let store = match connect::store(settings) {
        Ok(store) => Arc::new(store),
        Err(error) => {
            out.complain(&error.to_string());
            return ExitCode::NotKnown;
        }
    };
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    for (_, opened) in connect::providers(settings, variable) {
        match opened {
            Ok(provider) => providers.push(Arc::new(provider)),
            // The others can still be asked; the look-up of this one's records says that it is not configured.
            Err(error) => out.complain(&error.to_string()),
        }
    }
    if let Some(Err(code)) = record.map(|file| can_record(file, out)) {
        return code;
    }
    let paper = match record.map(Paper::create).transpose() {
        Ok(paper) => paper,
        Err(error) => return not_recorded(&error, out),
    };
    match open::open(setup(settings), open::through(store), providers, None, paper).await {
        Ok(_) => ExitCode::Ok,
        Err(error) => {
            out.complain(&format!("the terminal cannot be used: {error}. Without one: unstuck check"));
            ExitCode::NotKnown
        }
    }
}

/// Whether a console can be recorded to this file at all, asked before anything is made: a start that fails leaves
/// no empty file.
pub(in crate::cli) fn can_record(file: &Path, out: &mut Out<'_>) -> Result<(), ExitCode> {
    Paper::free(file).map_err(|error| not_recorded(&error, out))?;
    if !std::io::stdout().is_terminal() {
        out.complain("--record: without a terminal there is no console that could be recorded");
        return Err(ExitCode::NotKnown);
    }
    Ok(())
}

/// Says why nothing is opened: whoever wants a recording does not want to find out afterwards that there is none.
pub(in crate::cli) fn not_recorded(why: &CannotRecord, out: &mut Out<'_>) -> ExitCode {
    out.complain(&format!("--record: {why}"));
    match why {
        CannotRecord::Exists(_) => ExitCode::Finding,
        CannotRecord::Unwritable { .. } => ExitCode::NotKnown,
    }
}

/// What the console is started with. A place that nobody named is treated like production.
fn setup(settings: &Settings) -> Setup {
    let environment = settings
        .environment
        .clone()
        .unwrap_or(Environment { name: "unnamed".to_owned(), kind: EnvironmentKind::Production });
    Setup {
        context: Context {
            environment,
            operator: settings.operator.clone(),
            role: String::new(),
            policy: settings.policy.clone(),
            terms: settings.providers.iter().map(|adapter| (adapter.name.clone(), adapter.terms)).collect(),
        },
        acting: settings.acting,
        look: settings.look.clone(),
        poll_every: settings.poll,
        normals: settings.normals.clone(),
        second: SecondSeat::None,
        practice: super::demo::practice(None),
    }
}
