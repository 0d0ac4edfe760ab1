//! Who may use whom (see ARCHITECTURE.md), measured.
//!
//! Every finding prints `file:line`, the sentence it breaks and what stands there. The checkers are
//! tested on bad examples below: a gate that lets everything through looks just like a clean house.

mod house;
mod queries;
mod registered;
mod rules;
pub mod source;

use std::path::{Path, PathBuf};

use rules::Broken;
use source::{Source, files, read, rust_files};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Names of the crates in Cargo.toml, as Rust writes them.
fn outside(root: &Path) -> Vec<String> {
    let manifest: toml::Table = toml::from_str(&read(root, "Cargo.toml")).expect("Cargo.toml parses");
    let mut names = Vec::new();
    let mut add = |table: Option<&toml::Value>| {
        let table = table.and_then(toml::Value::as_table);
        names.extend(table.into_iter().flat_map(toml::Table::keys).map(|n| n.replace('-', "_")));
    };
    add(manifest.get("dependencies"));
    add(manifest.get("dev-dependencies"));
    if let Some(targets) = manifest.get("target").and_then(toml::Value::as_table) {
        for target in targets.values() {
            add(target.get("dependencies"));
        }
    }
    names
}

#[track_caller]
fn assert_kept(broken: &[Broken]) {
    let lines: Vec<String> = broken.iter().map(|b| format!("{}: {} — found: {}", b.at, b.rule, b.found)).collect();
    assert!(lines.is_empty(), "{} broken rules\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn every_room_keeps_the_rules_of_the_house() {
    let root = root();
    let outside = outside(&root);
    let broken: Vec<Broken> = rust_files(&root, "src").iter().flat_map(|s| rules::all(s, &outside)).collect();
    assert_kept(&broken);
}

#[test]
fn nothing_is_left_out_of_its_list() {
    let root = root();
    let sources = rust_files(&root, "src");
    let mut broken = registered::modules(&sources);
    broken.extend(registered::tests_are_built(&root));
    broken.extend(registered::data_files(&root, &sources));
    broken.extend(registered::profiles(&root, &sources));
    broken.extend(registered::one_choke_point(&sources));
    assert_kept(&broken);
}

#[test]
fn no_shipped_statement_removes_anything() {
    assert_kept(&queries::all(&root()));
}

#[test]
fn tests_benches_and_data_are_finished_and_small() {
    let root = root();
    let rust = [files(&root, "tests", "rs"), files(&root, "benches", "rs")].concat();
    let data = [files(&root, "queries", "sql"), files(&root, "themes", "toml"), files(&root, "docs", "md")].concat();
    let mut broken = Vec::new();
    for path in &rust {
        broken.extend(rules::size(&Source::new(path, &read(&root, path))));
    }
    for path in rust.iter().chain(&data) {
        // The gate itself has to name the words it looks for.
        if !path.starts_with("tests/layers") {
            broken.extend(rules::unfinished(path, &read(&root, path)));
        }
    }
    assert_kept(&broken);
}

#[test]
fn sizes_are_reported() {
    let sources = rust_files(&root(), "src");
    let mut sizes: Vec<(usize, &str)> =
        sources.iter().filter(|s| !s.is_test).map(|s| (s.lines_before_tests(), s.path.as_str())).collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).map_or(0, |(lines, _)| *lines);
    let (largest, path) = sizes.last().expect("there is code");
    let count = sizes.len();
    println!("{count} files of code, median {median} lines, largest {path} with {largest}");
    assert!(median <= 150, "files stay near 150 lines; the median is {median}");
}

/// The rules one bad file breaks, as sentences.
fn broken_by(path: &str, text: &str) -> Vec<String> {
    let outside: Vec<String> =
        ["sqlx", "tokio", "crossterm", "clap", "ratatui", "serde", "reqwest", "color_eyre"].map(str::to_owned).to_vec();
    rules::all(&Source::new(path, text), &outside).into_iter().map(|b| format!("{} {}", b.at, b.rule)).collect()
}

#[test]
fn the_gate_catches_every_kind_of_wrong_file() {
    let long = "x\n".repeat(401);
    let long_tests = "x\n".repeat(601);
    let cases: &[(&str, &str, &str)] = &[
        ("src/domain/a.rs", "use crate::store::Pool;", "domain may use no other room"),
        (
            "src/app/screen/a.rs",
            "\nuse super::super::super::store::Pool;",
            "src/app/screen/a.rs:2 app may use domain, ui",
        ),
        ("src/app.rs", "use crate::{domain::Id, shell::run};", "app may use domain, ui"),
        ("src/lab/a.rs", "fn f() { unstuck::provider::ask() }", "lab may use domain, store"),
        ("src/shell/a.rs", "use crate::lab;", "shell may use"),
        ("src/attic.rs", "", "belongs to a room"),
        ("src/app/a.rs", "use tokio::sync::mpsc;", "app may use of the outside"),
        ("src/app/a.rs", "fn f() { ::sqlx::query(q); }", "app may use of the outside"),
        ("src/ui/a.rs", "use ratatui::crossterm::event;", "only shell may use crossterm"),
        ("src/shell/a.rs", "use color_eyre as eyre;", "shell may use of the outside"),
        ("src/domain/a.rs", "let x = std::env::var(N);", "are pure"),
        ("src/app/a.rs", "span.style(Color::Red)", "colours are named only"),
        ("src/ui/a.rs", "\"x\".light_red()", "colours are named only"),
        ("src/cli/a.rs", "let t = Instant::now();", "the clock is read only"),
        ("src/domain/a.rs", "let t = Utc :: now();", "the clock is read only"),
        ("src/store/a.rs", "let q = \"delete\n  from t\";", "DELETE and TRUNCATE stand only"),
        ("src/shell/a.rs", "let q = r#\"TRUNCATE t\"#;", "DELETE and TRUNCATE stand only"),
        ("src/app/a.rs", "let q = \"delete from t\";", "no statement of removal"),
        ("src/provider/a.rs", "client.post(url)", "only asked with GET"),
        ("src/provider/a.rs", "client.request(Method::POST, url)", "only asked with GET"),
        ("src/store/a.rs", "let q = format!(\"SELECT {x}\");", "no statement is built"),
        ("src/shell/a.rs", "sqlx::query(AssertSqlSafe(q))", "one choke point"),
        ("src/ui/a.rs", "// TODO: later", "finished work only"),
        ("src/ui/a.rs", "#[ignore = \"slow\"]\nfn t() {}", "finished work only"),
        ("src/ui/a.rs", "#[allow(dead_code)]", "finished work only"),
        ("src/ui/a.rs", &long, "at most 400 lines"),
        ("tests/a.rs", &long_tests, "at most 600 lines"),
    ];
    for (path, text, sentence) in cases {
        let found = broken_by(path, text);
        assert!(found.iter().any(|f| f.contains(sentence)), "{path} {text:.60}: wanted {sentence:?}, got {found:?}");
    }
}

#[test]
fn the_gate_lets_good_files_through() {
    let cases: &[(&str, &str)] = &[
        ("src/app/a.rs", "let says = \"This role has no DELETE right\";"),
        ("src/ui/a.rs", "let style = base.patch(other);"),
        (
            "src/app/a.rs",
            "use crate::domain::Id;\nuse crate::app::Msg;\nuse super::keymap;\n// crate::store and Color::Red are for others\n",
        ),
        ("src/ui/theme.rs", "use ratatui::style::Color;\nconst C: Color = Color::Red;\n"),
        ("src/shell/a.rs", "use crossterm::event;\nlet t = Instant::now();\n"),
        ("src/lab/a.rs", "sqlx::query(\"DELETE FROM idempotency_keys\")"),
        (
            "src/domain/a.rs",
            "let why = \"Deleting is not possible here\";\nlet x = self.tokio;\n#[cfg(test)]\nmod tests { use crate::store; }\n",
        ),
        ("src/store/gate.rs", "const NO: &[&str] = &[\"DELETE\"];"),
        ("src/store/a.rs", "let say = format!(\"Select a record: {n}\");"),
    ];
    for (path, text) in cases {
        assert_eq!(broken_by(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn an_unlisted_file_is_noticed() {
    let tree = |parent: &str| {
        vec![
            Source::new("src/lib.rs", "mod app;"),
            Source::new("src/app.rs", "mod screen;"),
            Source::new("src/app/screen.rs", parent),
            Source::new("src/app/screen/stuck.rs", ""),
        ]
    };
    assert_eq!(registered::modules(&tree("mod stuck;\nconst ALL: &[Screen] = &[stuck::SCREEN];")), vec![]);
    assert_eq!(registered::modules(&tree("mod stuck; // stuck is for later")).len(), 1, "declared, not listed");
    assert_eq!(registered::modules(&tree("const ALL: &[Screen] = &[];")).len(), 1, "not declared");
    let mods = [Source::new("src/lib.rs", "mod ui;"), Source::new("src/ui/mod.rs", "")];
    assert_eq!(registered::modules(&mods).len(), 1, "mod.rs");
}

#[test]
fn a_second_choke_point_is_noticed() {
    let one = Source::new("src/store/a.rs", "use sqlx::AssertSqlSafe;\nf(AssertSqlSafe(q))");
    assert_eq!(registered::one_choke_point(&[one]), vec![]);
    let two = Source::new("src/store/a.rs", "f(AssertSqlSafe(q)); f(AssertSqlSafe(p))");
    assert_eq!(registered::one_choke_point(&[two]).len(), 1);
}
