//! The rules for the SQL that ships: what may not even be written in a file.

use std::path::Path;

use super::rules::{Broken, pattern};
use super::source::{files, hits, read};

/// What kind of file it is, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// get_*, do_* and rules: no word of removal at all.
    Statement,
    /// install.sql: triggers and revokes name the words, no statement uses them.
    Install,
    /// schema.sql: the service's own tables.
    Tables,
}

impl Kind {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or("");
        match name {
            "install.sql" => Kind::Install,
            "schema.sql" => Kind::Tables,
            _ => Kind::Statement,
        }
    }
}

/// Every shipped query, judged by its text.
pub fn all(root: &Path) -> Vec<Broken> {
    files(root, "queries", "sql").iter().flat_map(|path| one(path, &read(root, path))).collect()
}

/// One file of `queries/`.
pub fn one(path: &str, text: &str) -> Vec<Broken> {
    let bare = without_quotes(text);
    let mut broken = Vec::new();
    let (words, rule) = match Kind::of(path) {
        Kind::Statement => (
            r"(?i)\b(?:delete|truncate|drop|merge)\b",
            "get_*, do_* and rules never say DELETE, TRUNCATE, DROP or MERGE",
        ),
        Kind::Install | Kind::Tables => (
            r"(?i)\bdelete\s+from\b|\btruncate\s+(?:table\s+|only\s+)?(?:unstuck\.|[a-z_]+\s*;)|\bdrop\s+(?:table|schema|database|owned)\b|\bon\s+delete\s+cascade\b|\bmerge\s+into\b",
            "install.sql and schema.sql remove nothing",
        ),
    };
    for (line, found) in hits(&bare, &pattern(words)) {
        broken.push(Broken::new(path, line, rule, &found));
    }
    if Kind::of(path) == Kind::Statement && !text.trim_start().starts_with("--") {
        let rule = "a query starts with a comment: purpose, parameters, since";
        broken.push(Broken::new(path, 1, rule, text.lines().next().unwrap_or("")));
    }
    broken
}

/// Comments and single-quoted text blanked; dollar quotes stay (function bodies are code).
fn without_quotes(text: &str) -> String {
    let quoted = pattern(r"--[^\n]*|(?s:/\*.*?\*/)|'(?:[^']|'')*'");
    quoted
        .replace_all(text, |m: &regex::Captures<'_>| {
            m[0].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>()
        })
        .into_owned()
}

#[test]
fn a_removal_is_found_in_any_case_and_in_function_bodies() {
    let body = "-- x\nSELECT 1;\nCREATE FUNCTION f() AS $$ BEGIN delete\n FROM unstuck.action_log; END $$;";
    assert_eq!(one("queries/p/install.sql", body).len(), 1);
    assert_eq!(one("queries/p/get_x.sql", "-- x\nWITH a AS (Delete From t RETURNING *) SELECT 1").len(), 1);
    assert_eq!(one("queries/p/rules/i1.sql", "SELECT 1").len(), 1, "no comment");
}

#[test]
fn naming_a_right_or_a_trigger_is_not_a_removal() {
    let rights = "-- rights\nSELECT has_table_privilege(c.oid, 'DELETE') AS may_delete FROM pg_class c";
    assert_eq!(one("queries/p/get_rights.sql", rights), Vec::new());
    let trigger = "-- log\nCREATE TRIGGER t BEFORE UPDATE OR DELETE OR TRUNCATE ON unstuck.action_log EXECUTE FUNCTION f();\nREVOKE DELETE, TRUNCATE ON t FROM PUBLIC;";
    assert_eq!(one("queries/p/install.sql", trigger), Vec::new());
}
