//! Where a PostgreSQL server program may be: the system's places in order, and what to say when it is in none.
//!
//! Must not start a server; asks a candidate for nothing but its version.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::account::Account;

/// Oldest major version the lab's schema and functions run on.
const OLDEST: u32 = 13;

/// Which of the system's programs may be used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SystemPrograms {
    /// Look in the usual places.
    #[default]
    Search,
    /// Use this directory and no other.
    Directory(PathBuf),
    /// Act as if the system had none.
    Hidden,
}

impl SystemPrograms {
    /// Reads `UNSTUCK_POSTGRES_BIN`: a directory, or `none`.
    pub fn from_env() -> Self {
        match std::env::var_os("UNSTUCK_POSTGRES_BIN") {
            None => Self::Search,
            Some(value) if value.is_empty() => Self::Search,
            Some(value) if value == "none" => Self::Hidden,
            Some(value) => Self::Directory(PathBuf::from(value)),
        }
    }

    /// The first directory whose `postgres --version` runs for `account`, with that version.
    pub(super) fn find(&self, account: Account) -> Option<(PathBuf, String)> {
        let candidates = match self {
            Self::Hidden => Vec::new(),
            Self::Directory(directory) => vec![directory.clone()],
            Self::Search => usual_places(),
        };
        candidates.into_iter().find_map(|directory| {
            let version = probe(&directory, account)?;
            Some((directory, version))
        })
    }

    /// The places in words, for the sentence that says there was nothing.
    pub(super) fn looked(&self) -> String {
        match self {
            Self::Hidden => "nothing of the system, because UNSTUCK_POSTGRES_BIN=none".to_owned(),
            Self::Directory(directory) => format!("{}, as UNSTUCK_POSTGRES_BIN says", directory.display()),
            Self::Search => {
                "PATH, /usr/lib/postgresql/*/bin, /usr/pgsql-*/bin, Homebrew, Postgres.app and `pg_config --bindir`"
                    .to_owned()
            }
        }
    }
}

/// The version of the server programs in `directory`, if both are there, run, and are new enough.
pub(super) fn probe(directory: &Path, account: Account) -> Option<String> {
    if !directory.join("initdb").is_file() {
        return None;
    }
    let output = account
        .command(&directory.join("postgres"))
        .arg("--version")
        .current_dir("/")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    // "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"
    let version = text.split_whitespace().nth(2)?.to_owned();
    let major: u32 = version.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()?;
    (output.status.success() && major >= OLDEST).then_some(version)
}

fn usual_places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    places.extend(newest_first(Path::new("/usr/lib/postgresql"), "", "bin"));
    places.extend(newest_first(Path::new("/usr"), "pgsql-", "bin"));
    for brew in ["/opt/homebrew/opt", "/usr/local/opt", "/home/linuxbrew/.linuxbrew/opt"] {
        places.extend(newest_first(Path::new(brew), "postgresql", "bin"));
    }
    places.extend(newest_first(Path::new("/Applications/Postgres.app/Contents/Versions"), "", "bin"));
    places.extend(pg_config());
    places
}

/// `parent/<prefix><version>/<child>` for every version there is, the newest first.
fn newest_first(parent: &Path, prefix: &str, child: &str) -> Vec<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('@').to_owned();
            let major = version.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
            Some((major, entry.path().join(child)))
        })
        .collect();
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (!text.trim().is_empty()).then(|| PathBuf::from(text.trim()))
}

/// The one command that installs PostgreSQL on this system.
pub(super) fn install_command() -> String {
    if cfg!(target_os = "macos") {
        return "brew install postgresql@17".to_owned();
    }
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    install_command_for(&release).to_owned()
}

fn install_command_for(os_release: &str) -> &'static str {
    let words: Vec<String> = os_release
        .lines()
        .filter_map(|line| line.strip_prefix("ID=").or_else(|| line.strip_prefix("ID_LIKE=")))
        .flat_map(|value| value.trim_matches('"').split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let is = |name: &str| words.iter().any(|word| word == name);
    if is("alpine") {
        "apk add postgresql"
    } else if is("fedora") || is("rhel") || is("centos") {
        "sudo dnf install -y postgresql-server"
    } else if is("arch") {
        "sudo pacman -S postgresql"
    } else if is("suse") || is("opensuse") {
        "sudo zypper install postgresql-server"
    } else {
        "sudo apt-get install -y postgresql"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_fits_the_system() {
        assert_eq!(install_command_for("ID=debian\n"), "sudo apt-get install -y postgresql");
        assert_eq!(
            install_command_for("ID=rocky\nID_LIKE=\"rhel centos fedora\"\n"),
            "sudo dnf install -y postgresql-server"
        );
        assert_eq!(install_command_for("ID=alpine\n"), "apk add postgresql");
    }

    #[test]
    fn the_newest_version_comes_first() {
        let parent = tempfile::tempdir().unwrap();
        for version in ["9.6", "17", "15"] {
            std::fs::create_dir_all(parent.path().join(version)).unwrap();
        }
        let names: Vec<String> = newest_first(parent.path(), "", "bin")
            .iter()
            .map(|path| path.strip_prefix(parent.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["17/bin", "15/bin", "9.6/bin"]);
    }

    #[test]
    fn a_program_that_does_not_run_is_no_candidate() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("initdb"), "").unwrap();
        std::fs::write(directory.path().join("postgres"), "not a program").unwrap();
        assert_eq!(probe(directory.path(), Account::Own), None);
        assert_eq!(SystemPrograms::Hidden.find(Account::Own), None);
    }
}
