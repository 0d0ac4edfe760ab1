//! Themes: which style each meaning has. The only file that knows colours.
//!
//! Owns the roles, the theme files (`themes/<name>.toml`, embedded, with `inherits`) and the
//! reduction to no colour. Must not know screens. Adding a theme is one file and one line in
//! [`FILES`]. Colours are the terminal's own sixteen by name, so a person's palette is kept.

use std::collections::BTreeMap;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use thiserror::Error;

/// Every theme there is: name and file.
pub const FILES: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
];

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// What a piece of the screen means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role { $($(#[$doc])* $name),+ }

        impl Role {
            /// Every role, in the order of the theme files.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in a theme file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }
        }
    };
}

roles! {
    /// Ordinary words.
    Normal = "normal",
    /// Secondary words.
    Dim = "dim",
    /// Column and panel titles.
    Heading = "heading",
    /// Act now.
    Critical = "critical",
    /// Act soon.
    Caution = "caution",
    /// Neither true nor false: not known.
    Unknown = "unknown",
    /// Someone acted; a notice.
    Info = "info",
    /// Checked and good (no colour: quiet is fine).
    Good = "good",
    /// The row or tab the person is on.
    Selected = "selected",
    /// Where we are: production.
    BandProduction = "band.production",
    /// Where we are: staging.
    BandStaging = "band.staging",
    /// Where we are: development.
    BandDevelopment = "band.development",
    /// Where we are: demo or lab.
    BandDemo = "band.demo",
    /// Where we are is not known.
    BandUnknown = "band.unknown",
    /// This is a recording, not a place.
    BandReplay = "band.replay",
    /// A change is possible now.
    Write = "write",
    /// The picture is old.
    Stale = "stale",
    /// Laid over a body whose numbers are old.
    Old = "old",
    /// The database does not answer.
    Lost = "lost",
    /// Frame of a dialog.
    Dialog = "dialog",
    /// A key a person may press.
    Key = "key",
    /// What must be typed.
    Phrase = "phrase",
    /// The part of a phrase to read with care.
    Read = "read",
    /// A field that takes text.
    Field = "field",
}

/// Why a theme cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThemeError {
    /// There is no theme of that name.
    #[error("there is no theme {name:?}; there are: {known}")]
    NoSuchTheme { name: String, known: String },
    /// The file is not a theme file.
    #[error("theme {name:?}: {why}")]
    Unreadable { name: String, why: String },
    /// It inherits itself, by way of others.
    #[error("theme {name:?} inherits itself: {chain}")]
    InheritsItself { name: String, chain: String },
    /// A role nobody draws with.
    #[error("theme {name:?}: unknown role {role:?}")]
    UnknownRole { name: String, role: String },
    /// A colour or modifier that is not one of the known names.
    #[error("theme {name:?}, role {role:?}: unknown {what} {word:?}")]
    UnknownWord { name: String, role: String, what: &'static str, word: String },
    /// After inheriting, a role has no style.
    #[error("theme {name:?} gives no style to {role:?}")]
    MissingRole { name: String, role: &'static str },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    inherits: Option<String>,
    #[serde(default)]
    roles: BTreeMap<String, Look>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    fg: Option<String>,
    bg: Option<String>,
    #[serde(default)]
    mods: Vec<String>,
}

/// A style for every role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: BTreeMap<Role, Style>,
}

impl Theme {
    /// A theme by name, from the embedded files.
    ///
    /// # Errors
    /// When there is none of that name. (That the embedded ones are sound is tested.)
    pub fn named(name: &str) -> Result<Self, ThemeError> {
        Self::from_files(name, FILES)
    }

    /// The theme without colours; what NO_COLOR selects.
    pub fn mono() -> Self {
        Self::named("mono").unwrap_or_else(|_| Self { name: "mono".into(), styles: BTreeMap::new() })
    }

    /// A theme from a set of files; the theme and all it inherits must be among them.
    ///
    /// # Errors
    /// Any [`ThemeError`].
    pub fn from_files(name: &str, files: &[(&str, &str)]) -> Result<Self, ThemeError> {
        let mut styles = BTreeMap::new();
        let mut chain: Vec<String> = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(current) = next {
            let looped = chain.contains(&current);
            chain.push(current.clone());
            if looped {
                return Err(ThemeError::InheritsItself { name: name.into(), chain: chain.join(" > ") });
            }
            let Some((_, text)) = files.iter().find(|(known, _)| *known == current) else {
                let known = files.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
                return Err(ThemeError::NoSuchTheme { name: current, known });
            };
            let file: File = toml::from_str(text)
                .map_err(|e| ThemeError::Unreadable { name: current.clone(), why: e.to_string() })?;
            for (word, look) in &file.roles {
                let role = Role::ALL
                    .iter()
                    .find(|r| r.name() == word)
                    .ok_or_else(|| ThemeError::UnknownRole { name: current.clone(), role: word.clone() })?;
                let style = style(look).map_err(|(what, word)| ThemeError::UnknownWord {
                    name: current.clone(),
                    role: role.name().into(),
                    what,
                    word,
                })?;
                // The nearer file wins.
                styles.entry(*role).or_insert(style);
            }
            next = file.inherits;
        }
        match Role::ALL.iter().find(|role| !styles.contains_key(role)) {
            Some(role) => Err(ThemeError::MissingRole { name: name.into(), role: role.name() }),
            None => Ok(Self { name: name.into(), styles }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(&role).copied().unwrap_or_default()
    }
}

fn style(look: &Look) -> Result<Style, (&'static str, String)> {
    let mut style = Style::new();
    if let Some(word) = &look.fg {
        style = style.fg(colour(word).ok_or(("colour", word.clone()))?);
    }
    if let Some(word) = &look.bg {
        style = style.bg(colour(word).ok_or(("colour", word.clone()))?);
    }
    for word in &look.mods {
        style = style.add_modifier(modifier(word).ok_or(("modifier", word.clone()))?);
    }
    Ok(style)
}

fn colour(word: &str) -> Option<Color> {
    Some(match word {
        "default" => Color::Reset,
        "black" => Color::Black,
        "red" => Color::Red,
        "green" => Color::Green,
        "yellow" => Color::Yellow,
        "blue" => Color::Blue,
        "magenta" => Color::Magenta,
        "cyan" => Color::Cyan,
        "white" => Color::Gray,
        "bright white" => Color::White,
        _ => return None,
    })
}

fn modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "bold" => Modifier::BOLD,
        "dim" => Modifier::DIM,
        "underline" => Modifier::UNDERLINED,
        "reverse" => Modifier::REVERSED,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_theme_is_whole_and_every_file_is_embedded() {
        for (name, _) in FILES {
            let theme = Theme::named(name).expect(name);
            assert_eq!(theme.name(), *name);
        }
        let mut found: Vec<String> = std::fs::read_dir("themes")
            .expect("themes")
            .map(|f| f.expect("file").path().file_stem().expect("name").to_string_lossy().into_owned())
            .collect();
        found.sort();
        assert_eq!(found, FILES.iter().map(|(n, _)| *n).collect::<Vec<_>>());
    }

    #[test]
    fn mono_has_no_colour_and_keeps_meanings_apart() {
        let mono = Theme::mono();
        for role in Role::ALL {
            let style = mono.style(*role);
            assert!(style.fg.is_none_or(|c| c == Color::Reset), "{role:?}");
            assert!(style.bg.is_none_or(|c| c == Color::Reset), "{role:?}");
        }
        for role in [Role::Selected, Role::Lost, Role::BandProduction, Role::Write, Role::Critical, Role::Unknown] {
            assert!(!mono.style(role).add_modifier.is_empty(), "{role:?} must show without colour");
        }
    }

    #[test]
    fn a_theme_that_inherits_itself_is_refused() {
        let files = [("a", "inherits = \"b\""), ("b", "inherits = \"a\"")];
        let error = Theme::from_files("a", &files).expect_err("a loop");
        assert_eq!(error, ThemeError::InheritsItself { name: "a".into(), chain: "a > b > a".into() });
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = [("a", "[roles]\nsparkle = { fg = \"red\" }")];
        assert!(matches!(Theme::from_files("a", &unknown), Err(ThemeError::UnknownRole { .. })));
        let word = [("a", "[roles]\nnormal = { fg = \"#ff0000\" }")];
        assert!(matches!(Theme::from_files("a", &word), Err(ThemeError::UnknownWord { .. })));
        assert!(matches!(Theme::from_files("a", &[("a", "")]), Err(ThemeError::MissingRole { .. })));
    }
}
