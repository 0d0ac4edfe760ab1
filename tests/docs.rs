//! Pages that name files, commands and keys stay true, or a test says which line lies.

use std::path::{Path, PathBuf};

use regex::Regex;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What stands in backticks on one line, outside fenced blocks: (line, text).
fn code_words(page: &str) -> Vec<(usize, String)> {
    let tick = Regex::new("`([^`]+)`").expect("a valid pattern");
    let mut fenced = false;
    let mut words = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            words.extend(tick.captures_iter(line).map(|c| (number, c[1].to_owned())));
        }
    }
    words
}

/// Whether a code word is meant as a path of this repository.
fn is_path(word: &str) -> bool {
    let folder = ["src/", "tests/", "queries", "themes", "docs/", "benches/", ".ci/", ".config/"];
    let ending = [".md", ".rs", ".toml", ".tape"];
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._/-".contains(c));
    let own = folder.iter().any(|f| word.starts_with(f)) || ending.iter().any(|e| word.ends_with(e));
    // The file an operator writes for himself is not in the repository.
    plain && (own || word.starts_with("LICENSE")) && word != "unstuck.toml"
}

/// A path, or a room that may be one file or a folder beside it.
fn exists(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    root().join(path).exists() || root().join(format!("{path}.rs")).exists()
}

fn missing(page: &str, text: &str) -> Vec<String> {
    code_words(text)
        .into_iter()
        .filter(|(_, word)| is_path(word) && !exists(word))
        .map(|(line, word)| format!("{page}:{line}: {word} does not exist"))
        .collect()
}

#[test]
fn every_path_the_pages_name_exists() {
    let mut wrong = Vec::new();
    for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        wrong.extend(missing(name, &page(name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_path_that_does_not_exist_is_noticed() {
    let text = "See `src/domain` and\n`src/nowhere.rs`, not `a.b()` or `cargo test`.\n```\n`src/no.rs`\n```";
    assert_eq!(missing("x.md", text), ["x.md:2: src/nowhere.rs does not exist"]);
}

#[test]
fn the_readme_keeps_to_the_two_commands_and_says_the_exit_codes() {
    let readme = page("README.md");
    for line in ["cargo run --release -- demo", "cargo test"] {
        assert!(readme.lines().any(|l| l == line), "README.md has a line {line:?} to copy");
    }
    let codes = readme.split("## Exit codes").nth(1).expect("README.md has its exit codes");
    for row in ["| 0 | ok |", "| 1 | warning |", "| 2 | critical |", "| 3 | not known"] {
        assert!(codes.contains(row), "the table of exit codes has {row:?}");
    }
    assert!(readme.contains("<!-- keys:start -->\n") && readme.contains("<!-- keys:end -->\n"));
}

#[test]
fn architecture_draws_every_room_and_fits_on_a_page() {
    let architecture = page("ARCHITECTURE.md");
    for room in ["domain", "store", "provider", "ui", "app", "shell", "lab", "cli"] {
        assert!(architecture.contains(&format!("| `src/{room}` |")), "{room} has its row");
        assert!(Path::new(&root()).join(format!("src/{room}.rs")).exists(), "{room} is a room");
    }
    let lines = architecture.lines().count();
    assert!(lines <= 130, "{lines} lines are more than a page");
}
