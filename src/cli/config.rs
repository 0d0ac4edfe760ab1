//! `unstuck.toml`: where it is looked for, and what it says. All mistakes are reported at once.
//!
//! Owns the configuration's shape. Secrets never stand in it: it names environment variables.

mod environments;
mod policy;
mod providers;
mod secrets;
mod source;

use std::path::{Path, PathBuf};

use crate::domain::alarm::Normals;
use crate::domain::environment::Environment;
use crate::domain::evidence::Mode;
use crate::domain::policy::Policy;
use crate::domain::snapshot::Signal;
use crate::domain::time::Seconds;
use crate::provider::Adapter;
use crate::provider::declared::{Mistake, Reading, Section};
use crate::ui::theme::Theme;

pub use environments::is_a_name as is_environment_name;
pub use source::{Surroundings, find, load};

/// What the configuration says.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The file it was read from; `None`: there is none, everything is at its default.
    pub file: Option<PathBuf>,
    /// The environment when none is asked for.
    pub default_environment: Option<String>,
    /// The environments, by name.
    pub environments: Vec<EnvironmentConfig>,
    /// The team's numbers.
    pub policy: Policy,
    /// What is normal, by signal.
    pub normals: Normals,
    /// The providers, under the names the payment service uses.
    pub providers: Vec<Adapter>,
    /// Time between two polls.
    pub poll: Option<Seconds>,
    /// The theme's name.
    pub theme: Option<String>,
}

/// One environment as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentConfig {
    /// Its name and kind.
    pub environment: Environment,
    /// The variable with the database's address; `None` = `UNSTUCK_DATABASE_URL`.
    pub database_url_variable: Option<String>,
    /// The profile, when it is not to be recognised.
    pub profile: Option<String>,
    /// What stands before the server.
    pub pooling: Pooling,
    /// The mode charges must be in here; `None` = what the policy says.
    pub mode: Option<Mode>,
    /// The providers of this environment; `None` = all.
    pub providers: Option<Vec<String>>,
}

/// What stands between the console and the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pooling {
    /// Nothing, or a pooler that keeps the session.
    #[default]
    Session,
    /// A pooler that hands out a connection per transaction.
    Transaction,
}

/// A mistake and the file it stands in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Located {
    /// The file.
    pub file: PathBuf,
    /// The mistake.
    pub mistake: Mistake,
}

/// Why there is no configuration. Every text says the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file that was asked for is not there.
    #[error("{0}: there is no such file. Start from unstuck.example.toml")]
    Missing(PathBuf),
    /// It is there and cannot be read.
    #[error("{file}: cannot be read ({why})", file = .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    /// It is not text.
    #[error("{0}: line {1} is not UTF-8 text. Save the file as UTF-8")]
    NotText(PathBuf, usize),
    /// It is larger than any configuration.
    #[error("{0}: larger than 256 KiB, so it is hardly a configuration. Is it the right file?")]
    TooLarge(PathBuf),
    /// It says things that are not understood.
    #[error("{}", listed(.0))]
    Wrong(Vec<Located>),
}

fn listed(mistakes: &[Located]) -> String {
    let lines: Vec<String> = mistakes
        .iter()
        .map(|located| {
            let Mistake { line, what } = &located.mistake;
            format!("{}:{line}: {what}", located.file.display())
        })
        .collect();
    let count = match mistakes.len() {
        1 => "1 mistake".to_owned(),
        n => format!("{n} mistakes"),
    };
    format!("{}\n{count} in the configuration; nothing was started.", lines.join("\n"))
}

/// Reads the text of a configuration; `read_file` reads adapter files it names.
pub fn read(
    file: &Path,
    text: &str,
    read_file: &dyn Fn(&Path) -> Result<String, ConfigError>,
) -> Result<Config, ConfigError> {
    let reading = Reading::new(text);
    let mut others = Vec::new();
    let config = whole(file, reading.top(), read_file, &mut others);
    secrets::look_for(text, &reading);
    let mut mistakes: Vec<Located> =
        reading.mistakes().into_iter().map(|mistake| Located { file: file.to_owned(), mistake }).collect();
    mistakes.extend(others);
    if mistakes.is_empty() { Ok(config) } else { Err(ConfigError::Wrong(mistakes)) }
}

fn whole(
    file: &Path,
    mut top: Section<'_>,
    read_file: &dyn Fn(&Path) -> Result<String, ConfigError>,
    others: &mut Vec<Located>,
) -> Config {
    let default = top.text("environment");
    let theme = top.parsed("theme", |name| {
        Theme::named(name)
            .map(|_| name.to_owned())
            .map_err(|_| "there is no such theme; try dark, light or mono".to_owned())
    });
    let poll = top.parsed("poll", |text| {
        let length = crate::provider::declared::length(text)?;
        if (1..=3_600).contains(&length.0) {
            Ok(length)
        } else {
            Err("must be between \"1s\" and \"1h\": the console must not be the incident".to_owned())
        }
    });
    let policy = top.section("policy").map_or_else(Policy::default, policy::read);
    let normals = top.section("normal").map_or_else(Normals::new, normals);
    let providers =
        top.section("providers").map_or_else(Vec::new, |section| providers::read(file, section, read_file, others));
    let known: Vec<&str> = providers.iter().map(|known| known.name.as_str()).collect();
    let environments = top.section("environments").map_or_else(Vec::new, |section| environments::read(section, &known));
    if let Some(name) = &default
        && !environments.iter().any(|known| known.environment.name == *name.get_ref())
    {
        top.wrong(&name.span(), "`environment` names none of the [environments.NAME] sections");
    }
    top.close();
    Config {
        file: Some(file.to_owned()),
        default_environment: default.map(toml::Spanned::into_inner),
        environments,
        policy,
        normals,
        providers: providers.into_iter().filter_map(|known| known.adapter).collect(),
        poll: poll.map(toml::Spanned::into_inner),
        theme: theme.map(toml::Spanned::into_inner),
    }
}

/// `[normal]`: a number per signal.
fn normals(mut section: Section<'_>) -> Normals {
    let mut normals = Normals::new();
    for (key, number) in section.rest_numbers() {
        if Signal::from_word(key.get_ref()).is_some() {
            normals.insert(key.into_inner(), number);
        } else {
            let words: Vec<&str> = Signal::ALL.into_iter().map(Signal::word).collect();
            let what = format!("`{}` in [normal] is not a signal; the signals are {}", key.get_ref(), words.join(", "));
            section.wrong(&key.span(), what);
        }
    }
    normals
}

#[cfg(test)]
mod tests;
