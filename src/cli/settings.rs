//! Everything a command runs with: the command line over the configuration over the defaults.
//!
//! The database's address is a secret and is only ever read from the environment. `demo` is not
//! settled here: it never reads an address.

pub mod connect;

use std::path::PathBuf;

use secrecy::SecretString;

use super::args::Common;
use super::config::{Config, EnvironmentConfig, Pooling};
use crate::app::model::Acting;
use crate::domain::alarm::Normals;
use crate::domain::environment::Environment;
use crate::domain::ids::Operator;
use crate::domain::policy::Policy;
use crate::domain::time::Seconds;
use crate::provider::Adapter;
use crate::shell::account;
use crate::ui::{Charset, Look, Theme};

/// The variable with the database's address when the environment names none.
pub const DATABASE_URL: &str = "UNSTUCK_DATABASE_URL";

/// The variable that names the person at the console, where the login name does not.
pub const OPERATOR: &str = "UNSTUCK_OPERATOR";

/// How often the console polls when nobody says otherwise.
pub const POLL: Seconds = Seconds(2);

/// What a command runs with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The configuration's file, for messages.
    pub file: Option<PathBuf>,
    /// Where we are; `None`: the configuration names no environment.
    pub environment: Option<Environment>,
    /// The variable the database's address is read from.
    pub database_variable: String,
    /// The database's address; `None`: the variable is not set.
    pub database_url: Option<SecretString>,
    /// The profile, when it is not to be recognised.
    pub profile: Option<String>,
    /// What stands before the server.
    pub pooling: Pooling,
    /// Folder of query files over the shipped ones.
    pub queries: Option<PathBuf>,
    /// The team's numbers, with this environment's mode.
    pub policy: Policy,
    /// What is normal.
    pub normals: Normals,
    /// The providers that may be asked from here.
    pub providers: Vec<Adapter>,
    /// Time between two polls.
    pub poll: Seconds,
    /// Whether changes may be planned.
    pub acting: Acting,
    /// Theme and characters.
    pub look: Look,
    /// Who is at the console.
    pub operator: Operator,
}

/// Why a command cannot run with what it was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The environment is not configured.
    #[error("there is no environment {asked} in the configuration; it names {known}")]
    NoSuchEnvironment {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: String,
    },
    /// Several are configured and none was asked for.
    #[error("which environment? The configuration names {known}. Add: --environment NAME")]
    WhichEnvironment {
        /// What there is.
        known: String,
    },
    /// The theme does not exist.
    #[error("there is no theme {0}; try dark, light or mono")]
    NoSuchTheme(String),
    /// There is no address.
    #[error(
        "no database: the environment variable {0} is not set. Set it to the address of the payment service's \
         database, such as postgres://unstuck_console@host/payments; or practise with: unstuck demo"
    )]
    NoDatabase(String),
}

impl Settings {
    /// Settles a command line over a configuration; `variable` reads the environment.
    pub fn settle(
        common: &Common,
        config: Config,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsError> {
        let place = environment(common, &config)?.cloned();
        let look = look(common, config.theme.as_deref(), variable)?;
        let database_variable = place
            .as_ref()
            .and_then(|place| place.database_url_variable.clone())
            .unwrap_or_else(|| DATABASE_URL.to_owned());
        let database_url = variable(&database_variable).filter(|url| !url.trim().is_empty()).map(SecretString::from);
        let mut policy = config.policy;
        let mut providers = config.providers;
        if let Some(place) = &place {
            policy.mode = place.mode.or(policy.mode);
            if let Some(listed) = &place.providers {
                providers.retain(|provider| listed.iter().any(|name| name == provider.name.as_str()));
            }
        }
        Ok(Self {
            file: config.file,
            database_variable,
            database_url,
            profile: place.as_ref().and_then(|place| place.profile.clone()),
            pooling: place.as_ref().map(|place| place.pooling).unwrap_or_default(),
            environment: place.map(|place| place.environment),
            queries: common.queries.clone(),
            policy,
            normals: config.normals,
            providers,
            poll: common.poll.map(Seconds).or(config.poll).unwrap_or(POLL),
            acting: if common.act { Acting::On } else { Acting::Off },
            look,
            operator: operator(variable),
        })
    }

    /// The database's address, or what to do about it.
    pub fn address(&self) -> Result<&SecretString, SettingsError> {
        self.database_url.as_ref().ok_or_else(|| SettingsError::NoDatabase(self.database_variable.clone()))
    }
}

/// The environment asked for, else the default, else the only one, else none at all.
fn environment<'c>(common: &Common, config: &'c Config) -> Result<Option<&'c EnvironmentConfig>, SettingsError> {
    let known = || {
        let names: Vec<&str> = config.environments.iter().map(|known| known.environment.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let asked = common.environment.as_ref().or(config.default_environment.as_ref());
    match (asked, config.environments.as_slice()) {
        (Some(asked), all) => all
            .iter()
            .find(|known| known.environment.name == *asked)
            .map(Some)
            .ok_or_else(|| SettingsError::NoSuchEnvironment { asked: asked.clone(), known: known() }),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only)),
        (None, [..]) => Err(SettingsError::WhichEnvironment { known: known() }),
    }
}

/// Theme and characters. `NO_COLOR` and a locale without UTF-8 are respected unless something else is asked for.
pub fn look(
    common: &Common,
    configured: Option<&str>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Look, SettingsError> {
    let no_color = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let default = if no_color { "mono" } else { configured.unwrap_or("dark") };
    let name = common.theme.as_deref().unwrap_or(default);
    let theme = Theme::named(name).map_err(|_| SettingsError::NoSuchTheme(name.to_owned()))?;
    let charset = if common.ascii || !speaks_utf8(variable) { Charset::Ascii } else { Charset::Unicode };
    Ok(Look::new(theme, charset))
}

/// Whether the locale is UTF-8. A machine that names no locale at all gets the benefit of the doubt.
fn speaks_utf8(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty()).is_none_or(
        |locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        },
    )
}

/// Who is at the console: a name for people. What counts in the log is the database's `session_user`.
pub fn operator(variable: &dyn Fn(&str) -> Option<String>) -> Operator {
    let name = [OPERATOR, "USER", "LOGNAME"].into_iter().filter_map(variable).find(|name| !name.trim().is_empty());
    // A service manager or a bare container sets none of them.
    let name = name.or_else(account::name);
    Operator::new(name.map_or_else(|| "unnamed".to_owned(), |name| name.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::cli::config;
    use crate::domain::evidence::Mode;

    fn config(text: &str) -> Config {
        config::read(Path::new("unstuck.toml"), text, &|_| unreachable!()).unwrap()
    }

    const TWO: &str = r#"
        [environments.prod]
        kind = "production"
        database_url_env = "PROD_URL"
        mode = "live"
        providers = ["stripe"]
        [environments.dev]
        kind = "development"
        [providers.stripe]
        [providers.lab]
    "#;

    fn in_prod(name: &str) -> Option<String> {
        match name {
            "PROD_URL" => Some("postgres://prod".to_owned()),
            DATABASE_URL => Some("postgres://fallback".to_owned()),
            "USER" => Some("ada".to_owned()),
            "LANG" => Some("C.UTF-8".to_owned()),
            _ => None,
        }
    }

    fn settle(asked: Option<&str>, text: &str) -> Result<Settings, SettingsError> {
        let common = Common { environment: asked.map(str::to_owned), ..Common::default() };
        Settings::settle(&common, config(text), &in_prod)
    }

    #[test]
    fn an_environment_brings_its_own() {
        let prod = settle(Some("prod"), TWO).unwrap();
        assert_eq!(prod.address().unwrap().expose_secret(), "postgres://prod");
        assert_eq!((prod.policy.mode, prod.providers.len()), (Some(Mode::Live), 1));
        assert_eq!(prod.operator.as_str(), "ada");
        assert_eq!(prod.acting, Acting::Off);
        let dev = settle(Some("dev"), TWO).unwrap();
        assert_eq!(dev.address().unwrap().expose_secret(), "postgres://fallback");
        assert_eq!((dev.policy.mode, dev.providers.len()), (None, 2));
    }

    #[test]
    fn the_environment_is_never_guessed() {
        assert!(matches!(settle(None, TWO), Err(SettingsError::WhichEnvironment { .. })));
        assert!(matches!(settle(Some("qa"), TWO), Err(SettingsError::NoSuchEnvironment { .. })));
        assert!(matches!(settle(Some("qa"), ""), Err(SettingsError::NoSuchEnvironment { .. })));
        assert_eq!(settle(None, "").unwrap().environment, None);
        let only = "[environments.dev]\nkind = \"development\"\n";
        assert_eq!(settle(None, only).unwrap().environment.unwrap().name, "dev");
    }

    #[test]
    fn a_named_variable_has_no_stand_in() {
        let common = Common { environment: Some("prod".to_owned()), ..Common::default() };
        let settled = Settings::settle(&common, config(TWO), &|name| {
            (name == DATABASE_URL).then(|| "postgres://somewhere-else".to_owned())
        });
        let error = settled.unwrap().address().unwrap_err();
        assert_eq!(error, SettingsError::NoDatabase("PROD_URL".to_owned()));
    }

    #[test]
    fn the_look_follows_what_was_asked_last() {
        let of = |common: &Common, vars: &[(&str, &str)]| {
            let look = look(common, Some("light"), &|name| {
                vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            });
            look.map(|look| (look.theme.name().to_owned(), look.charset()))
        };
        let plain = Common::default();
        assert_eq!(of(&plain, &[]).unwrap(), ("light".to_owned(), Charset::Unicode));
        assert_eq!(of(&plain, &[("NO_COLOR", "1"), ("LANG", "C")]).unwrap(), ("mono".to_owned(), Charset::Ascii));
        let asked = Common { theme: Some("dark".to_owned()), ascii: true, ..Common::default() };
        assert_eq!(of(&asked, &[("NO_COLOR", "1")]).unwrap(), ("dark".to_owned(), Charset::Ascii));
        let odd = Common { theme: Some("pink".to_owned()), ..Common::default() };
        assert!(of(&odd, &[]).is_err());
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", settle(Some("prod"), TWO).unwrap());
        assert!(!shown.contains("postgres://"), "{shown}");
    }
}
