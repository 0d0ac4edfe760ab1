//! `[providers.NAME]`: which adapter speaks for a provider, and what differs here.

use std::path::Path;

use super::secrets;
use super::{ConfigError, Located};
use crate::domain::ids::ProviderName;
use crate::provider::declared::{Placed, Section};
use crate::provider::{self, Adapter};

/// A provider's section; without an adapter when it has mistakes.
pub struct Named {
    /// The provider as the payment service writes it.
    pub name: String,
    /// How to ask it.
    pub adapter: Option<Adapter>,
}

/// Reads every provider. Mistakes of adapter files go to `others`, with their own file and line.
pub fn read(
    config: &Path,
    section: Section<'_>,
    read_file: &dyn Fn(&Path) -> Result<String, ConfigError>,
    others: &mut Vec<Located>,
) -> Vec<Named> {
    section
        .named_sections()
        .into_iter()
        .map(|(name, section)| Named {
            adapter: one(config, &name, section, read_file, others),
            name: name.into_inner(),
        })
        .collect()
}

fn one(
    config: &Path,
    name: &Placed<String>,
    mut section: Section<'_>,
    read_file: &dyn Fn(&Path) -> Result<String, ConfigError>,
    others: &mut Vec<Located>,
) -> Option<Adapter> {
    let built_in = section.text("adapter");
    let file = section.text("file");
    let base_url = section.parsed("base_url", |text| provider::check_address(text).map(|_| text.to_owned()));
    let variable = section.parsed("secret_env", secrets::variable);
    let key_retention = section.length("key_retention");
    let settle = section.length("settle");
    let adapter = match (built_in, file) {
        (Some(_), Some(file)) => {
            section.wrong(&file.span(), "give either `adapter` or `file`, not both");
            None
        }
        (None, Some(file)) => from_file(config, &file, &section, read_file, others),
        (Some(word), None) => named(&word, &section),
        (None, None) => named(name, &section),
    };
    section.close();
    let mut adapter = adapter?.named(ProviderName::new(name.get_ref()));
    if let Some(base_url) = base_url {
        adapter = adapter.at(base_url.into_inner());
    }
    if let Some(variable) = variable {
        adapter = adapter.secret_from(variable.into_inner());
    }
    if let Some(retention) = key_retention {
        adapter.terms.key_retention = Some(retention.into_inner());
    }
    if let Some(settle) = settle {
        adapter.terms.settle = settle.into_inner();
    }
    Some(adapter)
}

fn named(word: &Placed<String>, section: &Section<'_>) -> Option<Adapter> {
    let adapter = provider::built_in(word.get_ref());
    if adapter.is_none() {
        let known: Vec<&str> = provider::BUILT_IN.iter().map(|(name, _)| *name).collect();
        section.wrong(
            &word.span(),
            format!(
                "there is no built-in adapter of that name; built in are {}. Your own goes into `file`",
                known.join(", ")
            ),
        );
    }
    adapter
}

/// An adapter file is named from where the configuration stands.
fn from_file(
    config: &Path,
    file: &Placed<String>,
    section: &Section<'_>,
    read_file: &dyn Fn(&Path) -> Result<String, ConfigError>,
    others: &mut Vec<Located>,
) -> Option<Adapter> {
    let path = config.parent().unwrap_or_else(|| Path::new(".")).join(file.get_ref());
    let text = match read_file(&path) {
        Ok(text) => text,
        Err(error) => {
            section.wrong(&file.span(), error.to_string());
            return None;
        }
    };
    match provider::read_adapter(&text) {
        Ok(adapter) => Some(adapter),
        Err(mistakes) => {
            others.extend(mistakes.into_iter().map(|mistake| Located { file: path.clone(), mistake }));
            None
        }
    }
}
