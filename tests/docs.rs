//! Pages that name files, commands and keys stay true, or a test says which line lies.

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use regex::Regex;
use unstuck::app::keymap;
use unstuck::cli::out::ExitCode;

/// The pages that are held to it.
const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/recoverer.md"];

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
    for name in PAGES {
        wrong.extend(missing(name, &page(name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_path_that_does_not_exist_is_noticed() {
    let text = "See `src/domain` and\n`src/nowhere.rs`, not `a.b()` or `cargo test`.\n```\n`src/no.rs`\n```";
    assert_eq!(missing("x.md", text), ["x.md:2: src/nowhere.rs does not exist"]);
}

/// What is typed at a prompt according to a page: in fenced blocks, and in backticks.
fn command_lines(page: &str) -> Vec<String> {
    let mut fenced = false;
    let mut typed: Vec<String> = code_words(page).into_iter().map(|(_, word)| word).collect();
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            typed.push(line.split('#').next().unwrap_or(line).trim().replace("cargo run --release --", "unstuck"));
        }
    }
    typed
}

/// What is wrong with the commands, options and incidents that a page names.
fn unknown_commands(text: &str) -> Vec<String> {
    let cli = unstuck::cli::args::Cli::command();
    let options = |command: &clap::Command| -> Vec<String> {
        command.get_arguments().filter_map(|a| a.get_long().map(str::to_owned)).collect()
    };
    let mut known = options(&cli);
    known.extend(cli.get_subcommands().flat_map(options));
    known.extend(cli.get_subcommands().flat_map(clap::Command::get_subcommands).flat_map(options));
    let mut wrong = Vec::new();
    for typed in command_lines(text) {
        let words: Vec<&str> = typed.split_whitespace().collect();
        let ours = matches!(words.first(), Some(&"unstuck")) || typed.starts_with("--");
        for option in words.iter().filter_map(|word| word.strip_prefix("--")).filter(|_| ours) {
            if !known.iter().any(|k| k == option) && !["help", "version"].contains(&option) {
                wrong.push(format!("{typed}: there is no option --{option}"));
            }
        }
        match words.as_slice() {
            ["unstuck", name, ..] if !name.starts_with('-') && cli.find_subcommand(name).is_none() => {
                wrong.push(format!("{typed}: there is no command {name}"));
            }
            ["unstuck", "demo", name, ..] | ["demo", name] if !name.starts_with(['-', '[']) => {
                wrong.extend(unstuck::lab::incident::find(name).err().map(|error| format!("{typed}: {error}")));
            }
            _ => {}
        }
    }
    wrong
}

#[test]
fn every_command_option_and_incident_the_pages_name_exists() {
    for name in PAGES {
        assert_eq!(unknown_commands(&page(name)), Vec::<String>::new(), "{name}");
    }
    let text = "`unstuck remove`, `--force`, `unstuck check --yaml`, `demo flood`\n```\nunstuck fly # soon\n```";
    assert_eq!(unknown_commands(text).len(), 5, "{:?}", unknown_commands(text));
}

#[test]
fn the_readme_has_a_row_for_every_command() {
    let readme = page("README.md");
    let commands = readme.split("## Commands").nth(1).expect("README.md has its commands");
    for command in unstuck::cli::args::Cli::command().get_subcommands() {
        let row = format!("| `unstuck {}", command.get_name());
        assert!(commands.lines().any(|line| line.starts_with(&row)), "README.md has a row {row}");
    }
}

#[test]
fn the_readme_keeps_to_the_two_commands_and_says_the_exit_codes() {
    let readme = page("README.md");
    for line in ["cargo run --release -- demo", "cargo test"] {
        assert!(readme.lines().any(|l| l == line), "README.md has a line {line:?} to copy");
    }
    let codes = readme.split("## Exit codes").nth(1).expect("README.md has its exit codes");
    let meanings = [
        (ExitCode::Ok, "ok"),
        (ExitCode::Finding, "warning"),
        (ExitCode::Critical, "critical"),
        (ExitCode::NotKnown, "not known"),
    ];
    for (code, check) in meanings {
        let row = format!("| {} | {check}", code.number());
        assert!(codes.lines().any(|line| line.starts_with(&row)), "the table of exit codes has {row:?}");
    }
}

#[test]
fn every_variable_the_pages_name_is_read_somewhere() {
    let variable = Regex::new("UNSTUCK_[A-Z_]+").expect("a valid pattern");
    let mut read = String::new();
    for folder in ["src", "tests"] {
        for path in rust_files(&root().join(folder)) {
            read.push_str(&std::fs::read_to_string(path).expect("a readable file"));
        }
    }
    for name in PAGES {
        for found in variable.find_iter(&page(name)) {
            assert!(read.contains(&format!("\"{}\"", found.as_str())), "{name}: nobody reads {}", found.as_str());
        }
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").filter_map(Result::ok).map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    found.extend(folders.iter().flat_map(|folder| rust_files(folder)));
    found
}

/// Where the table of keys stands in the README.
const KEYS: (&str, &str) = ("<!-- keys:start -->\n", "<!-- keys:end -->\n");

/// Where the stories of the demo stand in it.
const STORIES: (&str, &str) = ("<!-- stories:start -->\n", "<!-- stories:end -->\n");

/// A part of the README is what the program says it is, or becomes it.
#[track_caller]
fn generated((start, end): (&str, &str), what: &str, table: &str) {
    let readme = page("README.md");
    let (before, rest) = readme.split_once(start).expect("README.md marks where it starts");
    let (found, after) = rest.split_once(end).expect("README.md marks where it ends");
    let wanted = format!("\n{table}\n");
    if std::env::var_os("UNSTUCK_BLESS").is_some() {
        let blessed = format!("{before}{start}{wanted}{end}{after}");
        std::fs::write(root().join("README.md"), blessed).expect("README.md can be written");
    } else {
        assert!(found == wanted, "the {what} changed: UNSTUCK_BLESS=1 cargo test docs writes them into README.md");
    }
}

// One test for both: they write the same file.
#[test]
fn the_tables_of_keys_and_of_stories_are_what_there_is() {
    generated(KEYS, "keys", &keymap::markdown());
    generated(STORIES, "stories", &unstuck::lab::incident::markdown());
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
