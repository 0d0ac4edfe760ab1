//! `unstuck`: the console on a real database.

use std::sync::Arc;

use super::out::{ExitCode, Out};
use super::settings::{Settings, connect};
use crate::app::model::{Acting, SecondSeat, Setup};
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::domain::guard::Context;
use crate::domain::port::Provider;
use crate::shell::open;

/// Opens the console and runs it until it is left.
///
/// A database that is away is a screen; only what can never work ends here, before the screen is taken.
pub async fn run(settings: &Settings, variable: &dyn Fn(&str) -> Option<String>, out: &mut Out<'_>) -> ExitCode {
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
    match open::open(setup(settings), open::through(store), providers, None).await {
        Ok(_) => ExitCode::Ok,
        Err(error) => {
            out.complain(&format!("the terminal cannot be used: {error}. Without one: unstuck check"));
            ExitCode::NotKnown
        }
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
    }
}
