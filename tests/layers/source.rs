//! Rust text split into what the compiler runs and what it only carries: code, strings, comments.
//!
//! A gate that greps raw text is wrong twice: it trips over a comment that explains a rule, and a
//! string hides from it behind a line break. So every rule reads one of the two views made here.
//! Line numbers survive: whatever is left out becomes spaces.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::Regex;

/// One Rust file, read for the rules.
#[derive(Debug)]
pub struct Source {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// The whole text as it stands in the file.
    pub text: String,
    /// Code outside tests; comments and the insides of literals are blank.
    pub code: String,
    /// Only the insides of string literals outside tests; everything else is blank.
    pub strings: String,
    /// Whether the whole file is tests.
    pub is_test: bool,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let views = Views::of(text);
        let mut code: Vec<char> = views.code;
        let mut strings: Vec<char> = views.strings;
        for range in test_items(&code) {
            blank(&mut code, range.clone());
            blank(&mut strings, range);
        }
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
            code: code.into_iter().collect(),
            strings: strings.into_iter().collect(),
            is_test: path.starts_with("tests/"),
        }
    }

    /// The same file, read as nothing but tests.
    fn into_test(mut self) -> Self {
        self.code.clear();
        self.strings.clear();
        self.is_test = true;
        self
    }

    /// The room a file of `src/` belongs to: `src/store.rs` and `src/store/pg/x.rs` are `store`.
    pub fn room(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or("");
        let first = inside.split('/').next().unwrap_or("");
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How deep the module of this file lies below the crate's root.
    pub fn depth(&self) -> usize {
        let inside = self.path.strip_prefix("src/").unwrap_or("");
        match inside {
            "lib.rs" | "main.rs" => 0,
            _ => inside.split('/').count(),
        }
    }

    /// Name of the file without folder and ending.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or("");
        name.strip_suffix(".rs").unwrap_or(name)
    }

    /// Lines before the first test of the file.
    pub fn lines_before_tests(&self) -> usize {
        self.text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count()
    }
}

/// Line number (from 1) of a byte offset in a view.
pub fn line_of(view: &str, offset: usize) -> usize {
    view.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

/// Every match of `pattern` in `view`, as (line, text).
pub fn hits(view: &str, pattern: &Regex) -> Vec<(usize, String)> {
    pattern.find_iter(view).map(|m| (line_of(view, m.start()), m.as_str().trim().to_owned())).collect()
}

/// All Rust files below `dir`, with paths from `root`.
pub fn rust_files(root: &Path, dir: &str) -> Vec<Source> {
    let sources = files(root, dir, "rs").into_iter().map(|path| Source::new(&path, &read(root, &path))).collect();
    told_apart(sources)
}

/// Marks the files that their parents (or the parents of those) declare under `#[cfg(test)]`.
pub fn told_apart(sources: Vec<Source>) -> Vec<Source> {
    let declared = Regex::new(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))?\s+)?mod\s+(\w+)\s*;").expect("a valid pattern");
    let roots: Vec<String> = sources
        .iter()
        .flat_map(|parent| {
            let folder = parent.path.trim_end_matches(".rs").trim_end_matches("/lib");
            let names = declared.captures_iter(&parent.text);
            names.map(move |c| format!("{folder}/{}", &c[1])).collect::<Vec<_>>()
        })
        .collect();
    let hidden = |path: &str| {
        let module = path.trim_end_matches(".rs");
        roots
            .iter()
            .any(|root| module.strip_prefix(root.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    sources.into_iter().map(|source| if hidden(&source.path) { source.into_test() } else { source }).collect()
}

/// Paths (from `root`, sorted) of all files below `dir` whose name ends in `.ending`.
pub fn files(root: &Path, dir: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = vec![root.join(dir)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                let short = path.strip_prefix(root).unwrap_or(&path);
                found.push(short.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// The text of a file that must exist.
pub fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

struct Views {
    code: Vec<char>,
    strings: Vec<char>,
}

impl Views {
    fn of(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut code = chars.clone();
        let mut strings = chars.clone();
        blank(&mut strings, 0..chars.len());
        let mut at = 0;
        while at < chars.len() {
            let Some((end, inside)) = literal_or_comment(&chars, at) else {
                at += 1;
                continue;
            };
            blank(&mut code, inside.clone());
            if chars[at] != '/' && chars[at] != '\'' {
                strings[inside.clone()].copy_from_slice(&chars[inside]);
            }
            at = end;
        }
        Views { code, strings }
    }
}

/// If a literal or comment starts at `at`: where it ends, and the part that is not code.
fn literal_or_comment(chars: &[char], at: usize) -> Option<(usize, Range<usize>)> {
    let next = chars.get(at + 1).copied();
    let after_name = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if next == Some('/') => {
            let end = find(chars, at, &['\n']);
            Some((end, at..end))
        }
        '/' if next == Some('*') => {
            let end = block_comment_end(chars, at);
            Some((end, at..end))
        }
        '"' => {
            let end = quoted_end(chars, at + 1, '"');
            Some((end + 1, at + 1..end))
        }
        'r' if !after_name || chars[at - 1] == 'b' || chars[at - 1] == 'c' => raw_string(chars, at),
        '\'' => {
            // 'a' and '\n' are literals, 'static is a lifetime.
            let escaped = next == Some('\\');
            let short = chars.get(at + 2) == Some(&'\'');
            let end = quoted_end(chars, at + 1, '\'');
            (escaped || short).then_some((end + 1, at + 1..end))
        }
        _ => None,
    }
}

fn raw_string(chars: &[char], at: usize) -> Option<(usize, Range<usize>)> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let open = at + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let end = find(chars, open + 1, &close);
    Some((end + close.len(), open + 1..end))
}

fn quoted_end(chars: &[char], from: usize, quote: char) -> usize {
    let mut at = from;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at.min(chars.len())
}

fn block_comment_end(chars: &[char], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = from;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(chars.len())
}

fn find(chars: &[char], from: usize, what: &[char]) -> usize {
    (from..chars.len()).find(|at| chars[*at..].starts_with(what)).unwrap_or(chars.len())
}

fn blank(view: &mut [char], range: Range<usize>) {
    let end = range.end.min(view.len());
    for c in &mut view[range.start.min(end)..end] {
        if *c != '\n' {
            *c = ' ';
        }
    }
}

/// The items under `#[cfg(test)]`, attribute included.
fn test_items(code: &[char]) -> Vec<Range<usize>> {
    let attribute: Vec<char> = "#[cfg(test)]".chars().collect();
    let mut found = Vec::new();
    let mut at = find(code, 0, &attribute);
    while at < code.len() {
        let end = item_end(code, at + attribute.len());
        found.push(at..end);
        at = find(code, end, &attribute);
    }
    found
}

/// The end of the item that starts at `from`: its `;`, or the brace that closes its first one.
fn item_end(code: &[char], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.iter().enumerate().skip(from) {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && *c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn a_comment_is_not_code_and_a_string_is_kept_apart() {
    let s = Source::new(
        "src/ui/x.rs",
        "// Color::Red\nlet a = \"Color::Blue\"; /* x /* y */ Color::Green */ let b = 'c';\n",
    );
    assert!(!s.code.contains("Color"), "{}", s.code);
    assert_eq!(s.strings.trim(), "Color::Blue");
    assert_eq!(s.code.lines().count(), s.text.lines().count());
}

#[test]
fn raw_strings_lifetimes_and_escapes_do_not_confuse_it() {
    let text = "let a = r#\"say \"hi\" // no\"#; fn f<'a>(x: &'a str) {} let q = '\\''; let z = \"a\\\"b\"; end()";
    let s = Source::new("src/ui/x.rs", text);
    assert!(s.code.contains("fn f<'a>(x: &'a str)"), "{}", s.code);
    assert!(s.code.contains("end()"), "{}", s.code);
    assert!(s.strings.contains("say \"hi\" // no"), "{}", s.strings);
    assert!(!s.code.contains("say"), "{}", s.code);
}

#[test]
fn tests_inside_a_file_are_left_out() {
    let text = "use a;\n#[cfg(test)]\nmod tests {\n use crate::lab; fn f() {}\n}\nfn after() {}\n";
    let s = Source::new("src/ui/x.rs", text);
    assert!(!s.code.contains("lab"), "{}", s.code);
    assert!(s.code.contains("after"), "{}", s.code);
    assert_eq!(s.lines_before_tests(), 1);
}

#[test]
fn a_module_declared_for_tests_is_tests_with_all_below_it() {
    let read = told_apart(vec![
        Source::new("src/store/gate.rs", "mod walk;\n#[cfg(test)]\nmod evasions;"),
        Source::new("src/store/gate/walk.rs", "use a;"),
        Source::new("src/store/gate/evasions.rs", "use b;"),
        Source::new("src/store/gate/evasions/more.rs", "use c;"),
        Source::new("src/store/gate/evasions_not.rs", "use d;"),
    ]);
    let tests: Vec<bool> = read.iter().map(|s| s.is_test).collect();
    assert_eq!(tests, [false, false, true, true, false]);
    assert!(read[2].code.is_empty());
}

#[test]
fn room_and_depth_follow_the_path() {
    let of = |path: &str| {
        let s = Source::new(path, "");
        (s.room().to_owned(), s.depth())
    };
    assert_eq!(of("src/lib.rs"), ("lib".to_owned(), 0));
    assert_eq!(of("src/app.rs"), ("app".to_owned(), 1));
    assert_eq!(of("src/app/screen/stuck.rs"), ("app".to_owned(), 3));
}
