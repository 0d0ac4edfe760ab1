//! `[environments.NAME]`: where the databases are, and how careful to be there.

use super::policy;
use super::secrets;
use super::{EnvironmentConfig, Pooling};
use crate::domain::environment::{Environment, EnvironmentKind};
use crate::provider::declared::Section;

/// Reads every environment; `providers` are the names that may be listed.
pub fn read(section: Section<'_>, providers: &[&str]) -> Vec<EnvironmentConfig> {
    section
        .named_sections()
        .into_iter()
        .filter_map(|(name, section)| {
            if !is_a_name(name.get_ref()) {
                section
                    .wrong(&name.span(), "an environment's name is typed by people: small letters, digits and dashes");
            }
            one(name.into_inner(), section, providers)
        })
        .collect()
}

/// People type it in the phrase and read it in the band.
pub fn is_a_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 32
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn one(name: String, mut section: Section<'_>, providers: &[&str]) -> Option<EnvironmentConfig> {
    section.require("kind");
    let kind = section.parsed("kind", |word| match word {
        "production" => Ok(EnvironmentKind::Production),
        "staging" => Ok(EnvironmentKind::Staging),
        "development" => Ok(EnvironmentKind::Development),
        "demo" => Ok(EnvironmentKind::Demo),
        _ => Err("must be production, staging, development or demo".to_owned()),
    });
    let database_url_variable = section.parsed("database_url_env", secrets::variable);
    if let Some(written) = section.text("database_url") {
        section.wrong(
            &written.span(),
            "an address may hold a password, so it does not stand in a file: put it into an environment variable \
             and name that with `database_url_env`",
        );
    }
    let profile = section.text("profile");
    let pooling = section.parsed("pooling", |word| match word {
        "session" => Ok(Pooling::Session),
        "transaction" => Ok(Pooling::Transaction),
        _ => Err("must be \"session\" or \"transaction\"".to_owned()),
    });
    let mode = section.parsed("mode", policy::mode);
    let listed = section.texts("providers");
    if let Some(listed) = &listed {
        for name in listed.get_ref() {
            if !providers.contains(&name.as_str()) {
                section.wrong(&listed.span(), format!("there is no section [providers.{name}]"));
            }
        }
    }
    section.close();
    Some(EnvironmentConfig {
        environment: Environment { name, kind: kind?.into_inner() },
        database_url_variable: database_url_variable.map(toml::Spanned::into_inner),
        profile: profile.map(toml::Spanned::into_inner),
        pooling: pooling.map_or_else(Pooling::default, toml::Spanned::into_inner),
        mode: mode.map(toml::Spanned::into_inner),
        providers: listed.map(toml::Spanned::into_inner),
    })
}
