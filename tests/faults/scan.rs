//! That no await of an action is forgotten: each is a step that a test can stop, or leads to one, or stands on a
//! list with its reason. And that a release has nothing of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::layers::source::{Source, line_of, read, rust_files};

/// Where an action goes along, from the effect to the socket.
const WAY: &[&str] = &[
    "src/shell/act.rs",
    "src/store/act.rs",
    "src/store/act/",
    "src/store/dossier.rs",
    "src/store/postgres.rs",
    "src/store/reading.rs",
    "src/provider/ask.rs",
    "src/provider/get_only.rs",
    "src/provider/http.rs",
    "src/provider/pace.rs",
];

/// Awaits that are no steps: file, what is awaited, and why not.
const NO_STEPS: &[(&str, &str, &str)] = &[
    ("src/shell/act.rs", "spawn", "another task of ours; what it awaits is on the way itself"),
    ("src/shell/act.rs", "join_next", "the end of the console: it waits for tasks that are on the way themselves"),
    ("src/shell/act.rs", "send", "to the loop of this process"),
    ("src/shell/act.rs", "write", "files a person exports; no action"),
    ("src/store/postgres.rs", "lock", "a lock of this process"),
    ("src/store/postgres.rs", "poll", "a poll is no action"),
    (
        "src/store/postgres.rs",
        "look_around",
        "once per connection, before there can be an action; its reading is on the way",
    ),
    (
        "src/store/reading.rs",
        "connect_with",
        "inside `cancel`, which is one step: it stops a statement that only reads",
    ),
    ("src/store/reading.rs", "execute", "inside `cancel`"),
    ("src/store/reading.rs", "close", "inside `cancel`"),
    ("src/store/reading.rs", "work", "the caller's questions; what they await is on the way"),
    ("src/store/dossier.rs", "ask", "leads to `Reading::ask`, by the poll's way of asking"),
    ("src/store/act.rs", "ask", "leads to `Reading::ask`, by the poll's way of asking"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

/// What is awaited right before `end`: the name that is called last, or the variable.
fn awaited(code: &str, end: usize) -> &str {
    let before = code.get(..end).unwrap_or("").trim_end();
    let head = if before.ends_with(')') { before.get(..opening(before)).unwrap_or("") } else { before };
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    head.get(start..).unwrap_or("")
}

/// Where the parenthesis was opened that `text` ends with.
fn opening(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' if depth == 1 => return at,
            '(' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// What a variable was last bound to before `at`; what is timed is what counts.
fn bound<'c>(code: &'c str, at: usize, variable: &str) -> Option<&'c str> {
    let binding = pattern(&format!(r"(?s)\blet (?:mut )?{variable}\b[^=;]*=\s*([^;]*)"));
    let last = binding.captures_iter(code.get(..at)?).last()?;
    last.get(1).map(|value| value.as_str())
}

/// Whether an expression is a step, a block whose own awaits are looked at, or a call that leads on.
fn leads_on(code: &str, at: usize, value: &str, followed: &BTreeSet<String>) -> bool {
    let value = value.trim();
    if value.starts_with("async") || value.starts_with("step(") {
        return true;
    }
    if let Some(timed) = pattern(r"(?s)^tokio::time::timeout(?:_at)?\([^,]*,\s*(.*?)\)?$").captures(value) {
        return leads_on(code, at, timed.get(1).map_or("", |timed| timed.as_str()), followed);
    }
    let name = if value.ends_with(')') || !value.contains('(') { awaited(value, value.len()) } else { "" };
    followed.contains(name)
        || (value == name && bound(code, at, name).is_some_and(|to| leads_on(code, at, to, followed)))
}

/// Awaits of a file that a test cannot stop, as `file:line name`.
fn forgotten(source: &Source, followed: &BTreeSet<String>) -> Vec<String> {
    let code = source.code.as_str();
    let mut found = Vec::new();
    for hit in pattern(r"\s*\.await\b").find_iter(code) {
        let name = awaited(code, hit.start());
        let listed = NO_STEPS.iter().any(|(file, what, _)| *file == source.path && *what == name);
        let head = code.get(..hit.start()).unwrap_or("");
        let timed = head.ends_with(')') && name.starts_with("timeout") && {
            let inside = head.get(opening(head) + 1..head.len() - 1).unwrap_or("");
            inside.split_once(',').is_some_and(|(_, timed)| leads_on(code, hit.start(), timed, followed))
        };
        let variable = !head.ends_with(')');
        let fine = name == "step"
            || listed
            || timed
            || followed.contains(name)
            || (variable && bound(code, hit.start(), name).is_some_and(|to| leads_on(code, hit.start(), to, followed)));
        if !fine {
            found.push(format!("{}:{} {name}", source.path, line_of(code, hit.start())));
        }
    }
    found
}

/// The functions whose own awaits are looked at: those of the way, and the ports that lead to them.
fn followed(sources: &[Source], ports: &str) -> BTreeSet<String> {
    let own = pattern(r"\basync fn (\w+)");
    let port = pattern(r"(?s)\bfn (\w+)[^;{]*?BoxFuture<'");
    let names = sources.iter().flat_map(|source| own.captures_iter(&source.code).map(|c| c[1].to_owned()));
    let mut names: BTreeSet<String> = names.collect();
    names.extend(port.captures_iter(ports).map(|c| c[1].to_owned()));
    names
}

fn way(root: &Path) -> Vec<Source> {
    let on_it = |source: &Source| {
        WAY.iter().any(|way| source.path == *way || way.ends_with('/') && source.path.starts_with(way))
    };
    rust_files(root, "src").into_iter().filter(|source| !source.is_test && on_it(source)).collect()
}

#[test]
fn every_await_of_an_action_can_be_stopped() {
    let sources = way(&root());
    let followed = followed(&sources, &read(&root(), "src/domain/port.rs"));
    let awaits: usize = sources.iter().map(|source| source.code.matches(".await").count()).sum();
    let steps: usize = sources.iter().map(|source| pattern(r"\bstep\(").find_iter(&source.code).count()).sum();
    println!("{} files, {awaits} awaits, {steps} steps", sources.len());
    let forgotten: Vec<String> = sources.iter().flat_map(|source| forgotten(source, &followed)).collect();
    assert!(
        forgotten.is_empty(),
        "awaits of an action that no test can stop (use domain::fault::step): {forgotten:#?}"
    );
    // Each entry of the list is still needed.
    for (file, what, why) in NO_STEPS {
        let code = &sources.iter().find(|source| source.path == *file).unwrap_or_else(|| panic!("{file}")).code;
        let hits = pattern(r"\s*\.await\b").find_iter(code).filter(|hit| awaited(code, hit.start()) == *what).count();
        assert!(hits > 0, "{file} awaits no {what} any more ({why})");
    }
}

#[test]
fn an_await_that_is_forgotten_is_found() {
    let followed = BTreeSet::from(["call".to_owned()]);
    let found =
        |body: &str| forgotten(&Source::new("src/store/act/x.rs", &format!("async fn f() {{ {body} }}")), &followed);
    for fine in [
        "step(\"a\", b(c), d.e()).await;",
        "call(a, &b).await?;",
        "let asking = step(\"a\", \"\", d.e());\n asking.await.map_err(|e| e)?;",
        "let x = call(a);\n tokio::time::timeout(t, x).await;",
        "tokio::time::timeout(t, async { 1 }).await;",
        "let w = async { 1 };\n tokio::time::timeout_at(t, w).await;",
    ] {
        assert_eq!(found(fine), Vec::<String>::new(), "{fine}");
    }
    for wrong in [
        "connection.execute(\"BEGIN\").await?;",
        "query.fetch_all(&mut *line)\n    .await;",
        "let asking = line.execute(q);\n asking.await;",
        "tokio::time::timeout(t, line.execute(q)).await;",
        "let x = line.execute(q);\n tokio::time::timeout(t, x).await;",
        "tokio::time::sleep(t).await;",
    ] {
        assert_eq!(found(wrong).len(), 1, "{wrong}: {:?}", found(wrong));
    }
}

#[test]
fn a_release_has_no_faults() {
    let switch = "#[cfg(debug_assertions)]";
    let fault = read(&root(), "src/domain/fault.rs");
    for item in ["pub use watched", "mod watched {"] {
        assert_eq!(fault.matches(item).count(), fault.matches(&format!("{switch}\n{item}")).count(), "{item}");
    }
    let without: String = fault.split(&format!("{switch}\nmod watched {{")).next().unwrap_or_default().to_owned();
    assert!(!without.contains("OnceLock") && !without.contains("Hook = "), "{without}");
    assert!(read(&root(), "src/shell.rs").contains(&format!("{switch}\nmod fault;")));
    for source in rust_files(&root(), "src").iter().filter(|source| source.path != "src/shell/fault.rs") {
        assert!(!source.strings.contains("UNSTUCK_FAULT"), "{}", source.path);
    }
}
