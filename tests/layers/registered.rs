//! Nothing lies about unused: every module, query, theme and incident is in its list.

use std::collections::BTreeMap;
use std::path::Path;

use super::rules::{Broken, pattern};
use super::source::{Source, files, hits, read};

/// Folders whose files are entries of a list that stands in the file named after the folder.
const LISTS: &[&str] =
    &["src/app/screen", "src/lab/incident", "src/lab/service/flaw", "src/lab/service/job", "src/lab/verify", "src/cli"];

/// Every Rust file is declared by its parent, and an entry of a list is also in the list.
pub fn modules(sources: &[Source]) -> Vec<Broken> {
    let by_path: BTreeMap<&str, &Source> = sources.iter().map(|s| (s.path.as_str(), s)).collect();
    let mut broken = Vec::new();
    for source in sources.iter().filter(|s| s.depth() > 0) {
        if source.stem() == "mod" {
            let rule = "no mod.rs: a module is named after itself";
            broken.push(Broken::new(&source.path, 1, rule, "mod.rs"));
            continue;
        }
        let parent = parent_of(&source.path);
        let text = by_path.get(parent.as_str()).map_or("", |p| p.text.as_str());
        let code = by_path.get(parent.as_str()).map_or("", |p| p.code.as_str());
        if !pattern(&format!(r"\bmod\s+{}\s*;", source.stem())).is_match(text) {
            let rule = format!("every file is a module: {parent} must declare it");
            broken.push(Broken::new(&source.path, 1, &rule, source.stem()));
        } else if is_entry(&source.path) && hits(code, &word(source.stem())).len() < 2 {
            let rule =
                format!("every screen, incident, flaw, job, measured row and subcommand is in the list of {parent}");
            broken.push(Broken::new(&source.path, 1, &rule, source.stem()));
        }
    }
    broken
}

fn is_entry(path: &str) -> bool {
    LISTS.iter().any(|list| {
        path.strip_prefix(list).and_then(|rest| rest.strip_prefix('/')).is_some_and(|name| !name.contains('/'))
    })
}

fn parent_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("src", _)) | None => "src/lib.rs".to_owned(),
        Some((folder, _)) => format!("{folder}.rs"),
    }
}

fn word(name: &str) -> regex::Regex {
    pattern(&format!(r"\b{}\b", regex::escape(name)))
}

/// Every integration test file is a module of tests/main.rs (`autotests` is off).
pub fn tests_are_built(root: &Path) -> Vec<Broken> {
    let main = read(root, "tests/main.rs");
    files(root, "tests", "rs")
        .into_iter()
        .filter(|path| path != "tests/main.rs")
        .filter_map(|path| {
            let (folder, name) = path.rsplit_once('/')?;
            let name = name.strip_suffix(".rs")?;
            let parent = if folder == "tests" { main.clone() } else { read(root, &format!("{folder}.rs")) };
            let declared = pattern(&format!(r"\bmod\s+{name}\s*;")).is_match(&parent);
            let rule = "every test file is built: its parent must declare it";
            (!declared).then(|| Broken::new(&path, 1, rule, name))
        })
        .collect()
}

/// A data file and where its name must stand.
struct Registry {
    dir: &'static str,
    ending: &'static str,
    /// The rooms' files that may hold the list.
    lists: &'static [&'static str],
    /// `queries/x/get_pulse.sql` is registered by "get_pulse", `themes/dark.toml` by "dark.toml".
    by: By,
}

enum By {
    Stem,
    FileName,
}

const DATA_FILES: &[Registry] = &[
    Registry { dir: "themes", ending: "toml", lists: &["src/ui"], by: By::FileName },
    Registry { dir: "src/provider", ending: "toml", lists: &["src/provider"], by: By::FileName },
    Registry { dir: "queries", ending: "sql", lists: &["src/store", "build.rs"], by: By::Stem },
];

/// Every theme, provider and query is named by the room that reads it.
pub fn data_files(root: &Path, sources: &[Source]) -> Vec<Broken> {
    let mut broken = Vec::new();
    for registry in DATA_FILES {
        let text = list_text(root, sources, registry.lists);
        for path in files(root, registry.dir, registry.ending) {
            if path.contains("/rules/") {
                continue; // found by folder: an invariant is one file and nothing else
            }
            let name = path.rsplit('/').next().unwrap_or("");
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let (wanted, found) = match registry.by {
                By::Stem => (stem, word(stem).is_match(&text)),
                By::FileName => (name, text.contains(name)),
            };
            if !found && !outside_the_contract(stem) {
                let rule = format!("every file of {} is named in {}", registry.dir, registry.lists.join(" or "));
                broken.push(Broken::new(&path, 1, &rule, wanted));
            }
        }
    }
    broken
}

/// The tables themselves: the lab and the tests create them, no question reads the file.
fn outside_the_contract(stem: &str) -> bool {
    stem == "schema"
}

/// Every folder of `queries/` is a profile that src/store lists.
pub fn profiles(root: &Path, sources: &[Source]) -> Vec<Broken> {
    let text = list_text(root, sources, &["src/store", "build.rs"]);
    files(root, "queries", "toml")
        .iter()
        .filter_map(|path| path.strip_suffix("/profile.toml").map(|dir| (path, dir)))
        .filter_map(|(path, dir)| {
            let name = dir.rsplit('/').next()?;
            let rule = "every profile of queries/ is one line in src/store";
            (!word(name).is_match(&text)).then(|| Broken::new(path, 1, rule, name))
        })
        .collect()
}

fn list_text(root: &Path, sources: &[Source], lists: &[&str]) -> String {
    let mut text: String = sources
        .iter()
        .filter(|s| lists.iter().any(|l| s.path.starts_with(l)))
        .flat_map(|s| [s.code.as_str(), "\n", s.strings.as_str(), "\n"])
        .collect();
    if lists.contains(&"build.rs") {
        text.push_str(&Source::new("build.rs", &read(root, "build.rs")).strings);
    }
    text
}

/// Exactly one place may call a string safe SQL.
pub fn one_choke_point(sources: &[Source]) -> Vec<Broken> {
    let call = pattern(r"\bAssertSqlSafe\s*\(");
    let calls: Vec<(&Source, usize)> = sources
        .iter()
        .filter(|s| s.room() == "store")
        .flat_map(|s| hits(&s.code, &call).into_iter().map(move |(line, _)| (s, line)))
        .collect();
    calls
        .iter()
        .skip(1)
        .map(|(s, line)| {
            let rule = "AssertSqlSafe stands only at the one choke point of src/store";
            Broken::new(&s.path, *line, rule, "a second call")
        })
        .collect()
}
