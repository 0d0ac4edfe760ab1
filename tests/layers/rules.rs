//! The rules a single Rust file can break on its own.

use regex::Regex;

use super::house::{DATA, room};
use super::source::{Source, hits, line_of};

/// One broken rule: where, and the sentence that was broken.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    pub at: String,
    pub rule: String,
    pub found: String,
}

impl Broken {
    pub fn new(path: &str, line: usize, rule: &str, found: &str) -> Self {
        Broken { at: format!("{path}:{line}"), rule: rule.to_owned(), found: found.to_owned() }
    }
}

/// Every rule of this file over one source. `outside` are the crates of Cargo.toml.
pub fn all(source: &Source, outside: &[String]) -> Vec<Broken> {
    let mut broken = arrows(source);
    broken.extend(crates(source, outside));
    broken.extend(world(source));
    broken.extend(colours(source));
    broken.extend(clock(source));
    broken.extend(no_delete(source));
    broken.extend(provider_only_reads(source));
    broken.extend(built_sql(source));
    broken.extend(unfinished(&source.path, &source.text));
    broken.extend(size(source));
    broken
}

/// Rooms only use the rooms the house allows them.
pub fn arrows(source: &Source) -> Vec<Broken> {
    let Some(here) = room(source.room()) else {
        let rule = "every file of src/ belongs to a room of the house";
        return vec![Broken::new(&source.path, 1, rule, source.room())];
    };
    named_rooms(source)
        .into_iter()
        .filter(|(_, used)| used != here.name && room(used).is_some())
        .filter(|(_, used)| !here.uses.contains(&used.as_str()))
        .map(|(line, used)| {
            let allowed = if here.uses.is_empty() { "no other room".to_owned() } else { here.uses.join(", ") };
            let rule = format!("{} may use {allowed}", here.name);
            Broken::new(&source.path, line, &rule, &format!("{used} is used"))
        })
        .collect()
}

/// First path segments behind `crate::`, `unstuck::` and every `super::` chain that leaves its room.
fn named_rooms(source: &Source) -> Vec<(usize, String)> {
    let roots = pattern(r"(?:\$?\bcrate|\bunstuck)\s*::\s*");
    let supers = pattern(r"\b(?:super\s*::\s*)+");
    let mut starts: Vec<usize> = roots.find_iter(&source.code).map(|m| m.end()).collect();
    starts.extend(
        supers
            .find_iter(&source.code)
            .filter(|m| m.as_str().matches("super").count() == source.depth())
            .map(|m| m.end()),
    );
    let mut found = Vec::new();
    for start in starts {
        let rest = source.code.get(start..).unwrap_or("");
        for segment in first_segments(rest) {
            found.push((line_of(&source.code, start), segment));
        }
    }
    found
}

/// `a::b` gives a; `{a::x, b, c::{d}}` gives a, b, c.
fn first_segments(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let Some(group) = rest.strip_prefix('{') else {
        return vec![word(rest)];
    };
    let mut depth = 0_usize;
    let mut item = String::new();
    let mut items = Vec::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => items.push(std::mem::take(&mut item)),
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if depth == 0 => item.push(c),
            _ => {}
        }
    }
    items.push(item);
    items.iter().map(|item| word(item.trim())).filter(|w| !w.is_empty()).collect()
}

/// A room only names the crates its line of the table lists.
pub fn crates(source: &Source, outside: &[String]) -> Vec<Broken> {
    let Some(here) = room(source.room()) else {
        return Vec::new();
    };
    let used = pattern(r"(^|[^:\w.])(?:::)?([a-z][a-z0-9_]*)\s*(?:::|;|\s+as\s)");
    let mut broken = Vec::new();
    for found in used.captures_iter(&source.code) {
        let name = found.get(2).map_or("", |m| m.as_str());
        let start = found.get(2).map_or(0, |m| m.start());
        let is_path = source.code.get(start + name.len()..).is_some_and(|r| r.trim_start().starts_with("::"));
        let is_use = is_path || source.code.get(..start).is_some_and(|b| b.trim_end().ends_with("use"));
        let known = outside.iter().any(|c| c == name);
        if known && is_use && !DATA.contains(&name) && !here.crates.contains(&name) {
            let rule = format!("{} may use of the outside: {}", here.name, list(here.crates));
            broken.push(Broken::new(&source.path, line_of(&source.code, start), &rule, name));
        }
    }
    let hidden = pattern(r"\b\w+\s*::\s*crossterm\b");
    if !here.crates.contains(&"crossterm") {
        for (line, found) in hits(&source.code, &hidden) {
            broken.push(Broken::new(&source.path, line, "only shell may use crossterm, also through ratatui", &found));
        }
    }
    broken
}

/// domain, ui and app are pure: no files, network, environment, processes or threads.
pub fn world(source: &Source) -> Vec<Broken> {
    let touched = pattern(r"\bstd\s*::\s*(fs|net|env|process|thread|os)\b|\binclude_bytes!|\bstd\s*::\s*io\s*::\s*std");
    let rule = "domain, ui and app are pure: no files, network, environment, process or thread";
    only_in(source, &["domain", "ui", "app"], &touched, rule)
}

/// Colours are named in the theme and nowhere else.
pub fn colours(source: &Source) -> Vec<Broken> {
    if source.path == "src/ui/theme.rs" || source.path.starts_with("src/ui/theme/") {
        return Vec::new();
    }
    let names =
        "black|red|green|yellow|blue|magenta|cyan|gray|dark_gray|white|light_(?:red|green|yellow|blue|magenta|cyan)";
    let named = pattern(&format!(r"\bColor\s*::\s*\w+|\bstyle\s*::\s*(?:palette|Color)\b|\.(?:on_)?(?:{names})\(\)"));
    report(source, &named, "colours are named only in src/ui/theme.rs: use a role of the theme")
}

/// The clock is read only where a time-out needs it.
pub fn clock(source: &Source) -> Vec<Broken> {
    if ["shell", "lab", "store", "provider"].contains(&source.room()) {
        return Vec::new();
    }
    let read = pattern(r"\b(?:Utc|Local|Instant|SystemTime)\s*::\s*now\b|\.elapsed\(\)|\btokio\s*::\s*time\b");
    report(source, &read, "the clock is read only in shell, lab, store and provider: elsewhere time is given")
}

/// No text of ours asks a database to remove anything.
///
/// A statement of removal stands nowhere. The bare words stand where a person reads them (a right
/// that the role does not have); app and ui reach no database, so no word of theirs can become SQL.
pub fn no_delete(source: &Source) -> Vec<Broken> {
    let refusal_list = source.path == "src/store/gate.rs" || source.path.starts_with("src/store/gate/");
    if source.room() == "lab" || refusal_list {
        return Vec::new();
    }
    let statements =
        r"(?i:\bdelete\s+from\s+\w|\btruncate\s+(?:table|only)\s+\w|\bdrop\s+(?:table|schema|database|index)\s+\w)";
    let words = r"\b(?:DELETE|TRUNCATE)\b";
    let (looked_for, rule) = if ["app", "ui"].contains(&source.room()) {
        (pattern(statements), "no statement of removal stands anywhere but in src/lab")
    } else {
        let rule = "DELETE and TRUNCATE stand only in src/lab, in the refusal lists of src/store/gate, and as words to read in app and ui";
        (pattern(&format!("{statements}|{words}")), rule)
    };
    let mut broken = report(source, &looked_for, rule);
    for (line, found) in hits(&source.strings, &looked_for) {
        broken.push(Broken::new(&source.path, line, rule, &found));
    }
    broken
}

/// Nothing outside the lab can send a provider anything but GET.
pub fn provider_only_reads(source: &Source) -> Vec<Broken> {
    let verbs = pattern(
        r"\.(?:post|put|patch|delete)\s*\(|\bMethod\s*::\s*(?:POST|PUT|PATCH|DELETE|CONNECT|from_bytes)|\bClient\s*::\s*request\b",
    );
    let rule = "outside the lab a provider is only asked with GET";
    only_in(source, &["provider", "store", "shell", "cli"], &verbs, rule)
}

/// SQL lives in files; nothing is put together from strings.
pub fn built_sql(source: &Source) -> Vec<Broken> {
    if source.room() == "lab" {
        return Vec::new();
    }
    let built = pattern(
        r#"\b(?:format|concat|write|writeln)!\s*\([^;"]*"\s*(?:SELECT|INSERT|UPDATE|WITH|CALL|GRANT|ALTER|CREATE)\s"#,
    );
    let rule = "SQL lives in queries/: no statement is built by string formatting";
    let mut broken: Vec<Broken> = hits(&source.text, &built)
        .into_iter()
        .filter(|(line, _)| source.code.lines().nth(line - 1).is_some_and(|l| l.contains('!')))
        .map(|(line, found)| Broken::new(&source.path, line, rule, &found))
        .collect();
    if source.room() != "store" {
        let wrapper = pattern(r"\bAssertSqlSafe\b");
        broken.extend(report(source, &wrapper, "AssertSqlSafe stands only at the one choke point of src/store"));
    }
    broken
}

/// Finished work only: no notes to self, no switched-off tests, no silent allowances.
pub fn unfinished(path: &str, text: &str) -> Vec<Broken> {
    let words = pattern(r"\b(?:TODO|FIXME|XXX|HACK)\b|#\[ignore|\b(?:unimplemented|todo)!|#!?\[allow\(");
    hits(text, &words)
        .into_iter()
        .map(|(line, found)| {
            Broken::new(path, line, "finished work only: no TODO, no ignored test, no allow()", &found)
        })
        .collect()
}

/// The longest a file may be before its tests.
pub const LONGEST: usize = 400;
/// The longest a file may be that is nothing but tests.
pub const LONGEST_TESTS: usize = 600;

/// Files stay small enough to be read in one go.
pub fn size(source: &Source) -> Vec<Broken> {
    let (lines, most, rule) = if source.is_test {
        let rule = format!("a file of tests has at most {LONGEST_TESTS} lines");
        (source.text.lines().count(), LONGEST_TESTS, rule)
    } else {
        let rule = format!("a file has at most {LONGEST} lines before its tests");
        (source.lines_before_tests(), LONGEST, rule)
    };
    if lines <= most {
        return Vec::new();
    }
    vec![Broken::new(&source.path, lines, &rule, &format!("{lines} lines"))]
}

fn report(source: &Source, what: &Regex, rule: &str) -> Vec<Broken> {
    hits(&source.code, what).into_iter().map(|(line, found)| Broken::new(&source.path, line, rule, &found)).collect()
}

fn only_in(source: &Source, rooms: &[&str], what: &Regex, rule: &str) -> Vec<Broken> {
    if rooms.contains(&source.room()) { report(source, what, rule) } else { Vec::new() }
}

fn list(names: &[&str]) -> String {
    let mut all: Vec<&str> = DATA.iter().chain(names).copied().collect();
    all.sort_unstable();
    all.join(", ")
}

pub fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}
