//! Where the configuration is looked for, and how a file becomes text.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use super::{Config, ConfigError, read};

/// The longest configuration.
const LONGEST: u64 = 256 * 1024;

/// What the configuration is looked for with: given, so that a test can give its own.
pub struct Surroundings<'a> {
    /// Reads an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The folder of `./unstuck.toml`.
    pub here: &'a Path,
    /// The folder of `unstuck/unstuck.toml` for everybody: `/etc`.
    pub system: &'a Path,
}

/// The file that counts: the one asked for, else the first that exists. `None`: there is none.
pub fn find(asked: Option<&Path>, around: &Surroundings<'_>) -> Option<PathBuf> {
    if let Some(asked) = asked {
        return Some(asked.to_owned());
    }
    let variable = |name: &str| (around.variable)(name).filter(|value| !value.is_empty());
    let personal = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
    let candidates = [
        Some(around.here.join("unstuck.toml")),
        personal.map(|folder| folder.join("unstuck/unstuck.toml")),
        Some(around.system.join("unstuck/unstuck.toml")),
    ];
    // A file that exists and cannot be read is an error later, never silently another file.
    candidates.into_iter().flatten().find(|path| path.try_exists().unwrap_or(true))
}

/// Finds and reads the configuration. No file at all is a configuration of defaults.
pub fn load(asked: Option<&Path>, around: &Surroundings<'_>) -> Result<Config, ConfigError> {
    match find(asked, around) {
        None => Ok(Config::default()),
        Some(file) => read(&file, &text_of(&file)?, &text_of),
    }
}

/// The text of a file. Pipes work too; nothing is read without end.
fn text_of(path: &Path) -> Result<String, ConfigError> {
    let failed = |error: std::io::Error| {
        let kind = error.kind();
        let why = if kind == ErrorKind::NotFound {
            return ConfigError::Missing(path.to_owned());
        } else if kind == ErrorKind::IsADirectory {
            "it is a folder; name the file in it".to_owned()
        } else if kind == ErrorKind::PermissionDenied {
            "permission denied; who may read it?".to_owned()
        } else {
            error.to_string()
        };
        ConfigError::Unreadable(path.to_owned(), why)
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(LONGEST.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LONGEST) {
        return Err(ConfigError::TooLarge(path.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = error.utf8_error().valid_up_to();
        let lines = error.as_bytes().iter().take(before).filter(|byte| **byte == b'\n').count();
        ConfigError::NotText(path.to_owned(), lines.saturating_add(1))
    })
}
